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
const LONGEST_SLEEP: Duration = Duration::from_secs(5);
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
    mut options: FeedOptions,
    counts: &FeedCounts,
    wishes: &Receiver<FeedOptions>,
    warn: &dyn Fn(&str),
) {
    loop {
        match poll(data, options.clone(), counts, wishes) {
            Ok(Some(new)) => options = new,
            Ok(None) => return,
            Err(error) => {
                warn(&format!("feeds: {error}"));
                match wishes.recv_timeout(AFTER_ERROR) {
                    Ok(new) => options = new,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }
}

/// Polls until there are other options; `None`: until the agent ends.
fn poll(
    data: &Path,
    options: FeedOptions,
    counts: &FeedCounts,
    wishes: &Receiver<FeedOptions>,
) -> Result<Option<FeedOptions>, FeedError> {
    let mut poller = Poller::open(data, options, counts.clone())?;
    let mut counted: Option<Instant> = None;
    let mut seen = counts.totals();
    let mut is_changed = true;
    loop {
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let turn = poller.turn(now_ms, Duration::ZERO)?;
        is_changed |= poller.was_changed_by_others()? || counts.totals() != seen;
        seen = counts.totals();
        if is_changed && counted.is_none_or(|counted| counted.elapsed() >= COUNTING) {
            poller.count_unread()?;
            // Documents and entries were here, and are on disk now.
            probe::heap::give_memory_back();
            (is_changed, counted) = (false, Some(Instant::now()));
        }
        let until_next = turn
            .next_ms
            .map_or(LONGEST_SLEEP, |next_ms| Duration::from_millis((next_ms - now_ms).max(0).unsigned_abs()));
        let sleep = match turn.running {
            0 => until_next.clamp(Duration::from_millis(10), LONGEST_SLEEP),
            // A result waits no longer than this.
            _ => until_next.clamp(Duration::from_millis(10), Duration::from_millis(200)),
        };
        match wishes.recv_timeout(sleep) {
            Ok(new) => return Ok(Some(new)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}
