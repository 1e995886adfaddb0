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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_user_is_left_out() {
        let text =
            b"root:x:0:0::/root:/bin/sh\n:x:7:\nbroken\nann:x:5:5:\xff\xfe:/:\n\xff:x:8:8::/:\nbob:x:-1:";
        assert_eq!(users(text).collect::<Vec<_>>(), [(0, "root"), (5, "ann")]);
    }
}
