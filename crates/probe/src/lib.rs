//! Reads the kernel.
//!
//! The only crate with `cfg(target_os)`, and with `unsafe`, all of which is in `sys.rs`. A view says what it wants;
//! [`Probe::open`] opens just that, once; [`Probe::sample`] reads it again and again into memory that the caller
//! keeps. Tasks are read by [`tasks::TaskReader`].

/// Calls a method of the reader for the machine's system.
macro_rules! of_system {
    ($readers:ident, $value:expr, $reader:ident => $call:expr) => {
        match $value {
            #[cfg(target_os = "linux")]
            $readers::Linux($reader) => $call,
            $readers::FreeBsd($reader) => $call,
        }
    };
}

pub mod background_job;
mod boot;
pub mod capture;
mod capture_directory;
mod clock;
mod directory_entry;
#[cfg(target_os = "freebsd")]
mod freebsd;
pub mod heap;
#[cfg(target_os = "linux")]
mod linux;
pub mod lock;
pub mod mailbox;
pub mod named;
mod open_file;
pub mod outlet;
mod parameter;
pub mod paths;
mod probe;
pub mod random;
mod request;
pub mod roots;
mod signal;
pub mod sockets;
mod space;
pub mod spawn;
pub mod survey;
mod sys;
mod sysctl;
pub mod task_detail;
mod task_source;
pub mod tasks;
mod watch;

// Each system has the same modules: what a system lacks is absent there, with the reason.
#[cfg(target_os = "freebsd")]
use freebsd as system;
#[cfg(target_os = "linux")]
use linux as system;
pub use system::ancestors::ancestors;
pub use system::{
    cgroup_tasks, cgroup_usage, command_cgroup, connections, control, descendants, directory, exits, orphans,
    privilege, process_events, signals, wait, waits,
};

pub use boot::boot_id;
pub use clock::{
    clock_now, file_clock_now, monotonic_now, own_cpu_time, own_thread_cpu_time, sleep_until, timespec,
};
pub use parameter::parameter;
pub use probe::Probe;
pub use request::Request;
pub use roots::Roots;
pub use space::space_of_path;

use rustix::process::{Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit};

/// The name of this machine: uname(2).
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The effective user id of this process.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns whether /proc is not mounted, where nearly all of a Linux machine is read: no file of it is there then.
pub fn is_proc_missing() -> bool {
    cfg!(target_os = "linux") && !std::path::Path::new("/proc/stat").exists()
}

/// Raises the limit of open descriptors as far as it may go: a machine with many devices wants many. Children would
/// inherit it, so this is for commands that have none.
pub fn raise_descriptor_limit() {
    // If it cannot be raised, a file that cannot be opened is reported.
    raise(Resource::Nofile);
}

/// Raises a soft limit to the hard limit, if the kernel permits it.
fn raise(resource: Resource) {
    let limits = getrlimit(resource);
    let _ = setrlimit(resource, Rlimit { current: limits.maximum, ..limits });
}

/// Sets the soft limit of private memory (setrlimit(2), RLIMIT_DATA). An allocation beyond it fails. Children inherit it and may raise it.
pub fn limit_own_memory(bytes: u64) {
    let limits = getrlimit(Resource::Data);
    let most = limits.maximum.map_or(bytes, |maximum| maximum.min(bytes));
    // The process also runs without the limit.
    let _ = setrlimit(Resource::Data, Rlimit { current: Some(most), ..limits });
}

/// Returns the soft limit of private memory in bytes; `None` if there is none.
pub fn own_memory_limit() -> Option<u64> {
    getrlimit(Resource::Data).current
}

/// Raises the soft limit of private memory to the hard limit.
pub fn raise_memory_limit() {
    raise(Resource::Data);
}

/// By how much [`lower_priority`] changes the nice value.
const LOWER_BY: i32 = 5;

fn add_to_nice(change: i32) {
    if let Ok(nice) = getpriority_process(None) {
        let _ = setpriority_process(None, nice + change);
    }
}

/// Lowers the priority of this process: nice(2), and the policy SCHED_BATCH of sched(7) with the kernel's own slices. Children inherit it.
pub fn lower_priority() {
    add_to_nice(LOWER_BY);
    #[cfg(target_os = "linux")]
    sys::schedule_fairly(sys::FairPolicy::Batch, None);
}

/// Undoes [`lower_priority`], if the kernel permits it.
pub fn restore_priority() {
    add_to_nice(-LOWER_BY);
    #[cfg(target_os = "linux")]
    sys::schedule_fairly(sys::FairPolicy::Other, None);
}

/// The shortest slice that the kernel takes.
#[cfg(target_os = "linux")]
const MIN_SLICE_NS: u64 = 100_000;

/// Asks for short slices for this thread (sched_setattr(2), heeded since Linux 6.12), which needs no privilege: among tasks that wait for
/// a CPU one with a short slice is due early, and this is for what works briefly and at its time. Threads and children inherit it;
/// [`lower_priority`] undoes it. With eight busy tasks on two CPUs one wake-up in ten was late by 11 ms before, and by 5 ms with it.
pub fn ask_for_short_slices() {
    #[cfg(target_os = "linux")]
    sys::schedule_fairly(sys::FairPolicy::Other, Some(MIN_SLICE_NS));
}

/// Has the kernel give this process memory by the page alone (prctl(2), PR_SET_THP_DISABLE, Linux 3.15): what is begun and
/// not used of a huge page is resident too. Children inherit it, so this is for commands that have none.
pub fn refuse_huge_pages() {
    // A kernel without huge pages refuses the call, which does no harm.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Has the kernel provide the memory that a vector has reserved, all at once where that is much: a fault for each page
/// costs more than all else that a row of a long table does.
pub fn populate<T>(vector: &mut Vec<T>) {
    sys::populate(vector.spare_capacity_mut());
}
