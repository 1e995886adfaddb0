//! A machine of a fleet.

use serde::Serialize;

/// What a store has of a machine at an instant. What it does not have is `None`, or not in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The label `instance`.
    pub name: String,
    /// Its newest sample, in nanoseconds since 1970; `None`: it is silent.
    pub seen_ns: Option<i64>,
    /// About when a silent machine was seen last, in nanoseconds since 1970.
    pub silent_since_ns: Option<i64>,
    /// CPUs.
    pub cpus_count: Option<f64>,
    /// CPUs that were busy, on average of two minutes.
    pub busy_cpus: Option<f64>,
    /// The waits of its tasks, the longest first.
    pub waits: Vec<Wait>,
    /// Memory.
    pub memory_bytes: Option<f64>,
    /// Memory for new work.
    pub memory_available_bytes: Option<f64>,
    /// The filesystem with the smallest part of its room left.
    pub fullest: Option<FullestFilesystem>,
    /// Checks that are not OK.
    pub checks: CheckCounts,
    /// Alerts that fire, and how many of each.
    pub alerts: Vec<FiringAlert>,
    /// The program that used most CPU time.
    pub largest: Option<Largest>,
    /// The version of its agent.
    pub version: Option<String>,
    /// How far its clock is ahead of that of the store that it sends to, in nanoseconds.
    pub clock_ahead_ns: Option<i64>,
    /// What is the matter, the worst first.
    pub troubles: Vec<Trouble>,
}

/// Time that the tasks of a machine waited for one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// What they waited for, in words.
    pub cause: String,
    /// Time in each second, of all tasks together, on average of two minutes.
    pub waited_ratio: f64,
}

/// A filesystem that is fuller than all others of its machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FullestFilesystem {
    /// Where it is mounted.
    pub mountpoint: String,
    /// The part of it that is left for all users.
    pub available_ratio: f64,
}

/// Checks that are not OK, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckCounts {
    /// Checks that are WARNING.
    pub warning_count: u64,
    /// Checks that are CRITICAL.
    pub critical_count: u64,
    /// Checks that are UNKNOWN.
    pub unknown_count: u64,
}

/// An alert that fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FiringAlert {
    /// The name of its rule.
    pub name: String,
    /// Its label `severity`; empty: it has none.
    pub severity: String,
    /// Series for which it fires.
    pub count: u64,
}

/// A program that uses more CPU time than others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    /// Its name.
    pub comm: String,
    /// CPUs, on average of a minute.
    pub used_cpus: f64,
}

/// How bad a trouble is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is wrong yet, or for a short time.
    Notice,
    /// It will be critical if it goes on, or something of less importance does not work.
    Warning,
    /// Something does not work.
    Critical,
}

/// Something that is the matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in words.
    pub text: String,
}

impl Machine {
    pub(crate) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Adds the time that tasks waited in a state of `whit_tasks_seconds_total`. Several states are waits for the same.
    pub(crate) fn wait(&mut self, state: &str, waited_ratio: f64) {
        let cause = match state {
            "run_queue" => "a CPU",
            "block_io" => "disks",
            "swap_in" => "swap",
            "reclaim" | "thrashing" | "compaction" => "memory",
            "copy" => "copies of pages",
            "irq" => "interrupts",
            other => other,
        };
        match self.waits.iter_mut().find(|wait| wait.cause == cause) {
            Some(wait) => wait.waited_ratio += waited_ratio,
            None => self.waits.push(Wait { cause: cause.to_owned(), waited_ratio }),
        }
        self.waits.sort_by(|one, other| other.waited_ratio.total_cmp(&one.waited_ratio));
    }

    /// Returns how long all tasks waited in each second and for each CPU, in seconds.
    pub(crate) fn waited_per_cpu(&self) -> f64 {
        let waited: f64 = self.waits.iter().map(|wait| wait.waited_ratio).sum();
        waited / self.cpus_count.filter(|cpus| *cpus >= 1.0).unwrap_or(1.0)
    }

    /// Returns the part of its memory that is left.
    pub fn memory_left_ratio(&self) -> Option<f64> {
        let bytes = self.memory_bytes.filter(|bytes| *bytes > 0.0)?;
        Some(self.memory_available_bytes? / bytes)
    }
}
