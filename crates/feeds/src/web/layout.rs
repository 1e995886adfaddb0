//! The parts that all pages have: the head, the keys, forms and times.

use jiff::Timestamp;

use super::html::{Html, ToHtml, html, push_html};
use super::scene::PREFIX;
use crate::accounts::{Account, form_token};
use crate::subscriptions::age;

const MINUTE_MS: i64 = 60_000;
const WEEK_MS: i64 = 7 * 86_400_000;

/// The data that every page of a session needs.
pub(super) struct Frame<'a> {
    pub(super) account: &'a Account,
    /// The token that its forms must contain.
    pub(super) form: String,
    pub(super) now_ms: i64,
}

/// A whole document.
pub(super) fn document(title: &str, body: &Html, attributes: &Html) -> Html {
    html!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{}</title><link rel=icon href=\"data:,\"><link rel=stylesheet href=\"{}reader.css\"><script type=module src=\"{}reader.js\"></script>\
         </head><body {}>{}</body></html>",
        title,
        PREFIX,
        PREFIX,
        attributes,
        body,
    )
}

impl<'a> Frame<'a> {
    pub(super) fn new(account: &'a Account, session: &str, now_ms: i64) -> Self {
        Self { account, form: form_token(session), now_ms }
    }

    /// A page of a signed-in account.
    pub(super) fn page(&self, title: &str, side: &Html, main: &Html) -> Html {
        let body = html!(
            "<header><h1><a href=\"/\">whit</a></h1>\
             <nav aria-label=Views><a href=\"/\">Machine</a><a href=\"/#place=checks\">Checks</a><a href=\"/#place=alerts\">Alerts</a><a href=\"/#place=explore\">Explore</a><a href=\"{}\" aria-current=page>Feeds</a></nav>\
             <form class=search role=search action=\"{}\"><input type=search name=q aria-label=Search placeholder=\"Search (/)\"></form>\
             <nav aria-label=Account><a href=\"{}manage\">Manage</a>\
             <form method=post action=\"{}sign-out\"><input type=hidden name=form value=\"{}\"><button>Sign out {}</button></form></nav></header>\
             <div class=columns>{}<main>{}</main></div>\
             <dialog id=keys><h2>Keys</h2><dl><dt>j, k</dt><dd>open the next, the previous entry</dd><dt>o, Enter</dt><dd>open or close</dd>\
             <dt>n</dt><dd>older entries</dd><dt>v</dt><dd>the entry's own page</dd><dt>m</dt><dd>read or unread</dd><dt>s</dt><dd>star</dd><dt>A</dt><dd>mark all as read</dd><dt>i</dt><dd>show images</dd>\
             <dt>/</dt><dd>search</dd><dt>?</dt><dd>this list</dd></dl><button>Close</button></dialog>\
             <p id=said role=status></p>",
            PREFIX,
            PREFIX,
            PREFIX,
            PREFIX,
            self.form,
            self.account.name,
            side,
            main,
        );
        document(title, &body, &html!("data-form=\"{}\"", self.form))
    }

    /// A form with one button.
    pub(super) fn button(
        &self,
        action: &str,
        back: &str,
        fields: &[(&str, &str)],
        label: impl ToHtml,
    ) -> Html {
        let mut out = html!(
            "<form method=post action=\"{}{}\"><input type=hidden name=form value=\"{}\"><input type=hidden name=back value=\"{}\">",
            PREFIX,
            action,
            self.form,
            back,
        );
        for (name, value) in fields {
            push_html!(out, "<input type=hidden name=\"{}\" value=\"{}\">", name, value);
        }
        push_html!(out, "<button>{}</button></form>", label);
        out
    }

    /// A time: how long ago it was, or the day if that is more than a week ago.
    pub(super) fn time(&self, at_ms: i64) -> Html {
        let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
        let shown = match self.now_ms.saturating_sub(at_ms) {
            ..MINUTE_MS => "now".to_owned(),
            MINUTE_MS..WEEK_MS => age(at_ms, self.now_ms),
            WEEK_MS.. => at.strftime("%Y-%m-%d").to_string(),
        };
        let exact = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        html!("<time datetime=\"{}\">{}</time>", exact, shown)
    }
}
