//! Which processes ended, and which living ones they came from.

use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::rounds::Scope;
use facts::task::store::{EndedTask, TaskStore};
use foldhash::HashMap;

/// The most parents that are followed, one after the other.
const MAX_GENERATIONS: u64 = 32;
/// Smaller parts of the processes are left out of the summary.
const MIN_PART: f64 = 0.2;
/// An ancestor of so many more processes than another one is preferred to it, though it is further away.
const NEARLY: f64 = 0.8;

/// How many processes of a program ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProgramSums {
    pub(crate) comm: Comm,
    pub(crate) ended: u64,
}

/// How many processes ended that came from one process, while that lived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AncestorSums {
    pub(crate) process: u32,
    pub(crate) comm: Comm,
    pub(crate) ended: u64,
    /// How many generations below it they were, added up.
    pub(crate) generations: u64,
}

/// The processes that ended, by their programs and by their ancestors.
#[derive(Debug, Default)]
pub(crate) struct Churn {
    programs: HashMap<Comm, u64>,
    ancestors: HashMap<u32, Descendants>,
}

/// The ended processes that came from one.
#[derive(Clone, Copy, Debug)]
struct Descendants {
    /// The name of the ancestor.
    comm: Comm,
    count: u64,
    /// How many generations below it they were, added up.
    generations: u64,
}

/// The program of most of the processes that ended, and how many there were.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChurnSummary {
    /// How many there were.
    pub(crate) ended: u64,
    /// The program of most of them.
    pub(crate) program: Option<ChurnPart>,
    /// The nearest process from which most of them came.
    pub(crate) ancestor: Option<(u32, ChurnPart)>,
}

/// A part of the processes that ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChurnPart {
    /// The program.
    pub(crate) comm: String,
    /// How large the part is.
    pub(crate) ratio: f64,
}

impl Churn {
    /// Adds the processes that ended in a round, as far as they may be seen.
    pub(crate) fn add(&mut self, store: &TaskStore, scope: Scope) {
        let is_process = |row: &&TaskRow| row.tgid == Some(row.key.pid) && scope.contains(row);
        let ended: Vec<&TaskRow> = store.ended().map(EndedTask::row).filter(is_process).collect();
        // Parents that ended in the same round.
        let parents: HashMap<u32, Option<u32>> = ended.iter().map(|row| (row.key.pid, row.ppid)).collect();
        for row in ended {
            *self.programs.entry(row.comm).or_default() += 1;
            let mut next = row.ppid;
            for generation in 1..=MAX_GENERATIONS {
                // What came from init alone came from no program.
                let Some(pid) = next.filter(|pid| *pid > 1) else { break };
                let living = store.row(pid).filter(|row| scope.contains(row));
                if let Some(ancestor) = living {
                    self.add_ancestor(pid, ancestor.comm, 1, generation);
                }
                next = living.map_or_else(|| parents.get(&pid).copied().flatten(), |row| row.ppid);
            }
        }
    }

    /// Adds processes that ended and came from one that lives. One that has ended, too, starts no more of them.
    fn add_ancestor(&mut self, process: u32, comm: Comm, count: u64, generations: u64) {
        let new = Descendants { comm, count: 0, generations: 0 };
        let one = self.ancestors.entry(process).or_insert(new);
        one.comm = comm;
        one.count += count;
        one.generations += generations;
    }

    /// Adds those of a span. They are all users'.
    pub(crate) fn add_sums(&mut self, programs: &[ProgramSums], ancestors: &[AncestorSums]) {
        for one in programs {
            *self.programs.entry(one.comm).or_default() += one.ended;
        }
        for one in ancestors {
            self.add_ancestor(one.process, one.comm, one.ended, one.generations);
        }
    }

    /// Returns them as lists in order.
    pub(super) fn into_sums(self) -> (Vec<ProgramSums>, Vec<AncestorSums>) {
        let program = |(comm, ended)| ProgramSums { comm, ended };
        let ancestor = |(process, Descendants { count, generations, comm })| AncestorSums {
            process,
            comm,
            ended: count,
            generations,
        };
        let mut programs: Vec<ProgramSums> = self.programs.into_iter().map(program).collect();
        programs.sort_unstable_by_key(|sums| sums.comm);
        let mut ancestors: Vec<AncestorSums> = self.ancestors.into_iter().map(ancestor).collect();
        ancestors.sort_unstable_by_key(|sums| sums.process);
        (programs, ancestors)
    }

    /// Returns what most of them were.
    pub(crate) fn summary(&self) -> ChurnSummary {
        let all: u64 = self.programs.values().sum();
        let part = |comm: Comm, count: u64| {
            let ratio = count as f64 / all as f64;
            (ratio >= MIN_PART).then(|| ChurnPart { comm: comm.to_lossy(), ratio })
        };
        let program = self.programs.iter().max_by_key(|(comm, count)| (**count, **comm));
        ChurnSummary {
            ended: all,
            program: program.and_then(|(comm, count)| part(*comm, *count)),
            ancestor: self.nearest().and_then(|(pid, comm, count)| Some((pid, part(comm, count)?))),
        }
    }

    /// Returns the nearest of the ancestors of nearly as many processes as any other.
    fn nearest(&self) -> Option<(u32, Comm, u64)> {
        let most = self.ancestors.values().map(|one| one.count).max()?;
        let nearly_most = self.ancestors.iter().filter(|(_, one)| one.count as f64 >= most as f64 * NEARLY);
        let (pid, one) = nearly_most.min_by(|(pid, one), (other_pid, other)| {
            let distances = one.distance().total_cmp(&other.distance());
            distances.then(other.count.cmp(&one.count)).then(pid.cmp(other_pid))
        })?;
        Some((*pid, one.comm, one.count))
    }
}

impl Descendants {
    /// The usual number of generations.
    fn distance(&self) -> f64 {
        self.generations as f64 / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ancestors of a thousand processes: number, name, how many of them, and how many generations away.
    fn churn(ancestors: &[(u32, &str, u64, u64)]) -> ChurnSummary {
        let mut churn = Churn::default();
        let name = |comm: &str| Comm::new(comm.as_bytes());
        let programs =
            [("cc1", 600), ("sh", 400)].map(|(comm, ended)| ProgramSums { comm: name(comm), ended });
        let ancestor = |(process, comm, ended, away): &(u32, &str, u64, u64)| AncestorSums {
            process: *process,
            comm: name(comm),
            ended: *ended,
            generations: ended * away,
        };
        churn.add_sums(&programs, &ancestors.iter().map(ancestor).collect::<Vec<_>>());
        churn.summary()
    }

    #[test]
    fn the_nearest_ancestor_of_nearly_all_is_named() {
        let build =
            [(10, "sshd", 1000, 4), (20, "bash", 1000, 3), (30, "make", 980, 2), (40, "make", 500, 1)];
        let summary = churn(&build);
        assert_eq!(summary.program, Some(ChurnPart { comm: "cc1".to_owned(), ratio: 0.6 }));
        assert_eq!(summary.ancestor, Some((30, ChurnPart { comm: "make".to_owned(), ratio: 0.98 })));
    }

    #[test]
    fn small_parts_are_left_out() {
        assert_eq!(churn(&[(7, "cron", 199, 1)]).ancestor, None);
        assert!(churn(&[(7, "cron", 200, 1)]).ancestor.is_some());
        assert_eq!(Churn::default().summary(), ChurnSummary::default());
    }
}
