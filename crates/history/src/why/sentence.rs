//! The sentences of an answer, and the evidence for them.

use facts::task::chain::ProcessNow;

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The trouble that it is about.
    pub trouble: Trouble,
    /// From 0 to 1, by which sentences are ordered: 1 if something failed, otherwise it grows with the time that was lost.
    pub weight: f64,
    /// The time that tasks lost by it, in seconds in each second; `None` if time cannot measure it.
    pub lost: Option<f64>,
    /// The words of the sentence.
    pub text: String,
    /// The culprit that causes it, if that is known.
    pub culprit: Option<Culprit>,
    /// The expressions of its figures, at the end of the window, and their values.
    pub evidence: Vec<Evidence>,
}

/// A program or a thing that causes a trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// A program.
    Program(Program),
    /// A cgroup, by its path: its limit.
    Cgroup(String),
    /// A filesystem, by its mount point.
    Filesystem(String),
}

/// A program, as far as it is known which of its processes are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The name of its tasks.
    pub comm: String,
    /// The process, if it is one.
    pub pid: Option<u32>,
    /// The path of the cgroup in which they are.
    pub cgroup: Option<String>,
    /// What the container is called in which they are.
    pub container: Option<String>,
}

impl Program {
    /// A program by the name of its tasks, and by its process if it is one.
    pub(super) fn new(comm: String, pid: Option<u32>) -> Self {
        Self { comm, pid, ..Self::default() }
    }

    /// That of a process.
    pub(super) fn of(process: &ProcessNow) -> Self {
        Self::new(process.comm().to_owned(), Some(process.pid))
    }
}

impl Culprit {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Program(program) => &program.comm,
            Self::Cgroup(name) | Self::Filesystem(name) => name,
        }
    }

    /// Returns the program, if it is one.
    pub fn program(&self) -> Option<&Program> {
        if let Self::Program(program) = self { Some(program) } else { None }
    }

    /// Returns what it is, as JSON names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Program(_) => "program",
            Self::Cgroup(_) => "cgroup",
            Self::Filesystem(_) => "filesystem",
        }
    }
}

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A process was killed because there was no memory.
    OutOfMemory,
    /// A filesystem has no room, or no inodes.
    FullFilesystem,
    /// Memory, or room of a filesystem, falls steadily and will be gone.
    Trend,
    /// Processes are started all the time.
    Forks,
    /// Memory is written to swap and read again.
    Swapping,
    /// Tasks wait until there is memory.
    Memory,
    /// Many packets.
    Network,
    /// Attempts to connect find the queue of a listening program full.
    Connections,
    /// Datagrams are lost since their program does not read them.
    Datagrams,
    /// What TCP sent is sent again.
    Retransmissions,
    /// A program often waits for something: for a lock, or for what another one sends.
    Locks,
    /// A program sleeps for moments, again and again.
    Polling,
    /// Threads wait for one another, so that none of them goes on.
    Deadlock,
    /// Threads queue for a lock.
    Contention,
    /// A process does not read what another one sends it.
    Reader,
    /// An answer is due for which others wait.
    Server,
    /// The quota of a cgroup keeps its tasks from CPUs.
    Quota,
    /// Tasks wait for a CPU while CPUs are idle.
    IdleCpus,
    /// Tasks wait in the kernel and do not go on.
    Stuck,
    /// Tasks wait for a disk.
    Disk,
    /// Tasks wait for a CPU.
    Cpu,
    /// The host gives the CPUs to others.
    Steal,
    /// A task computes; nothing waits for it.
    Computing,
    /// Where the time of the tasks that were asked about went.
    OwnTime,
}

impl Trouble {
    /// All of them.
    pub(super) const ALL: [Self; 24] = [
        Self::OutOfMemory,
        Self::FullFilesystem,
        Self::Trend,
        Self::Forks,
        Self::Swapping,
        Self::Memory,
        Self::Network,
        Self::Connections,
        Self::Datagrams,
        Self::Retransmissions,
        Self::Locks,
        Self::Polling,
        Self::Deadlock,
        Self::Contention,
        Self::Reader,
        Self::Server,
        Self::Quota,
        Self::IdleCpus,
        Self::Stuck,
        Self::Disk,
        Self::Cpu,
        Self::Steal,
        Self::Computing,
        Self::OwnTime,
    ];

    /// Returns the one with a name of JSON.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trouble| trouble.name() == name)
    }

    /// As it is named in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfMemory => "out_of_memory",
            Self::FullFilesystem => "full_filesystem",
            Self::Trend => "trend",
            Self::Forks => "forks",
            Self::Swapping => "swapping",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Connections => "connections",
            Self::Datagrams => "datagrams",
            Self::Retransmissions => "retransmissions",
            Self::Locks => "locks",
            Self::Polling => "polling",
            Self::Deadlock => "deadlock",
            Self::Contention => "contention",
            Self::Reader => "reader",
            Self::Server => "server",
            Self::Quota => "quota",
            Self::IdleCpus => "idle_cpus",
            Self::Stuck => "stuck",
            Self::Disk => "disk",
            Self::Cpu => "cpu",
            Self::Steal => "steal",
            Self::Computing => "computing",
            Self::OwnTime => "own_time",
        }
    }
}

/// A figure, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The expression.
    pub expression: String,
    /// Its value.
    pub value: f64,
}

/// The time that is asked about, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from_ms: i64,
    /// Its end.
    pub to_ms: i64,
}

/// The findings of a history about a window, the most important first.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The sentences; none if nothing is wrong.
    pub sentences: Vec<Sentence>,
    /// The information that is missing, and how to get it.
    pub missing: Vec<String>,
}

impl Findings {
    /// Adds sentences.
    pub fn add(&mut self, sentences: Vec<Sentence>) {
        self.sentences.extend(sentences);
        self.sort();
    }

    /// Puts what weighs most first.
    pub(super) fn sort(&mut self) {
        self.sentences.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    }
}
