//! Who sees every task.

use facts::task::rounds::Scope;

/// Who sees every task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privileged {
    /// Users, beside root.
    pub uids: Vec<u32>,
    /// A group.
    pub gid: Option<u32>,
}

/// Who has no user here: user_namespaces(7).
const OVERFLOW_UID: u32 = 65534;

impl Privileged {
    /// Whose tasks a user sees.
    pub fn scope(&self, uid: u32, gid: Option<u32>) -> Scope {
        let is_of_group = gid.is_some() && gid == self.gid;
        match uid {
            _ if uid == 0 || self.uids.contains(&uid) || is_of_group => Scope::All,
            // Of nobody: no task has this id.
            OVERFLOW_UID => Scope::User(u32::MAX),
            _ => Scope::User(uid),
        }
    }
}
