//! A day of a thousand feeds whose clock is the test's: what their polls cost, and what they find.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::counts::FeedCounts;
use crate::database::Library;
use crate::entry_filter::EntryFilter;
use crate::options::FeedOptions;
use crate::poller::Poller;

const FEEDS: u64 = 1000;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
/// 2026-11-01.
const START_MS: i64 = 1_793_491_200_000;
/// Entries of a document.
const LISTED: i64 = 20;
/// A document that is longer than the limit.
const LARGE_BYTES: u64 = 300_000;
/// What is compressed by Brotli: twenty entries without dates.
const BROTLI: &str = "GygECIzDdOMrr1YKf0q0ayt16bLnhbFgyhoOFMM0X87kQNhmqNbsVoMggghq6BZDevrL4e1CnSzdJJMEv6mSanY98/5caIetq6d3/XH8fvcqUcvD9dz619lQrAj54phAw1tEtIhkCdkyihVUq2jW0K1j2MC0+Y+TnyMfOEaVSROzZhYtrFrZtLFr59DBGc1hD1Kynmk=";

/// What the server of a feed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    Tags,
    Dates,
    NoValidators,
    MaxAge,
    Gzip,
    Brotli,
    Moved,
    Redirects,
    Gone,
    Pauses,
    FailsNowAndThen,
    Ttl,
    UpdatePeriod,
    Unreachable,
    TooLarge,
    Loops,
    Atom,
    Json,
    Malformed,
    Page,
}

impl Habit {
    const ALL: [Self; 20] = [
        Self::Tags,
        Self::Dates,
        Self::NoValidators,
        Self::MaxAge,
        Self::Gzip,
        Self::Brotli,
        Self::Moved,
        Self::Redirects,
        Self::Gone,
        Self::Pauses,
        Self::FailsNowAndThen,
        Self::Ttl,
        Self::UpdatePeriod,
        Self::Unreachable,
        Self::TooLarge,
        Self::Loops,
        Self::Atom,
        Self::Json,
        Self::Malformed,
        Self::Page,
    ];

    fn of(feed: u64) -> Self {
        Self::ALL[(feed % 20) as usize]
    }

    /// Whether its documents can be read, and have all entries.
    fn has_entries(self) -> bool {
        !matches!(self, Self::Brotli | Self::Gone | Self::Unreachable | Self::TooLarge | Self::Loops)
    }
}

/// Between two entries: few feeds have news every hour, and most have some in a week.
fn period_ms(feed: u64) -> i64 {
    match (feed / 20) % 50 {
        0 => 20 * MINUTE_MS,
        1..=3 => 90 * MINUTE_MS,
        4..=10 => 6 * 60 * MINUTE_MS,
        11..=23 => DAY_MS,
        24..=36 => 7 * DAY_MS,
        37..=44 => 30 * DAY_MS,
        _ => 300 * DAY_MS,
    }
}

/// The number of a feed's newest entry, and when that came.
fn newest(feed: u64, now_ms: i64) -> (i64, i64) {
    let period_ms = period_ms(feed);
    let offset_ms = (feed * 7919).cast_signed() * MINUTE_MS % period_ms;
    let number = (now_ms - offset_ms) / period_ms;
    (number, offset_ms + number * period_ms)
}

struct World {
    port: u16,
    now_ms: AtomicI64,
    /// Requests, and bytes of bodies, by feed.
    requests: Mutex<HashMap<u64, Vec<Asked>>>,
}

struct Asked {
    at_ms: i64,
    path: String,
    status: u16,
    bytes: u64,
}

impl World {
    fn start() -> Arc<Self> {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let world = Arc::new(Self { port, now_ms: AtomicI64::new(START_MS), requests: Mutex::default() });
        let server = Arc::clone(&world);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                std::thread::spawn(move || server.serve(&stream));
            }
        });
        world
    }

    /// Its address: ten feeds share a host.
    fn url(&self, feed: u64) -> String {
        let port = if Habit::of(feed) == Habit::Unreachable { 1 } else { self.port };
        let path = match Habit::of(feed) {
            Habit::Moved => "old",
            Habit::Page => "page",
            Habit::Redirects => "a",
            _ => "feed",
        };
        format!("http://127.1.0.{}:{port}/{path}/{feed}", 1 + feed / 10)
    }

    fn document(&self, feed: u64, now_ms: i64) -> String {
        let (last, _) = newest(feed, now_ms);
        let habit = Habit::of(feed);
        let mut out = match habit {
            Habit::Atom => "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title><id>i</id>".to_owned(),
            Habit::Json => "{\"version\":\"https://jsonfeed.org/version/1\",\"title\":\"t\",\"items\":[".to_owned(),
            Habit::Ttl => "<rss version='2.0'><channel><title>t</title><ttl>180</ttl>".to_owned(),
            Habit::UpdatePeriod => "<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel><title>t</title>\
                <sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>".to_owned(),
            Habit::Malformed => "<rss version='2.0'><channel><title>Fish & chips</title>".to_owned(),
            _ => "<rss version='2.0'><channel><title>t</title>".to_owned(),
        };
        for number in (last - LISTED + 1..=last).rev() {
            let at_ms = newest(feed, now_ms).1 - (last - number) * period_ms(feed);
            let date = jiff::Timestamp::from_millisecond(at_ms).unwrap();
            let body = "Some words that stand for an entry. ".repeat(12);
            let written = match habit {
                Habit::Atom => write!(
                    out,
                    "<entry><id>{number}</id><title>Entry {number}</title><updated>{date}</updated><content>{body}</content></entry>"
                ),
                Habit::Json => write!(
                    out,
                    "{}{{\"id\":\"{number}\",\"title\":\"Entry {number}\",\"date_published\":\"{date}\",\"content_text\":\"{body}\"}}",
                    if number == last { "" } else { "," }
                ),
                _ => write!(
                    out,
                    "<item><guid>{number}</guid><title>Entry {number}</title><pubDate>{date}</pubDate><description>{body}</description></item>"
                ),
            };
            written.unwrap();
        }
        out.push_str(match habit {
            Habit::Atom => "</feed>",
            Habit::Json => "]}",
            Habit::Malformed => "</channel>",
            _ => "</channel></rss>",
        });
        out
    }

    fn serve(&self, mut stream: &TcpStream) {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let Some(first) = lines.next() else { return };
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let header = |name: &str| {
            head.iter().find_map(|line| {
                let (known, value) = line.split_once(':')?;
                known.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let (kind, feed) = path.trim_start_matches('/').split_once('/').unwrap_or_default();
        let feed: u64 = feed.parse().unwrap_or(0);
        let now_ms = self.now_ms.load(Ordering::SeqCst);
        let (last, last_ms) = newest(feed, now_ms);
        let (habit, mut headers, mut body) = (Habit::of(feed), String::new(), Vec::new());
        let tag = format!("\"{last}\"");
        let written = jiff::Timestamp::from_millisecond(last_ms).unwrap();
        let written = written.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let has_tag = !matches!(habit, Habit::NoValidators | Habit::Dates | Habit::Brotli);
        let nth = self.requests.lock().unwrap().get(&feed).map_or(0, Vec::len);
        let status = match (kind, habit) {
            ("old", _) => {
                headers = format!("Location: /feed/{feed}\r\n");
                301
            }
            ("a", _) => {
                headers = format!("Location: /b/{feed}\r\n");
                302
            }
            ("b", _) => {
                headers = format!("Location: /feed/{feed}\r\n");
                307
            }
            ("page", _) => {
                headers = "Content-Type: text/html\r\n".to_owned();
                body = format!("<html><link rel=alternate type=application/rss+xml href=/feed/{feed}>")
                    .into_bytes();
                200
            }
            (_, Habit::Gone) => 410,
            (_, Habit::Pauses) if nth % 2 == 1 => {
                headers = "Retry-After: 7200\r\n".to_owned();
                429
            }
            (_, Habit::FailsNowAndThen) if nth % 3 == 1 => 500,
            (_, Habit::Loops) => {
                headers = format!("Location: /feed/{feed}\r\n");
                302
            }
            _ if has_tag && header("if-none-match").as_deref() == Some(&tag) => 304,
            (_, Habit::Dates) if header("if-modified-since").as_deref() == Some(&written) => 304,
            (_, Habit::Brotli) => {
                assert!(header("accept-encoding").is_some_and(|accepted| accepted.contains("br")));
                headers = "Content-Encoding: br\r\n".to_owned();
                body = BASE64_STANDARD.decode(BROTLI).unwrap();
                200
            }
            (_, Habit::TooLarge) => {
                body = vec![b' '; LARGE_BYTES as usize];
                200
            }
            (_, Habit::Gzip) => {
                headers = "Content-Encoding: gzip\r\n".to_owned();
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(self.document(feed, now_ms).as_bytes()).unwrap();
                body = encoder.finish().unwrap();
                200
            }
            _ => {
                body = self.document(feed, now_ms).into_bytes();
                200
            }
        };
        match habit {
            Habit::Dates => headers.push_str(&format!("Last-Modified: {written}\r\n")),
            Habit::MaxAge if kind == "feed" => headers.push_str("Cache-Control: max-age=10800\r\n"),
            _ => {}
        }
        if has_tag && kind == "feed" {
            headers.push_str(&format!("ETag: {tag}\r\n"));
        }
        let asked = Asked { at_ms: now_ms, path: path.clone(), status, bytes: body.len() as u64 };
        self.requests.lock().unwrap().entry(feed).or_default().push(asked);
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all(&[head.as_bytes(), &body].concat());
    }
}

/// A data directory that is removed with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
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
fn a_day_of_a_thousand_feeds() {
    let (directory, world) = (Directory::new("day"), World::start());
    let mut library = Library::open(&directory.0).unwrap();
    let ann = library.add_account("ann", "correct horse", START_MS).unwrap();
    for feed in 0..FEEDS {
        library.subscribe(&ann, &world.url(feed), &feed.to_string(), "", START_MS).unwrap();
    }
    let counts = FeedCounts::default();
    let mut poller = Poller::open(&directory.0, options(), counts.clone()).unwrap();
    let end_ms = START_MS + DAY_MS;
    run(&mut poller, &world.now_ms, end_ms);

    let all = library.subscriptions(&ann).unwrap();
    let subscriptions: HashMap<u64, _> = all.iter().map(|one| (one.title.parse().unwrap(), one)).collect();
    assert_eq!(subscriptions.len() as u64, FEEDS);
    let requests = world.requests.lock().unwrap();
    let (mut all_requests, mut all_bytes, mut usual_bytes) = (0, 0, 0);
    for feed in 0..FEEDS {
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
    let polls = 48 * FEEDS as usize;
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
