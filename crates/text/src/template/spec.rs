//! The options of a field, which follow its colon.

/// All options with their help texts, for documents and error messages.
pub const OPTIONS_HELP: &[(&str, &str)] = &[
    ("02", "at least this many characters, with zeros before it"),
    (">8  <8  ^8", "at least this many characters, aligned to the right, to the left, centred"),
    ("max20", "at most this many characters"),
    (".1", "this many decimals"),
    ("si  bin  bits", "powers of 1000, powers of 1024, bits instead of bytes"),
    ("k M G T  Ki Mi Gi Ti", "in this unit"),
    ("bare", "without the unit"),
    ("bar10", "a bar of this many characters; the value is a percentage"),
    ("spark10", "this many past values as a sparkline"),
    ("icon", "one of the segment's icons, from the first at 0 % to the last at 100 %"),
];

/// The largest width of a field.
const WIDEST: usize = 200;

/// How a field is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spec {
    pub(super) align: Align,
    pub(super) width: usize,
    /// 0: no limit.
    pub(super) at_most: usize,
    pub(super) precision: Option<u8>,
    pub(super) scale: Scale,
    pub(super) is_bare: bool,
    pub(super) plot: Plot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Middle,
    Right,
    /// To the right, with zeros.
    Zeros,
}

/// The divisor of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// The default of the unit.
    Usual,
    Binary,
    Decimal,
    Bits,
    Fixed {
        divisor: u64,
        name: &'static str,
    },
}

/// The form of the value: written as text or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plot {
    Text,
    Bar {
        width: usize,
    },
    Sparkline {
        /// The index of its history.
        slot: usize,
        width: usize,
    },
    Icon,
}

const FIXED: [(&str, u64, &str); 8] = [
    ("k", 1_000, "kB"),
    ("M", 1_000_000, "MB"),
    ("G", 1_000_000_000, "GB"),
    ("T", 1_000_000_000_000, "TB"),
    ("Ki", 1 << 10, "KiB"),
    ("Mi", 1 << 20, "MiB"),
    ("Gi", 1 << 30, "GiB"),
    ("Ti", 1 << 40, "TiB"),
];

impl Spec {
    /// That of a field without options.
    pub(super) const DEFAULT: Self = Self {
        align: Align::Left,
        width: 0,
        at_most: 0,
        precision: None,
        scale: Scale::Usual,
        is_bare: false,
        plot: Plot::Text,
    };

    /// Adds one option. `sparklines` counts the sparklines of the template.
    pub(super) fn add(&mut self, option: &str, sparklines: &mut usize) -> Result<(), String> {
        let width = |text: &str| -> Result<usize, String> {
            let width = text.parse().ok().filter(|width| (1..=WIDEST).contains(width));
            width.ok_or_else(|| format!("\"{option}\" needs a number from 1 to {WIDEST}"))
        };
        if let Some((_, divisor, name)) = FIXED.iter().find(|(word, ..)| *word == option) {
            self.scale = Scale::Fixed { divisor: *divisor, name };
        } else if let Some(rest) = option.strip_prefix('>') {
            (self.align, self.width) = (Align::Right, width(rest)?);
        } else if let Some(rest) = option.strip_prefix('0').filter(|rest| !rest.is_empty()) {
            (self.align, self.width) = (Align::Zeros, width(rest)?);
        } else if let Some(rest) = option.strip_prefix('<') {
            (self.align, self.width) = (Align::Left, width(rest)?);
        } else if let Some(rest) = option.strip_prefix('^') {
            (self.align, self.width) = (Align::Middle, width(rest)?);
        } else if let Some(rest) = option.strip_prefix("max") {
            self.at_most = width(rest)?;
        } else if let Some(rest) = option.strip_prefix("bar").filter(|rest| *rest != "e") {
            self.plot = Plot::Bar { width: width(rest)? };
        } else if let Some(rest) = option.strip_prefix("spark") {
            self.plot = Plot::Sparkline { slot: *sparklines, width: width(rest)? };
            *sparklines += 1;
        } else if let Some(rest) = option.strip_prefix('.') {
            let digits = rest.parse().ok().filter(|digits| *digits <= 9);
            self.precision = Some(digits.ok_or("decimals are .0 to .9")?);
        } else {
            match option {
                "si" => self.scale = Scale::Decimal,
                "bin" => self.scale = Scale::Binary,
                "bits" => self.scale = Scale::Bits,
                "bare" => self.is_bare = true,
                "icon" => self.plot = Plot::Icon,
                _ => {
                    let known: Vec<_> = OPTIONS_HELP.iter().map(|(words, _)| *words).collect();
                    return Err(format!("there is no option \"{option}\"; there are {}", known.join("  ")));
                }
            }
        }
        Ok(())
    }
}
