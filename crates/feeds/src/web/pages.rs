//! The pages: lists of entries, one entry, and the management of feeds. They work without script.

use std::fmt::Write as _;

use http::StatusCode;
use syndication::{Images, clean, escaped, has_images, plain_text};

use super::layout::{Frame, document};
use super::manage::manage;
use super::request::{Asked, Reply, html, opml, place_text, text};
use super::scene::{IMAGE_POLICY, POLICY, PREFIX, Scene};
use crate::accounts::Account;
use crate::entries::{FeedEntry, Mark};
use crate::entry_filter::EntryFilter;
use crate::error::FeedError;
use crate::subscriptions::Subscription;

/// Entries of a page.
const LISTED: usize = 50;
/// The longest title of an entry's page, in bytes.
const EXCERPT_BYTES: usize = 200;

pub(super) fn answer(
    scene: &mut Scene<'_>,
    account: &Account,
    session: &str,
    asked: &Asked,
    path: &str,
) -> Result<Reply, FeedError> {
    let frame = Frame::new(account, session, scene.now_ms);
    match path.split_once('/') {
        None if path.is_empty() => list(scene, &frame, asked),
        None if path == "manage" => manage(scene, &frame, &[]),
        None if path == "export" => {
            let mut reply = opml(&scene.library.export(account)?);
            reply.headers_mut().insert(
                http::header::CONTENT_DISPOSITION,
                http::HeaderValue::from_static("attachment; filename=\"feeds.opml\""),
            );
            Ok(reply)
        }
        Some(("entry", number)) => match number.parse() {
            Ok(id) => entry(scene, &frame, asked, id),
            Err(_) => Ok(text(StatusCode::NOT_FOUND, "there is no such entry")),
        },
        _ => Ok(text(StatusCode::NOT_FOUND, "there is nothing here")),
    }
}

/// The filter that an address or a form has.
pub(super) fn filter_of(asked: &Asked) -> EntryFilter {
    EntryFilter {
        feed: asked.number("feed"),
        folder: asked.has("folder").then(|| asked.get("folder").to_owned()),
        is_starred: asked.has("starred"),
        // A search looks at everything.
        is_unread: !asked.has("all") && !asked.has("starred") && asked.get("q").trim().is_empty(),
        search: asked.get("q").to_owned(),
        after: asked.place("after"),
        ..EntryFilter::default()
    }
}

pub(super) fn sign_in(reason: &str) -> String {
    let alert =
        if reason.is_empty() { String::new() } else { format!("<p role=alert>{}</p>", escaped(reason)) };
    let body = format!(
        "<main class=\"sign-in\"><h1>Feeds</h1>{alert}<form method=post action=\"{PREFIX}sign-in\">\
         <label>Name <input name=name autocomplete=username required autofocus></label>\
         <label>Password <input name=password type=password autocomplete=current-password required></label>\
         <button>Sign in</button></form></main>"
    );
    document("Feeds", &body, "")
}

fn sidebar(subscriptions: &[Subscription], asked: &Asked) -> String {
    let total: u64 = subscriptions.iter().map(|one| one.unread).sum();
    let mut out = String::from("<nav class=feeds aria-label=Feeds><ul>");
    let chosen = |is_chosen: bool| if is_chosen { " aria-current=page" } else { "" };
    let is_list = asked.path() == PREFIX;
    let is_plain = is_list && ["feed", "folder", "starred", "all", "q"].iter().all(|name| !asked.has(name));
    let _ = write!(out, "<li><a href=\"{PREFIX}\"{}>Unread <b>{total}</b></a>", chosen(is_plain));
    let is_all = is_list && asked.has("all") && !asked.has("feed") && !asked.has("folder");
    let _ = write!(out, "<li><a href=\"{PREFIX}?all=1\"{}>All</a>", chosen(is_all));
    let _ =
        write!(out, "<li><a href=\"{PREFIX}?starred=1\"{}>Starred</a></ul>", chosen(asked.has("starred")));
    let mut folder: Option<&str> = None;
    for one in subscriptions {
        if folder != Some(&one.folder) {
            if folder.is_some() {
                out.push_str("</ul>");
            }
            if !one.folder.is_empty() {
                let unread: u64 = subscriptions
                    .iter()
                    .filter(|other| other.folder == one.folder)
                    .map(|other| other.unread)
                    .sum();
                let link = form_urlencoded::byte_serialize(one.folder.as_bytes()).collect::<String>();
                let is_chosen = asked.has("folder") && asked.get("folder") == one.folder;
                let _ = write!(
                    out,
                    "<h2><a href=\"{PREFIX}?folder={link}\"{}>{} {}</a></h2>",
                    chosen(is_chosen),
                    escaped(&one.folder),
                    count(unread)
                );
            }
            out.push_str("<ul>");
            folder = Some(&one.folder);
        }
        let class = if one.failing_since_ms.is_some() { " class=failing" } else { "" };
        let _ = write!(
            out,
            "<li{class}><a href=\"{PREFIX}?feed={}\"{}>{} {}</a>",
            one.feed,
            chosen(asked.number("feed") == Some(one.feed)),
            escaped(&one.title),
            count(one.unread)
        );
    }
    if folder.is_some() {
        out.push_str("</ul>");
    }
    out.push_str("</nav>");
    out
}

fn count(unread: u64) -> String {
    if unread > 0 { format!("<b>{unread}</b>") } else { String::new() }
}

fn list(scene: &mut Scene<'_>, frame: &Frame<'_>, asked: &Asked) -> Result<Reply, FeedError> {
    let mut filter = filter_of(asked);
    filter.limit = LISTED + 1;
    let mut entries = scene.library.entries(frame.account, &filter)?;
    let has_more = entries.len() > LISTED;
    entries.truncate(LISTED);
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let title = title_of(asked, &subscriptions);
    let here = format!("{PREFIX}?{}", asked.address_without(&[]));
    let mut main = format!("<div class=head><h2>{}</h2>", escaped(&title));
    if let Some(trouble) = subscriptions
        .iter()
        .find(|one| Some(one.feed) == filter.feed)
        .and_then(|one| one.trouble(frame.now_ms))
    {
        let _ = write!(main, "<p role=alert>{}</p>", escaped(&trouble));
    }
    if !asked.has("starred") && asked.get("q").is_empty() {
        let seen = frame.now_ms.to_string();
        for (days, label) in [("0", "Mark all as read"), ("1", "Mark what is older than a day")] {
            let mut fields = vec![("days", days), ("seen", seen.as_str())];
            for name in ["feed", "folder"] {
                if asked.has(name) {
                    fields.push((name, asked.get(name)));
                }
            }
            main.push_str(&frame.button("mark-all", &here, &fields, label));
        }
        let other = asked.address_without(&["all", "after"]);
        let (link, label) = match asked.has("all") {
            true => (other, "Only unread"),
            false => (format!("{other}{}all=1", if other.is_empty() { "" } else { "&" }), "All entries"),
        };
        let _ = write!(main, "<a href=\"{PREFIX}?{}\">{label}</a>", escaped(&link));
    }
    main.push_str("</div>");
    if entries.is_empty() {
        main.push_str(if subscriptions.is_empty() {
            "<p>No feeds yet: <a href=\"/feeds/manage\">add one</a>.</p>"
        } else {
            "<p>Nothing here.</p>"
        });
    }
    main.push_str("<ol class=entries>");
    for entry in &entries {
        push_row(&mut main, frame, entry, &here);
    }
    main.push_str("</ol>");
    if let Some(last) = entries.last().filter(|_| has_more) {
        let rest = asked.address_without(&["after"]);
        let and = if rest.is_empty() { "" } else { "&" };
        let _ = write!(
            main,
            "<p><a rel=next href=\"{PREFIX}?{}{}after={}\">Older entries</a></p>",
            escaped(&rest),
            escaped(and),
            place_text((last.sort_ms, last.id))
        );
    }
    Ok(html(StatusCode::OK, POLICY, frame.page(&title, &sidebar(&subscriptions, asked), &main)))
}

fn title_of(asked: &Asked, subscriptions: &[Subscription]) -> String {
    if !asked.get("q").is_empty() {
        return format!("Search: {}", asked.get("q"));
    }
    if let Some(one) = subscriptions.iter().find(|one| asked.number("feed") == Some(one.feed)) {
        return one.title.clone();
    }
    match (asked.has("folder"), asked.has("starred"), asked.has("all")) {
        (true, ..) => asked.get("folder").to_owned(),
        (_, true, _) => "Starred".to_owned(),
        (.., true) => "All".to_owned(),
        _ => "Unread".to_owned(),
    }
}

fn title_or(entry: &FeedEntry) -> &str {
    [&entry.title, &entry.link].into_iter().find(|text| !text.is_empty()).map_or("(no title)", String::as_str)
}

fn push_row(out: &mut String, frame: &Frame<'_>, entry: &FeedEntry, here: &str) {
    let class = if entry.is_read { "read" } else { "unread" };
    let (read, starred) = (u8::from(entry.is_read), u8::from(entry.is_starred));
    let id = entry.id.to_string();
    let _ = write!(
        out,
        "<li id=\"entry-{id}\" class={class} data-entry={id} data-read={read} data-starred={starred} data-link=\"{}\">\
         <a class=title dir=auto href=\"{PREFIX}entry/{id}\">{}</a> <span class=feed dir=auto>{}</span> {}",
        escaped(&entry.link),
        escaped(title_or(entry)),
        escaped(&entry.feed_title),
        frame.time(entry.sort_ms)
    );
    let star = if entry.is_starred { ("0", "★") } else { ("1", "☆") };
    let label = format!("<span aria-label=\"Star\">{}</span>", star.1);
    out.push_str(&frame.button("mark", here, &[("entry", &id), ("starred", star.0)], &label));
}

fn entry(scene: &mut Scene<'_>, frame: &Frame<'_>, asked: &Asked, id: i64) -> Result<Reply, FeedError> {
    let Some(mut entry) = scene.library.entry(frame.account, id)? else {
        return Ok(text(StatusCode::NOT_FOUND, "there is no such entry"));
    };
    if !entry.is_read && asked.is_deliberate() && !asked.has("keep") {
        scene.library.mark(frame.account, &[id], Mark::Read(true), scene.now_ms)?;
        entry.is_read = true;
    }
    let images = if asked.has("images") { Images::Shown } else { Images::Hidden };
    let policy = if images == Images::Shown { IMAGE_POLICY } else { POLICY };
    let content = clean(&entry.content, "", images);
    let here = format!("{PREFIX}entry/{id}?{}", asked.address_without(&["keep"]));
    let number = id.to_string();
    let link = match entry.link.is_empty() {
        true => escaped(title_or(&entry)),
        false => format!(
            "<a href=\"{}\" target=_blank rel=\"noopener noreferrer\">{}</a>",
            escaped(&entry.link),
            escaped(title_or(&entry))
        ),
    };
    let author =
        if entry.author.is_empty() { String::new() } else { format!(" by {}", escaped(&entry.author)) };
    let mut main = format!(
        "<article data-entry={id} data-read={} data-starred={} data-link=\"{}\"><h2 dir=auto>{link}</h2><p class=about><a href=\"{PREFIX}?feed={}&amp;all=1\">{}</a>{author}, {}</p>",
        u8::from(entry.is_read),
        u8::from(entry.is_starred),
        escaped(&entry.link),
        entry.feed,
        escaped(&entry.feed_title),
        frame.time(entry.published_ms.unwrap_or(entry.sort_ms))
    );
    if images == Images::Hidden && has_images(&entry.content) {
        let _ = write!(main, "<p class=images><a href=\"{PREFIX}entry/{id}?images=1\">Show images</a></p>");
    }
    let _ = write!(main, "<div class=content dir=auto>{content}</div><div class=head>");
    let star = if entry.is_starred { ("0", "Remove star") } else { ("1", "Star") };
    main.push_str(&frame.button("mark", &here, &[("entry", &number), ("starred", star.0)], star.1));
    let unread = format!("{here}&keep=1");
    main.push_str(&frame.button("mark", &unread, &[("entry", &number), ("read", "0")], "Mark as unread"));
    main.push_str("</div></article>");
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let title = plain_text(&escaped(title_or(&entry)), EXCERPT_BYTES);
    Ok(html(StatusCode::OK, policy, frame.page(&title, &sidebar(&subscriptions, asked), &main)))
}
