//! The columns: what each is called, shows and sorts by.

use clap::builder::PossibleValue;
use facts::task::Cause;
use facts::task::figure::Figure;
use facts::task::groups::{GroupRow, RowId};
use facts::task::waits::Waits;
use facts::unit::{Bytes, Nanos};

use sampling::tasks::TaskSampler;
use sampling::users::Users;
use text::printable::push_printable;
use text::table::Align;
use text::units::{Size, Span, push_decimals};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Pid,
    ParentPid,
    User,
    State,
    Nice,
    Threads,
    Cpu,
    UserCpu,
    SystemCpu,
    /// Since it started.
    CpuTime,
    Elapsed,
    Resident,
    MemoryShare,
    Swapped,
    Virtual,
    Read,
    Written,
    /// The stacked bar.
    Time,
    /// The meaning of the bar's marks.
    Overlap,
    Cause(Cause),
    Unrecorded,
    Sleeping,
    Switches,
    Faults,
    Wait,
    Cgroup,
    Command,
}

/// A row, and where more of it is known.
pub(crate) struct Cell<'a> {
    pub(crate) row: GroupRow<'a>,
    pub(crate) id: RowId,
    pub(crate) tasks: &'a TaskSampler,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(tasks: &'a TaskSampler, id: RowId) -> Self {
        Self { row: tasks.row(id), id, tasks }
    }
}

/// The data that cells need and no row contains.
pub(crate) struct Beside<'a> {
    pub(crate) users: &'a Users,
    pub(crate) memory_total: Option<Bytes>,
}

/// How a column is called on the command line and in the settings, above it, and how wide it is.
struct Described {
    column: Column,
    name: &'static str,
    heading: &'static str,
    width: usize,
    align: Align,
    help: &'static str,
}

const fn described(
    column: Column,
    name: &'static str,
    heading: &'static str,
    width: usize,
    align: Align,
    help: &'static str,
) -> Described {
    Described { column, name, heading, width, align, help }
}

use Align::{Left, Right};

/// A width of 0 takes what is left.
#[rustfmt::skip]
const ALL: [Described; 34] = [
    described(Column::Pid, "pid", "PID", 7, Right, "process, or thread where threads are shown"),
    described(Column::ParentPid, "ppid", "PPID", 7, Right, "parent process"),
    described(Column::User, "user", "USER", 9, Left, "real user"),
    described(Column::State, "state", "S", 1, Left, "R running, S sleeping, D waiting, T stopped, Z zombie, I idle, X ended"),
    described(Column::Nice, "nice", "NI", 3, Right, "-20 to 19"),
    described(Column::Threads, "threads", "THR", 5, Right, "threads, the ended ones of the interval included"),
    described(Column::Cpu, "cpu", "CPU%", 6, Right, "time on a CPU; 100 is one CPU"),
    described(Column::UserCpu, "user_cpu", "USR%", 6, Right, "of that in user mode, counted in ticks"),
    described(Column::SystemCpu, "system_cpu", "SYS%", 6, Right, "of that in the kernel, counted in ticks"),
    described(Column::CpuTime, "cpu_time", "TIME+", 9, Right, "time on a CPU since it started, of living threads"),
    described(Column::Elapsed, "elapsed", "ELAPSED", 9, Right, "time since it started"),
    described(Column::Resident, "memory", "MEM", 8, Right, "resident memory, shared pages included"),
    described(Column::MemoryShare, "memory_share", "MEM%", 6, Right, "resident memory, of the machine's"),
    described(Column::Swapped, "swap", "SWAP", 8, Right, "swapped out"),
    described(Column::Virtual, "virtual", "VIRT", 8, Right, "address space"),
    described(Column::Read, "read", "READ/s", 8, Right, "bytes read from block devices"),
    described(Column::Written, "written", "WRITE/s", 8, Right, "bytes written to block devices, or left to be"),
    described(Column::Time, "time", "WHERE ITS TIME WENT", 20, Left, "on CPU, run queue, block I/O, unrecorded, sleeping; marked: swap-in, thrashing, reclaim, compaction, copy (w), irq"),
    described(Column::Overlap, "overlap", "OVERLAP", 13, Left, "the longest of the causes that overlap with those"),
    described(Column::Cause(Cause::RunQueue), "run_queue", "RUNQ%", 6, Right, "runnable, waiting for a CPU"),
    described(Column::Cause(Cause::BlockIo), "block_io", "BLKIO%", 6, Right, "waiting for block I/O"),
    described(Column::Cause(Cause::SwapIn), "swap_in", "SWAP%", 6, Right, "bringing pages in from swap"),
    described(Column::Cause(Cause::Reclaim), "reclaim", "RECL%", 6, Right, "reclaiming memory"),
    described(Column::Cause(Cause::Thrashing), "thrashing", "THRA%", 6, Right, "reading back pages just dropped"),
    described(Column::Cause(Cause::Compaction), "compaction", "COMP%", 6, Right, "compacting memory"),
    described(Column::Cause(Cause::Copy), "copy", "COPY%", 6, Right, "copying write-protected pages"),
    described(Column::Cause(Cause::Irq), "irq", "IRQ%", 6, Right, "interrupts served on its time"),
    described(Column::Unrecorded, "unrecorded", "UNREC%", 6, Right, "of what ended: on a CPU or asleep, which its record does not say"),
    described(Column::Sleeping, "sleeping", "SLEEP%", 6, Right, "the rest of its time"),
    described(Column::Switches, "switches", "SWITCH/s", 8, Right, "context switches"),
    described(Column::Faults, "faults", "FAULT/s", 8, Right, "page faults"),
    described(Column::Wait, "wait", "WAITS FOR", 16, Left, "the reason for which most of its sleeping threads sleep, and their number"),
    described(Column::Cgroup, "cgroup", "CGROUP", 24, Left, "cgroup"),
    described(Column::Command, "command", "COMMAND", 0, Left, "name, or command line (c)"),
];

impl Column {
    /// Shown where nothing else is asked for.
    pub(crate) const DEFAULT: [Self; 10] = [
        Self::Pid,
        Self::User,
        Self::State,
        Self::Cpu,
        Self::Resident,
        Self::Read,
        Self::Written,
        Self::Time,
        Self::Overlap,
        Self::Command,
    ];

    /// In the order of the reference.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|described| described.column)
    }

    fn described(self) -> &'static Described {
        // Every column is in the table, which a test holds.
        ALL.iter().find(|described| described.column == self).unwrap_or(&ALL[0])
    }

    /// As options and settings name it.
    pub(crate) fn name(self) -> &'static str {
        self.described().name
    }

    pub(crate) fn heading(self) -> &'static str {
        self.described().heading
    }

    /// In characters; 0 takes what is left.
    pub(crate) fn width(self) -> usize {
        self.described().width
    }

    pub(crate) fn align(self) -> Align {
        self.described().align
    }

    pub(crate) fn help(self) -> &'static str {
        self.described().help
    }

    /// The column of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|described| described.name == name).map(|described| described.column)
    }

    /// Returns true if small values come first by default: names and numbers of tasks.
    pub(crate) fn is_ascending(self) -> bool {
        matches!(
            self,
            Self::Pid | Self::ParentPid | Self::User | Self::Nice | Self::Wait | Self::Cgroup | Self::Command
        )
    }

    /// Returns the number that rows are ordered by; `None` if it is not known.
    pub(crate) fn number(self, cell: &Cell<'_>) -> Option<f64> {
        let Cell { row, id, tasks } = cell;
        let sum = |figures: [Figure; 2]| {
            let [first, second] = figures.map(|figure| row.per_second(figure));
            Some(first? + second?)
        };
        let time = |figure| row.share(row.get(figure).map(Nanos));
        match self {
            Self::Pid => Some(f64::from(row.pid())),
            Self::ParentPid => row.ppid().map(f64::from),
            Self::User => row.uid().map(f64::from),
            Self::State => row.state().map(|state| f64::from(order_of_state(state))),
            Self::Nice => row.nice().map(f64::from),
            Self::Threads => Some(f64::from(row.sum.threads)),
            Self::Cpu | Self::Time => time(Figure::ON_CPU),
            Self::UserCpu => time(Figure::USER),
            Self::SystemCpu => time(Figure::SYSTEM),
            Self::CpuTime => tasks.cpu_since_start(*id).map(|cpu| cpu.0 as f64),
            Self::Elapsed => elapsed(row, tasks).map(|elapsed| elapsed.0 as f64),
            Self::Resident | Self::MemoryShare => row.get(Figure::RESIDENT_BYTES).map(|bytes| bytes as f64),
            Self::Swapped => tasks.swapped(*id).map(|bytes| bytes.0 as f64),
            Self::Virtual => row.get(Figure::VIRTUAL_BYTES).map(|bytes| bytes as f64),
            Self::Read => row.per_second(Figure::READ_BYTES),
            Self::Written => row.per_second(Figure::WRITTEN_BYTES),
            Self::Overlap => row.share(row.sum.overlapping_delays().first().map(|(_, total)| *total)),
            Self::Cause(cause) => time(Figure::delay(cause)),
            Self::Unrecorded => row.share(row.breakdown().unrecorded),
            Self::Sleeping => row.share(row.breakdown().sleeping),
            Self::Switches => sum([Figure::VOLUNTARY_SWITCHES, Figure::INVOLUNTARY_SWITCHES]),
            Self::Faults => sum([Figure::MINOR_FAULTS, Figure::MAJOR_FAULTS]),
            Self::Wait => {
                let waits = Waits::of(tasks.living(*id)).by_threads();
                waits.first().map(|(wait, _)| f64::from(wait.reason as u8))
            }
            Self::Cgroup => row.cgroup().map(|cgroup| cgroup as f64),
            // By their letters.
            Self::Command => None,
        }
    }

    /// The counter that orders rows, in which those that did nothing are equal; `None` for other columns.
    pub(crate) fn counter(self) -> Option<Figure> {
        match self {
            Self::Cpu | Self::Time => Some(Figure::ON_CPU),
            Self::UserCpu => Some(Figure::USER),
            Self::SystemCpu => Some(Figure::SYSTEM),
            Self::Read => Some(Figure::READ_BYTES),
            Self::Written => Some(Figure::WRITTEN_BYTES),
            Self::Cause(cause) => Some(Figure::delay(cause)),
            _ => None,
        }
    }

    /// Appends what stands in it; what whit reads from elsewhere (bar, reason, cgroup, command line) is not here.
    pub(crate) fn write(self, cell: &Cell<'_>, beside: &Beside<'_>, out: &mut String) {
        let (row, users) = (&cell.row, beside.users);
        match self {
            Self::Pid if row.is_ended || row.is_several() => out.push('·'),
            Self::State => out.push(row.state().map_or('–', char::from)),
            Self::User => match row.uid() {
                Some(uid) => out.push_str(&users.name_or_number(uid)),
                None => out.push('–'),
            },
            Self::Command => {
                match row.comm() {
                    _ if row.is_kernel_threads() => out.push_str("kernel threads"),
                    Some(comm) => push_printable(out, comm.as_bytes()),
                    None => out.push_str("all"),
                }
                if row.is_several() {
                    out.push_str(&format!(" ×{}", row.sum.processes));
                }
            }
            Self::Overlap => {
                if let Some((cause, total)) = row.sum.overlapping_delays().first() {
                    let percent = row.share(Some(*total)).unwrap_or(0.0) * 100.0;
                    // A sliver is no reason.
                    if percent >= 0.1 {
                        out.push_str(&format!("{} {percent:.1}", short_name(*cause)));
                    }
                }
            }
            Self::CpuTime | Self::Elapsed => match self.number(cell) {
                Some(nanos) => Span(Nanos(nanos as u64)).push(out),
                None => out.push('–'),
            },
            Self::MemoryShare => match self.number(cell).zip(beside.memory_total) {
                Some((bytes, total)) => push_decimals(out, bytes * 100.0 / total.0.max(1) as f64, 1),
                None => out.push('–'),
            },
            Self::Resident | Self::Virtual | Self::Swapped => match self.number(cell) {
                Some(bytes) => out.push_str(&Size(Bytes(bytes as u64)).to_string()),
                None => out.push('–'),
            },
            Self::Read | Self::Written => match self.number(cell) {
                Some(0.0) => out.push('0'),
                Some(bytes) => out.push_str(&Size(Bytes(bytes as u64)).to_string()),
                None => out.push('–'),
            },
            Self::Pid | Self::ParentPid | Self::Nice | Self::Threads | Self::Switches | Self::Faults => {
                match self.number(cell) {
                    Some(number) => push_decimals(out, number, 0),
                    None => out.push('–'),
                }
            }
            Self::Cpu
            | Self::UserCpu
            | Self::SystemCpu
            | Self::Cause(_)
            | Self::Unrecorded
            | Self::Sleeping => {
                match self.number(cell) {
                    // Some of its tasks are not counted.
                    Some(share) if matches!(self, Self::Cause(cause) if row.sum.is_partial(cause)) => {
                        out.push('≥');
                        push_decimals(out, share * 100.0, 1);
                    }
                    Some(share) if row.is_ended && share == 0.0 && self == Self::Cpu => {
                        out.push_str("<tick");
                    }
                    Some(share) => push_decimals(out, share * 100.0, 1),
                    None => out.push('–'),
                }
            }
            Self::Time | Self::Wait | Self::Cgroup => {}
        }
    }
}

/// How long ago it started; `None` if it is several or has ended.
pub(crate) fn elapsed(row: &GroupRow<'_>, tasks: &TaskSampler) -> Option<Nanos> {
    let is_one = !row.is_several() && !row.is_ended;
    is_one.then(|| tasks.store.clock().boottime.saturating_sub(row.key().start))
}

/// As the bar's marks and this column have room for.
pub(crate) fn short_name(cause: Cause) -> &'static str {
    match cause {
        Cause::SwapIn => "swap-in",
        Cause::Copy => "copy",
        Cause::Compaction => "compact",
        Cause::Thrashing => "thrash",
        cause => cause.name(),
    }
}

/// Returns the rank of a state. States that want something have the highest ranks.
fn order_of_state(state: u8) -> u8 {
    b"ISXZPtTDR".iter().position(|letter| *letter == state).unwrap_or(0) as u8
}

impl clap::ValueEnum for Column {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Column; ALL.len()] = {
            let mut variants = [Column::Pid; ALL.len()];
            let mut index = 0;
            while index < ALL.len() {
                variants[index] = ALL[index].column;
                index += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.help()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_described_once() {
        for column in Column::all().chain(Column::DEFAULT).chain(Cause::ALL.map(Column::Cause)) {
            assert_eq!(column.described().column, column);
            assert_eq!(Column::named(column.name()), Some(column));
            assert_eq!(ALL.iter().filter(|other| other.column == column).count(), 1);
            assert!(column.width() == 0 || column.heading().chars().count() <= column.width(), "{column:?}");
        }
    }
}
