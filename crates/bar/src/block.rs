//! Blocks: what the bar shows, for any output.

pub(crate) use formats::i3bar::Hex as Color;

/// How urgent a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    #[default]
    Normal,
    /// Better than normal.
    Good,
    /// Needs attention.
    Warning,
    /// Needs attention now.
    Urgent,
}

/// The rendered text of a segment. A block with an empty text is not shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block {
    /// The kind of segment.
    pub(crate) kind: &'static str,
    /// Distinguishes segments of the same kind, in clicks.
    pub(crate) instance: String,
    pub(crate) text: String,
    /// A shorter text for narrow outputs; empty if there is none.
    pub(crate) short: String,
    pub(crate) tone: Tone,
    /// Replaces the colour of the tone.
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
    /// The text is Pango markup.
    pub(crate) is_markup: bool,
    /// A text that defines the minimum width.
    pub(crate) min_width: String,
    pub(crate) align: Option<&'static str>,
}
