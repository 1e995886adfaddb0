//! Functions that only a running FreeBSD has: signals, waiting, directories, processes. Its figures are read by [`crate::sysctl`].
//!
//! Written from the manual pages and headers, checked against them by the compiler, and never run on a FreeBSD kernel: see
//! ARCHITECTURE.md.

pub(crate) mod ancestors;
pub mod cgroup_tasks;
pub mod cgroup_usage;
pub mod command_cgroup;
pub mod connections;
pub mod control;
pub mod descendants;
pub mod directory;
pub mod exits;
pub mod orphans;
pub mod privilege;
pub mod process_events;
pub mod signals;
pub mod wait;
pub mod waits;
