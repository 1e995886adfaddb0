//! The page of an account's feeds: it adds, imports, renames and removes them, and sets the password.

use http::StatusCode;

use super::html::{Html, push_html};
use super::layout::Frame;
use super::request::{Reply, page};
use super::scene::{POLICY, PREFIX, Scene};
use crate::error::FeedError;
use crate::subscriptions::{Subscription, age, shown_url};

/// The page, with lines about what was done just now.
pub(super) fn manage(scene: &mut Scene<'_>, frame: &Frame<'_>, said: &[String]) -> Result<Reply, FeedError> {
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let back = format!("{PREFIX}manage");
    let mut main = Html::default();
    if let Some((first, others)) = said.split_first() {
        push_html!(main, "<p role=status>{}", first);
        others.iter().for_each(|line| push_html!(main, "<br>{}", line));
        push_html!(main, "</p>");
    }
    push_forms(&mut main, frame, &subscriptions, &back);
    let feeds = if subscriptions.len() == 1 { "feed" } else { "feeds" };
    push_html!(main, "<h2>{} {}</h2><ul class=manage>", subscriptions.len(), feeds);
    for one in &subscriptions {
        push_feed(&mut main, frame, one, &back);
    }
    push_html!(main, "</ul>");
    Ok(page(StatusCode::OK, POLICY, frame.page("Manage feeds", &Html::default(), &main)))
}

/// Writes the forms that concern no single feed.
fn push_forms(main: &mut Html, frame: &Frame<'_>, subscriptions: &[Subscription], back: &str) {
    let form = &frame.form;
    push_html!(
        main,
        "<h2>Add a feed</h2><form method=post action=\"{}subscribe\"><input type=hidden name=form value=\"{}\">\
         <label>Address of a feed or page <input name=url required></label> <label>Folder <input name=folder list=folders></label>\
         <button>Add</button></form><datalist id=folders>",
        PREFIX,
        form,
    );
    let mut folders: Vec<&str> =
        subscriptions.iter().map(|one| one.folder.as_str()).filter(|folder| !folder.is_empty()).collect();
    folders.dedup();
    for folder in folders {
        push_html!(main, "<option value=\"{}\">", folder);
    }
    push_html!(
        main,
        "</datalist><h2>Import and export</h2><form method=post action=\"{}import\" enctype=\"multipart/form-data\">\
         <input type=hidden name=form value=\"{}\"><input type=hidden name=back value=\"{}\">\
         <label>OPML file <input type=file name=file required></label> <button>Import</button></form>\
         <p><a href=\"{}export\">Export as OPML</a></p>\
         <details><summary>Change the password</summary><form method=post action=\"{}password\">\
         <input type=hidden name=form value=\"{}\">\
         <input name=name autocomplete=username value=\"{}\" hidden>\
         <label>Old <input name=old type=password autocomplete=current-password required></label> \
         <label>New <input name=new type=password autocomplete=new-password required></label> \
         <label>New again <input name=again type=password autocomplete=new-password required></label> \
         <button>Change</button></form></details>",
        PREFIX,
        form,
        back,
        PREFIX,
        PREFIX,
        form,
        frame.account.name,
    );
}

fn push_feed(main: &mut Html, frame: &Frame<'_>, one: &Subscription, back: &str) {
    let number = one.feed.to_string();
    push_html!(
        main,
        "<li id=feed-{}>\
         <form method=post action=\"{}edit\"><input type=hidden name=form value=\"{}\"><input type=hidden name=back value=\"{}\">\
         <input type=hidden name=feed value={}><input name=title aria-label=Title value=\"{}\" placeholder=\"{}\">\
         <input name=folder aria-label=Folder list=folders value=\"{}\" placeholder=Folder><button>Save</button></form>",
        number,
        PREFIX,
        frame.form,
        back,
        number,
        if one.is_renamed { one.title.as_str() } else { "" },
        one.title,
        one.folder,
    );
    main.push(&frame.button("unsubscribe", back, &[("feed", &number)], "Remove"));
    if one.failing_since_ms.is_some() {
        main.push(&frame.button("retry", back, &[("feed", &number)], "Try again"));
    }
    push_html!(main, "<p class=about>{}; ", shown_url(&one.url));
    match (one.trouble(frame.now_ms), one.fetched_ms) {
        (Some(trouble), _) => push_html!(main, "<span role=alert>{}</span>", trouble),
        (None, None) => push_html!(main, "not fetched yet"),
        (None, Some(fetched_ms)) => push_html!(main, "fetched {} ago", age(fetched_ms, frame.now_ms)),
    }
    if one.next_ms > frame.now_ms && !one.is_gone {
        push_html!(main, ", again in {}", age(frame.now_ms, one.next_ms));
    }
    push_html!(main, "</p>");
}
