//! A tick: sample the machine and its tasks, and record them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use facts::source::Wanted;
use facts::task::TaskKey;
use facts::task::figure::Figure;
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use probe::background_job::Notifier;
use probe::task_detail::TaskFiles;
use probe::tasks::TaskSource;
use probe::{Request, Roots};
use sampling::Formula;
use sampling::agent_protocol::{Hello, Reply};
use sampling::machine::MachineSampler;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;
use store::{SeriesId, Store, StoreError, TaskTick, Tick};

use crate::budget::Budget;
use crate::log::{Level, Log};
use crate::machine_series::MachineSeries;
use crate::now_file::NowFile;
use crate::options::{AgentError, AgentOptions};
use crate::own_series::{OwnSeries, OwnState, Part};
use crate::place::Place;
use crate::socket::{Audience, Exchange, Socket, What};

/// Cgroups whose paths are looked up in one tick.
const CGROUPS_A_TICK: usize = 16;
const MOST_UNNAMED: usize = 4096;

/// What a tick reads and writes.
pub(crate) struct Recorder {
    machine: MachineSampler,
    /// `None` if not even /proc can be read.
    tasks: Option<TaskSampler>,
    budget: Budget,
    ticks_until_tasks: u32,
    /// What the service manager should be told.
    status: Option<String>,
    /// Names of cgroups; `None` if /proc cannot be opened.
    labels: Option<TaskLabels>,
    /// Cgroups whose paths are to be looked up, each with a task in it.
    unnamed: BTreeMap<u64, TaskKey>,
    boot_id: String,
    series: MachineSeries,
    own: OwnSeries,
    values: Vec<(SeriesId, f64)>,
    store: Store,
    history: PathBuf,
    now_file: Option<NowFile>,
    /// As it was configured last.
    options: AgentOptions,
    socket: Option<Socket>,
    audience: Audience,
    /// Rung by the socket's thread.
    wishes: Notifier,
}

impl Recorder {
    /// Opens everything.
    ///
    /// # Errors
    /// If the machine cannot be read, or the history was written by a newer version.
    pub(crate) fn open(
        options: &AgentOptions,
        place: &Place,
        store: Store,
        log: &Log,
    ) -> Result<Self, AgentError> {
        let roots = Roots::live();
        let history = place.history.clone();
        let request = Request { wanted: Wanted::all(), ..Request::default() };
        let machine = MachineSampler::open(&roots, request, Formula::IfNeeded)
            .map_err(|error| AgentError::System("/proc".to_owned(), io::Error::other(error.to_string())))?;
        let now_file =
            options.now.as_deref().map(|path| open_now_file(path, &options.now_metrics)).transpose()?;
        let tasks = open_tasks(options, log);
        let wishes = Notifier::new().map_err(|error| AgentError::System("a pipe".to_owned(), error))?;
        let socket = open_socket(options, tasks.as_ref(), &wishes, log);
        Ok(Self {
            machine,
            tasks,
            options: options.clone(),
            socket,
            audience: Audience::default(),
            wishes,
            budget: Budget::new(options.cpu_limit),
            ticks_until_tasks: 0,
            status: None,
            unnamed: BTreeMap::new(),
            labels: TaskFiles::open(&roots).ok().map(TaskLabels::new),
            boot_id: probe::boot_id(&roots).unwrap_or_default(),
            series: MachineSeries::default(),
            own: OwnSeries::default(),
            values: Vec::new(),
            store,
            history,
            now_file,
        })
    }

    /// Takes a tick, which should have been `lateness` earlier.
    pub(crate) fn tick(&mut self, lateness: Nanos, missed_ticks: u64, log: &mut Log) {
        self.own.lateness = lateness;
        self.own.missed_ticks += missed_ticks;
        self.own.begin();
        self.machine.sample();
        self.series.collect(self.machine.now(), &mut self.store);
        self.own.end(Part::Machine);
        let read = match self.ticks_until_tasks {
            0 => {
                self.ticks_until_tasks = self.budget.stride();
                self.tasks.as_mut().map(TaskSampler::sample)
            }
            _ => None,
        };
        self.ticks_until_tasks -= 1;
        self.own.end(Part::Tasks);
        let has_tasks = read == Some(Ok(()));
        let absence = read.and_then(Result::err).map(|absence| format!("tasks cannot be read: {absence}"));
        log.fault("tasks", absence);
        if has_tasks {
            self.name_cgroups();
            self.publish(Audience::publish_round);
        }
        let state = self.own_state();
        self.own.collect(state, &mut self.store);
        self.values.clear();
        self.values.extend(self.series.values().chain(self.own.values()));
        let tasks = self.tasks.as_ref().filter(|_| has_tasks);
        let tick = Tick {
            clock: self.machine.now().clock,
            boot_id: &self.boot_id,
            values: &self.values,
            tasks: tasks.map(|tasks| TaskTick { store: &tasks.store, lost_exits: tasks.lost_exits() }),
        };
        let written = self.store.append(&tick);
        for finding in self.store.take_findings() {
            log.write(Level::Warning, &finding);
        }
        match written {
            // Nothing is new about it.
            Err(StoreError::Waiting) => {}
            written => {
                let message = |error| {
                    format!(
                        "{}: {error}; ticks stay in memory until it can be written",
                        self.history.display()
                    )
                };
                log.fault("history", written.err().map(message));
            }
        }
        self.own.end(Part::Store);
        if let Some(file) = &mut self.now_file {
            let written = file.write(self.series.named().chain(self.own.named()));
            let message = |error| format!("{}: {error}; scripts read an older tick", file.path().display());
            log.fault("now", written.err().map(message));
        }
        self.own.end(Part::Now);
        let change = self.budget.advance(self.machine.now().clock.boottime, probe::own_cpu_time());
        if let (Some(change), Some(socket)) = (&change, &self.socket) {
            let interval = Nanos::from(self.options.interval).0.saturating_mul(change.stride.into());
            socket.exchange().set_interval(Nanos(interval));
        }
        self.status = change.map(|change| {
            format!(
                "used {:.2} % of a CPU in a minute; tasks are read every {} ticks",
                change.used.0 * 100.0,
                change.stride
            )
        });
    }

    /// Answers clients of the socket, as of the last tick.
    pub(crate) fn answer(&mut self) {
        self.wishes.drain();
        self.publish(Audience::publish_whole);
        let Some(socket) = &self.socket else { return };
        if socket.exchange().is_status_wanted() {
            let mut status = String::new();
            for (name, value) in self.own.named() {
                let _ = writeln!(status, "{name} {value}");
            }
            socket.exchange().publish(What::Status, Reply::Status(status).encode());
        }
    }

    /// Is readable when clients wait for an answer.
    pub(crate) fn wishes(&self) -> &Notifier {
        &self.wishes
    }

    fn publish(&mut self, publish: fn(&mut Audience, &Exchange, &TaskStore, u64)) {
        if let (Some(socket), Some(tasks)) = (&self.socket, &self.tasks) {
            publish(&mut self.audience, socket.exchange(), &tasks.store, tasks.lost_exits());
        }
    }

    /// What is new about the agent itself since the last tick.
    pub(crate) fn take_status(&mut self) -> Option<String> {
        self.status.take()
    }

    /// Takes over another configuration.
    pub(crate) fn reconfigure(&mut self, options: &AgentOptions, place: &Place, log: &Log) {
        self.budget.set_limit(options.cpu_limit);
        self.store.set_retention(place.retention(&options.retention));
        if options.records_tasks != self.tasks.is_some() {
            self.tasks = open_tasks(options, log);
            self.audience.clear();
        }
        // What clients were told, and who may see what, may be different now.
        let told = |options: &AgentOptions| {
            (options.socket.clone(), options.privileged.clone(), options.interval, options.records_tasks)
        };
        if told(options) != told(&self.options) {
            // The old one first: the path may be the same.
            self.socket = None;
            self.socket = open_socket(options, self.tasks.as_ref(), &self.wishes, log);
        }
        self.options = options.clone();
        let is_same_path = self.now_file.as_ref().map(NowFile::path) == options.now.as_deref();
        match (&mut self.now_file, &options.now) {
            (Some(file), _) if is_same_path => file.set_metrics(&options.now_metrics),
            (file, Some(path)) => match open_now_file(path, &options.now_metrics) {
                Ok(new) => *file = Some(new),
                Err(error) => log.write(Level::Warning, &format!("the old file stays: {error}")),
            },
            (file, None) => *file = None,
        }
    }

    /// Looks up the paths of cgroups that tasks have come to be in: a few in each tick, since each takes a file.
    fn name_cgroups(&mut self) {
        let (Some(tasks), Some(labels)) = (&self.tasks, &mut self.labels) else { return };
        for row in tasks.store.changed_rows() {
            let Some(id) = row.cgroup.filter(|id| !self.store.knows_cgroup(*id)) else { continue };
            if self.unnamed.len() < MOST_UNNAMED {
                // Of several tasks in one cgroup the last is asked: it has ended last.
                self.unnamed.insert(id, row.key);
            }
        }
        for _ in 0..CGROUPS_A_TICK {
            let Some((id, key)) = self.unnamed.pop_first() else { return };
            if let Some(path) = labels.cgroup(key, Some(id)) {
                self.store.name_cgroup(&self.boot_id, id, path);
            }
        }
    }

    fn own_state(&self) -> OwnState {
        let tasks = self.tasks.as_ref();
        let (lost_ticks, lost_rounds) = self.store.lost();
        let own = tasks.and_then(|tasks| tasks.store.row(std::process::id()));
        OwnState {
            resident_bytes: own.and_then(|row| row.figures.get(Figure::RESIDENT_BYTES)),
            task_stride: tasks.map(|_| self.budget.stride()),
            system_calls: self.machine.system_calls(),
            lost_exits: tasks.map_or(0, TaskSampler::lost_exits),
            impossible_values: tasks.map_or(0, |tasks| tasks.impossible_values),
            lost_ticks: lost_ticks + lost_rounds,
            store_bytes: self.store.file_bytes(),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// If that is not possible.
    pub(crate) fn close(self) -> Result<(), AgentError> {
        let history = self.history;
        self.store.close().map_err(|error: StoreError| AgentError::Store(history, error))
    }
}

fn open_tasks(options: &AgentOptions, log: &Log) -> Option<TaskSampler> {
    let opened = options.records_tasks.then(|| TaskSampler::open(&Roots::live(), None))?;
    opened.map_err(|error| log.write(Level::Warning, &format!("tasks are not recorded: {error}"))).ok()
}

/// The socket; without it the agent records all the same.
fn open_socket(
    options: &AgentOptions,
    tasks: Option<&TaskSampler>,
    wishes: &Notifier,
    log: &Log,
) -> Option<Socket> {
    let path = options.socket.as_deref()?;
    // Without tasks there is nothing to ask for.
    tasks?;
    let hello = Hello {
        interval: options.interval.into(),
        scope: Scope::All,
        source: tasks.map_or(TaskSource::Procfs, TaskSampler::source),
        is_accounting_on: tasks.and_then(TaskSampler::accounting_on),
    };
    let mut privileged = options.privileged.clone();
    // Its own user could read the same.
    if tasks.is_some_and(|tasks| TaskSource::UNPRIVILEGED.contains(&tasks.source())) {
        privileged.uids.push(probe::own_uid());
    }
    let opened = Socket::open(path, privileged, hello, wishes.clone());
    opened
        .map_err(|error| {
            log.write(Level::Warning, &format!("{}: {error}; nobody can ask this agent", path.display()))
        })
        .ok()
}

fn open_now_file(path: &Path, metrics: &[String]) -> Result<NowFile, AgentError> {
    NowFile::new(path, metrics).map_err(|error| AgentError::System(path.display().to_string(), error))
}
