//! /proc/PID/cmdline: what a process was started with. proc_pid_cmdline(5). It may hold secrets: for the screen alone.

/// The words of a command line, each ended by a zero. None for a kernel thread and for a process that ended, whose
/// file is empty. A process may have written its title over them, as one word with blanks.
pub fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let is_empty = bytes.is_empty();
    whole.split(|byte| *byte == 0).filter(move |_| !is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_words_count_and_an_empty_file_has_none() {
        let list = |bytes: &'static [u8]| words(bytes).collect::<Vec<_>>();
        assert_eq!(list(b"sh\0-c\0\0x y\0"), [&b"sh"[..], b"-c", b"", b"x y"]);
        assert_eq!(list(b"a title of its own"), [b"a title of its own"]);
        assert!(list(b"").is_empty());
        assert_eq!(list(b"\0"), [b""]);
    }
}
