//! Capabilities that the binary was given (`setcap`), held for single calls and never while a path is opened: capabilities(7).
//!
//! With CAP_NET_ADMIN in the effective set its user could open what whit can: the kernel gives it root's access to /proc/sys/net.

use std::io;

use facts::linux::mounts::hides_processes;
use rustix::process::{
    DumpableBehavior, Signal, getegid, geteuid, getgroups, getuid, set_dumpable_behavior,
    set_parent_process_death_signal,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, capabilities, capability_is_in_ambient_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set, set_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use crate::named;
use crate::spawn::UserIds;

/// The capabilities that are of use: taskstats and exit records, and the BPF program.
const USED: CapabilitySet = CapabilitySet::NET_ADMIN
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::SYS_ADMIN);

/// A machine with tens of thousands of mounts has this much.
const MOUNTS_BYTES: u64 = 64 << 20;

/// Takes out of the effective set what the binary was given, and gives up for good what is of no use. To be called first of all:
/// threads and children inherit what is held when they are made.
///
/// If /proc hides other users' processes from this one (hidepid), all of it is given up: the kernel would report them by
/// taskstats. What the ambient set contains was given to whit and its children on purpose, and stays; root keeps everything.
///
/// # Errors
/// If the kernel refuses, and where the binary is set-user-ID root, for which it is not made.
pub fn lay_down() -> io::Result<()> {
    if geteuid().is_root() {
        let is_given = !getuid().is_root();
        return if is_given { Err(io::Error::other("it must not be set-user-ID root")) } else { Ok(()) };
    }
    let held = capabilities(None)?;
    if held.permitted.is_empty() {
        return Ok(());
    }
    let is_ambient = |one: &CapabilitySet| capability_is_in_ambient_set(*one) == Ok(true);
    let ambient = held.permitted.iter().filter(is_ambient).fold(CapabilitySet::empty(), CapabilitySet::union);
    let given = if is_shown_less() { CapabilitySet::empty() } else { held.permitted & USED };
    set_capabilities(
        None,
        CapabilitySets {
            effective: held.effective & ambient,
            permitted: ambient | given,
            inheritable: held.inheritable & ambient,
        },
    )?;
    Ok(())
}

/// A capability that a process may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// CAP_NET_RAW.
    RawSockets,
    /// CAP_DAC_READ_SEARCH.
    OthersFiles,
    /// CAP_SYS_PTRACE.
    OthersProcesses,
    /// CAP_SETUID, CAP_SETGID and CAP_KILL: to become another user, and to end what has.
    OtherUsers,
}

impl Kept {
    fn capability(self) -> CapabilitySet {
        match self {
            Self::RawSockets => CapabilitySet::NET_RAW,
            Self::OthersFiles => CapabilitySet::DAC_READ_SEARCH,
            Self::OthersProcesses => CapabilitySet::SYS_PTRACE,
            Self::OtherUsers => OF_OTHER_USERS,
        }
    }
}

/// Drops all capabilities except some of the held ones. Capabilities are per thread: call this before other threads are started. Programs
/// that root executes get all capabilities of the bounding set again.
///
/// # Errors
/// If the kernel refuses.
pub fn drop_all_but(kept: &[Kept]) -> io::Result<()> {
    let held = capabilities(None)?;
    let kept = held.permitted & union(kept);
    // Kernels before 4.3 have no such set.
    let _ = clear_ambient_capability_set();
    let sets = CapabilitySets {
        effective: held.effective & kept,
        permitted: kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)?;
    Ok(())
}

fn union(kept: &[Kept]) -> CapabilitySet {
    kept.iter().map(|one| one.capability()).fold(CapabilitySet::empty(), CapabilitySet::union)
}

/// Drops all capabilities except some of the held ones, which commands inherit. Those that root starts get all of the bounding set again.
///
/// # Errors
/// If the kernel refuses.
pub fn keep_for_children(kept: &[Kept]) -> io::Result<()> {
    let kept = capabilities(None)?.permitted & union(kept);
    let _ = clear_ambient_capability_set();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })?;
    for one in kept.iter() {
        // Kernels before 4.3 have no such set: what is started has no privileges there.
        let _ = configure_capability_in_ambient_set(one, true);
    }
    Ok(())
}

/// The capabilities that let commands run as other users, and be ended.
const OF_OTHER_USERS: CapabilitySet =
    CapabilitySet::SETUID.union(CapabilitySet::SETGID).union(CapabilitySet::KILL);

/// Becomes another user for good, without any privilege: credentials(7). Credentials are per thread: call this before another one is
/// started. The process ends with its parent, as it may have before: the kernel forgets that here.
///
/// # Errors
/// If this process may not.
pub fn become_user(user: &UserIds) -> io::Result<()> {
    // To the kernel this number means that nothing is changed.
    if [user.uid, user.gid].contains(&u32::MAX) || user.groups.contains(&u32::MAX) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let groups: Vec<Gid> = user.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    set_thread_groups(&groups)?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    drop_all_but(&[])
}

/// Returns whether this process is not root's and may run commands as other users.
pub fn may_become_others() -> bool {
    !geteuid().is_root() && capabilities(None).is_ok_and(|held| held.permitted.contains(OF_OTHER_USERS))
}

/// Keeps other processes of this user from the memory and the descriptors of this one: PR_SET_DUMPABLE of prctl(2).
///
/// # Errors
/// If the kernel refuses.
pub fn refuse_inspection() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Drops all capabilities except those that let commands run as other users, which no command inherits. Root keeps everything.
///
/// # Errors
/// If the kernel refuses.
pub fn keep_for_commands() -> io::Result<()> {
    if geteuid().is_root() {
        return Ok(());
    }
    // Kernels before 4.3 have no such set.
    let _ = clear_ambient_capability_set();
    let kept = capabilities(None)?.permitted & OF_OTHER_USERS;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)?;
    if kept.is_empty() { Ok(()) } else { refuse_inspection() }
}

/// Returns true if /proc keeps other users' processes from this one.
fn is_shown_less() -> bool {
    let mounts = named::read("/proc/self/mounts".as_ref(), MOUNTS_BYTES);
    let mut groups: Vec<u32> = getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
    groups.push(getegid().as_raw());
    // Without /proc no user's processes are shown.
    mounts.is_ok_and(|mounts| hides_processes(&mounts, &groups))
}

/// The capabilities that may be taken up again for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Privilege {
    given: CapabilitySet,
}

impl Privilege {
    /// For calls that want none.
    pub(crate) const NONE: Self = Self { given: CapabilitySet::empty() };

    /// Returns the capabilities that this thread is permitted and does not hold.
    pub(crate) fn given() -> Self {
        let given = capabilities(None).map(|held| held.permitted - held.effective);
        Self { given: given.unwrap_or(CapabilitySet::empty()) }
    }

    /// Makes a call with it. What is called opens no path that a user names, and makes no thread.
    pub(crate) fn during<T>(self, call: impl FnOnce() -> T) -> T {
        let _raised = self.raise();
        call()
    }

    fn raise(self) -> Option<Raised> {
        if self.given.is_empty() {
            return None;
        }
        let before = capabilities(None).ok()?;
        // If it is refused, the call itself fails and reports that.
        set_capabilities(None, CapabilitySets { effective: before.effective | self.given, ..before }).ok()?;
        Some(Raised { before })
    }
}

/// Gives back at the end of its scope, however that is left.
struct Raised {
    before: CapabilitySets,
}

impl Drop for Raised {
    fn drop(&mut self) {
        if set_capabilities(None, self.before).is_err() {
            // To go on would be to open paths with it.
            std::process::abort();
        }
    }
}

/// Returns true if this thread holds or may take up capabilities, all those of a mask (linux/capability.h).
pub fn has(mask: u64) -> bool {
    capabilities(None).is_ok_and(|held| (held.permitted | held.effective).bits() & mask == mask)
}

/// Returns true if capabilities are given by the binary's file and laid down.
pub fn is_given() -> bool {
    capabilities(None).is_ok_and(|held| !(held.permitted - held.effective).is_empty())
}
