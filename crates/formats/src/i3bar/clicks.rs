//! Clicks: an endless array of objects on standard input.

use serde::Deserialize;

/// A click on a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Click {
    /// The block's name.
    pub name: Option<String>,
    /// Which of its kind.
    pub instance: Option<String>,
    /// X11's number: 1 left, 2 middle, 3 right, 4 and 5 the wheel up and down, 8 back, 9 forward.
    pub button: u32,
    /// On the screen, pixels.
    pub x: i64,
    /// As above.
    pub y: i64,
    /// Within the block, pixels.
    pub relative_x: i64,
    /// As above.
    pub relative_y: i64,
    /// The block's, pixels.
    pub width: i64,
    /// As above.
    pub height: i64,
    /// `Shift`, `Control`, `Mod1` …; only i3bar sends them.
    pub modifiers: Vec<String>,
}

/// Puts clicks together from the pieces in which they come.
#[derive(Clone, Debug, Default)]
pub struct Clicks {
    object: Vec<u8>,
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

/// A click is a few hundred bytes; what is longer is none and is passed over.
const MAX_BYTES: usize = 16 * 1024;

impl Clicks {
    /// Takes bytes, and hands over each click that they complete. What is no click is passed over.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Click)) {
        for &byte in bytes {
            if self.depth == 0 && byte != b'{' {
                continue; // The array's bracket, commas, line ends.
            }
            if self.object.len() < MAX_BYTES {
                self.object.push(byte);
            }
            if self.is_in_string {
                self.is_in_string = self.is_escaped || byte != b'"';
                self.is_escaped = !self.is_escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'{' => self.depth += 1,
                b'}' => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                if let Ok(click) = serde_json::from_slice(&self.object) {
                    each(click);
                }
                self.object.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clicks(pieces: &[&[u8]]) -> Vec<Click> {
        let (mut clicks, mut all) = (Clicks::default(), Vec::new());
        for piece in pieces {
            clicks.push(piece, |click| all.push(click));
        }
        all
    }

    #[test]
    fn i3bar_and_swaybar_are_both_understood_in_any_pieces() {
        let i3bar = br#"[
{"name":"net","instance":"2","button":1,"modifiers":["Shift"],"x":1320,"y":1400,"relative_x":12,"relative_y":8,"output_x":1,"output_y":2,"width":50,"height":22}
,{"name":"a}{\"","button":4}
"#;
        let swaybar = br#",{"name":"net","x":5,"y":6,"button":3,"event":273,"relative_x":1,"relative_y":2,"width":3,"height":4,"scale":1.5}"#;
        let whole = clicks(&[i3bar, swaybar]);
        assert_eq!(whole.len(), 3);
        assert_eq!((whole[0].button, whole[0].modifiers.as_slice()), (1, &["Shift".to_owned()][..]));
        assert_eq!(whole[1].name.as_deref(), Some("a}{\""));
        assert_eq!((whole[2].button, whole[2].height), (3, 4));
        let bytes = [&i3bar[..], &swaybar[..]].concat();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(clicks(&single), whole);
    }

    #[test]
    fn nonsense_is_passed_over_and_bounded() {
        let long = [b"{\"name\":\"", &[b'x'; 100_000][..], b"\"}{\"button\":2}"].concat();
        let found = clicks(&[b"]]}} hello {\"button\":\"one\"} {not json}", &long]);
        assert_eq!(found.iter().map(|click| click.button).collect::<Vec<_>>(), [2]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            clicks(&[&bytes]);
        }
    }
}
