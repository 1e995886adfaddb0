//! Linux.

mod addresses;
pub(crate) mod ancestors;
pub(crate) mod capture;
mod cgroup;
pub mod cgroup_tasks;
pub mod cgroup_usage;
pub mod command_cgroup;
pub mod connections;
pub mod control;
pub mod descendants;
mod directories;
pub mod directory;
pub mod exits;
mod file_kind;
pub(crate) mod files;
mod filesystems;
#[cfg(feature = "limited-cgroups")]
mod limited_cgroups;
mod machine;
mod netlink;
pub mod orphans;
mod part;
pub mod privilege;
pub mod process_events;
pub mod signals;
mod sock_diag;
pub(crate) mod survey;
mod system_calls;
pub(crate) mod task_detail;
pub(crate) mod tasks;
pub mod wait;
pub mod waits;
mod wireless;

pub(crate) use machine::Machine;
