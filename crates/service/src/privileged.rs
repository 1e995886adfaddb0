//! The users who see every task.

use facts::task::rounds::Scope;

/// The users who see every task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privileged {
    /// Users, beside root.
    pub uids: Vec<u32>,
    /// A group.
    pub gid: Option<u32>,
}

/// The user id of users who have none here: user_namespaces(7).
const OVERFLOW_UID: u32 = 65534;

impl Privileged {
    /// Returns the scope of the tasks that a user sees.
    pub fn scope(&self, uid: u32, gid: Option<u32>) -> Scope {
        let is_of_group = gid.is_some() && gid == self.gid;
        match uid {
            _ if uid == 0 || self.uids.contains(&uid) || is_of_group => Scope::All,
            // A user without an id here: no task has this id.
            OVERFLOW_UID => Scope::User(u32::MAX),
            _ => Scope::User(uid),
        }
    }
}
