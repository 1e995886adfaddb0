//! The agent's thread that polls.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::counts::FeedCounts;
use crate::database::Library;
use crate::error::FeedError;
use crate::options::FeedOptions;
use crate::poller::Poller;

/// How often another process' changes are looked for, which costs a read of one page.
const MAX_SLEEP: Duration = Duration::from_secs(5);
/// Between two counts of what is unread.
const COUNTING: Duration = Duration::from_secs(10);
/// After an error of the library.
const AFTER_ERROR: Duration = Duration::from_secs(60);

/// A thread that polls as long as this is kept.
#[derive(Debug)]
pub struct FeedWatch {
    wishes: Sender<FeedOptions>,
}

impl FeedWatch {
    /// Starts the thread. `warn` gets what goes wrong with the library.
    ///
    /// # Errors
    /// If the library cannot be opened.
    pub fn start(
        data: &Path,
        options: FeedOptions,
        counts: FeedCounts,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, FeedError> {
        Library::open(data)?;
        let (wishes, received) = channel();
        let data = data.to_owned();
        std::thread::Builder::new()
            .name("feeds".to_owned())
            .spawn(move || run(&data, options, &counts, &received, &warn))?;
        Ok(Self { wishes })
    }

    /// From now on by these options.
    pub fn reconfigure(&self, options: FeedOptions) {
        let _ = self.wishes.send(options);
    }
}

fn run(
    data: &Path,
    options: FeedOptions,
    counts: &FeedCounts,
    wishes: &Receiver<FeedOptions>,
    warn: &dyn Fn(&str),
) {
    let mut poller = None;
    let mut options = Some(options);
    let mut unread = UnreadCounting::default();
    loop {
        let sleep = match turn(&mut poller, &mut options, data, counts, &mut unread) {
            Ok(sleep) => sleep,
            Err(error) => {
                warn(&format!("feeds: {error}"));
                AFTER_ERROR
            }
        };
        match wishes.recv_timeout(sleep) {
            Ok(new) => options = Some(new),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Polls what is due. Returns how long nothing is to be done.
fn turn(
    poller: &mut Option<Poller>,
    options: &mut Option<FeedOptions>,
    data: &Path,
    counts: &FeedCounts,
    unread: &mut UnreadCounting,
) -> Result<Duration, FeedError> {
    if let Some(new) = options.clone() {
        match poller {
            Some(poller) => poller.reconfigure(new)?,
            None => *poller = Some(Poller::open(data, new, counts.clone())?),
        }
        *options = None;
    }
    let Some(poller) = poller else { return Ok(MAX_SLEEP) };
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let turn = poller.turn(now_ms, Duration::ZERO)?;
    unread.update(poller, counts)?;
    let until_next = turn
        .next_ms
        .map_or(MAX_SLEEP, |next_ms| Duration::from_millis((next_ms - now_ms).max(0).unsigned_abs()));
    // A result waits no longer than the second one.
    let longest = if turn.running == 0 { MAX_SLEEP } else { Duration::from_millis(200) };
    Ok(until_next.clamp(Duration::from_millis(10), longest))
}

/// Counts what is unread after something changed. All entries are looked at for that, so that counting gets a thousandth of the time.
#[derive(Debug, Default)]
struct UnreadCounting {
    is_wanted: bool,
    seen_entries: Option<u64>,
    not_before: Option<Instant>,
}

impl UnreadCounting {
    fn update(&mut self, poller: &mut Poller, counts: &FeedCounts) -> Result<(), FeedError> {
        let entries = counts.totals().entries;
        self.is_wanted |=
            poller.was_changed_by_others()? || self.seen_entries.replace(entries) != Some(entries);
        let begin = Instant::now();
        if !self.is_wanted || self.not_before.is_some_and(|not_before| begin < not_before) {
            return Ok(());
        }
        poller.count_unread()?;
        // Documents and entries were here, and are on disk now.
        probe::heap::give_memory_back();
        self.is_wanted = false;
        self.not_before = Some(Instant::now() + (begin.elapsed() * 1000).max(COUNTING));
        Ok(())
    }
}
