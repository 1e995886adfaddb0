//! The task that waits most, and for what.

use std::collections::HashMap;
use std::time::Duration;

use facts::rate::task_delta;
use facts::task::{Cause, Task};
use facts::unit::Nanos;
use probe::tasks::{Method, TaskReader};

use super::field;
use crate::bar::appearance::ItemRenderer;
use crate::bar::kind::Kind;
use crate::bar::query::{Job, Query};
use crate::bar::{Segment, SegmentContext, SegmentInput, Tone};
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
    task: Task,
    cause: Cause,
    waited: Nanos,
    elapsed: Nanos,
    is_taskstats: bool,
}

impl Segment for Delays {
    fn tick(&mut self, context: &SegmentContext) {
        if self.query.is_none() {
            // Where the root cannot be opened there would be no bar.
            let Ok(reader) = TaskReader::open(&context.roots) else { return };
            let mut watcher = Watcher { reader, before: HashMap::new(), read_at: Nanos(0) };
            self.query = Some(Query::new(Box::new(move || watcher.look())));
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
                Value::Text(longest.task.comm.as_str()),
                Value::count(u64::from(longest.task.key.pid)),
                Value::Text(name(longest.cause)),
                Value::percent(percent),
                Value::Number(longest.waited.as_secs_f64(), Unit::Seconds),
                Value::Text(if longest.is_taskstats { "taskstats" } else { "/proc" }),
            ]);
        });
    }
}

/// Reads all processes, and remembers them until the next time.
struct Watcher {
    reader: TaskReader,
    before: HashMap<u32, Task>,
    read_at: Nanos,
}

impl Watcher {
    fn look(&mut self) -> Option<Longest> {
        let read_at = probe::clock_now().monotonic;
        let tasks = self.reader.read_all_processes(Row).ok()?;
        let elapsed = read_at.saturating_sub(self.read_at);
        let is_taskstats = matches!(self.reader.method(), Method::Taskstats { .. });
        let differences = tasks.iter().filter_map(|Row(now)| {
            let before = self.before.get(&now.key.pid)?;
            task_delta(before, now)
        });
        let waits = differences.flat_map(|task| {
            Cause::ALL.map(|cause| (task, cause, task.delays[cause].total().unwrap_or_default()))
        });
        let longest = waits.max_by_key(|(.., waited)| *waited).filter(|(.., waited)| waited.0 > 0);
        let is_first = self.before.is_empty();
        self.read_at = read_at;
        self.before.clear();
        self.before.extend(tasks.into_iter().map(|Row(task)| (task.key.pid, task)));
        let (task, cause, waited) = longest.filter(|_| !is_first && elapsed.0 > 0)?;
        Some(Longest { task, cause, waited, elapsed, is_taskstats })
    }
}

struct Row(Task);

impl AsMut<Task> for Row {
    fn as_mut(&mut self) -> &mut Task {
        &mut self.0
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
