//! The limits and privileges of the server process.

use std::fs;
use std::io;

use checks::runner::PrivilegedRunner;
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use facts::unit::Bytes;
use probe::background_job::Notifier;
use probe::{Probe, Request, Roots, privilege};

use crate::options::AgentOptions;

/// The limit of private memory, if that of the cgroup is not lower. An allocation beyond it fails, which ends the process.
const MAX_BYTES: u64 = 1 << 30;
/// Below this it would not run at all: memory that is reserved counts as well as what is used. There the OOM killer ends it.
const MIN_BYTES: u64 = 128 << 20;
/// Makes the OOM killer choose this process before the recorder: proc_pid_oom_score_adj(5).
const OOM_SCORE: &str = "500";

/// Sets the memory limit, the priority and the OOM score. The process also runs without them if the kernel refuses. Its threads share one
/// arena: of answers to four requests at a time, 61 MB were resident at most instead of 96.
pub(super) fn set_limits() {
    probe::heap::share_one_arena();
    let _ = fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    // What reaches the limit of the cgroup lets the OOM killer choose, and the recorder is in the same one.
    let affordable = cgroup_limit().map_or(MAX_BYTES, |limit| limit.0 / 4 * 3);
    probe::limit_own_memory(affordable.clamp(MIN_BYTES, MAX_BYTES));
    probe::lower_priority();
}

/// Returns the memory limit of the own cgroup; `None` if there is none, or it cannot be read.
fn cgroup_limit() -> Option<Bytes> {
    let request = Request { wanted: Wanted::NONE.with(Source::Cgroup), ..Request::default() };
    let mut sample = Sample::default();
    Probe::open(&Roots::live(), &request).ok()?.sample(&mut sample);
    sample.cgroup.get().ok()?.memory_limit
}

/// Starts what runs plugins, if checks are configured and this process may let them run as other users, which it gives up afterwards. `lost` is
/// notified when it is gone.
///
/// # Errors
/// If it cannot be started.
pub(super) fn privileged_runner(
    options: &AgentOptions,
    lost: &Notifier,
) -> io::Result<Option<PrivilegedRunner>> {
    let checks = options.checks.as_ref().filter(|_| privilege::may_become_others());
    checks.map(|checks| PrivilegedRunner::start(&checks.runner, lost.clone())).transpose()
}

/// Drops all capabilities of this thread and of the threads that it will start. With checks configured, CAP_NET_RAW (ping) and
/// CAP_DAC_READ_SEARCH (ages of files) are kept.
///
/// # Errors
/// If the kernel refuses.
pub(super) fn drop_privileges(options: &AgentOptions) -> io::Result<()> {
    let kept: &[privilege::Kept] = match options.checks {
        Some(_) => &[privilege::Kept::RawSockets, privilege::Kept::OthersFiles],
        None => &[],
    };
    privilege::drop_all_but(kept)
}
