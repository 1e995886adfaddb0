//! What a cgroup used: FreeBSD has none.

pub use facts::cgroup::CgroupUsage;
