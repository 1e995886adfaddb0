//! The task that waits most, and for what.

use std::time::Duration;

use facts::task::Cause;
use facts::task::comm::Comm;
use facts::task::figure::FigureSet;
use facts::task::groups::{GroupBy, TaskGroups};
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use command::agent_rows;
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "delays",
    about: "The process that was held up most since the last look, and by what.",
    fields: &[
        field("comm", "its name"),
        field("pid", "its number"),
        field("cause", "run queue, block I/O, swap-in, reclaim, thrashing, compaction, copy or irq"),
        field("percent", "of the time since the last look, its threads summed"),
        field("wait", "how long"),
        field("method", "taskstats, or /proc, which knows only run queue and block I/O"),
    ],
    format: "{comm} {percent} {cause}",
    thresholds: &[(Tone::Warning, "percent >= 50")],
    interval: Some(Duration::from_secs(5)),
    options: &[("minimum", "what takes fewer per cent is not worth a word; 1")],
    make: |options| {
        let minimum = options.number("minimum", 0.0, 100.0)?.unwrap_or(1.0);
        Ok(Box::new(Delays { minimum, query: None }))
    },
    ..Kind::DEFAULT
};

struct Delays {
    minimum: f64,
    query: Option<Query<Option<Longest>, Job<Option<Longest>>>>,
}

/// The longest wait of an interval.
struct Longest {
    comm: Comm,
    pid: u32,
    cause: Cause,
    waited: Nanos,
    elapsed: Nanos,
    is_taskstats: bool,
}

impl Segment for Delays {
    fn tick(&mut self, context: &SegmentContext) {
        if self.query.is_none() {
            // If the root could not be opened, there would be no bar.
            let request = TaskRequest { sources: &TaskSource::FOR_ONE_READING, extra: FigureSet::default() };
            let Ok(mut reader) = TaskReader::open(&context.roots, &request) else { return };
            agent_rows::add(&mut reader, &context.roots, Some(Duration::from_secs(1)));
            let mut watcher = Watcher { reader, store: TaskStore::default(), groups: TaskGroups::default() };
            self.query = Some(Query::new(Box::new(move || watcher.most_delayed())));
        }
        if let Some(query) = &mut self.query {
            query.request("delays", context);
        }
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Some(query) = &self.query else { return };
        query.render(items, |longest, items| {
            let Some(Some(longest)) = longest else { return };
            let percent = longest.waited.as_secs_f64() / longest.elapsed.as_secs_f64() * 100.0;
            if percent < self.minimum {
                return;
            }
            items.only(&[
                Value::Text(longest.comm.as_str()),
                Value::count(u64::from(longest.pid)),
                Value::Text(name(longest.cause)),
                Value::percent(percent),
                Value::Number(longest.waited.as_secs_f64(), Unit::Seconds),
                Value::Text(if longest.is_taskstats { "taskstats" } else { "/proc" }),
            ]);
        });
    }
}

/// Reads all tasks, and remembers them until the next time.
struct Watcher {
    reader: TaskReader,
    store: TaskStore,
    groups: TaskGroups,
}

impl Watcher {
    fn most_delayed(&mut self) -> Option<Longest> {
        self.reader.read(&mut self.store).ok()?;
        self.store.finish(&mut Vec::new());
        self.groups.update(&self.store, GroupBy::Process, None);
        let elapsed = self.store.interval()?.elapsed();
        let is_taskstats = self.reader.source() == TaskSource::Taskstats;
        let rows = self.groups.active_rows().map(|id| self.groups.row(&self.store, id));
        let waits = rows.flat_map(|row| {
            let waited = |cause| (cause, row.sum.delay(cause).total().unwrap_or_default());
            let (comm, pid) = (row.comm().unwrap_or_default(), row.pid());
            Cause::ALL.map(waited).map(|(cause, waited)| Longest {
                comm,
                pid,
                cause,
                waited,
                elapsed,
                is_taskstats,
            })
        });
        waits.max_by_key(|longest| longest.waited).filter(|longest| longest.waited.0 > 0)
    }
}

fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::RunQueue => "run queue",
        Cause::BlockIo => "block I/O",
        Cause::SwapIn => "swap-in",
        Cause::Reclaim => "reclaim",
        Cause::Thrashing => "thrashing",
        Cause::Compaction => "compaction",
        Cause::Copy => "copy",
        Cause::Irq => "irq",
    }
}
