//! Tasks of a tick as rows of the page.

use facts::task::figure::Figure;
use facts::task::groups::{GroupBy, GroupRow, TaskGroups};
use facts::task::{Cause, TaskRow};
use facts::unit::Nanos;
use sampling::users::Users;

use super::replies::{TaskEntry, Tasks};
use crate::past::{Past, PastTasks};

/// The rows that are seen in a history.
pub(super) fn rows(past: &Past, tasks: &PastTasks, by: GroupBy) -> Tasks {
    let mut groups = TaskGroups::default();
    groups.update(&tasks.store, by, Some(&mut |task: &TaskRow| past.sees(task)));
    let rows = groups.rows().map(|id| row(&groups.row(&tasks.store, id), tasks, past.users(), by)).collect();
    Tasks { at_ms: tasks.clock.realtime.0.cast_signed() / 1_000_000, rows }
}

fn row(row: &GroupRow<'_>, tasks: &PastTasks, users: &Users, by: GroupBy) -> TaskEntry {
    let parts = row.breakdown();
    let user = row.uid().map(|uid| users.name(uid).map_or_else(|| uid.to_string(), str::to_owned));
    let cgroup = row.cgroup().and_then(|id| tasks.cgroups.get(&id)).cloned().unwrap_or_default();
    let name = match by {
        GroupBy::User => user.clone(),
        GroupBy::Cgroup => Some(cgroup.clone()),
        GroupBy::Process | GroupBy::Thread => row.comm().map(|comm| comm.to_lossy()),
    };
    TaskEntry {
        name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "–".to_owned()),
        pid: (!row.is_several()).then(|| row.pid()),
        user: user.unwrap_or_default(),
        cgroup,
        threads: u64::from(row.sum.threads),
        is_ended: row.is_ended,
        on_cpu: row.share(parts.on_cpu),
        run_queue: row.share(row.get(Figure::delay(Cause::RunQueue)).map(Nanos)),
        block_io: row.share(parts.block_io),
        sleeping: row.share(parts.sleeping),
        resident_bytes: row.get(Figure::RESIDENT_BYTES),
        read_bytes: row.per_second(Figure::READ_BYTES),
        written_bytes: row.per_second(Figure::WRITTEN_BYTES),
    }
}
