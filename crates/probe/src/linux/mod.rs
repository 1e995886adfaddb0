//! Linux.

mod cgroup;
mod dirs;
pub mod exits;
mod files;
mod filesystems;
mod machine;
mod netlink;
pub mod survey;
pub mod tasks;

pub(crate) use machine::Machine;
