//! The protocol of i3bar and swaybar: <https://i3wm.org/docs/i3bar-protocol.html>, swaybar-protocol(7).

mod clicks;

use serde::Serialize;

pub use clicks::{Click, Clicks};

/// The first line that a status command writes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Header {
    /// 1.
    pub version: u32,
    /// The signal that is sent if the bar is hidden; by default SIGSTOP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_signal: Option<i32>,
    /// The signal that is sent if the bar is shown again; by default SIGCONT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cont_signal: Option<i32>,
    /// Clicks are sent on standard input.
    pub click_events: bool,
}

/// One block of a line.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Block<'a> {
    /// The kind of block, which comes back with clicks.
    pub name: &'a str,
    /// Which of its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<&'a str>,
    /// The text that is shown.
    pub full_text: &'a str,
    /// The text that is shown where the room does not suffice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_text: Option<&'a str>,
    /// `#rrggbb` or `#rrggbbaa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Hex>,
    /// As above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Hex>,
    /// A text whose width this block has at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_width: Option<&'a str>,
    /// `left`, `center`, `right`: within that width.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<&'a str>,
    /// Wants attention.
    #[serde(skip_serializing_if = "is_false")]
    pub urgent: bool,
    /// `pango`, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markup: Option<&'a str>,
}

/// A colour, written `#rrggbb`, or `#rrggbbaa` where it is not opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex(pub [u8; 4]);

impl Hex {
    /// Returns the colour for readers that know no transparency.
    #[must_use]
    pub fn opaque(self) -> Self {
        let [red, green, blue, _] = self.0;
        Self([red, green, blue, u8::MAX])
    }
}

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue, alpha] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")?;
        if alpha == u8::MAX { Ok(()) } else { write!(f, "{alpha:02x}") }
    }
}

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for Hex {
    type Err = ();

    /// `#rgb`, `#rrggbb` or `#rrggbbaa`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_prefix('#').filter(|digits| digits.is_ascii()).ok_or(())?;
        let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let single = |at: usize| u8::from_str_radix(digits.get(at..=at)?, 16).ok().map(|digit| digit * 17);
        let bytes = match digits.len() {
            3 => [single(0), single(1), single(2), Some(u8::MAX)],
            6 => [pair(0), pair(2), pair(4), Some(u8::MAX)],
            8 => [pair(0), pair(2), pair(4), pair(6)],
            _ => return Err(()),
        };
        match bytes {
            [Some(red), Some(green), Some(blue), Some(alpha)] => Ok(Self([red, green, blue, alpha])),
            _ => Err(()),
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_read_back() {
        for (text, same) in [("#fff", "#ffffff"), ("#01abEF", "#01abef"), ("#01020304", "#01020304")] {
            assert_eq!(text.parse::<Hex>().unwrap().to_string(), same);
        }
        for text in ["", "red", "#ff", "#ggg", "#1234567", "#é12"] {
            assert!(text.parse::<Hex>().is_err(), "{text}");
        }
    }
}
