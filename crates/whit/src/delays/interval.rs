//! Two readings of the same selection: what was waited for in between.

use facts::rate::task_delta;
use facts::task::Task;
use facts::unit::Nanos;

use super::{Kind, Row};

/// The rows of `now` as differences from `before`. A task that began in between counts in full; one that ended is
/// told by `--exits`. A cgroup is compared as a whole, though tasks may have come and gone.
pub(crate) fn between(before: &[Row], now: &[Row], elapsed: Nanos) -> Vec<Row> {
    let index: std::collections::HashMap<_, _> = before.iter().map(|row| (row_id(row), row)).collect();
    now.iter()
        .filter_map(|row| match index.get(&row_id(row)) {
            Some(before) => {
                task_delta(&before.task, &row.task).map(|task| Row { task, ended: None, kind: row.kind })
            }
            None => began_within(&row.task, elapsed).then(|| row.clone()),
        })
        .collect()
}

fn row_id(row: &Row) -> (bool, u32) {
    (matches!(row.kind, Kind::Thread), row.task.key.pid)
}

/// What is older than the interval and was not in the first reading joined the selection: its past is not the
/// interval's.
fn began_within(task: &Task, elapsed: Nanos) -> bool {
    task.wall <= elapsed
}
