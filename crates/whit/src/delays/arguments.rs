//! Options of `whit delays`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgGroup, ArgMatches, Command, builder::PossibleValue, value_parser};
use facts::task::{Cause, TaskAccount};
use facts::unit::Nanos;
use probe::Roots;

use command::failure::Failure;
use command::kind::Kind;
use command::options::{count, direct, ids, interval, json, option, paragraphs, root, roots, switch};
#[cfg(feature = "agent")]
use command::options::{instant, instant_option, past_data, past_directory};

/// `whit delays`, validated.
#[derive(Debug)]
pub(crate) struct DelaysArgs {
    pub(crate) roots: Roots,
    pub(crate) selection: Selection,
    pub(crate) view: View,
    pub(crate) sort: SortKey,
    /// Differences over this long instead of totals.
    pub(crate) interval: Option<Duration>,
    pub(crate) count: Option<u64>,
    pub(crate) enable: bool,
    /// The filter of the tasks that end.
    pub(crate) of_exits: ExitFilter,
    /// No agent is asked.
    pub(crate) is_direct: bool,
    /// Read /proc alone, as for a user without privileges.
    pub(crate) procfs_only: bool,
    /// The past time whose records are shown.
    pub(crate) past: Option<PastTime>,
}

/// A time in nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastTime {
    /// `None`: since each task began.
    pub(crate) since_ns: Option<i64>,
    pub(crate) until_ns: i64,
    /// Where it was recorded.
    pub(crate) directory: PathBuf,
}

/// Whose delays.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// These processes and these threads, in the order given.
    Ids { processes: Vec<u32>, threads: Vec<u32> },
    /// Processes of this name.
    Name(String),
    /// All processes.
    AllProcesses,
    /// Each thread of all processes, or of these alone.
    EachThread { of: Option<Vec<u32>> },
    /// A cgroup's tasks together.
    Cgroup(PathBuf),
    /// The delays of this command.
    Command(Vec<OsString>),
    /// Each task as it ends, until ended or until the command does.
    Exits(Option<Vec<OsString>>),
    /// None: delay accounting is switched on, and that is all.
    Nothing,
}

/// Which of the tasks that end are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExitFilter {
    pub(crate) comm: Option<String>,
    pub(crate) parent: Option<u32>,
    pub(crate) least_wall: Option<Nanos>,
    /// The least length of the longest of its delays.
    pub(crate) least_delay: Option<Nanos>,
}

impl ExitFilter {
    /// Returns true if a task is shown.
    pub(crate) fn takes(&self, task: &TaskAccount) -> bool {
        let longest = || Cause::ALL.into_iter().filter_map(|cause| task.sum.delay(cause).total()).max();
        self.comm.as_ref().is_none_or(|comm| task.comm.is_named(comm))
            && self.parent.is_none_or(|parent| task.ppid == Some(parent))
            && self.least_wall.is_none_or(|least| task.wall >= least)
            && self.least_delay.is_none_or(|least| longest() >= Some(least))
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Table,
    Classic,
    Json,
}

/// By what rows are ordered, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKey {
    /// As they were named, or as /proc lists them: by pid.
    AsRead,
    Pid,
    Wall,
    OnCpu,
    Cause(Cause),
}

const SORT_KEYS: [SortKey; 11] = [
    SortKey::Pid,
    SortKey::Wall,
    SortKey::OnCpu,
    SortKey::Cause(Cause::RunQueue),
    SortKey::Cause(Cause::BlockIo),
    SortKey::Cause(Cause::SwapIn),
    SortKey::Cause(Cause::Reclaim),
    SortKey::Cause(Cause::Thrashing),
    SortKey::Cause(Cause::Compaction),
    SortKey::Cause(Cause::Copy),
    SortKey::Cause(Cause::Irq),
];

impl clap::ValueEnum for SortKey {
    fn value_variants<'a>() -> &'a [Self] {
        &SORT_KEYS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::AsRead => return None,
            Self::Pid => PossibleValue::new("pid"),
            Self::Wall => PossibleValue::new("wall"),
            Self::OnCpu => PossibleValue::new("on_cpu").alias("cpu"),
            Self::Cause(cause) => PossibleValue::new(cause.name()),
        })
    }
}

pub(crate) fn command() -> Command {
    Command::new("delays").about("What tasks wait for: CPU, block I/O, memory").defer(|command| {
        let command = command
            .arg(ids("pid", 'p', "A process: its threads summed, maxima from the threads (getdelays: -t)"))
            .arg(ids("tid", 't', "One thread (getdelays: -p)"))
            .arg(option("comm", Kind::Name, "The processes of this name"))
            .arg(switch("all", "All processes").short('a'))
            .arg(switch("threads", "With -a or -p, each thread instead").short('H').conflicts_with_all(["tid", "comm", "cgroup", "exits", "command"]))
            .arg(
                option("cgroup", Kind::Cgroup, "A cgroup's tasks and those of the cgroups below it, summed, with their states and its own counts").short('C'),
            )
            .arg(switch("exits", "Each task as it ends, from all CPUs; with a command, until that ends"))
            .arg(option("parent", Kind::Id, "With --exits: the children of this process alone").requires("exits"))
            .arg(option("min-wall", Kind::Duration, "With --exits: those alone that lived so long").requires("exits"))
            .arg(option("min-delay", Kind::Duration, "With --exits: those alone that something held up for so long").requires("exits"))
            .arg(
                Arg::new("command")
                    .value_name("CMD")
                    .num_args(1..)
                    .last(true)
                    .value_parser(value_parser!(OsString))
                    .help("Run CMD without a shell, then tell what it waited for"),
            )
            .group(ArgGroup::new("selection").args(["comm", "all", "cgroup"]).conflicts_with_all(["pid", "tid"]))
            .arg(interval("Differences over this long instead of totals, again and again").conflicts_with_all(["command","exits"]))
            .arg(count("End after N intervals, or with --exits after N tasks"))
            .arg(
                Arg::new("sort")
                    .long("sort")
                    .short('s')
                    .value_name("COLUMN")
                    .conflicts_with_all(["command", "exits"])
                    .value_parser(value_parser!(SortKey))
                    .help("Order by this: pid upwards, all else the largest first"),
            )
            .arg(switch("classic", "The table of getdelays: count, total and average of each cause"))
            .arg(json().conflicts_with("classic"))
            .arg(switch("enable", "First switch delay accounting on (kernel.task_delayacct=1; needs root)"))
            .arg(direct())
            .arg(switch("procfs", "Read /proc alone, as for a user without privileges").conflicts_with("exits"))
            .arg(root());
        past_between(command).after_help(paragraphs(EXPLANATION))
    })
}

#[cfg(feature = "agent")]
fn past_between(command: Command) -> Command {
    command
        .arg(instant_option("at", "As they were recorded at this instant; with --since: up to it"))
        .arg(instant_option("since", "What was recorded from this instant on [up to: now]"))
        .arg(past_data())
}

#[cfg(not(feature = "agent"))]
fn past_between(command: Command) -> Command {
    command
}

#[cfg(feature = "agent")]
fn past_of(matches: &ArgMatches) -> Result<Option<PastTime>, Failure> {
    let (at_ns, since_ns) = (instant(matches, "at")?, instant(matches, "since")?);
    if at_ns.is_none() && since_ns.is_none() {
        return match matches.contains_id("data") {
            true => Err(Failure::usage("--data goes with --at or --since")),
            false => Ok(None),
        };
    }
    let now = jiff::Timestamp::now().as_nanosecond();
    let until_ns = at_ns.unwrap_or_else(|| i64::try_from(now).unwrap_or(i64::MAX));
    if since_ns.is_some_and(|since| since > until_ns) {
        return Err(Failure::usage("--at is before --since"));
    }
    Ok(Some(PastTime { since_ns, until_ns, directory: past_directory(matches)? }))
}

#[cfg(not(feature = "agent"))]
#[allow(clippy::unnecessary_wraps)]
fn past_of(_matches: &ArgMatches) -> Result<Option<PastTime>, Failure> {
    Ok(None)
}

const EXPLANATION: &str = "\
A task's wall time is on CPU + run queue + block I/O + sleeping. Swap-in, thrashing, reclaim,
compaction, copy and irq overlap with these; the column OVERLAP shows the longest. The time of a
process is the sum over its threads. With -i the CPU time of threads that ended is in it with -p, --comm
and -C; whit top counts all that ended.
  –  absent: not counted, or a value that cannot be (longer than the clock)
  ?  the kernel says zero, as it also does of tasks older than the switch
  ─  off CPU: undivided, since delay accounting is off
Exit status: 1 where a task is gone or may not be read, 2 for usage errors; of a command its own,
127 where it is not found, 126 where it cannot be executed, 128+N where signal N ended it.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<DelaysArgs, Failure> {
    let roots = roots(matches);
    let numbers = |name| matches.get_many::<u32>(name).into_iter().flatten().copied().collect::<Vec<_>>();
    let (processes, threads) = (numbers("pid"), numbers("tid"));
    let command: Option<Vec<OsString>> =
        matches.get_many("command").map(|command| command.cloned().collect());
    let enable = matches.get_flag("enable");
    let has_ids = !processes.is_empty() || !threads.is_empty();
    if has_ids && (command.is_some() || matches.get_flag("exits")) {
        return Err(Failure::usage("-p and -t go without a command and without --exits"));
    }
    let is_exits = matches.get_flag("exits");
    if is_exits && (matches.get_flag("all") || matches.contains_id("cgroup")) {
        return Err(Failure::usage(
            "--exits is of all CPUs: of it --comm, --parent, --min-wall and --min-delay select",
        ));
    }
    if command.is_some() && !is_exits && ["comm", "cgroup"].iter().any(|name| matches.contains_id(name)) {
        return Err(Failure::usage("a command is its own selection: --comm and -C go without one"));
    }
    if command.is_some() && matches.get_flag("all") {
        return Err(Failure::usage("a command is its own selection: -a goes without one"));
    }
    let with_threads = matches.get_flag("threads");
    if with_threads && processes.is_empty() && !matches.get_flag("all") {
        return Err(Failure::usage("-H is about the threads of all processes (-a) or of some (-p PID)"));
    }
    let selection = if with_threads {
        let of_some = !processes.is_empty();
        Selection::EachThread { of: of_some.then(|| each_once(processes)) }
    } else if has_ids {
        Selection::Ids { processes: each_once(processes), threads: each_once(threads) }
    } else if is_exits {
        Selection::Exits(command)
    } else if let Some(name) = matches.get_one::<String>("comm") {
        Selection::Name(name.clone())
    } else if matches.get_flag("all") {
        Selection::AllProcesses
    } else if let Some(cgroup) = matches.get_one("cgroup") {
        Selection::Cgroup(PathBuf::clone(cgroup))
    } else if let Some(command) = command {
        Selection::Command(command)
    } else if enable {
        Selection::Nothing
    } else {
        return Err(Failure::usage(
            "whose delays? -p PID, -t TID, --comm NAME, -a, -C CGROUP, --exits or -- CMD",
        ));
    };
    let interval = matches.get_one("interval").copied();
    let has_count = matches.get_one::<u64>("count").is_some();
    if has_count && interval.is_none() && !matches!(selection, Selection::Exits(None)) {
        return Err(Failure::usage("-n goes with --interval, or with --exits without a command"));
    }
    if roots.is_captured() {
        if interval.is_some() {
            return Err(Failure::usage("a captured machine stands still: --root goes without -i"));
        }
        if enable || matches!(selection, Selection::Command(_) | Selection::Exits(_) | Selection::Cgroup(_)) {
            return Err(Failure::usage("a captured machine has no commands, exits, cgroups or switches"));
        }
    }
    let past = past_of(matches)?;
    let is_of_present = interval.is_some() || enable || roots.is_captured();
    if past.is_some() && (is_of_present || ["direct", "procfs"].iter().any(|name| matches.get_flag(name))) {
        return Err(Failure::usage(
            "--at and --since show what was recorded: they go without -i, --enable, --direct, --procfs and --root",
        ));
    }
    let view = match (matches.get_flag("classic"), matches.get_flag("json")) {
        (true, _) => View::Classic,
        (_, true) => View::Json,
        _ => View::Table,
    };
    Ok(DelaysArgs {
        selection,
        view,
        sort: matches.get_one("sort").copied().unwrap_or(SortKey::AsRead),
        interval,
        count: matches.get_one("count").copied(),
        enable,
        of_exits: ExitFilter {
            comm: matches.get_one("comm").cloned(),
            parent: matches.get_one("parent").copied(),
            least_wall: matches.get_one::<Duration>("min-wall").copied().map(Nanos::from),
            least_delay: matches.get_one::<Duration>("min-delay").copied().map(Nanos::from),
        },
        is_direct: matches.get_flag("direct"),
        procfs_only: matches.get_flag("procfs"),
        past,
        roots,
    })
}
/// Without those that were given before.
fn each_once(mut ids: Vec<u32>) -> Vec<u32> {
    let mut known = HashSet::new();
    ids.retain(|id| known.insert(*id));
    ids
}
