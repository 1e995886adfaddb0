//! Blocks: what the bar shows, for any output.

pub(crate) use formats::i3bar::Hex as Color;

/// How much a block wants to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    #[default]
    Normal,
    /// All is well.
    Good,
    /// Look when there is time.
    Warning,
    /// Look now.
    Urgent,
}

/// What a segment has to say; an empty text is not shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Block {
    /// The kind of segment.
    pub(crate) kind: &'static str,
    /// Which of its kind: clicks name it.
    pub(crate) instance: String,
    pub(crate) text: String,
    /// For where the room does not suffice; empty: none.
    pub(crate) short: String,
    pub(crate) tone: Tone,
    /// Instead of the tone's.
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
    /// The text is markup.
    pub(crate) is_markup: bool,
    /// A text whose width it has at least.
    pub(crate) min_width: String,
    pub(crate) align: Option<&'static str>,
}
