//! `whit fleet simulate`: what so many machines would send, to learn what a store of them needs.

mod recording;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use facts::unit::{Bytes, Nanos};
use formats::series_name::SeriesName;
use history::HISTORY;
use remote_store::RemoteStore;
use text::printable::Shown as _;
use text::units::{Size, Span};

use command::failure::Failure;
use command::output::Output;

use self::recording::{Machine, Recording};

/// Requests that are on their way at the same time.
const MAX_SENDERS: usize = 16;
/// An agent sends so much time at once.
const SENT_AT_ONCE: Duration = Duration::from_secs(5);
/// After a request that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// What is simulated.
#[derive(Debug)]
pub(super) struct SimulateArgs {
    /// The data directory whose history is repeated.
    pub(super) data: PathBuf,
    pub(super) url: String,
    pub(super) machines: usize,
    /// Between two samples of a series.
    pub(super) interval: Duration,
    /// How long it goes on.
    pub(super) duration: Duration,
    /// So much faster than real time.
    pub(super) speed: u32,
}

/// What was sent.
#[derive(Default)]
struct Totals {
    requests: u64,
    samples: u64,
    bytes: u64,
    failures: u64,
    failure: Option<String>,
    /// How late the latest request was.
    lag: Duration,
}

pub(super) fn run(args: &SimulateArgs) -> Result<ExitCode, Failure> {
    let path = args.data.join(HISTORY);
    let recording = Recording::read(&path)
        .map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?
        .ok_or_else(|| {
            Failure::new(format!("{}: nothing is recorded yet that could be repeated", path.shown()))
        })?;
    let (totals, begun) = (Mutex::new(Totals::default()), Instant::now());
    let now_ms = jiff::Timestamp::now().as_millisecond();
    // At the end the simulated time is now.
    let length = args.duration * args.speed;
    let clock = Clock {
        begun,
        from_ms: now_ms + milliseconds(args.duration) - milliseconds(length),
        speed: args.speed,
    };
    let senders = args.machines.min(MAX_SENDERS);
    std::thread::scope(|scope| {
        for sender in 0..senders {
            let (totals, recording) = (&totals, &recording);
            scope.spawn(move || {
                send(args, recording, clock, (sender..args.machines).step_by(senders), totals)
            });
        }
    });
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    let text = described(args, &recording, &totals, begun.elapsed());
    Output::stdout().write(text.as_bytes())?;
    Ok(if totals.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The simulated time.
#[derive(Clone, Copy)]
struct Clock {
    begun: Instant,
    from_ms: i64,
    speed: u32,
}

impl Clock {
    /// When something is due that is so long after the beginning of the simulated time.
    fn due(&self, after: Duration) -> Instant {
        self.begun + after / self.speed
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Totals {
    fn add(&mut self, samples: &[(SeriesName, Vec<(i64, f64)>)], bytes: usize, lag: Duration) {
        self.requests += 1;
        self.samples += samples.iter().map(|(_, samples)| samples.len() as u64).sum::<u64>();
        self.bytes += bytes as u64;
        self.lag = self.lag.max(lag);
    }

    fn fail(&mut self, message: String) {
        self.failures += 1;
        self.failure = Some(message);
    }
}

/// Sends what some of the machines record, each as often as an agent does.
fn send(
    args: &SimulateArgs,
    recording: &Recording,
    clock: Clock,
    machines: impl Iterator<Item = usize>,
    totals: &Mutex<Totals>,
) {
    let machines: Vec<(usize, Machine)> =
        machines.map(|number| (number, Machine::new(number, recording))).collect();
    let store = RemoteStore::new(&args.url);
    let sent_at_once = SENT_AT_ONCE.min(args.duration * args.speed);
    let at_once = (sent_at_once.as_nanos() / args.interval.as_nanos().max(1)).max(1) as usize;
    let span = args.interval * at_once as u32;
    let rounds = (args.duration * args.speed).as_nanos() / span.as_nanos().max(1);
    let end = clock.begun + args.duration;
    let locked = || totals.lock().unwrap_or_else(PoisonError::into_inner);
    for round in 0..rounds as usize {
        let since = span * round as u32;
        for (number, machine) in &machines {
            // They do not all send at the same moment.
            let due = clock.due(since + span.mul_f64(*number as f64 / args.machines as f64));
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let first = round * at_once;
            let at_ms = |index: usize| clock.from_ms + milliseconds(args.interval * (first + index) as u32);
            let times_ms: Vec<i64> = (0..at_once).map(at_ms).collect();
            let samples =
                recording.samples(machine, first, &times_ms, milliseconds(args.interval) * 1_000_000);
            loop {
                match store.append(samples.iter().map(|(name, samples)| (name, &samples[..]))) {
                    Ok(bytes) => break locked().add(&samples, bytes, due.elapsed()),
                    Err(message) => locked().fail(message),
                }
                if Instant::now() > end {
                    return;
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn described(args: &SimulateArgs, recording: &Recording, totals: &Totals, took: Duration) -> String {
    let Totals { requests, samples, bytes, failures, failure, lag } = totals;
    let span = |duration: Duration| Span(Nanos::from(duration));
    let per_sample = *bytes as f64 / (*samples).max(1) as f64;
    let mut text = format!(
        "{} machines with {} series each, a sample every {}\n\
         {samples} samples in {}, {:.0} a second\n\
         {} in {requests} requests, {per_sample:.2} bytes a sample\n\
         {} of CPU time here\n\
         the latest request was {} late\n",
        args.machines,
        recording.series_count(),
        span(args.interval),
        span(took),
        *samples as f64 / took.as_secs_f64(),
        Size(Bytes(*bytes)),
        Span(probe::own_cpu_time()),
        span(*lag),
    );
    if let Some(failure) = failure {
        text.push_str(&format!("{failures} requests failed: {}\n", failure.shown()));
    }
    text
}
