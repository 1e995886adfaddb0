//! Tests of the entries that accounts see while feeds change, move and go.

use crate::accounts::Account;
use crate::database::Library;
use crate::entries::Mark;
use crate::entry_filter::EntryFilter;
use crate::feed_rows::Polled;
use syndication::{ParsedEntry, ParsedFeed};

fn parsed(entries: &[(&str, &str, i64)]) -> ParsedFeed {
    let entry = |(identity, title, published_ms): &(&str, &str, i64)| ParsedEntry {
        identity: (*identity).to_owned(),
        title: (*title).to_owned(),
        link: format!("https://example.org/{identity}"),
        published_ms: Some(*published_ms),
        content: format!("<p>the body of {title}</p>"),
        ..ParsedEntry::default()
    };
    ParsedFeed { entries: entries.iter().map(entry).collect(), ..ParsedFeed::default() }
}

struct World {
    library: Library,
    ann: Account,
    bob: Account,
    feed: i64,
}

impl World {
    fn new() -> Self {
        let mut library = Library::in_memory();
        let ann = library.add_account("ann", "correct horse", 0).unwrap();
        let bob = library.add_account("bob", "battery staple", 0).unwrap();
        let feed = library.subscribe(&ann, "https://example.org/feed", "", "news", 0).unwrap();
        let mut world = Self { library, ann, bob, feed };
        world.poll(&[("c", "Third", 300), ("b", "Second", 200), ("a", "First", 100)], 1000);
        world
    }

    fn poll(&mut self, entries: &[(&str, &str, i64)], now_ms: i64) -> u64 {
        let feed = parsed(entries);
        self.library
            .apply(self.feed, &Polled { feed: Some(&feed), moved_to: None, digest: None }, now_ms)
            .unwrap()
    }

    fn titles(&self, account: &Account, filter: &EntryFilter) -> Vec<String> {
        self.library.entries(account, filter).unwrap().into_iter().map(|entry| entry.title).collect()
    }
}

#[test]
fn an_account_sees_its_own_alone() {
    let mut world = World::new();
    let all = EntryFilter::default();
    assert_eq!(world.titles(&world.ann, &all), ["Third", "Second", "First"]);
    assert!(world.titles(&world.bob, &all).is_empty());
    let id = world.library.entries(&world.ann, &all).unwrap()[0].id;
    assert!(world.library.entry(&world.bob, id).unwrap().is_none());
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    assert_eq!(world.library.mark(&bob, &[id], Mark::Starred(true), 0).unwrap(), 0);
    assert_eq!(world.library.mark(&ann, &[id, 99], Mark::Starred(true), 0).unwrap(), 1);
    assert_eq!(world.library.mark_all_read(&bob, &all, 0).unwrap(), 0);
    assert!(world.library.entry(&world.bob, id).unwrap().is_none());
    assert!(!world.library.unsubscribe(&bob, world.feed).unwrap());
}

#[test]
fn filters_select() {
    let mut world = World::new();
    let ann = world.ann.clone();
    let id = world.library.entries(&ann, &EntryFilter::default()).unwrap()[1].id;
    world.library.mark(&ann, &[id], Mark::Read(true), 0).unwrap();
    world.library.mark(&ann, &[id], Mark::Starred(true), 0).unwrap();
    let unread = EntryFilter { is_unread: true, ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &unread), ["Third", "First"]);
    let starred = EntryFilter { is_starred: true, ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &starred), ["Second"]);
    let search = |text: &str| EntryFilter { search: text.to_owned(), ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &search("bod thi")), ["Third"]);
    assert_eq!(world.titles(&ann, &search("body -third")), ["Second", "First"]);
    assert!(world.titles(&ann, &search("\"")).is_empty());
    let folder = |name: &str| EntryFilter { folder: Some(name.to_owned()), ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &folder("news")).len(), 3);
    assert!(world.titles(&ann, &folder("other")).is_empty());
    let page = EntryFilter { after: Some((200, id)), ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &page), ["First"]);
    let oldest = EntryFilter { is_oldest_first: true, limit: 2, ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &oldest), ["First", "Second"]);
    assert_eq!(world.library.count_entries(&ann, &unread).unwrap(), 2);
    let old = EntryFilter { before_ms: Some(200), ..EntryFilter::default() };
    assert_eq!(world.library.mark_all_read(&ann, &old, 0).unwrap(), 1);
    assert_eq!(world.library.unread_counts().unwrap()[0].unread, 1);
}

#[test]
fn an_entry_that_was_rewritten_is_the_same() {
    let mut world = World::new();
    let ann = world.ann.clone();
    let all: Vec<i64> =
        world.library.entries(&ann, &EntryFilter::default()).unwrap().iter().map(|entry| entry.id).collect();
    world.library.mark(&ann, &all, Mark::Read(true), 0).unwrap();
    assert_eq!(
        world.poll(&[("c", "Third, corrected", 5000), ("b", "Second", 200), ("a", "First", 100)], 2000),
        0
    );
    assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third, corrected", "Second", "First"]);
    assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
    let search = EntryFilter { search: "corrected".to_owned(), ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &search).len(), 1);
    // Other identities, the same links.
    let mut moved = parsed(&[("c", "Third, corrected", 5000), ("b", "Second", 200)]);
    for entry in &mut moved.entries {
        entry.identity.push_str("-new");
    }
    let polled = Polled { feed: Some(&moved), moved_to: None, digest: None };
    assert_eq!(world.library.apply(world.feed, &polled, 3000).unwrap(), 0);
    assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
}

#[test]
fn old_entries_go_and_starred_ones_stay() {
    let mut world = World::new();
    let ann = world.ann.clone();
    let keep = std::time::Duration::from_secs(1);
    world.poll(&[("c", "Third", 300)], 2000);
    assert_eq!(world.library.forget_old(keep, 1500).unwrap(), 0);
    let first = world.library.entries(&ann, &EntryFilter::default()).unwrap()[2].id;
    world.library.mark(&ann, &[first], Mark::Starred(true), 0).unwrap();
    assert_eq!(world.library.forget_old(keep, 5000).unwrap(), 1);
    assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third", "First"]);
    assert!(world.library.unsubscribe(&ann, world.feed).unwrap());
    assert_eq!(world.titles(&ann, &EntryFilter::default()), ["First"]);
    world.library.mark(&ann, &[first], Mark::Starred(false), 0).unwrap();
    world.library.forget_old(keep, 5000).unwrap();
    let left: i64 =
        world.library.connection.query_row("SELECT count(*) FROM feeds", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

/// An entry that is old and was listed until now is kept as long as others; a document without any takes no marks away.
#[test]
fn what_a_feed_listed_until_now_is_kept() {
    let mut world = World::new();
    let ann = world.ann.clone();
    let keep = std::time::Duration::from_secs(1);
    world.library.mark_all_read(&ann, &EntryFilter::default(), 0).unwrap();
    world.poll(&[], 9000);
    assert_eq!(world.library.forget_old(keep, 9500).unwrap(), 0);
    world.poll(&[("b", "Second", 200), ("a", "First", 100)], 9600);
    assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
    // A clock that was ahead hides nothing that comes later from those who subscribed then.
    world.poll(&[("b", "Second", 200)], 90_000);
    let bob = world.bob.clone();
    world.library.subscribe(&bob, "https://example.org/feed", "", "", 90_000).unwrap();
    world.poll(&[("c", "Third", 300), ("b", "Second", 200)], 9700);
    assert_eq!(world.titles(&bob, &EntryFilter::default()), ["Third", "Second"]);
}

#[test]
fn a_feed_that_moved_takes_marks_along() {
    let mut world = World::new();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    let other = world.library.subscribe(&bob, "https://example.org/new", "", "", 0).unwrap();
    let feed = parsed(&[("c", "Third", 300), ("b", "Second", 200)]);
    world.library.apply(other, &Polled { feed: Some(&feed), moved_to: None, digest: None }, 1000).unwrap();
    world.library.mark_all_read(&ann, &EntryFilter::default(), 0).unwrap();
    let all = world.library.entries(&ann, &EntryFilter::default()).unwrap();
    world.library.mark(&ann, &[all[0].id, all[2].id], Mark::Starred(true), 0).unwrap();
    let polled = Polled { feed: None, moved_to: Some("https://example.org/new"), digest: None };
    world.library.apply(world.feed, &polled, 2000).unwrap();
    assert_eq!(world.library.subscriptions(&ann).unwrap()[0].url, "https://example.org/new");
    assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third", "Second", "First"]);
    assert_eq!(world.library.unread_counts().unwrap()[0].unread, 0);
    let starred = EntryFilter { is_starred: true, ..EntryFilter::default() };
    assert_eq!(world.titles(&ann, &starred), ["Third", "First"]);
    // What the other feed never said is not there for its readers.
    assert_eq!(world.titles(&bob, &EntryFilter::default()), ["Third", "Second"]);
    assert_eq!(world.library.unread_counts().unwrap()[1].unread, 2);
}

#[test]
fn no_document_keeps_the_poller_from_others() {
    let mut world = World::new();
    let mut feed = parsed(&[("c", "Third", 300)]);
    feed.hint = Some(std::time::Duration::MAX);
    let polled = Polled { feed: Some(&feed), moved_to: None, digest: None };
    world.library.apply(world.feed, &polled, 2000).unwrap();
    assert_eq!(world.library.rhythm_of(world.feed).unwrap().1.as_secs(), 86_400);
    // The readers left while it was fetched; its number is not used again.
    world.library.unsubscribe(&world.ann, world.feed).unwrap();
    assert_eq!(world.library.apply(world.feed, &polled, 3000).unwrap(), 0);
    let next = world.library.subscribe(&world.ann, "https://example.org/next", "", "", 0).unwrap();
    assert!(next > world.feed);
}

#[test]
fn a_headline_that_comes_again_is_new() {
    let mut world = World::new();
    world.library.mark_all_read(&world.ann, &EntryFilter::default(), 0).unwrap();
    let mut forecast = parsed(&[("monday", "Forecast", 400)]);
    let mut days = Vec::new();
    for day in 0..3 {
        forecast.entries[0].identity = format!("day {day}");
        forecast.entries[0].link = "https://example.org/forecast".to_owned();
        forecast.entries[0].published_ms = Some(400 + day);
        let polled = Polled { feed: Some(&forecast), moved_to: None, digest: None };
        days.push(world.library.apply(world.feed, &polled, 2000 + day).unwrap());
    }
    assert_eq!(days, [1, 1, 1]);
}

#[test]
fn a_feed_that_moved_to_one_of_the_same_reader_takes_entries_along() {
    let mut world = World::new();
    let ann = world.ann.clone();
    let other = world.library.subscribe(&ann, "https://example.org/new", "", "", 0).unwrap();
    let feed = parsed(&[("c", "Third", 300)]);
    world.library.apply(other, &Polled { feed: Some(&feed), moved_to: None, digest: None }, 500).unwrap();
    let polled = Polled { feed: None, moved_to: Some("https://example.org/new"), digest: None };
    world.library.apply(world.feed, &polled, 2000).unwrap();
    assert_eq!(world.titles(&ann, &EntryFilter::default()), ["Third", "Second", "First"]);
    assert_eq!(world.library.subscriptions(&ann).unwrap().len(), 1);
}

#[test]
fn a_new_reader_gets_what_is_listed_now() {
    let mut world = World::new();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    // As if the feed had not been this one before.
    let feed = parsed(&[("d", "Fourth", 400)]);
    let polled = Polled { feed: Some(&feed), moved_to: Some("https://example.org/new"), digest: None };
    world.library.apply(world.feed, &polled, 2000).unwrap();
    assert_eq!(world.library.subscribe(&bob, "https://example.org/new", "", "", 9000).unwrap(), world.feed);
    let all = EntryFilter::default();
    assert_eq!(world.titles(&bob, &all), ["Fourth"]);
    assert_eq!(world.titles(&ann, &all), ["Fourth", "Third", "Second", "First"]);
    assert_eq!(world.library.subscriptions(&bob).unwrap()[0].unread, 1);
    assert_eq!(world.library.unread_counts().unwrap()[1].unread, 1);
    let id = world.library.entries(&ann, &all).unwrap()[1].id;
    assert!(world.library.entry(&bob, id).unwrap().is_none());
    assert_eq!(world.library.mark(&bob, &[id], Mark::Starred(true), 0).unwrap(), 0);
    world.poll(&[("e", "Fifth", 500)], 10_000);
    assert_eq!(world.titles(&bob, &all), ["Fifth", "Fourth"]);
}

#[test]
fn an_entry_that_is_listed_keeps_its_identity() {
    let mut world = World::new();
    world.poll(&[("a", "Update", 100)], 2000);
    let ann = world.ann.clone();
    world.library.mark_all_read(&ann, &EntryFilter::default(), 0).unwrap();
    // Another one with the same link, title and date, below the one that is known.
    let mut both = parsed(&[("a", "Update", 100), ("b2", "Update", 100)]);
    both.entries[1].link = both.entries[0].link.clone();
    let polled = Polled { feed: Some(&both), moved_to: None, digest: None };
    assert_eq!(world.library.apply(world.feed, &polled, 3000).unwrap(), 1);
    let unread =
        world.library.entries(&ann, &EntryFilter { is_unread: true, ..EntryFilter::default() }).unwrap();
    assert_eq!(unread.len(), 1);
    assert_eq!(unread[0].received_ms, 3000);
}

#[test]
fn what_others_read_cannot_be_told_by_times() {
    let mut world = World::new();
    let bob = world.bob.clone();
    world.library.subscribe(&bob, "https://example.org/feed", "", "", 9000).unwrap();
    let one = &world.library.subscriptions(&bob).unwrap()[0];
    assert_eq!((one.fetched_ms, one.newest_received_ms), (Some(9000), Some(9000)));
    // Programs that ask for what came since they asked last get it as well.
    let since = |ms| EntryFilter { received_since_ms: Some(ms), ..EntryFilter::default() };
    assert_eq!(world.titles(&bob, &since(9000)).len(), 3);
    assert!(world.titles(&bob, &since(9001)).is_empty());
    assert_eq!(world.library.entries(&bob, &EntryFilter::default()).unwrap()[0].received_ms, 9000);
}

#[test]
fn a_feed_that_is_gone_comes_back_by_one_that_moves_to_it() {
    let mut world = World::new();
    let bob = world.bob.clone();
    let other = world.library.subscribe(&bob, "https://example.org/new", "", "", 0).unwrap();
    world.library.note_failure(other, "gone", true, 1000).unwrap();
    world.library.schedule(other, 900_000_000).unwrap();
    let polled = Polled { feed: None, moved_to: Some("https://example.org/new"), digest: None };
    world.library.apply(world.feed, &polled, 2000).unwrap();
    let one = &world.library.subscriptions(&bob).unwrap()[0];
    assert_eq!((one.is_gone, one.failing_since_ms, one.next_ms), (false, None, 2000));
}

#[test]
fn a_failing_feed_is_tried_again_when_its_reader_wishes() {
    let mut world = World::new();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    world.library.note_failure(world.feed, "status 500", false, 100_000).unwrap();
    world.library.schedule(world.feed, 900_000_000).unwrap();
    let next = |world: &World| world.library.subscriptions(&world.ann).unwrap()[0].next_ms;
    world.library.retry(&bob, world.feed, 200_000).unwrap();
    world.library.retry(&ann, world.feed, 110_000).unwrap();
    assert_eq!(next(&world), 900_000_000);
    world.library.retry(&ann, world.feed, 200_000).unwrap();
    assert_eq!(next(&world), 200_000);
}

#[test]
fn feeds_are_polled_when_their_reader_wishes() {
    let mut world = World::new();
    let (ann, bob) = (world.ann.clone(), world.bob.clone());
    let other = world.library.subscribe(&ann, "https://example.org/other", "", "News", 0).unwrap();
    let first = world.feed;
    for feed in [first, other] {
        world.library.apply(feed, &Polled { feed: None, moved_to: None, digest: None }, 100_000).unwrap();
        world.library.schedule(feed, 900_000_000).unwrap();
    }
    let due = |world: &World, now_ms: i64| {
        let all = world.library.subscriptions(&world.ann).unwrap();
        all.iter().filter(|one| one.next_ms <= now_ms).map(|one| one.feed).collect::<Vec<_>>()
    };
    let refresh = |world: &mut World, account: &Account, feed, folder, now_ms| {
        world.library.refresh(account, feed, folder, now_ms).unwrap();
        due(world, now_ms)
    };
    assert!(refresh(&mut world, &bob, Some(other), None, 200_000).is_empty(), "of another account");
    assert!(refresh(&mut world, &ann, None, None, 110_000).is_empty(), "too soon");
    assert_eq!(refresh(&mut world, &ann, None, Some("News"), 200_000), [other]);
    assert_eq!(refresh(&mut world, &ann, Some(first), None, 200_000).len(), 2);
    world.library.note_failure(other, "status 500", false, 300_000).unwrap();
    world.library.schedule(other, 900_000_000).unwrap();
    assert!(!refresh(&mut world, &ann, None, None, 400_000).contains(&other), "it has a rhythm of its own");
}

#[test]
fn dates_that_were_never_set_do_not_hide_an_entry() {
    let mut world = World::new();
    world.poll(&[("z", "Zero", -62_135_596_800_000), ("c", "Third", 300)], 2000);
    let ann = world.ann.clone();
    assert_eq!(world.titles(&ann, &EntryFilter::default())[0], "Zero");
}
