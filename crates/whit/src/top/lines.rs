//! Which rows are shown, and in which order.

use std::cmp::Ordering;
use std::collections::HashMap;

use facts::rate::tasks::Changed;
use facts::task::sums::Summed;

use super::columns::Column;
use super::commands::Commands;
use super::row::Row;
use crate::top::options::Selection;
use crate::users::Users;

/// How rows are chosen and ordered.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    pub(crate) sort: Column,
    pub(crate) is_reversed: bool,
    pub(crate) is_tree: bool,
    /// What was typed: part of a name, a user or a pid.
    pub(crate) filter: String,
}

/// A row that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) index: usize,
    /// Of a tree: the branches that stand before the name.
    pub(crate) branches: String,
}

/// Chooses and orders.
pub(crate) fn arrange(rows: Summed<'_>, arrangement: &Arrangement, users: &Users) -> Vec<Line> {
    let row = |index| Row::new(rows, index);
    let chosen = (0..rows.len()).filter(|index| matches(&row(*index), &arrangement.filter, users));
    let mut keyed: Vec<(Option<f64>, u32, usize)> =
        chosen.map(|index| (arrangement.sort.number(&row(index)), rows.pid(index), index)).collect();
    let is_ascending = arrangement.sort.is_ascending() != arrangement.is_reversed;
    if arrangement.sort == Column::Command {
        let name = |index| rows.comm(index);
        keyed.sort_by(|(_, _, a), (_, _, b)| match arrangement.is_reversed {
            false => name(*a).cmp(&name(*b)),
            true => name(*b).cmp(&name(*a)),
        });
    } else {
        // Pids are unique but among the ended, where the order means nothing. Stable all the same: most tasks do nothing and
        // stand in the order of their pids.
        keyed.sort_by(|(a, first, _), (b, second, _)| {
            by_number(*a, *b, is_ascending).then_with(|| first.cmp(second))
        });
    }
    let order: Vec<usize> = keyed.into_iter().map(|(_, _, index)| index).collect();
    if arrangement.is_tree {
        return tree(rows, &order);
    }
    order.into_iter().map(|index| Line { index, branches: String::new() }).collect()
}

/// What is not known comes last, either way.
fn by_number(a: Option<f64>, b: Option<f64>, ascending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if ascending => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

impl Selection {
    /// Whether a process, or a thread where each is a row, is one that was asked for.
    pub(super) fn takes(&self, tasks: Changed<'_>, index: usize, commands: &mut Commands) -> bool {
        let Self { pids, uid, comm, cgroup } = self;
        if !pids.is_empty() && !pids.contains(&tasks.pid(index)) && !pids.contains(&tasks.tgid(index)) {
            return false;
        }
        if uid.is_some() && tasks.uid(index) != *uid {
            return false;
        }
        // The kernel keeps 15 bytes of a name.
        if let Some(comm) = comm
            && tasks.comm(index).as_bytes() != &comm.as_bytes()[..comm.len().min(15)]
        {
            return false;
        }
        let Some(cgroup) = cgroup else { return true };
        let wanted = cgroup.trim_end_matches('/');
        let is_below = |path: &str| {
            path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        commands.cgroup(tasks.key(index), tasks.cgroup(index)).is_some_and(is_below)
    }
}

/// Whether what was typed is part of a row's name or user, or its pid; capitals count only where one is typed.
pub(crate) fn matches(row: &Row<'_>, typed: &str, users: &Users) -> bool {
    if typed.is_empty() || typed == row.pid().to_string() {
        return true;
    }
    let has = |text: &str| match typed.chars().any(char::is_uppercase) {
        true => text.contains(typed),
        false => text.to_lowercase().contains(typed),
    };
    row.comm().is_some_and(|comm| has(comm.as_str()))
        || row.uid().and_then(|uid| users.name(uid)).is_some_and(has)
}

/// Children below their parents, siblings in their order. Whose parent is not shown is a root.
fn tree(rows: Summed<'_>, order: &[usize]) -> Vec<Line> {
    let by_pid: HashMap<u32, usize> = order.iter().map(|index| (rows.pid(*index), *index)).collect();
    let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut roots = Vec::new();
    for index in order {
        // A thread's parent is its process' first.
        let parent =
            if rows.pid(*index) == rows.tgid(*index) { rows.ppid(*index) } else { Some(rows.tgid(*index)) };
        let parent = parent.and_then(|parent| by_pid.get(&parent)).filter(|parent| *parent != index);
        match parent {
            Some(parent) if !rows.is_ended(*index) => children.entry(*parent).or_default().push(*index),
            _ => roots.push(*index),
        }
    }
    let mut lines = Vec::with_capacity(order.len());
    // Depth first without recursion: a chain of children may be as long as there are pids.
    let mut stack: Vec<(usize, String, Option<bool>)> =
        roots.into_iter().rev().map(|root| (root, String::new(), None)).collect();
    while let Some((index, indent, is_last)) = stack.pop() {
        let (branch, below) = match is_last {
            None => ("", ""),
            Some(true) => ("└─ ", "   "),
            Some(false) => ("├─ ", "│  "),
        };
        lines.push(Line { index, branches: format!("{indent}{branch}") });
        // Taken out, so that parents that are each other's children (a race of two readings) end.
        let below_it = children.remove(&index).unwrap_or_default();
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
    use facts::rate::tasks::TaskChanges;
    use facts::task::TaskKey;
    use facts::task::figure::Figure;
    use facts::task::sums::{GroupBy, TaskSums};
    use facts::task::table::{Comm, TaskRow, TaskTable};
    use facts::unit::Nanos;
    use probe::Roots;
    use probe::task_detail::TaskFiles;

    fn table(tasks: &[(u32, u32, u32, &str, Option<u64>)]) -> TaskTable {
        let mut table = TaskTable::default();
        for (pid, ppid, uid, comm, memory) in tasks {
            let mut row = TaskRow {
                key: TaskKey { pid: *pid, start: Nanos(1) },
                tgid: Some(*pid),
                ppid: Some(*ppid),
                uid: Some(*uid),
                comm: Comm::new(comm.as_bytes()),
                ..TaskRow::default()
            };
            row.figures.set(Figure::RESIDENT_BYTES, *memory);
            table.push(&row);
        }
        table
    }

    fn arranged(arrangement: &Arrangement) -> Vec<String> {
        let table = table(&[
            (1, 0, 0, "init", Some(5)),
            (7, 1, 0, "shell", Some(9)),
            (9, 7, 0, "Make", None),
            (8, 1, 5, "other", Some(7)),
        ]);
        let (mut changes, mut sums) = (TaskChanges::default(), TaskSums::default());
        changes.fill(&TaskTable::default(), &table, &mut Vec::new());
        sums.fill(changes.of(&table), GroupBy::Process, None);
        let rows = sums.of(changes.of(&table));
        let lines = arrange(rows, arrangement, &Users::default());
        lines
            .iter()
            .map(|line| format!("{}{}", line.branches, rows.comm(line.index).unwrap_or_default().as_str()))
            .collect()
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
        let table =
            table(&[(1, 0, 0, "init", Some(5)), (8, 1, 5, "other", Some(7)), (9, 1, 5, "more", Some(1))]);
        let mut changes = TaskChanges::default();
        changes.fill(&TaskTable::default(), &table, &mut Vec::new());
        let mut commands = Commands::new(TaskFiles::open(&Roots::live()).unwrap());
        let mut memory = |selection: Selection| {
            let (tasks, mut sums) = (changes.of(&table), TaskSums::default());
            sums.fill(
                tasks,
                GroupBy::User,
                Some(&mut |tasks, index| selection.takes(tasks, index, &mut commands)),
            );
            let rows = sums.of(tasks);
            (0..rows.len())
                .map(|row| (rows.uid(row), rows.get(row, Figure::RESIDENT_BYTES)))
                .collect::<Vec<_>>()
        };
        let all = Selection::default;
        assert_eq!(memory(all()), [(Some(0), Some(5)), (Some(5), Some(8))]);
        assert_eq!(memory(Selection { uid: Some(5), ..all() }), [(Some(5), Some(8))]);
        assert_eq!(memory(Selection { pids: vec![9], ..all() }), [(Some(5), Some(1))]);
        assert_eq!(memory(Selection { comm: Some("init".into()), ..all() }), [(Some(0), Some(5))]);
    }
}
