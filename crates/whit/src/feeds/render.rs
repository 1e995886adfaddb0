//! Feeds and entries as text and JSON.

use std::fmt::Write as _;

use ::feeds::{FeedEntry, Subscription, UnreadCount};
use facts::unit::Nanos;
use serde_json::{Value, json};
use syndication::plain_text;
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::Span;

use command::time_zone::written_ms as time;

/// The most bytes of an entry that the terminal shows.
const MAX_TEXT_BYTES: usize = 200_000;

fn nanoseconds(at_ms: i64) -> i64 {
    at_ms.saturating_mul(1_000_000)
}

/// How long ago, or ahead.
fn span(from_ms: i64, to_ms: i64) -> Span {
    Span(Nanos((to_ms - from_ms).max(0).unsigned_abs().saturating_mul(1_000_000)))
}

pub(super) fn accounts(accounts: &[UnreadCount]) -> String {
    let mut text = String::new();
    let mut table = Table::new(&[("ACCOUNT", Align::Left), ("UNREAD", Align::Right)]);
    for account in accounts {
        table.cell(|cell| cell.push_str(&account.account));
        table.cell(|cell| cell.push_str(&account.unread.to_string()));
    }
    table.write(&mut text);
    text
}

pub(super) fn subscriptions(subscriptions: &[Subscription], now_ms: i64) -> String {
    if subscriptions.is_empty() {
        return "no feeds; whit feeds add ADDRESS subscribes to one\n".to_owned();
    }
    let mut text = String::new();
    let mut table = Table::new(&[
        ("FEED", Align::Right),
        ("UNREAD", Align::Right),
        ("NEWEST", Align::Right),
        ("FOLDER", Align::Left),
        ("TITLE", Align::Left),
        ("", Align::Left),
    ]);
    for one in subscriptions {
        let newest = one.newest_ms.map_or_else(|| "–".to_owned(), |newest| span(newest, now_ms).to_string());
        table.cell(|cell| cell.push_str(&one.feed.to_string()));
        table.cell(|cell| cell.push_str(&one.unread.to_string()));
        table.cell(|cell| cell.push_str(&newest));
        table.cell(|cell| cell.push_str(&one.folder.shown().to_string()));
        table.cell(|cell| cell.push_str(&one.title.shown().to_string()));
        table.cell(|cell| cell.push_str(&trouble(one, now_ms)));
    }
    table.write(&mut text);
    text
}

/// Describes what is wrong with a feed; empty if nothing is.
fn trouble(one: &Subscription, now_ms: i64) -> String {
    match one.trouble(now_ms) {
        None if one.fetched_ms.is_none() => "not fetched yet".to_owned(),
        None => String::new(),
        Some(trouble) => trouble.shown().to_string(),
    }
}

pub(super) fn entries(entries: &[FeedEntry], now_ms: i64) -> String {
    if entries.is_empty() {
        return "no entries\n".to_owned();
    }
    let mut text = String::new();
    let mut table = Table::new(&[
        ("ENTRY", Align::Right),
        ("AGE", Align::Right),
        ("", Align::Left),
        ("FEED", Align::Left),
        ("TITLE", Align::Left),
    ]);
    for entry in entries {
        let marks = match (entry.is_starred, entry.is_read) {
            (true, _) => "*",
            (false, true) => "",
            (false, false) => "N",
        };
        table.cell(|cell| cell.push_str(&entry.id.to_string()));
        table.cell(|cell| cell.push_str(&span(entry.sort_ms, now_ms).to_string()));
        table.cell(|cell| cell.push_str(marks));
        table.cell(|cell| cell.push_str(&cut(&entry.feed_title, 24)));
        table.cell(|cell| cell.push_str(&cut(&title_of(entry), 100)));
    }
    table.write(&mut text);
    text
}

fn title_of(entry: &FeedEntry) -> String {
    match (entry.title.is_empty(), entry.link.is_empty()) {
        (false, _) => entry.title.clone(),
        (true, false) => entry.link.clone(),
        (true, true) => "(no title)".to_owned(),
    }
}

/// So many letters at most, and none that moves the cursor.
fn cut(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    let end = if short.len() < text.len() { "…" } else { "" };
    format!("{}{end}", short.shown())
}

pub(super) fn entry(entry: &FeedEntry) -> String {
    let mut text = format!("{}\n", title_of(entry).shown());
    let author = if entry.author.is_empty() { String::new() } else { format!(", {}", entry.author.shown()) };
    let _ = writeln!(
        text,
        "{}{author}, {}",
        entry.feed_title.shown(),
        time(entry.published_ms.unwrap_or(entry.sort_ms))
    );
    if !entry.link.is_empty() {
        let _ = writeln!(text, "{}", entry.link.shown());
    }
    text.push('\n');
    for line in plain_text(&entry.content, MAX_TEXT_BYTES).lines() {
        let _ = writeln!(text, "{}", line.shown());
    }
    text
}

pub(super) fn subscription_json(one: &Subscription) -> Value {
    json!({
        "feed": one.feed,
        "url": one.url,
        "title": one.title,
        "site": one.site,
        "folder": one.folder,
        "unread": one.unread,
        "newest_realtime_ns": one.newest_ms.map(nanoseconds),
        "fetched_realtime_ns": one.fetched_ms.map(nanoseconds),
        "next_realtime_ns": nanoseconds(one.next_ms),
        "failing_since_realtime_ns": one.failing_since_ms.map(nanoseconds),
        "error": one.error,
        "is_gone": one.is_gone,
    })
}

pub(super) fn entry_json(entry: &FeedEntry) -> Value {
    json!({
        "entry": entry.id,
        "feed": entry.feed,
        "feed_title": entry.feed_title,
        "title": entry.title,
        "author": entry.author,
        "link": entry.link,
        "published_realtime_ns": entry.published_ms.map(nanoseconds),
        "received_realtime_ns": nanoseconds(entry.received_ms),
        "is_read": entry.is_read,
        "is_starred": entry.is_starred,
        "text": plain_text(&entry.content, MAX_TEXT_BYTES),
    })
}
