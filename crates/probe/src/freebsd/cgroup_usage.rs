//! Usage of cgroups, which FreeBSD does not have.

pub use facts::cgroup::CgroupUsage;
