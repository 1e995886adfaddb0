//! The pages: lists of entries, one entry, and the management of feeds. They work without script.

use http::StatusCode;
use syndication::{Images, escaped, has_images, plain_text};

use super::html::{Html, html, push_html};
use super::layout::{Frame, document};
use super::manage::manage;
use super::request::{Asked, Reply, opml, page, place_text, text};
use super::scene::{IMAGE_POLICY, POLICY, PREFIX, Scene};
use crate::accounts::Account;
use crate::entries::{FeedEntry, Mark};
use crate::entry_filter::EntryFilter;
use crate::error::FeedError;
use crate::subscriptions::Subscription;

/// Entries of a page.
const LISTED: usize = 50;
/// The longest title of an entry's page, and what a list has of its content, in bytes.
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

pub(super) fn sign_in(reason: &str) -> Html {
    let alert = if reason.is_empty() { Html::default() } else { html!("<p role=alert>{}</p>", reason) };
    let body = html!(
        "<main class=\"sign-in\"><h1>Feeds</h1>{}<form method=post action=\"{}sign-in\">\
         <label>Name <input name=name autocomplete=username required autofocus></label>\
         <label>Password <input name=password type=password autocomplete=current-password required></label>\
         <button>Sign in</button></form></main>",
        alert,
        PREFIX,
    );
    document("Feeds", &body, &Html::default())
}

fn sidebar(subscriptions: &[Subscription], asked: &Asked) -> Html {
    let total: u64 = subscriptions.iter().map(|one| one.unread).sum();
    let mut out = html!("<nav class=feeds id=feeds aria-label=Feeds><ul>");
    let chosen = |is_chosen: bool| if is_chosen { " aria-current=page" } else { "" };
    let is_list = asked.path() == PREFIX;
    let is_plain = is_list && ["feed", "folder", "starred", "all", "q"].iter().all(|name| !asked.has(name));
    push_html!(out, "<li><a href=\"{}\"{}>Unread <b>{}</b></a>", PREFIX, chosen(is_plain), total);
    let is_all = is_list && asked.has("all") && !asked.has("feed") && !asked.has("folder");
    push_html!(out, "<li><a href=\"{}?all=1\"{}>All</a>", PREFIX, chosen(is_all));
    push_html!(out, "<li><a href=\"{}?starred=1\"{}>Starred</a></ul>", PREFIX, chosen(asked.has("starred")));
    let mut folder: Option<&str> = None;
    for one in subscriptions {
        if folder != Some(&one.folder) {
            if folder.is_some() {
                push_html!(out, "</ul>");
            }
            if !one.folder.is_empty() {
                let unread: u64 = subscriptions
                    .iter()
                    .filter(|other| other.folder == one.folder)
                    .map(|other| other.unread)
                    .sum();
                let link = form_urlencoded::byte_serialize(one.folder.as_bytes()).collect::<String>();
                let is_chosen = asked.has("folder") && asked.get("folder") == one.folder;
                push_html!(
                    out,
                    "<h2><a href=\"{}?folder={}\"{}>{} {}</a></h2>",
                    PREFIX,
                    link,
                    chosen(is_chosen),
                    one.folder,
                    count(unread),
                );
            }
            push_html!(out, "<ul>");
            folder = Some(&one.folder);
        }
        let class = if one.failing_since_ms.is_some() { " class=failing" } else { "" };
        push_html!(
            out,
            "<li{}><a href=\"{}?feed={}\"{}>{} {}</a>",
            class,
            PREFIX,
            one.feed,
            chosen(asked.number("feed") == Some(one.feed)),
            one.title,
            count(one.unread),
        );
    }
    if folder.is_some() {
        push_html!(out, "</ul>");
    }
    push_html!(out, "</nav>");
    out
}

fn count(unread: u64) -> Html {
    if unread > 0 { html!("<b>{}</b>", unread) } else { Html::default() }
}

fn list(scene: &mut Scene<'_>, frame: &Frame<'_>, asked: &Asked) -> Result<Reply, FeedError> {
    let mut filter = filter_of(asked);
    filter.limit = LISTED + 1;
    filter.has_beginnings = true;
    let mut entries = scene.library.entries(frame.account, &filter)?;
    let has_more = entries.len() > LISTED;
    entries.truncate(LISTED);
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let title = title_of(asked, &subscriptions);
    let here = format!("{PREFIX}?{}", asked.address_without(&[]));
    let mut main = html!("<div class=head><h2>{}</h2>", title);
    if let Some(trouble) = subscriptions
        .iter()
        .find(|one| Some(one.feed) == filter.feed)
        .and_then(|one| one.trouble(frame.now_ms))
    {
        push_html!(main, "<p role=alert>{}</p>", trouble);
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
            main.push(&frame.button("mark-all", &here, &fields, label));
        }
        let other = asked.address_without(&["all", "after"]);
        let (link, label) = match asked.has("all") {
            true => (other, "Only unread"),
            false => (format!("{other}{}all=1", if other.is_empty() { "" } else { "&" }), "All entries"),
        };
        push_html!(main, "<a href=\"{}?{}\">{}</a>", PREFIX, link, label);
    }
    push_refresh(&mut main, frame, asked, &here, &subscriptions);
    push_html!(main, "<a class=to-feeds href=\"#feeds\">Feeds</a></div>");
    match (entries.is_empty(), subscriptions.is_empty()) {
        (true, true) => push_html!(main, "<p>No feeds yet: <a href=\"/feeds/manage\">add one</a>.</p>"),
        (true, false) => push_html!(main, "<p>Nothing here.</p>"),
        (false, _) => {}
    }
    push_html!(main, "<ol class=entries>");
    for entry in &entries {
        push_row(&mut main, frame, entry, &here);
    }
    push_html!(main, "</ol>");
    if let Some(last) = entries.last().filter(|_| has_more) {
        let rest = asked.address_without(&["after"]);
        let and = if rest.is_empty() { "" } else { "&" };
        push_html!(
            main,
            "<p><a rel=next href=\"{}?{}{}after={}\">Older entries</a></p>",
            PREFIX,
            rest,
            and,
            place_text((last.sort_ms, last.id)),
        );
    }
    Ok(page(StatusCode::OK, POLICY, frame.page(&title, &sidebar(&subscriptions, asked), &main)))
}

/// Writes the form that has the listed feeds polled, or how many are being polled.
fn push_refresh(
    out: &mut Html,
    frame: &Frame<'_>,
    asked: &Asked,
    here: &str,
    subscriptions: &[Subscription],
) {
    let is_listed = |one: &&Subscription| {
        asked.number("feed").is_none_or(|feed| feed == one.feed)
            && (!asked.has("folder") || asked.get("folder") == one.folder)
    };
    let due =
        subscriptions.iter().filter(is_listed).filter(|one| one.next_ms <= frame.now_ms && !one.is_gone);
    match due.count() {
        0 => {
            let fields: Vec<(&str, &str)> = ["feed", "folder"]
                .into_iter()
                .filter(|name| asked.has(name))
                .map(|name| (name, asked.get(name)))
                .collect();
            out.push(&frame.button("refresh", here, &fields, "Refresh"));
        }
        1 => push_html!(
            out,
            "<span role=status>A feed is being fetched. <a href=\"{}\">Reload</a></span>",
            here
        ),
        due => push_html!(
            out,
            "<span role=status>{} feeds are being fetched. <a href=\"{}\">Reload</a></span>",
            due,
            here
        ),
    }
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

fn push_row(out: &mut Html, frame: &Frame<'_>, entry: &FeedEntry, here: &str) {
    let class = if entry.is_read { "read" } else { "unread" };
    let (read, starred) = (u8::from(entry.is_read), u8::from(entry.is_starred));
    let id = entry.id.to_string();
    push_html!(
        out,
        "<li id=\"entry-{}\" class={} data-entry={} data-read={} data-starred={} data-link=\"{}\">\
         <a class=title dir=auto href=\"{}entry/{}\">{}</a> <span class=feed dir=auto>{}</span> {}",
        id,
        class,
        id,
        read,
        starred,
        entry.link,
        PREFIX,
        id,
        title_or(entry),
        entry.feed_title,
        frame.time(entry.sort_ms),
    );
    let excerpt = plain_text(&entry.content, EXCERPT_BYTES);
    // Of short messages the title is their beginning.
    if !excerpt.is_empty() && !excerpt.starts_with(title_or(entry)) {
        push_html!(out, "<p class=excerpt dir=auto>{}</p>", excerpt);
    }
    let star = if entry.is_starred { ("0", "★") } else { ("1", "☆") };
    let label = html!("<span aria-label=\"Star\">{}</span>", star.1);
    out.push(&frame.button("mark", here, &[("entry", &id), ("starred", star.0)], label));
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
    let content = Html::of_content(&entry.content, images);
    let here = format!("{PREFIX}entry/{id}?{}", asked.address_without(&["keep"]));
    let number = id.to_string();
    let title = title_or(&entry);
    let link = match entry.link.is_empty() {
        true => html!("{}", title),
        false => html!("<a href=\"{}\" target=_blank rel=\"noopener noreferrer\">{}</a>", entry.link, title,),
    };
    let author = if entry.author.is_empty() { Html::default() } else { html!(" by {}", entry.author) };
    let mut main = html!(
        "<article data-entry={} data-read={} data-starred={} data-link=\"{}\"><h2 dir=auto>{}</h2><p class=about><a href=\"{}?feed={}&amp;all=1\">{}</a>{}, {}</p>",
        id,
        u8::from(entry.is_read),
        u8::from(entry.is_starred),
        entry.link,
        link,
        PREFIX,
        entry.feed,
        entry.feed_title,
        author,
        frame.time(entry.published_ms.unwrap_or(entry.sort_ms)),
    );
    if images == Images::Hidden && has_images(&entry.content) {
        push_html!(main, "<p class=images><a href=\"{}entry/{}?images=1\">Show images</a></p>", PREFIX, id,);
    }
    push_html!(main, "<div class=content dir=auto>{}</div><div class=head>", content);
    let star = if entry.is_starred { ("0", "Remove star") } else { ("1", "Star") };
    main.push(&frame.button("mark", &here, &[("entry", &number), ("starred", star.0)], star.1));
    let unread = format!("{here}&keep=1");
    main.push(&frame.button("mark", &unread, &[("entry", &number), ("read", "0")], "Mark as unread"));
    push_html!(main, "</div></article>");
    let subscriptions = scene.library.subscriptions(frame.account)?;
    let title = plain_text(&escaped(title), EXCERPT_BYTES);
    Ok(page(StatusCode::OK, policy, frame.page(&title, &sidebar(&subscriptions, asked), &main)))
}
