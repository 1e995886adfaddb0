//! Escaping in the formats of lemonbar, polybar and tmux.

/// Appends `text`. The character that starts a format is escaped by doubling it.
pub(super) fn push_doubled(text: &str, mark: u8, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        out.push(byte);
        if byte == mark {
            out.push(byte);
        }
    }
}

/// Appends `text`. In each `mark` of two letters, which would start a tag, a space of no width stands after the first letter.
pub(super) fn push_interrupted(text: &str, mark: &str, out: &mut Vec<u8>) {
    let (first, second) = mark.split_at(1);
    out.extend_from_slice(text.replace(mark, &format!("{first}\u{200b}{second}")).as_bytes());
}
