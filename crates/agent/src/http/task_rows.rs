//! Tasks of a tick as rows of the page.

use facts::sample::Clock;
use facts::task::figure::Figure;
use facts::task::groups::{GroupBy, GroupRow, RowId, TaskGroups};
use facts::task::store::TaskStore;
use facts::task::waits::Waits;
use facts::task::{Cause, TaskRow};
use facts::unit::Nanos;
use history::past::Names;

use super::task_replies::{TaskEntry, Tasks};
use history::past::{Past, PastTasks};

/// The rows that are seen in a history.
pub(super) fn rows(past: &Past, tasks: &PastTasks, by: GroupBy) -> Tasks {
    let mut groups = TaskGroups::default();
    groups.update(&tasks.store, by, Some(&mut |task: &TaskRow| past.sees(task)));
    let rows = groups.rows().map(|id| {
        let row = groups.row(&tasks.store, id);
        let cgroup = row.cgroup().and_then(|id| tasks.cgroups.get(&id));
        let waits_for = reason(&groups, &tasks.store, id);
        entry(&row, waits_for, cgroup.map_or("", String::as_str), (past.names(), tasks.clock), by)
    });
    Tasks { at_ms: tasks.clock.realtime.0.cast_signed() / 1_000_000, rows: rows.collect() }
}

/// Returns the reason for which most threads of a row sleep; `None` if none sleeps, or none is known.
pub(super) fn reason(groups: &TaskGroups, store: &TaskStore, id: RowId) -> Option<&'static str> {
    Waits::of(groups.living(store, id)).by_threads().first().map(|(wait, _)| wait.reason.name())
}

/// A row.
pub(super) fn entry(
    row: &GroupRow<'_>,
    waits_for: Option<&'static str>,
    cgroup: &str,
    (names, clock): (Names<'_>, Clock),
    by: GroupBy,
) -> TaskEntry {
    let parts = row.breakdown();
    let user = row.uid().map(|uid| names.users.name_or_number(uid).into_owned());
    let name = row.comm().map(|comm| comm.to_lossy()).filter(|name| !name.is_empty());
    let is_one = !row.is_several() || (by == GroupBy::Process && !row.is_ended);
    let single = |value: f64| value as f32;
    TaskEntry {
        name: name.unwrap_or_else(|| "–".to_owned()),
        pid: is_one.then(|| row.pid()),
        started_ms: is_one.then(|| clock.realtime_ms_of(row.key().start)),
        user: user.unwrap_or_default(),
        cgroup: cgroup.to_owned(),
        cgroup_name: names.containers.cgroup_name(cgroup).to_string(),
        threads: row.sum.threads,
        is_ended: row.is_ended,
        on_cpu: row.share(parts.on_cpu).map(single),
        run_queue: row.share(row.get(Figure::delay(Cause::RunQueue)).map(Nanos)).map(single),
        block_io: row.share(parts.block_io).map(single),
        waits_for,
        resident_bytes: row.get(Figure::RESIDENT_BYTES),
        read_bytes: row.per_second(Figure::READ_BYTES).map(single),
        written_bytes: row.per_second(Figure::WRITTEN_BYTES).map(single),
    }
}
