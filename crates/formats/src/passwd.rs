//! /etc/passwd: names of users. passwd(5).

/// Each user's number and name; lines that are none are left out.
pub fn users(bytes: &[u8]) -> impl Iterator<Item = (u32, &str)> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let name = std::str::from_utf8(fields.next()?).ok().filter(|name| !name.is_empty())?;
        let uid = std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
        Some((uid, name))
    })
}

/// The number of a user, and of their main group; `None` if there is no such user.
pub fn user(bytes: &[u8], name: &str) -> Option<(u32, u32)> {
    let is_named = |line: &&[u8]| line.split(|byte| *byte == b':').next() == Some(name.as_bytes());
    let line = bytes.split(|byte| *byte == b'\n').find(is_named)?;
    let mut fields = line.split(|byte| *byte == b':').skip(2).map(std::str::from_utf8);
    let mut number = || fields.next()?.ok()?.parse().ok();
    Some((number()?, number()?))
}

/// A user's name, and the number of their main group; `None` if no user has that number.
pub fn user_of(bytes: &[u8], uid: u32) -> Option<(&str, u32)> {
    let (_, name) = users(bytes).find(|(number, _)| *number == uid)?;
    user(bytes, name).filter(|(number, _)| *number == uid).map(|(_, gid)| (name, gid))
}

/// The groups in /etc/group that name a user, group(5).
pub fn groups_of(bytes: &[u8], user: &str) -> Vec<u32> {
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let groups = lines.filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        let gid = fields.next()?.parse().ok()?;
        fields.next()?.split(',').any(|member| member == user).then_some(gid)
    });
    groups.collect()
}

/// The members of a group that are named in /etc/group, group(5); those whose own group it is are not. `None` if there is no such group.
pub fn group_members<'b>(bytes: &'b [u8], group: &str) -> Option<(u32, Vec<&'b str>)> {
    let line = bytes
        .split(|byte| *byte == b'\n')
        .find(|line| line.split(|byte| *byte == b':').next() == Some(group.as_bytes()))?;
    let mut fields = std::str::from_utf8(line).ok()?.split(':');
    let gid = fields.nth(2)?.parse().ok()?;
    let members = fields.next().unwrap_or_default().split(',').filter(|name| !name.is_empty());
    Some((gid, members.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_user_is_left_out() {
        let text =
            b"root:x:0:0::/root:/bin/sh\n:x:7:\nbroken\nann:x:5:5:\xff\xfe:/:\n\xff:x:8:8::/:\nbob:x:-1:";
        assert_eq!(users(text).collect::<Vec<_>>(), [(0, "root"), (5, "ann")]);
    }

    #[test]
    fn a_user_has_groups() {
        let text = b"root:x:0:0::/:\nann:x:5:6::/:\nbad:x:a:6::/:\n";
        assert_eq!((user(text, "ann"), user(text, "bad"), user(text, "bob")), (Some((5, 6)), None, None));
        assert_eq!((user_of(text, 5), user_of(text, 7)), (Some(("ann", 6)), None));
        assert_eq!(groups_of(b"adm:x:4:syslog,ann\nx:x:9:annette\nbroken\nl:x:7:ann\n", "ann"), [4, 7]);
    }

    #[test]
    fn a_group_has_members() {
        let text = b"root:x:0:\nadm:x:4:syslog,ann\nempty:x:9:\nbroken:x\n";
        assert_eq!(group_members(text, "adm"), Some((4, vec!["syslog", "ann"])));
        assert_eq!(group_members(text, "empty"), Some((9, vec![])));
        assert_eq!(group_members(text, "broken"), None);
        assert_eq!(group_members(text, "nobody"), None);
    }
}
