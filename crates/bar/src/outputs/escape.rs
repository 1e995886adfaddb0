//! Escaping in lemonbar's and tmux' formats.

/// Appends `text`. The character that starts a format is escaped by doubling it.
pub(super) fn push_doubled(text: &str, mark: u8, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        out.push(byte);
        if byte == mark {
            out.push(byte);
        }
    }
}
