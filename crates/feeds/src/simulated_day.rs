//! A day of many feeds: what their polls cost, and what they find.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::counts::FeedCounts;
use crate::database::Library;
use crate::entry_filter::EntryFilter;
use crate::options::FeedOptions;
use crate::poller::Poller;
use crate::simulated_servers::{BROTLI, DAY_MS, Habit, LARGE_BYTES, LISTED, START_MS, World, newest};

const FEEDS: u64 = 1000;
/// Every seventh has all habits and all periods. WHIT_CASES asks for all of them.
const STEP: usize = 7;

/// A data directory that is removed with the test.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("whit-feeds-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options() -> FeedOptions {
    FeedOptions {
        allowed: vec!["127.0.0.0/8".parse().unwrap()],
        most_bytes: 200_000,
        ..FeedOptions::default()
    }
}

/// Polls until an instant. Time passes when nothing is under way.
fn run(poller: &mut Poller, now_ms: &AtomicI64, until_ms: i64) {
    loop {
        let now = now_ms.load(Ordering::SeqCst);
        let turn = poller.turn(now, Duration::from_secs(10)).unwrap();
        if turn.running > 0 {
            continue;
        }
        match turn.next_ms {
            Some(next_ms) if next_ms <= until_ms => now_ms.store(next_ms.max(now + 1), Ordering::SeqCst),
            _ => return,
        }
    }
}

#[test]
fn a_day_of_many_feeds() {
    let step = if std::env::var_os("WHIT_CASES").is_some() { 1 } else { STEP };
    let feeds: Vec<u64> = (0..FEEDS).step_by(step).collect();
    let (directory, world) = (Directory::new("day"), World::start());
    let mut library = Library::open(&directory.0).unwrap();
    let ann = library.add_account("ann", "correct horse", START_MS).unwrap();
    for &feed in &feeds {
        library.subscribe(&ann, &world.url(feed), &feed.to_string(), "", START_MS).unwrap();
    }
    let counts = FeedCounts::default();
    let mut poller = Poller::open(&directory.0, options(), counts.clone()).unwrap();
    let end_ms = START_MS + DAY_MS;
    run(&mut poller, &world.now_ms, end_ms);

    let all = library.subscriptions(&ann).unwrap();
    let subscriptions: HashMap<u64, _> = all.iter().map(|one| (one.title.parse().unwrap(), one)).collect();
    assert_eq!(subscriptions.len(), feeds.len());
    let requests = world.requests.lock().unwrap();
    let (mut all_requests, mut all_bytes, mut usual_bytes) = (0, 0, 0);
    for &feed in &feeds {
        let (habit, one) = (Habit::of(feed), subscriptions[&feed]);
        let asked = requests.get(&feed).map_or(&[][..], Vec::as_slice);
        all_requests += asked.len();
        all_bytes += asked.iter().map(|asked| asked.bytes).sum::<u64>();
        usual_bytes += 48
            * match habit {
                Habit::Gone | Habit::Unreachable | Habit::Loops => 0,
                Habit::TooLarge => LARGE_BYTES,
                Habit::Brotli => BASE64_STANDARD.decode(BROTLI).unwrap().len() as u64,
                // Gzip: this is text of few words, and a feed that is asked for every time would have that, too.
                Habit::Gzip => asked.iter().map(|asked| asked.bytes).max().unwrap_or(0),
                _ => world.document(feed, START_MS).len() as u64,
            };
        let times = |path: &str| asked.iter().filter(|asked| asked.path.starts_with(path)).count();
        let fulls =
            asked.iter().filter(|asked| asked.status == 200 && asked.path.starts_with("/feed")).count();
        match habit {
            Habit::Gone => assert!(one.is_gone && asked.len() == 1, "{feed}: {}", asked.len()),
            Habit::Moved => assert!(times("/old") == 1 && one.url.contains("/feed/"), "{feed}: {}", one.url),
            Habit::Page => assert!(times("/page") == 1 && one.url.contains("/feed/"), "{feed}: {}", one.url),
            Habit::Redirects => assert!(one.url.contains("/a/") && times("/a") == times("/feed"), "{feed}"),
            Habit::Unreachable | Habit::TooLarge | Habit::Loops => {
                assert!(one.failing_since_ms.is_some() && !one.error.is_empty(), "{feed}: {habit:?}");
            }
            Habit::Pauses => {
                for pair in asked.windows(2).filter(|pair| pair[0].status == 429) {
                    assert!(
                        pair[1].at_ms - pair[0].at_ms >= 7_200_000,
                        "{feed}: it was asked within the pause"
                    );
                }
            }
            Habit::Brotli => assert_eq!(one.unread, 20, "{feed}"),
            _ => assert!(
                one.failing_since_ms.is_none() || habit == Habit::FailsNowAndThen,
                "{feed}: {}",
                one.error
            ),
        }
        // What has not changed is not sent again by servers that know.
        if matches!(
            habit,
            Habit::Tags
                | Habit::Dates
                | Habit::MaxAge
                | Habit::Gzip
                | Habit::Atom
                | Habit::Json
                | Habit::Malformed
        ) {
            let changes = newest(feed, end_ms).0 - newest(feed, START_MS).0;
            assert!(fulls as i64 <= changes + 1, "{feed}: {fulls} documents for {changes} changes");
        }
        // Nothing that a document listed is lost, and what came since the first is there up to the last poll.
        if habit.has_entries() {
            let polled_ms =
                asked.iter().filter(|asked| asked.status < 400).map(|asked| asked.at_ms).max().unwrap();
            let expected = newest(feed, polled_ms).0 - newest(feed, asked[0].at_ms).0 + LISTED;
            let count =
                library.count_entries(&ann, &EntryFilter { feed: Some(one.feed), ..EntryFilter::default() });
            let count = i64::try_from(count.unwrap()).unwrap();
            let is_slow = habit == Habit::UpdatePeriod
                || habit == Habit::Ttl
                || habit == Habit::Pauses
                || habit == Habit::MaxAge;
            let is_complete = if is_slow { count <= expected } else { count == expected };
            assert!(is_complete, "{feed} ({habit:?}): {count} entries of {expected}");
        }
    }
    let polls = 48 * feeds.len();
    eprintln!(
        "{all_requests} requests and {all_bytes} bytes; every 30 minutes: {polls} and {usual_bytes}: {:.3} and {:.3}",
        all_requests as f64 / polls as f64,
        all_bytes as f64 / usual_bytes as f64
    );
    assert!(all_requests * 5 <= polls, "{all_requests} requests");
    assert!(all_bytes * 5 <= usual_bytes, "{all_bytes} of {usual_bytes} bytes");
    let kept = library.count_entries(&ann, &EntryFilter::default()).unwrap();
    assert_eq!(counts.totals().entries, kept);
}

#[test]
fn an_unreachable_feed_is_kept_for_a_month() {
    let directory = Directory::new("month");
    let mut library = Library::open(&directory.0).unwrap();
    let ann = library.add_account("ann", "correct horse", START_MS).unwrap();
    library.subscribe(&ann, "http://127.0.0.1:1/feed", "", "", START_MS).unwrap();
    let counts = FeedCounts::default();
    let mut poller = Poller::open(&directory.0, options(), counts.clone()).unwrap();
    let now_ms = AtomicI64::new(START_MS);
    run(&mut poller, &now_ms, START_MS + 31 * DAY_MS);
    let one = &library.subscriptions(&ann).unwrap()[0];
    assert_eq!(one.failing_since_ms, Some(START_MS));
    assert!(one.error.contains("refused"), "{}", one.error);
    // Twice a day at most in the long run, and still asked.
    let polls = counts.totals().failed;
    assert!((28..=40).contains(&polls), "{polls} polls");
    assert!(one.next_ms > START_MS + 31 * DAY_MS);
}
