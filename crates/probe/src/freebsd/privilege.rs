//! Capabilities of files are Linux's; what is read here needs none.

use std::io;

use crate::spawn::UserIds;

/// Nothing is given.
///
/// # Errors
/// None here.
pub fn lay_down() -> io::Result<()> {
    Ok(())
}

/// Always true: there are no capabilities.
pub fn has(_mask: u64) -> bool {
    true
}

/// None are.
pub fn is_given() -> bool {
    false
}

/// A capability that a process may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// To ping.
    RawSockets,
    /// To see files of others.
    OthersFiles,
    /// To look at processes of others.
    OthersProcesses,
    /// To become another user.
    OtherUsers,
}

/// Does nothing: FreeBSD has no such capabilities.
///
/// # Errors
/// None here.
pub fn drop_all_but(_kept: &[Kept]) -> io::Result<()> {
    Ok(())
}

/// There are none to drop.
///
/// # Errors
/// None.
pub fn keep_for_children(_kept: &[Kept]) -> io::Result<()> {
    Ok(())
}

/// Is not made for FreeBSD, where no process is looked at.
///
/// # Errors
/// Always.
pub fn become_user(_user: &UserIds) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns false: only root may run commands as other users.
pub fn may_become_others() -> bool {
    false
}

/// There are none to drop.
///
/// # Errors
/// None.
pub fn keep_for_commands() -> io::Result<()> {
    Ok(())
}

/// Does nothing: no process there has such a socket.
///
/// # Errors
/// None.
pub fn refuse_inspection() -> io::Result<()> {
    Ok(())
}
