//! Maildir: a file a message, its flags in its name. <https://cr.yp.to/proto/maildir.html>

use super::MailCount;

/// The two directories that hold messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directory {
    /// `new`: delivered, and not yet listed by a mail reader.
    New,
    /// `cur`: listed; flags are behind the last `:2,`.
    Cur,
}

impl Directory {
    /// Counts an entry of this name; a hidden one counts as nothing.
    pub fn count(self, name: &[u8]) -> MailCount {
        if name.starts_with(b".") {
            return MailCount::default();
        }
        let is_new = self == Self::New;
        let is_unread = is_new || !flags(name).iter().any(|flag| matches!(flag, b'S' | b'T'));
        MailCount { total: 1, unread: u64::from(is_unread), new: u64::from(is_new) }
    }
}

/// `S` seen, `T` trashed, `R` replied, `F` flagged, `D` draft, `P` passed on. Where a colon cannot stand in a name, a
/// semicolon or an exclamation mark does.
fn flags(name: &[u8]) -> &[u8] {
    let start = name.windows(3).rposition(|window| matches!(window, [b':' | b';' | b'!', b'2', b',']));
    start.map_or(&[], |start| &name[start + 3..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_decide_in_cur_and_the_place_does_in_new() {
        let count = |directory: Directory, name: &str| {
            let count = directory.count(name.as_bytes());
            (count.total, count.unread, count.new)
        };
        assert_eq!(count(Directory::New, "1.2.host"), (1, 1, 1));
        assert_eq!(count(Directory::New, "1.2.host:2,S"), (1, 1, 1));
        assert_eq!(count(Directory::Cur, "1.2.host:2,"), (1, 1, 0));
        assert_eq!(count(Directory::Cur, "1.2.host"), (1, 1, 0));
        assert_eq!(count(Directory::Cur, "1.2.host,S=4,W=5:2,FRS"), (1, 0, 0));
        assert_eq!(count(Directory::Cur, "1.2.Shost;2,F"), (1, 1, 0));
        assert_eq!(count(Directory::Cur, "1.2.host!2,S"), (1, 0, 0));
        assert_eq!(count(Directory::Cur, "1.2.host:2,T"), (1, 0, 0));
        assert_eq!(count(Directory::Cur, ".nfs0001"), (0, 0, 0));
        assert_eq!(count(Directory::Cur, ":2"), (1, 1, 0));
    }
}
