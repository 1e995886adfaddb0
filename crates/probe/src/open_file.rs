//! Open files of processes.

/// An open file of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor's number.
    pub descriptor: u32,
    /// The target that it leads to, as /proc/PID/fd says.
    pub target: String,
}
