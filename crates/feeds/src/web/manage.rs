//! The page of an account's feeds: it adds, imports, renames and removes them, and sets the password.

use std::fmt::Write as _;

use http::StatusCode;
use syndication::escaped;

use super::layout::Frame;
use super::request::{Reply, html};
use super::scene::{POLICY, PREFIX, Scene};
use crate::error::FeedError;
use crate::subscriptions::{Subscription, age, shown_url};

/// The page, with lines about what was done just now.
pub(super) fn manage(scene: &mut Scene<'_>, frame: &Frame<'_>, said: &[String]) -> Result<Reply, FeedError> {
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let back = format!("{PREFIX}manage");
    let mut main = String::new();
    if !said.is_empty() {
        let lines: Vec<String> = said.iter().map(|line| escaped(line)).collect();
        let _ = write!(main, "<p role=status>{}</p>", lines.join("<br>"));
    }
    push_forms(&mut main, frame, &subscriptions, &back);
    let _ = write!(
        main,
        "<h2>{}</h2><ul class=manage>",
        match subscriptions.len() {
            1 => "1 feed".to_owned(),
            count => format!("{count} feeds"),
        }
    );
    for one in &subscriptions {
        push_feed(&mut main, frame, one, &back);
    }
    main.push_str("</ul>");
    Ok(html(StatusCode::OK, POLICY, frame.page("Manage feeds", "", &main)))
}

/// Writes the forms that concern no single feed.
fn push_forms(main: &mut String, frame: &Frame<'_>, subscriptions: &[Subscription], back: &str) {
    let form = &frame.form;
    let _ = write!(
        main,
        "<h2>Add a feed</h2><form method=post action=\"{PREFIX}subscribe\"><input type=hidden name=form value=\"{form}\">\
         <label>Address of a feed or page <input name=url required></label> <label>Folder <input name=folder list=folders></label>\
         <button>Add</button></form><datalist id=folders>"
    );
    let mut folders: Vec<&str> =
        subscriptions.iter().map(|one| one.folder.as_str()).filter(|folder| !folder.is_empty()).collect();
    folders.dedup();
    for folder in folders {
        let _ = write!(main, "<option value=\"{}\">", escaped(folder));
    }
    let _ = write!(
        main,
        "</datalist><h2>Import and export</h2><form method=post action=\"{PREFIX}import\" enctype=\"multipart/form-data\">\
         <input type=hidden name=form value=\"{form}\"><input type=hidden name=back value=\"{back}\">\
         <label>OPML file <input type=file name=file required></label> <button>Import</button></form>\
         <p><a href=\"{PREFIX}export\">Export as OPML</a></p>\
         <details><summary>Change the password</summary><form method=post action=\"{PREFIX}password\">\
         <input type=hidden name=form value=\"{form}\">\
         <input name=name autocomplete=username value=\"{}\" hidden>\
         <label>Old <input name=old type=password autocomplete=current-password required></label> \
         <label>New <input name=new type=password autocomplete=new-password required></label> \
         <label>New again <input name=again type=password autocomplete=new-password required></label> \
         <button>Change</button></form></details>",
        escaped(&frame.account.name)
    );
}

fn push_feed(main: &mut String, frame: &Frame<'_>, one: &Subscription, back: &str) {
    let form = &frame.form;
    let number = one.feed.to_string();
    let _ = write!(
        main,
        "<li id=feed-{number}>\
         <form method=post action=\"{PREFIX}edit\"><input type=hidden name=form value=\"{form}\"><input type=hidden name=back value=\"{back}\">\
         <input type=hidden name=feed value={number}><input name=title aria-label=Title value=\"{}\" placeholder=\"{}\">\
         <input name=folder aria-label=Folder list=folders value=\"{}\" placeholder=Folder><button>Save</button></form>",
        if one.is_renamed { escaped(&one.title) } else { String::new() },
        escaped(&one.title),
        escaped(&one.folder)
    );
    main.push_str(&frame.button("unsubscribe", back, &[("feed", &number)], "Remove"));
    if one.failing_since_ms.is_some() {
        main.push_str(&frame.button("retry", back, &[("feed", &number)], "Try again"));
    }
    let _ = write!(main, "<p class=about>{}; ", escaped(&shown_url(&one.url)));
    match (one.trouble(frame.now_ms), one.fetched_ms) {
        (Some(trouble), _) => {
            let _ = write!(main, "<span role=alert>{}</span>", escaped(&trouble));
        }
        (None, None) => main.push_str("not fetched yet"),
        (None, Some(fetched_ms)) => {
            let _ = write!(main, "fetched {} ago", age(fetched_ms, frame.now_ms));
        }
    }
    if one.next_ms > frame.now_ms && !one.is_gone {
        let _ = write!(main, ", again in {}", age(frame.now_ms, one.next_ms));
    }
    main.push_str("</p>");
}
