//! Names of users, from /etc/passwd: whit is linked statically and does not use NSS.

use std::borrow::Cow;
use std::collections::HashMap;

/// Names by number.
#[derive(Clone, Debug, Default)]
pub struct Users(HashMap<u32, String>);

impl Users {
    /// Reads /etc/passwd. Without it every user is a number.
    pub fn read() -> Self {
        Self::of(&std::fs::read("/etc/passwd").unwrap_or_default())
    }

    /// Names of groups, from /etc/group, whose lines begin like those of /etc/passwd.
    pub fn read_groups() -> Self {
        Self::of(&std::fs::read("/etc/group").unwrap_or_default())
    }

    fn of(passwd: &[u8]) -> Self {
        let mut names = HashMap::new();
        for (uid, name) in formats::passwd::users(passwd) {
            // The first of several names is the one that is meant.
            names.entry(uid).or_insert_with(|| name.to_owned());
        }
        Self(names)
    }

    /// A user's name.
    pub fn name(&self, uid: u32) -> Option<&str> {
        self.0.get(&uid).map(String::as_str)
    }

    /// A user's name, or the number of one that has none.
    pub fn name_or_number(&self, uid: u32) -> Cow<'_, str> {
        self.name(uid).map_or_else(|| Cow::Owned(uid.to_string()), Cow::Borrowed)
    }

    /// The number of a user who is given by name or number.
    pub fn find(&self, text: &str) -> Option<u32> {
        let named = self.0.iter().find(|(_, name)| *name == text).map(|(uid, _)| *uid);
        named.or_else(|| text.parse().ok())
    }

    /// The number of a user, for an option.
    ///
    /// # Errors
    /// If there is no user of that name.
    pub fn named(text: &str) -> Result<u32, String> {
        Self::read().find(text).ok_or_else(|| format!("no user is called \"{text}\""))
    }
}

/// A user as processes have one: the number, that of the main group, and those of the others. `None` if there is no such user.
pub fn ids(name: &str) -> Option<(u32, u32, Vec<u32>)> {
    let (uid, gid) = formats::passwd::user(&std::fs::read("/etc/passwd").unwrap_or_default(), name)?;
    Some((uid, gid, formats::passwd::groups_of(&std::fs::read("/etc/group").unwrap_or_default(), name)))
}

/// The main group of the user with a number, and the others. A user who is not in /etc/passwd has a group of the same number, as most have.
pub fn groups_of(uid: u32) -> (u32, Vec<u32>) {
    let passwd = std::fs::read("/etc/passwd").unwrap_or_default();
    match formats::passwd::user_of(&passwd, uid) {
        Some((name, gid)) => {
            (gid, formats::passwd::groups_of(&std::fs::read("/etc/group").unwrap_or_default(), name))
        }
        None => (uid, Vec::new()),
    }
}

/// A group's number and its members, for a configuration; `None` if there is no such group.
pub fn group(name: &str) -> Option<(u32, Vec<u32>)> {
    let groups = std::fs::read("/etc/group").unwrap_or_default();
    let (gid, members) = formats::passwd::group_members(&groups, name)?;
    let users = Users::read();
    let uid = |name: &&str| users.0.iter().find(|(_, known)| known == name).map(|(uid, _)| *uid);
    Some((gid, members.iter().filter_map(uid).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_number_holds() {
        let users = Users::of(b"root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:\n:x:7:\nann:x:5:5::/:\n");
        assert_eq!((users.name(0), users.name(5), users.name(7)), (Some("root"), Some("ann"), None));
        assert_eq!((users.find("ann"), users.find("toor"), users.find("9")), (Some(5), None, Some(9)));
    }
}
