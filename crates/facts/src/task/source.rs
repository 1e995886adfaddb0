//! The sources of task figures.

/// A source of task figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskSource {
    /// A BPF task iterator: everything, for the least.
    Bpf,
    /// taskstats over netlink, in batches: all delays. What only /proc contains is read once a task.
    Taskstats,
    /// /proc alone: the run queue, and block I/O in ticks.
    Procfs,
    /// `struct kinfo_proc` of FreeBSD, which counts no delays.
    Sysctl,
}

impl TaskSource {
    /// All, the best first.
    pub const ALL: [Self; 4] = [Self::Bpf, Self::Taskstats, Self::Procfs, Self::Sysctl];
    /// For one reading: loading BPF takes 70 ms, longer than a reading by other sources.
    pub const FOR_ONE_READING: [Self; 3] = [Self::Taskstats, Self::Procfs, Self::Sysctl];
    /// The sources that a user without privileges has.
    pub const UNPRIVILEGED: [Self; 2] = [Self::Procfs, Self::Sysctl];

    /// Returns the source with a name, or `None` if no source has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Taskstats => "taskstats",
            Self::Procfs => "procfs",
            Self::Sysctl => "sysctl",
        }
    }
}
