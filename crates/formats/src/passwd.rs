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
    fn a_group_has_members() {
        let text = b"root:x:0:\nadm:x:4:syslog,ann\nempty:x:9:\nbroken:x\n";
        assert_eq!(group_members(text, "adm"), Some((4, vec!["syslog", "ann"])));
        assert_eq!(group_members(text, "empty"), Some((9, vec![])));
        assert_eq!(group_members(text, "broken"), None);
        assert_eq!(group_members(text, "nobody"), None);
    }
}
