//! The configuration of checks.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use formats::series_name::SeriesName;
use jiff::tz::TimeZone;
use probe::spawn::UserIds;
use store::Retention;

use super::native::Native;
use super::period::Period;
use super::push::PushOptions;
use super::slot;
use super::state::State;
use notify::Receiver;

/// The configuration of all checks.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOptions {
    /// In any order; their names differ.
    pub checks: Arc<Vec<Check>>,
    /// Plugins that run at a time, at most.
    pub most_running: usize,
    /// Plugins that are started in a second, at most.
    pub most_starts_a_second: f64,
    /// The receivers of notifications.
    pub receivers: Vec<Receiver>,
    /// The command that runs [`notify::job::run`]; the path of a job is its last word.
    pub job_program: Vec<OsString>,
    /// The zone of times of the week.
    pub zone: TimeZone,
    /// The limits of the history of their states and figures.
    pub retention: Retention,
    /// Groups of checks, and how many of each run at a time.
    pub groups: Vec<(String, usize)>,
    /// The command that runs [`runner::run`](super::runner::run) with its standard input.
    pub runner: Vec<OsString>,
    /// Where results are sent; `None`: nowhere.
    pub push: Option<PushOptions>,
    /// The FIFO for Nagios' external commands; `None`: none.
    pub command_file: Option<PathBuf>,
    /// The socket for Livestatus; `None`: none.
    pub livestatus: Option<PathBuf>,
}

impl CheckOptions {
    pub(super) fn without_checks(&self) -> Self {
        Self { checks: Arc::default(), ..self.clone() }
    }
}

/// The name of a check: of a host, of one of its services, or of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckName {
    /// Empty: this machine.
    pub host: String,
    /// Empty: the host itself.
    pub service: String,
}

/// `web1/http`, `web1` for the host itself, `load` for this machine's.
impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.host.as_str(), self.service.as_str()) {
            ("", service) => f.write_str(service),
            (host, "") => f.write_str(host),
            (host, service) => write!(f, "{host}/{service}"),
        }
    }
}

/// A check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Which.
    pub name: CheckName,
    /// That of its host; empty: the host's name.
    pub address: String,
    /// How it is done.
    pub way: CheckWay,
    /// Between two of them, unless something is wrong that is not certain.
    pub interval: Duration,
    /// Between two of them as long as that is so.
    pub retry_interval: Duration,
    /// So many times something must be wrong to be certain.
    pub attempts: u32,
    /// It is given up after so long.
    pub timeout: Duration,
    /// The state of a check whose plugin timed out.
    pub timeout_state: State,
    /// One of [`CheckOptions::groups`].
    pub group: Option<String>,
    /// Labels of its series and notifications.
    pub labels: Vec<(String, String)>,
    /// It runs only in these times.
    pub period: Option<Period>,
    /// The parents of a host: it is unreachable if all of these hosts are down.
    pub parents: Vec<String>,
    /// A result that is older than this is stale; for results that others submit.
    pub fresh_for: Option<Duration>,
    /// Flapping is not detected.
    pub ignores_flapping: bool,
    /// While one of these checks has a problem, this one sends no notifications.
    pub depends: Vec<String>,
    /// Its notifications.
    pub notifications: Arc<NotificationOptions>,
}

impl Check {
    /// A series of this check: its labels, then `host` and `check`.
    pub fn series(&self, metric: &str) -> SeriesName {
        let mut series = SeriesName::new(metric);
        self.labels.iter().for_each(|(label, value)| series.set(label, value));
        series.set("host", &self.name.host);
        series.set("check", &self.name.service);
        series
    }

    /// With the usual times.
    pub fn new(name: CheckName, way: CheckWay) -> Self {
        Self {
            name,
            address: String::new(),
            way,
            interval: Duration::from_secs(300),
            retry_interval: Duration::from_secs(60),
            attempts: 3,
            timeout: Duration::from_secs(60),
            timeout_state: State::Unknown,
            group: None,
            labels: Vec::new(),
            period: None,
            parents: Vec::new(),
            fresh_for: None,
            ignores_flapping: false,
            depends: Vec::new(),
            notifications: Arc::default(),
        }
    }

    /// The names of checks whose problems explain one of this check: its host or, for a host, its parents; and all that it depends on.
    pub(super) fn explanations(&self) -> impl Iterator<Item = &String> {
        let hosts = match self.is_of_host() {
            true => self.parents.as_slice(),
            false => std::slice::from_ref(&self.name.host),
        };
        hosts.iter().chain(&self.depends)
    }

    /// When it runs next, unless it has a soft problem; in milliseconds since 1970.
    pub fn next_ms(&self, now_ms: i64) -> i64 {
        slot::next_ms(&self.name.to_string(), self.interval.as_millis() as i64, now_ms)
    }

    /// Returns whether it is the check of a host.
    pub fn is_of_host(&self) -> bool {
        self.name.service.is_empty()
    }
}

/// How a check is done.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckWay {
    /// By a plugin.
    Plugin(Plugin),
    /// By whit itself, without a process.
    Native(Native),
    /// It is not run: results are submitted.
    Passive,
}

/// A Nagios plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugin {
    /// The program and its arguments; many checks share them.
    pub words: Vec<Arc<str>>,
    /// Added to the environment.
    pub environment: Vec<(String, String)>,
    /// The working directory; `None`: the agent's.
    pub directory: Option<String>,
    /// The user that it runs as; `None`: that of the agent.
    pub user: Option<UserIds>,
}

/// The notifications of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotificationOptions {
    /// The names of receivers; empty: all.
    pub receivers: Vec<String>,
    /// The notification of a problem is repeated after so long; `None`: never.
    pub repeat: Option<Duration>,
    /// From the n-th notification on these receivers get it, too.
    pub escalations: Vec<(u32, Vec<String>)>,
    /// Notifications are sent only in these times.
    pub period: Option<Period>,
    /// There are no notifications.
    pub is_silent: bool,
    /// There are no notifications of these states.
    pub untold: Vec<State>,
    /// There are no notifications of recoveries.
    pub hides_recoveries: bool,
    /// There are no notifications of flapping.
    pub hides_flapping: bool,
}
