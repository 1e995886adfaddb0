//! A thousand feeds whose clock is the test's, and servers with every habit.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const DAY_MS: i64 = 86_400_000;
/// 2026-11-01.
pub(crate) const START_MS: i64 = 1_793_491_200_000;
/// Entries of a document.
pub(crate) const LISTED: i64 = 20;
/// A document that is longer than the limit.
pub(crate) const LARGE_BYTES: u64 = 300_000;
/// A document that is compressed by Brotli: twenty entries without dates.
pub(crate) const BROTLI: &str = "GygECIzDdOMrr1YKf0q0ayt16bLnhbFgyhoOFMM0X87kQNhmqNbsVoMggghq6BZDevrL4e1CnSzdJJMEv6mSanY98/5caIetq6d3/XH8fvcqUcvD9dz619lQrAj54phAw1tEtIhkCdkyihVUq2jW0K1j2MC0+Y+TnyMfOEaVSROzZhYtrFrZtLFr59DBGc1hD1Kynmk=";

/// The behaviour of the server of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
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

    pub(crate) fn of(feed: u64) -> Self {
        Self::ALL[(feed % 20) as usize]
    }

    /// Returns whether its documents can be read, and have all entries.
    pub(crate) fn has_entries(self) -> bool {
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
pub(crate) fn newest(feed: u64, now_ms: i64) -> (i64, i64) {
    let period_ms = period_ms(feed);
    let offset_ms = (feed * 7919).cast_signed() * MINUTE_MS % period_ms;
    let number = (now_ms - offset_ms) / period_ms;
    (number, offset_ms + number * period_ms)
}

pub(crate) struct World {
    pub(crate) port: u16,
    pub(crate) now_ms: AtomicI64,
    /// Requests, and bytes of bodies, by feed.
    pub(crate) requests: Mutex<HashMap<u64, Vec<Asked>>>,
}

pub(crate) struct Asked {
    pub(crate) at_ms: i64,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) bytes: u64,
}

impl World {
    pub(crate) fn start() -> Arc<Self> {
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
    pub(crate) fn url(&self, feed: u64) -> String {
        let port = if Habit::of(feed) == Habit::Unreachable { 1 } else { self.port };
        let path = match Habit::of(feed) {
            Habit::Moved => "old",
            Habit::Page => "page",
            Habit::Redirects => "a",
            _ => "feed",
        };
        format!("http://127.1.0.{}:{port}/{path}/{feed}", 1 + feed / 10)
    }

    pub(crate) fn document(&self, feed: u64, now_ms: i64) -> String {
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
        assert!(path.is_ascii(), "{path}");
        let before_query = path.split('?').next().unwrap_or_default();
        let (kind, feed) = before_query.trim_start_matches('/').split_once('/').unwrap_or_default();
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
                // Not percent-encoded, as some servers send it.
                headers = format!("Location: /b/{feed}?käse\r\n");
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
            // A 304 names nothing that it confirms, as those of some servers.
            Habit::Dates if status == 304 => {}
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
