//! Linux: one kernel file, one module, one type.
//!
//! Each parser takes the file's bytes and fills a value the caller keeps. It passes over what a newer kernel adds and
//! leaves absent what an older one lacks.

pub mod arcstats;
pub mod backlight;
pub mod bpf_task;
pub mod btf;
pub mod cgroup;
pub mod cgroup_cpu;
pub mod cgroup_io;
pub mod cgroup_memory;
pub mod cpufreq;
pub mod diskstats;
pub mod genetlink;
pub mod keyed;
pub mod loadavg;
pub mod locks;
pub mod meminfo;
pub mod mounts;
pub mod net_attributes;
pub mod net_dev;
pub mod net_protocols;
pub mod nl80211;
pub mod pid_cmdline;
pub mod pid_io;
pub mod pid_limits;
pub mod pid_mountinfo;
pub mod pid_schedstat;
pub mod pid_stat;
pub mod pid_statm;
pub mod pid_status;
pub mod pid_syscall;
pub mod power_supply;
pub mod pressure;
pub mod proc_connector;
pub mod rtnetlink;
pub mod sensors;
pub mod sock_diag;
pub mod socket_tables;
pub mod stat;
pub mod system_calls;
pub mod task_state;
pub mod taskstats;
pub mod tcp_info;
pub mod tcp_table;
pub mod uptime;
pub mod version;
pub mod vmstat;
pub mod zoneinfo;
pub mod zram;
