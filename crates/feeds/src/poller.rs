//! Polling: which feed is fetched when, a few at a time, never two of one host.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};

use syndication::{ParsedFeed, Reading};
use url::Url;

use crate::counts::{FeedCounts, FetchTotals};
use crate::database::Library;
use crate::error::FeedError;
use crate::feed_rows::{DueFeed, Polled};
use crate::fetch::{Cost, FetchError, Fetched, Fetcher};
use crate::locate::feed_of_page;
use crate::options::FeedOptions;
use crate::parser::DocumentParser;
use crate::reach::Reach;
use crate::rhythm;

/// Documents that are fetched at a time.
const MAX_FETCHES: usize = 12;
/// Documents of one account that are fetched at a time: slow servers of one account must not keep others waiting.
const MAX_FETCHES_OF_ACCOUNT: usize = 4;
/// Hosts whose last request is remembered.
const MAX_HOSTS: usize = 10_000;
/// The feeds of a host that wants a longer pause than this are put off, instead of being looked at again and again.
const SHORT_PAUSE_MS: i64 = 60_000;
/// While nothing is reached, each feed is tried again after so long.
const UNREACHED_PAUSE: Duration = Duration::from_secs(300);
/// Between two clean-ups.
const CLEANING_MS: i64 = 6 * 3_600_000;
/// A fetch that is older has lost its thread.
const LOST_MS: i64 = 300_000;
/// A server's pause of a week with its spread: nothing is scheduled later.
const LATEST_MS: i64 = 8 * 86_400_000;

/// Polls feeds. The caller says what time it is.
#[derive(Debug)]
pub(crate) struct Poller {
    data: PathBuf,
    library: Library,
    fetcher: Arc<Fetcher>,
    options: FeedOptions,
    counts: FeedCounts,
    /// When each host may be asked again.
    hosts: HashMap<String, i64>,
    reach: Reach,
    running: Vec<Running>,
    results: (Sender<Done>, Receiver<Done>),
    cleaned_ms: Option<i64>,
}

/// A fetch in a thread.
#[derive(Debug)]
struct Running {
    feed: i64,
    /// The subscriber for whom it is fetched.
    account: i64,
    host: String,
    since_ms: i64,
}

/// Its result.
#[derive(Debug)]
struct Done {
    feed: DueFeed,
    result: Result<(Fetched, Option<ParsedFeed>), FetchError>,
    cost: Cost,
}

/// The work that is left after a turn of the poller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Fetches that are running.
    pub running: usize,
    /// When something is due, in milliseconds since 1970; `None` if there is no feed.
    pub next_ms: Option<i64>,
}

impl Poller {
    /// Opens the library and the cache of a data directory.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub(crate) fn open(data: &Path, options: FeedOptions, counts: FeedCounts) -> Result<Self, FeedError> {
        let library = Library::open(data)?;
        let hosts = library.pauses()?.into_iter().collect();
        let fetcher = Arc::new(Fetcher::open(data, &options)?);
        Ok(Self {
            data: data.to_owned(),
            library,
            fetcher,
            options,
            counts,
            hosts,
            reach: Reach::default(),
            running: Vec::new(),
            results: channel(),
            cleaned_ms: None,
        })
    }

    /// From now on by these options. What is being fetched, and which servers want a pause, stays known.
    ///
    /// # Errors
    /// If the cache cannot be opened.
    pub(crate) fn reconfigure(&mut self, options: FeedOptions) -> Result<(), FeedError> {
        self.fetcher = Arc::new(Fetcher::open(&self.data, &options)?);
        self.options = options;
        Ok(())
    }

    /// Takes results, and begins fetches that are due. Waits for a result if something runs, at most as long as `wait`.
    ///
    /// # Errors
    /// If the library cannot be read or written.
    pub(crate) fn turn(&mut self, now_ms: i64, wait: Duration) -> Result<Turn, FeedError> {
        let mut results: Vec<Done> = self.results.1.try_iter().collect();
        if results.is_empty() && !self.running.is_empty() && !wait.is_zero() {
            results.extend(self.results.1.recv_timeout(wait));
        }
        // One that cannot be written keeps no other from being so.
        let mut finished = Ok(());
        for done in results {
            self.running.retain(|running| running.feed != done.feed.id);
            finished = finished.and(self.finish(done, now_ms));
        }
        finished?;
        self.running.retain(|running| now_ms - running.since_ms < LOST_MS);
        let waiting_ms = self.begin(now_ms)?;
        if self.fetcher.cache().has_grown() {
            self.clean_cache(now_ms)?;
        }
        if self.cleaned_ms.is_none_or(|cleaned| now_ms - cleaned > CLEANING_MS) {
            self.cleaned_ms = Some(now_ms);
            self.clean(now_ms)?;
        }
        let next_ms = match waiting_ms {
            Some(waiting_ms) => Some(waiting_ms),
            None => self.library.next_due_ms()?,
        };
        Ok(Turn { running: self.running.len(), next_ms })
    }

    /// Returns whether another process changed the library since the last call.
    ///
    /// # Errors
    /// If the library cannot be read.
    pub(crate) fn was_changed_by_others(&mut self) -> Result<bool, FeedError> {
        self.library.was_changed_by_others()
    }

    /// Counts what is unread, for others.
    ///
    /// # Errors
    /// If the library cannot be read.
    pub(crate) fn count_unread(&self) -> Result<(), FeedError> {
        self.counts.set_unread(self.library.unread_counts()?);
        Ok(())
    }

    /// Begins what is due and possible. Returns when the first of the others can begin.
    fn begin(&mut self, now_ms: i64) -> Result<Option<i64>, FeedError> {
        let mut waiting_ms: Option<i64> = None;
        let (mut chosen, mut put_off) = (Vec::new(), Vec::new());
        let Self { library, hosts, running, options, .. } = self;
        // All of them: many feeds of one host must not keep those of others waiting.
        library.each_due_feed(now_ms, |feed| {
            if running.iter().any(|running| running.feed == feed.id) {
                return ControlFlow::Continue(());
            }
            let host = host_of(&feed.url);
            let is_full = running.len() >= MAX_FETCHES;
            let of = |account: i64| running.iter().filter(|running| running.account == account).count();
            let account =
                feed.accounts.iter().copied().min_by_key(|account| of(*account)).unwrap_or_default();
            let has_place = of(account) < MAX_FETCHES_OF_ACCOUNT;
            let is_busy = running.iter().any(|running| running.host == host);
            let free_ms = hosts.get(&host).copied().unwrap_or(i64::MIN);
            if free_ms > now_ms + SHORT_PAUSE_MS {
                put_off.push((feed.id, free_ms));
            } else if is_full || !has_place || is_busy || free_ms > now_ms {
                let begins_ms = free_ms.max(now_ms + 100);
                waiting_ms = Some(waiting_ms.map_or(begins_ms, |waiting| waiting.min(begins_ms)));
            } else {
                if hosts.len() >= MAX_HOSTS {
                    hosts.retain(|_, free_ms| *free_ms > now_ms);
                }
                hosts.insert(host.clone(), now_ms + milliseconds(options.host_interval));
                running.push(Running { feed: feed.id, account, host, since_ms: now_ms });
                chosen.push(feed);
            }
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        for feed in chosen {
            // If the result cannot be written, or the agent is killed, the feed is not fetched again at once.
            let retry = rhythm::retry(feed.failures + 1, None, &self.options);
            if let Err(error) = self.library.schedule(feed.id, now_ms + milliseconds(retry)) {
                self.running.retain(|running| running.since_ms < now_ms);
                return Err(error);
            }
            self.start(feed, now_ms);
        }
        for (feed, free_ms) in put_off {
            self.library.schedule(feed, free_ms)?;
        }
        Ok(waiting_ms)
    }

    /// By a thread that ends with the fetch: most of the time there is none.
    fn start(&self, feed: DueFeed, now_ms: i64) {
        let (fetcher, results) = (Arc::clone(&self.fetcher), self.results.0.clone());
        let (parser, known) = (self.options.parser.clone(), feed.clone());
        let spawned = std::thread::Builder::new().name("feed".to_owned()).spawn(move || {
            let mut cost = Cost::default();
            let result = fetch(&fetcher, &parser, &feed, now_ms, &mut cost);
            let _ = results.send(Done { feed, result, cost });
        });
        if let Err(error) = spawned {
            let result = Err(FetchError::Failed(error.to_string()));
            let _ = self.results.0.send(Done { feed: known, result, cost: Cost::default() });
        }
    }

    fn finish(&mut self, done: Done, now_ms: i64) -> Result<(), FeedError> {
        let Done { feed, result, cost } = done;
        let cost =
            FetchTotals { requests: cost.requests, bytes: cost.received_bytes, ..FetchTotals::default() };
        // What one document does to the library must not keep others waiting.
        let applied = result.and_then(|(fetched, parsed)| {
            let polled = Polled {
                feed: parsed.as_ref(),
                digest: Some(&fetched.digest),
                moved_to: fetched.moved_to.as_deref(),
            };
            let entries = self.library.apply(feed.id, &polled, now_ms);
            let entries = entries.map_err(|error| FetchError::Failed(error.to_string()))?;
            Ok((fetched, parsed, entries))
        });
        if !matches!(applied, Err(FetchError::Unreached(_))) {
            self.reach.answered();
        }
        let wait = match applied {
            Ok((fetched, parsed, entries)) => {
                let is_changed = parsed.is_some();
                self.counts.add(FetchTotals {
                    changed: is_changed.into(),
                    unchanged: (!is_changed).into(),
                    entries,
                    ..cost
                });
                // Others may redirect there as well.
                self.rest_host(host_of(&fetched.address), self.options.host_interval, now_ms);
                let (times_ms, hint) = self.library.rhythm_of(feed.id)?;
                rhythm::interval(&times_ms, hint.max(fetched.fresh_for), now_ms, &self.options)
            }
            // That is not the feed's own failure.
            Err(FetchError::Unreached(_)) if self.reach.missed(host_of(&feed.url)) => {
                self.counts.add(FetchTotals { failed: 1, ..cost });
                UNREACHED_PAUSE
            }
            Err(error) => {
                self.counts.add(FetchTotals { failed: 1, ..cost });
                let is_gone = error == FetchError::Gone;
                self.library.note_failure(feed.id, &error.to_string(), is_gone, now_ms)?;
                let pause = match error {
                    FetchError::Pause { pause, host, .. } => {
                        let pause = pause.unwrap_or(Duration::from_secs(3600));
                        // The server meant all of its feeds.
                        self.library.note_pause(&host, now_ms + milliseconds(pause), now_ms)?;
                        self.rest_host(host, pause, now_ms);
                        Some(pause)
                    }
                    FetchError::Gone | FetchError::Unreached(_) | FetchError::Failed(_) => None,
                };
                rhythm::retry(feed.failures + 1, pause, &self.options)
            }
        };
        let wait = rhythm::spread(wait, feed.id, now_ms);
        self.library.schedule(feed.id, now_ms + milliseconds(wait))
    }

    /// Asks a host nothing for so long, or longer if that was decided before.
    fn rest_host(&mut self, host: String, pause: Duration, now_ms: i64) {
        let free_ms = self.hosts.entry(host).or_insert(i64::MIN);
        *free_ms = (*free_ms).max(now_ms + milliseconds(pause));
    }

    fn clean(&mut self, now_ms: i64) -> Result<(), FeedError> {
        self.library.reschedule_beyond(
            now_ms + LATEST_MS.max(2 * milliseconds(self.options.most_interval)),
            now_ms,
        )?;
        self.library.forget_old(self.options.keep, now_ms)?;
        self.clean_cache(now_ms)
    }

    fn clean_cache(&self, now_ms: i64) -> Result<(), FeedError> {
        // A feed is polled once a day at least; what was not written for longer than that is of no use soon.
        let oldest = self.options.most_interval.saturating_mul(4).max(Duration::from_secs(14 * 86_400));
        self.fetcher.cache().clean(oldest, at(now_ms))?;
        Ok(())
    }
}

fn fetch(
    fetcher: &Fetcher,
    parser: &DocumentParser,
    feed: &DueFeed,
    now_ms: i64,
    cost: &mut Cost,
) -> Result<(Fetched, Option<ParsedFeed>), FetchError> {
    let mut fetched = fetcher.fetch(&feed.url, feed.known.as_ref(), at(now_ms), cost)?;
    let failed = |reason: String| {
        // The same document must be looked at again by a version that can read it.
        fetcher.cache().remove(&fetched.address);
        FetchError::Failed(reason)
    };
    let parsed = match fetcher.read(parser, &fetched).map_err(failed)? {
        None => None,
        Some(Reading::Feed(parsed)) => Some(parsed),
        Some(Reading::Neither(reason)) => return Err(failed(reason)),
        Some(Reading::Page(_)) if feed.known.is_some() => {
            return Err(failed("it is a page and no feed".to_owned()));
        }
        // A new subscription may have the address of a page.
        Some(Reading::Page(found)) => {
            let (url, parsed, digest) =
                feed_of_page(fetcher, parser, found, at(now_ms), cost).map_err(failed)?;
            (fetched.moved_to, fetched.digest) = (Some(url), digest);
            Some(parsed)
        }
    };
    fetched.document = None;
    Ok((fetched, parsed))
}

fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

fn at(now_ms: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms.max(0).unsigned_abs())
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated_day::Directory;

    #[test]
    fn a_host_that_wants_a_pause_keeps_no_other_waiting() {
        let directory = Directory::new("pause");
        let mut library = Library::open(&directory.0).unwrap();
        let ann = library.add_account("ann", "correct horse", 0).unwrap();
        for feed in 0..1000 {
            library.subscribe(&ann, &format!("http://127.0.0.1:1/{feed}"), "", "", 0).unwrap();
        }
        let other = library.subscribe(&ann, "http://127.0.0.2:1/", "", "", 1).unwrap();
        let mut poller = Poller::open(&directory.0, FeedOptions::default(), FeedCounts::default()).unwrap();
        // Later than its other feeds, but for one of them alone.
        let turn = poller.turn(5000, Duration::ZERO).unwrap();
        assert_eq!(turn.running, 2);
        assert_eq!(poller.running[1].feed, other);
        while poller.turn(5000, Duration::from_secs(10)).unwrap().running > 0 {}
        poller.library.schedule(other, 6000).unwrap();
        poller.hosts.insert("127.0.0.1".to_owned(), 9_000_000);
        assert_eq!(poller.turn(5000, Duration::ZERO).unwrap(), Turn { running: 0, next_ms: Some(6000) });
        let turn = poller.turn(7000, Duration::ZERO).unwrap();
        assert_eq!((turn.running, poller.running[0].feed), (1, other));
        assert!(library.subscriptions(&ann).unwrap().iter().all(|one| one.next_ms >= 6000));
    }

    #[test]
    fn an_account_takes_not_all_places() {
        let directory = Directory::new("places");
        let mut library = Library::open(&directory.0).unwrap();
        let [ann, bob] = ["ann", "bob"].map(|name| library.add_account(name, "correct horse", 0).unwrap());
        for feed in 1..50 {
            library.subscribe(&bob, &format!("http://127.0.1.{feed}:1/"), "", "", 0).unwrap();
        }
        let other = library.subscribe(&ann, "http://127.0.2.1:1/", "", "", 1).unwrap();
        let mut poller = Poller::open(&directory.0, FeedOptions::default(), FeedCounts::default()).unwrap();
        poller.turn(5000, Duration::ZERO).unwrap();
        assert_eq!(poller.running.len(), MAX_FETCHES_OF_ACCOUNT + 1);
        assert!(poller.running.iter().any(|running| running.feed == other));
        // Whatever becomes of them, they are not due again at once.
        let all = library.subscriptions(&bob).unwrap();
        let begun = all.iter().filter(|one| poller.running.iter().any(|running| running.feed == one.feed));
        assert!(
            begun.clone().count() == MAX_FETCHES_OF_ACCOUNT
                && begun.clone().all(|one| one.next_ms > 3_000_000)
        );
    }

    #[test]
    fn a_pause_survives_a_restart() {
        let directory = Directory::new("pauses");
        let mut library = Library::open(&directory.0).unwrap();
        library.note_pause("a.example", 9_000_000, 1000).unwrap();
        library.note_pause("a.example", 8_000_000, 1000).unwrap();
        library.note_pause("b.example", 5_000_000, 8_500_000).unwrap();
        let poller = Poller::open(&directory.0, FeedOptions::default(), FeedCounts::default()).unwrap();
        assert_eq!(poller.hosts.get("a.example"), Some(&9_000_000));
    }
}
