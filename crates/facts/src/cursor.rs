//! The byte cursor that every parser uses.

use memchr::memchr;

/// Bytes that are not what the format says, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Bytes from the start of the input to the trouble.
    pub offset: usize,
    /// The content that was expected there.
    pub expected: &'static str,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for Malformed {}

/// Walks over the text that a kernel file holds. Methods return `None` at the end or on a mismatch and leave the
/// place unchanged then.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes walked over so far.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the bytes that have not been walked over.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The error that says what was expected here.
    pub fn expected(&self, expected: &'static str) -> Malformed {
        Malformed { offset: self.at, expected }
    }

    /// The next byte, still ahead.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Walks over blanks and tabs.
    pub fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Walks over `prefix` if it stands here.
    pub fn skip(&mut self, prefix: &[u8]) -> bool {
        let found = starts_with(self.rest(), prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// An unsigned decimal after blanks; `None` if no digit stands or 64 bits do not hold it.
    pub fn number(&mut self) -> Option<u64> {
        self.skip_blanks();
        let digits = &self.bytes[self.at..];
        let mut value = 0u64;
        let mut length = 0;
        while let Some(digit) =
            digits.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        // Nineteen digits always fit; more are so rare that they are read again, with care.
        const ALWAYS_FIT: usize = 19;
        if length > ALWAYS_FIT {
            value = digits[..length]
                .iter()
                .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
        }
        self.at += length;
        (length > 0).then_some(value)
    }

    /// A decimal that may carry a minus sign.
    pub fn signed(&mut self) -> Option<i64> {
        let start = self.at;
        self.skip_blanks();
        let negative = self.skip(b"-");
        let value = self.number().and_then(|magnitude| i64::try_from(magnitude).ok());
        if value.is_none() {
            self.at = start;
        }
        value.map(|magnitude| if negative { -magnitude } else { magnitude })
    }

    /// A decimal with a fraction, in thousandths: `0.53` is 530. Digits past the third are dropped.
    pub fn thousandths(&mut self) -> Option<u64> {
        let whole = self.number()?;
        let mut value = whole.checked_mul(1000)?;
        if self.skip(b".") {
            let mut unit = 100;
            while let Some(digit @ b'0'..=b'9') = self.peek() {
                value = value.checked_add(u64::from(digit - b'0') * unit)?;
                unit /= 10;
                self.at += 1;
            }
        }
        Some(value)
    }

    /// Returns the word before the next blank, tab or line end, after blanks; `None` if it is empty.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let rest = self.rest();
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\n')).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// Returns the bytes before `stop`, walking over both; `None` if `stop` does not come.
    pub fn until(&mut self, stop: u8) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = memchr(stop, rest)?;
        self.at += length + 1;
        Some(&rest[..length])
    }

    /// The rest of this line without its end, walking over both; none at the end of the input.
    pub fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let length = line_length(rest);
        self.at += (length + 1).min(rest.len());
        Some(&rest[..length])
    }
}

/// By a loop: prefixes are short, and memcmp's code would be a dozen cache lines of a tick.
pub(crate) fn starts_with(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.len() >= prefix.len() && bytes.iter().zip(prefix).all(|(a, b)| a == b)
}

/// Bytes before the end of the line. Lines are mostly short, and memchr's code is ten cache lines, which a tick has to load.
fn line_length(rest: &[u8]) -> usize {
    const SHORT: usize = 256;
    let (start, long) = rest.split_at(rest.len().min(SHORT));
    let end = start.iter().position(|byte| *byte == b'\n');
    end.unwrap_or_else(|| SHORT.min(rest.len()) + memchr(b'\n', long).unwrap_or(long.len()))
}

/// The lines of a text, each with a cursor of its own.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = Cursor<'_>> {
    let mut all = Cursor::new(bytes);
    std::iter::from_fn(move || {
        let start = all.at;
        all.line().map(|line| Cursor { bytes: &bytes[..start + line.len()], at: start })
    })
}

/// Returns what follows a name at the beginning of a line, in the first line that begins with it.
pub fn field<'b>(bytes: &'b [u8], name: &[u8]) -> Option<Cursor<'b>> {
    lines(bytes).find_map(|mut line| line.skip(name).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stop_at_what_is_no_digit_and_refuse_overflow() {
        let mut cursor = Cursor::new(b"  12kB 18446744073709551616");
        assert_eq!(cursor.number(), Some(12));
        assert!(cursor.skip(b"kB"));
        assert_eq!(cursor.number(), None);
        assert_eq!(Cursor::new(b"-").number(), None);
        assert_eq!(Cursor::new(b"-7").signed(), Some(-7));
    }

    #[test]
    fn fractions_are_read_in_thousandths() {
        assert_eq!(Cursor::new(b"0.53").thousandths(), Some(530));
        assert_eq!(Cursor::new(b"12").thousandths(), Some(12_000));
        assert_eq!(Cursor::new(b"1.23456").thousandths(), Some(1_234));
    }

    #[test]
    fn lines_carry_the_offset_within_the_whole() {
        let offsets: Vec<_> = lines(b"ab\n\ncd").map(|line| (line.offset(), line.rest().to_vec())).collect();
        assert_eq!(offsets, [(0, b"ab".to_vec()), (3, vec![]), (4, b"cd".to_vec())]);
    }
}
