//! Which rows are shown, and in which order.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use facts::task::TaskRow;
use facts::task::groups::{GroupRow, RowId};

use super::columns::{Cell, Column};
use crate::options::Selection;
use sampling::cgroup_members::CgroupMembers;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;
use sampling::users::Users;

/// How rows are chosen and ordered.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    pub(crate) sort: Column,
    pub(crate) is_reversed: bool,
    pub(crate) is_tree: bool,
    /// The text that was typed: part of a name, a user or a pid.
    pub(crate) filter: String,
}

/// A row that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) id: RowId,
    /// The branches of a tree, which stand before the name.
    pub(crate) branches: String,
}

impl Line {
    fn new(id: RowId) -> Self {
        Self { id, branches: String::new() }
    }
}

/// The rows in display order. Most tasks are idle, and have equal values if rows are sorted by a counter. Idle rows are then only
/// counted, not stored: they come between `first` and `last` (unknown values), by process id, and are looked up when shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    first: Vec<Line>,
    idle: usize,
    last: Vec<Line>,
}

impl Lines {
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.idle + self.last.len()
    }

    /// Returns the lines from index `place` on. Correct only until the tasks are read again.
    pub(crate) fn from<'a>(
        &'a self,
        place: usize,
        tasks: &'a TaskSampler,
    ) -> impl Iterator<Item = Line> + 'a {
        let idle = tasks.groups.idle_rows().take(self.idle);
        let first = &self.first[place.min(self.first.len())..];
        let idle = idle.skip(place.saturating_sub(self.first.len()));
        let last = &self.last[place.saturating_sub(self.first.len() + self.idle).min(self.last.len())..];
        first.iter().cloned().chain(idle.map(Line::new)).chain(last.iter().cloned())
    }

    /// The line at a place.
    pub(crate) fn get(&self, place: usize, tasks: &TaskSampler) -> Option<Line> {
        self.from(place, tasks).next()
    }
}

/// Chooses and orders. With `commands` the typed filter also looks at command lines.
pub(crate) fn arrange(
    tasks: &TaskSampler,
    arrangement: &Arrangement,
    users: &Users,
    mut commands: Option<&mut TaskLabels>,
) -> Lines {
    let is_descending = arrangement.sort.is_ascending() == arrangement.is_reversed;
    if let Some(counter) = arrangement.sort.counter()
        && tasks.groups.is_known_of_all(counter)
        && tasks.store.interval().is_some()
        && is_descending
        && !arrangement.is_tree
        && arrangement.filter.is_empty()
    {
        let mut first = order(tasks, tasks.groups.active_rows(), arrangement);
        let unknown = first.iter().rposition(|(number, _)| number.is_some()).map_or(0, |place| place + 1);
        let last = first.split_off(unknown);
        let lines = |rows: Vec<(Option<f64>, RowId)>| rows.into_iter().map(|(_, id)| Line::new(id)).collect();
        let idle = tasks.groups.len() - tasks.groups.active_len();
        return Lines { first: lines(first), idle, last: lines(last) };
    }
    let chosen = tasks.groups.rows().filter(|id| {
        let row = tasks.row(*id);
        let filter = &arrangement.filter;
        filter.is_empty()
            || matches(&row, filter, users)
            || commands.as_mut().is_some_and(|commands| matches_line(&row, filter, commands))
    });
    let order: Vec<RowId> = order(tasks, chosen, arrangement).into_iter().map(|(_, id)| id).collect();
    let first = match arrangement.is_tree {
        true => tree(tasks, &order),
        false => order.into_iter().map(Line::new).collect(),
    };
    Lines { first, ..Lines::default() }
}

/// Rows in their order, with what they are ordered by.
fn order(
    tasks: &TaskSampler,
    rows: impl Iterator<Item = RowId>,
    arrangement: &Arrangement,
) -> Vec<(Option<f64>, RowId)> {
    let is_ascending = arrangement.sort.is_ascending() != arrangement.is_reversed;
    if arrangement.sort == Column::Command {
        let mut named: Vec<_> = rows.map(|id| (tasks.row(id).comm(), id)).collect();
        named.sort_by(|(a, _), (b, _)| if is_ascending { a.cmp(b) } else { b.cmp(a) });
        return named.into_iter().map(|(_, id)| (None, id)).collect();
    }
    let mut keyed: Vec<(Option<f64>, u32, RowId)> = rows
        .map(|id| {
            let cell = Cell::new(tasks, id);
            (arrangement.sort.number(&cell), cell.row.pid(), id)
        })
        .collect();
    // Equal values are ordered by pid. Only rows of ended tasks can share a pid, and their order does not matter.
    keyed.sort_by(|(a, first, _), (b, second, _)| {
        by_number(*a, *b, is_ascending).then_with(|| first.cmp(second))
    });
    keyed.into_iter().map(|(number, _, id)| (number, id)).collect()
}

/// Compares numbers. Unknown ones come last, either way.
fn by_number(a: Option<f64>, b: Option<f64>, ascending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if ascending => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

impl Selection {
    /// The processes of the name that was asked for, in this round; `None` if none was.
    pub(super) fn named<'a>(&self, rows: impl Iterator<Item = &'a TaskRow>) -> Option<HashSet<u32>> {
        let comm = self.comm.as_ref()?;
        let is_process = |row: &&TaskRow| row.key.pid == row.process() && row.comm.is_named(comm);
        Some(rows.filter(is_process).map(|row| row.key.pid).collect())
    }

    /// Returns true if a task is among those that were asked for; `named` is what [`named`](Self::named) gave, and `members` are those of
    /// the cgroup where its hierarchy is of version 1.
    pub(super) fn takes(
        &self,
        task: &TaskRow,
        named: Option<&HashSet<u32>>,
        members: Option<&CgroupMembers>,
        commands: &mut TaskLabels,
    ) -> bool {
        let Self { pids, tids, uid, comm: _, cgroup } = self;
        let is_any = pids.is_empty() && tids.is_empty();
        if !is_any && !pids.contains(&task.process()) && !tids.contains(&task.key.pid) {
            return false;
        }
        if uid.is_some() && task.uid != *uid {
            return false;
        }
        if named.is_some_and(|named| !named.contains(&task.process())) {
            return false;
        }
        if let Some(members) = members {
            return members.contains(task);
        }
        let Some(cgroup) = cgroup else { return true };
        let wanted = cgroup.trim_end_matches('/');
        let is_below = |path: &str| {
            path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        commands.cgroup(task.key, task.cgroup).is_some_and(is_below)
    }
}

/// Returns true if the typed text is part of a row's name or user name, or is its pid. Ignores case unless the text has a capital letter.
pub(crate) fn matches(row: &GroupRow<'_>, typed: &str, users: &Users) -> bool {
    if typed == row.pid().to_string() {
        return true;
    }
    row.comm().is_some_and(|comm| has(comm.as_str(), typed))
        || row.uid().and_then(|uid| users.name(uid)).is_some_and(|name| has(name, typed))
}

/// Returns true if the typed text is part of a row's command line.
pub(crate) fn matches_line(row: &GroupRow<'_>, typed: &str, commands: &mut TaskLabels) -> bool {
    commands.line_of(row).is_some_and(|line| has(line, typed))
}

fn has(text: &str, typed: &str) -> bool {
    match typed.chars().any(char::is_uppercase) {
        true => text.contains(typed),
        false => text.to_lowercase().contains(typed),
    }
}

/// Children below their parents, siblings in their order. A row whose parent is not shown is a root.
fn tree(tasks: &TaskSampler, order: &[RowId]) -> Vec<Line> {
    let by_pid: HashMap<u32, RowId> = order.iter().map(|id| (tasks.row(*id).pid(), *id)).collect();
    let mut children: HashMap<RowId, Vec<RowId>> = HashMap::new();
    let mut roots = Vec::new();
    for id in order {
        let row = tasks.row(*id);
        // A thread's parent is the main thread of its process.
        let parent = if row.pid() == row.tgid() { row.ppid() } else { Some(row.tgid()) };
        let parent = parent.and_then(|parent| by_pid.get(&parent)).filter(|parent| *parent != id);
        match parent {
            Some(parent) if !row.is_ended => children.entry(*parent).or_default().push(*id),
            _ => roots.push(*id),
        }
    }
    let mut lines = Vec::with_capacity(order.len());
    // Depth first without recursion: a chain of children may be as long as there are pids.
    let mut stack: Vec<(RowId, String, Option<bool>)> =
        roots.into_iter().rev().map(|root| (root, String::new(), None)).collect();
    while let Some((id, indent, is_last)) = stack.pop() {
        let (branch, below) = match is_last {
            None => ("", ""),
            Some(true) => ("└─ ", "   "),
            Some(false) => ("├─ ", "│  "),
        };
        lines.push(Line { id, branches: format!("{indent}{branch}") });
        // Removed, so that the loop ends even if two tasks are each other's parents (a race between two reads).
        let below_it = children.remove(&id).unwrap_or_default();
        // Beyond this depth a tree says no more than a list.
        let indent = if indent.chars().count() < 60 { format!("{indent}{below}") } else { indent };
        for (at, child) in below_it.iter().enumerate().rev() {
            stack.push((*child, indent.clone(), Some(at + 1 == below_it.len())));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::sample::Clock;
    use facts::task::TaskKey;
    use facts::task::comm::Comm;
    use facts::task::figure::Figure;
    use facts::task::groups::GroupBy;
    use facts::unit::Nanos;
    use probe::Roots;
    use probe::task_detail::TaskFiles;

    fn tasks(rows: &[(u32, u32, u32, &str, Option<u64>)]) -> TaskSampler {
        let mut tasks = TaskSampler::open(&Roots::live(), Some(probe::tasks::TaskSource::Procfs)).unwrap();
        // The second time a process of 7 has run.
        for second in [1, 2] {
            let now = Nanos(second * Nanos::SECOND.0);
            tasks.store.begin(Clock { monotonic: now, boottime: now, realtime: now });
            for (pid, ppid, uid, comm, memory) in rows {
                let mut row = TaskRow {
                    key: TaskKey { pid: *pid, start: Nanos(1) },
                    tgid: Some(*pid),
                    ppid: Some(*ppid),
                    uid: Some(*uid),
                    comm: Comm::new(comm.as_bytes()),
                    ..TaskRow::NONE
                };
                row.figures.set(Figure::RESIDENT_BYTES, *memory);
                row.figures.set(Figure::ON_CPU, Some(if *pid == 7 { second } else { 5 }));
                tasks.store.put(&row);
            }
            tasks.store.finish(&mut Vec::new());
        }
        tasks.group(GroupBy::Process, None);
        tasks
    }

    fn arranged(arrangement: &Arrangement) -> Vec<String> {
        let tasks = tasks(&[
            (1, 0, 0, "init", Some(5)),
            (7, 1, 0, "shell", Some(9)),
            (9, 7, 0, "Make", None),
            (8, 1, 5, "other", Some(7)),
        ]);
        let lines = arrange(&tasks, arrangement, &Users::default(), None);
        let name = |line: Line| {
            format!("{}{}", line.branches, tasks.row(line.id).comm().unwrap_or_default().as_str())
        };
        let all: Vec<String> = lines.from(0, &tasks).map(name).collect();
        assert_eq!(all.len(), lines.len());
        for place in 0..=all.len() {
            let rest: Vec<String> = lines.from(place, &tasks).map(name).collect();
            assert_eq!(rest, all[place..]);
        }
        all
    }

    fn arrangement(sort: Column) -> Arrangement {
        Arrangement { sort, is_reversed: false, is_tree: false, filter: String::new() }
    }

    #[test]
    fn what_is_not_known_comes_last_either_way() {
        let by_memory = arrangement(Column::Resident);
        assert_eq!(arranged(&by_memory), ["shell", "other", "init", "Make"]);
        let reversed = Arrangement { is_reversed: true, ..by_memory };
        assert_eq!(arranged(&reversed), ["init", "other", "shell", "Make"]);
        assert_eq!(arranged(&arrangement(Column::Command)), ["Make", "init", "other", "shell"]);
    }

    #[test]
    fn the_idle_stand_behind_in_the_order_of_their_pids() {
        let by_cpu = arrangement(Column::Cpu);
        assert_eq!(arranged(&by_cpu), ["shell", "init", "other", "Make"]);
        assert_eq!(
            arranged(&Arrangement { is_reversed: true, ..by_cpu }),
            ["init", "other", "Make", "shell"]
        );
    }

    #[test]
    fn children_stand_below_their_parents() {
        let tree = Arrangement { is_tree: true, ..arrangement(Column::Pid) };
        assert_eq!(arranged(&tree), ["init", "├─ shell", "│  └─ Make", "└─ other"]);
    }

    #[test]
    fn filters_are_parts_of_names_pids_and_users() {
        let filtered =
            |filter: &str| arranged(&Arrangement { filter: filter.into(), ..arrangement(Column::Pid) });
        assert_eq!(
            (filtered("ma"), filtered("Ma"), filtered("MA").len()),
            (vec!["Make".into()], vec!["Make".into()], 0)
        );
        assert_eq!(filtered("7"), ["shell"]);
    }

    #[test]
    fn a_selection_is_of_tasks_and_not_of_sums() {
        let mut tasks =
            tasks(&[(1, 0, 0, "init", Some(5)), (8, 1, 5, "other", Some(7)), (9, 1, 5, "more", Some(1))]);
        let mut commands = TaskLabels::new(TaskFiles::open(&Roots::live()).unwrap());
        let mut memory = |selection: Selection| {
            let named = selection.named(tasks.store.rows());
            let mut takes = |task: &TaskRow| selection.takes(task, named.as_ref(), None, &mut commands);
            tasks.group(GroupBy::User, Some(&mut takes));
            let rows = tasks.groups.rows().map(|id| tasks.row(id));
            rows.map(|row| (row.uid(), row.get(Figure::RESIDENT_BYTES))).collect::<Vec<_>>()
        };
        let all = Selection::default;
        assert_eq!(memory(all()), [(Some(0), Some(5)), (Some(5), Some(8))]);
        assert_eq!(memory(Selection { uid: Some(5), ..all() }), [(Some(5), Some(8))]);
        assert_eq!(memory(Selection { pids: vec![9], ..all() }), [(Some(5), Some(1))]);
        assert_eq!(memory(Selection { comm: Some("init".into()), ..all() }), [(Some(0), Some(5))]);
    }
}
