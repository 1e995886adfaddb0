//! FreeBSD: everything by sysctl(3), nothing by files.
//!
//! Written from the manual pages and headers, held against them by the compiler, and never run on a FreeBSD kernel: see
//! ARCHITECTURE.md. A captured machine is one of Linux, and is read there.

pub mod cgroup_tasks;
pub mod cgroup_usage;
pub mod command_cgroup;
pub mod control;
pub mod descendants;
pub mod directory;
pub mod exits;
mod machine;
mod network;
pub mod orphans;
pub mod privilege;
pub mod process_events;
pub mod signals;
pub mod survey;
mod sysctl;
pub mod task_detail;
pub mod tasks;
pub mod wait;

pub(crate) use machine::Machine;
