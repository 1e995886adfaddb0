//! A tick: sample the machine and its tasks, and record them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use facts::source::{Source, Wanted};
use facts::task::TaskKey;
use facts::task::figure::Figure;
use facts::unit::Nanos;
use probe::task_detail::TaskFiles;
use probe::{Request, Roots};
use sampling::Formula;
use sampling::machine::MachineSampler;
use sampling::schedule::Schedule;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;
use store::{Named, SeriesId, Store, StoreError, TaskTick, Tick};

use crate::budget::Budget;
use crate::data_directory::DataDirectory;
use crate::messages::ServerReport;
use crate::now_file::NowFile;
use crate::options::{RecorderError, RecorderOptions};
use crate::own_marks::OwnMarks;
use crate::own_series::{OwnServer, OwnState, Part};
use crate::recorded::Recorded;
use crate::server_process::{Latest, LatestTasks, ServerProcess};
use service::{Level, Log};

/// Cgroups and processes whose names are looked up in one tick.
const NAMES_A_TICK: usize = 32;
/// Those that wait for this; the others keep their numbers.
const MAX_UNNAMED: usize = 4096;

/// The sources and the store of a tick.
pub(crate) struct Recorder {
    machine: MachineSampler,
    /// The sampler of sources that take long or hardly change.
    slow: MachineSampler,
    /// When these are read.
    slow_schedule: Schedule,
    /// `None` if not even /proc can be read.
    tasks: Option<TaskSampler>,
    budget: Budget,
    ticks_until_tasks: u32,
    /// Tasks were read in the last tick.
    has_tasks: bool,
    /// Names of cgroups and processes; `None` if /proc cannot be opened.
    labels: Option<TaskLabels>,
    /// The things that are to be named, each with a task.
    unnamed: BTreeMap<Named, TaskKey>,
    boot_id: String,
    series: Recorded,
    values: Vec<(SeriesId, f64)>,
    store: Store,
    directory: DataDirectory,
    now_file: Option<NowFile>,
    marks: OwnMarks,
    /// The options that apply now.
    options: RecorderOptions,
}

impl Recorder {
    /// Opens the samplers, the store and the now file.
    ///
    /// # Errors
    /// If the machine cannot be read, or the history was written by a newer version.
    pub(crate) fn open(
        options: &RecorderOptions,
        directory: DataDirectory,
        store: Store,
        log: &Log,
    ) -> Result<Self, RecorderError> {
        let roots = Roots::live();
        let machine = open_machine(&roots, |source| !SLOW.contains(&source))?;
        let slow = open_machine(&roots, |source| SLOW.contains(&source))?;
        let now_file =
            options.now.as_deref().map(|path| open_now_file(path, &options.now_metrics)).transpose()?;
        let tasks = open_tasks(options, log);
        Ok(Self {
            machine,
            slow,
            slow_schedule: Schedule::new(std::iter::once(options.slow_interval)),
            tasks,
            options: options.clone(),
            budget: Budget::new(options.cpu_limit),
            ticks_until_tasks: 0,
            has_tasks: false,
            unnamed: BTreeMap::new(),
            labels: TaskFiles::open(&roots).ok().map(TaskLabels::new),
            boot_id: probe::boot_id(&roots).unwrap_or_default(),
            series: Recorded::new(options.relabelling.clone()),
            values: Vec::new(),
            store,
            directory,
            now_file,
            marks: OwnMarks::default(),
        })
    }

    /// Takes a tick, which should have been `lateness` earlier. Returns what the service manager should know.
    pub(crate) fn tick(
        &mut self,
        lateness: Nanos,
        missed_ticks: u64,
        server: Option<&ServerProcess>,
        log: &mut Log,
    ) -> Option<String> {
        self.series.own.begin(lateness, missed_ticks);
        self.machine.sample();
        self.series.own.end(Part::Machine);
        let is_slow_due = self.slow_schedule.take_due(0, self.machine.now().clock.realtime);
        if is_slow_due {
            self.slow.sample();
        }
        self.series.own.end(Part::Slow);
        // Between two readings of the slow sources their values are the last ones.
        let samples = [self.machine.now(), self.slow.now()];
        self.series.collect_machine(samples, &mut self.store);
        self.series.own.end(Part::Machine);
        self.has_tasks = self.read_tasks(log);
        if let (true, Some(tasks), Some(labels)) = (is_slow_due, &self.tasks, &mut self.labels) {
            self.series.containers.look(&tasks.store, labels);
        }
        self.series.own.end(Part::Tasks);
        let state = self.own_state(server);
        let report = server.map(ServerProcess::report);
        self.series.collect_others(state, report.unwrap_or(&ServerReport::default()), &mut self.store);
        if let Some(fault) = self.series.registry.take_fault() {
            log.write(Level::Warning, &fault);
        }
        self.write_history(log);
        self.series.own.end(Part::Store);
        self.write_now_file(log);
        self.series.own.end(Part::Now);
        self.keep_budget(log)
    }

    /// Reads tasks, if it is their turn. Returns whether there is a new round of them.
    fn read_tasks(&mut self, log: &mut Log) -> bool {
        self.ticks_until_tasks = self.ticks_until_tasks.saturating_sub(1);
        if self.ticks_until_tasks > 0 {
            return false;
        }
        self.ticks_until_tasks = self.budget.stride();
        let Some(tasks) = &mut self.tasks else { return false };
        let read = tasks.sample();
        let is_read = read.is_ok();
        log.fault("tasks", read.err().map(|absence| format!("tasks cannot be read: {absence}")));
        if is_read {
            self.name_tasks();
            if let Some(tasks) = &self.tasks {
                self.series.tasks.add(&tasks.store, tasks.unrecorded_cpu);
            }
        }
        is_read
    }

    fn write_history(&mut self, log: &mut Log) {
        self.values.clear();
        self.values.extend(self.series.values());
        let tasks = self.tasks.as_ref().filter(|_| self.has_tasks);
        let written = self.store.append(&Tick {
            clock: self.machine.now().clock,
            boot_id: &self.boot_id,
            values: &self.values,
            tasks: tasks.map(|tasks| TaskTick { store: &tasks.store, lost_exits: tasks.lost_exits() }),
        });
        for finding in self.store.take_findings() {
            log.write(Level::Warning, &finding);
        }
        let fault = match written {
            Ok(()) => None,
            // This was said already, and goes on.
            Err(StoreError::Waiting) => return,
            Err(error) => {
                let path = self.directory.history.display();
                Some(format!("{path}: {error}; ticks stay in memory until it can be written"))
            }
        };
        log.fault("history", fault);
    }

    fn write_now_file(&mut self, log: &mut Log) {
        let Some(file) = &mut self.now_file else { return };
        let written = file.write(self.machine.now().clock.realtime, self.series.public());
        let message = |error| format!("{}: {error}; scripts read an older tick", file.path().display());
        log.fault("now", written.err().map(message));
    }

    /// Reads tasks less often if recording costs too much, and more often when that is possible again. Requests cost the server process, which is
    /// not counted: they do not change how often tasks are read.
    fn keep_budget(&mut self, log: &mut Log) -> Option<String> {
        if let Some(marked) = self.marks.take_result() {
            log.fault("marks", marked.err().map(|error| format!("marks: {error}")));
        }
        let clock = self.machine.now().clock;
        let change = self.budget.advance(clock.boottime, self.series.own.cost())?;
        let text = match change.stride {
            1 => "tasks are read at every tick again".to_owned(),
            stride => format!("tasks are read at one of {stride} ticks: recording would cost too much"),
        };
        self.marks.set(&self.directory.history, clock.realtime, &text);
        let percent = change.used.0 * 100.0;
        Some(format!("recording used {percent:.2} % of a CPU in a minute; {text}"))
    }

    /// Returns the last tick, for the server.
    pub(crate) fn latest(&self) -> Latest<'_> {
        let interval = Nanos::from(self.options.interval).0.saturating_mul(self.budget.stride().into());
        let tasks = self.tasks.as_ref().map(|tasks| LatestTasks {
            store: &tasks.store,
            lost_exits: tasks.lost_exits(),
            is_new: self.has_tasks,
            interval: Nanos(interval),
            source: tasks.source(),
            is_accounting_on: tasks.accounting_on(),
        });
        Latest {
            at_ms: self.machine.now().clock.realtime.0.cast_signed() / 1_000_000,
            series: &self.series,
            tasks,
            history: &self.directory.history,
        }
    }

    /// Takes over another configuration.
    pub(crate) fn reconfigure(&mut self, options: &RecorderOptions, log: &Log) {
        self.budget.set_limit(options.cpu_limit);
        if options.slow_interval != self.options.slow_interval {
            self.slow_schedule = Schedule::new(std::iter::once(options.slow_interval));
        }
        self.store.set_retention(self.directory.retention(&options.retention));
        if options.relabelling != self.options.relabelling {
            self.series.rename(options.relabelling.clone());
        }
        if options.records_tasks != self.tasks.is_some() {
            self.tasks = open_tasks(options, log);
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

    /// Looks up the names of cgroups and processes that have come to be: a few in each tick, since each takes a file.
    fn name_tasks(&mut self) {
        let (Some(tasks), Some(labels)) = (&self.tasks, &mut self.labels) else { return };
        for row in tasks.store.changed_rows() {
            let is_process = row.tgid == Some(row.key.pid);
            let command =
                (is_process && self.options.command_lines.is_some()).then_some(Named::Command(row.key));
            for named in [row.cgroup.map(Named::Cgroup), command].into_iter().flatten() {
                if self.unnamed.len() < MAX_UNNAMED && !self.store.knows(named) {
                    // Of several tasks in one cgroup the last is asked: it is most likely to be there still.
                    self.unnamed.insert(named, row.key);
                }
            }
        }
        for _ in 0..NAMES_A_TICK {
            let Some((named, key)) = self.unnamed.pop_first() else { return };
            let name = match (named, &self.options.command_lines) {
                (Named::Cgroup(id), _) => labels.cgroup(key, Some(id)).map(str::to_owned),
                (Named::Command(key), Some(redaction)) => labels.line(key).map(|line| redaction.apply(line)),
                (Named::Command(_), None) => None,
            };
            if let Some(name) = name {
                self.store.name(&self.boot_id, named, &name);
            }
        }
    }

    fn own_state(&self, server: Option<&ServerProcess>) -> OwnState {
        let tasks = self.tasks.as_ref();
        let (lost_ticks, lost_rounds) = self.store.lost();
        let resident_bytes = |pid| tasks?.store.row(pid)?.figures.get(Figure::RESIDENT_BYTES);
        OwnState {
            resident_bytes: resident_bytes(std::process::id()),
            server: server.map(|server| OwnServer {
                cpu_s: server.cpu_s(),
                requests_cpu_s: server.report().requests_cpu_s,
                resident_bytes: server.pid().and_then(resident_bytes),
                peak_bytes: server.report().peak_bytes,
                starts: server.starts(),
            }),
            task_stride: tasks.map(|_| self.budget.stride()),
            system_calls: self.machine.system_calls() + self.slow.system_calls(),
            lost_exits: tasks.map_or(0, TaskSampler::lost_exits),
            impossible_values: tasks.map_or(0, |tasks| tasks.impossible_values),
            lost_ticks: lost_ticks + lost_rounds,
            store_bytes: self.store.file_bytes(),
        }
    }

    /// Writes the ticks and marks that are left.
    ///
    /// # Errors
    /// If the history cannot be written.
    pub(crate) fn close(self) -> Result<(), RecorderError> {
        let Self { store, directory, mut marks, .. } = self;
        marks.finish();
        store.close().map_err(|error| RecorderError::Store(directory.history.clone(), error))
    }
}

/// Space of filesystems, what hardware is asked for, what hardly changes, and what takes the kernel long to add up over its CPUs.
const SLOW: [Source; 12] = [
    Source::Filesystems,
    Source::Sensors,
    Source::PowerSupply,
    Source::Frequency,
    Source::Backlight,
    Source::Wireless,
    Source::Addresses,
    Source::LinkState,
    Source::LinkSpeed,
    Source::NetProtocols,
    Source::CpuQuota,
    Source::LimitedCgroups,
];

fn open_machine(roots: &Roots, is_wanted: impl Fn(Source) -> bool) -> Result<MachineSampler, RecorderError> {
    let wanted: Wanted = Source::ALL.into_iter().filter(|source| is_wanted(*source)).collect();
    let request = Request { wanted, ..Request::default() };
    MachineSampler::open(roots, request, Formula::IfNeeded)
        .map_err(|error| RecorderError::System("/proc".to_owned(), io::Error::other(error.to_string())))
}

fn open_tasks(options: &RecorderOptions, log: &Log) -> Option<TaskSampler> {
    let opened = options.records_tasks.then(|| TaskSampler::open(&Roots::live(), None))?;
    opened.map_err(|error| log.write(Level::Warning, &format!("tasks are not recorded: {error}"))).ok()
}

fn open_now_file(path: &Path, metrics: &[String]) -> Result<NowFile, RecorderError> {
    NowFile::new(path, metrics).map_err(|error| RecorderError::System(path.display().to_string(), error))
}
