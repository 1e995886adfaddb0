//! Open files of processes.

/// An open file of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor's number.
    pub descriptor: u32,
    /// What it leads to, as /proc/PID/fd says.
    pub target: String,
}
