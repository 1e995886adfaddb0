//! The appearance of a segment: formats, conditions, colours.

use text::template::{Condition, Filling, Histories, History, Template, Value};

use super::block::{Block, Color, Tone};

/// No kind of segment has more.
pub(crate) const MAX_FIELDS: usize = 32;

/// The appearance of a segment, from its configuration. What most segments do not set is apart, so that a tick loads little.
#[derive(Debug)]
pub(crate) struct Appearance {
    pub(crate) format: Template,
    /// Alternative formats. The first whose condition holds is used.
    pub(crate) variants: Box<[Variant]>,
    /// Changes of tone and colour. The first whose condition holds applies.
    pub(crate) thresholds: Box<[Threshold]>,
    /// Separates the items of a segment that shows several.
    pub(crate) separator: Box<str>,
    pub(crate) extras: Option<Box<Extras>>,
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
    pub(crate) is_markup: bool,
    pub(crate) histories: Histories,
}

/// Options of the appearance that few segments set.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Extras {
    pub(crate) short: Option<Template>,
    pub(crate) hide_when: Option<Condition>,
    pub(crate) icons: Vec<String>,
}

/// A format that is used if a condition holds.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) when: Condition,
    pub(crate) format: Template,
    pub(crate) short: Option<Template>,
}

/// A tone or colour that applies if a condition holds.
#[derive(Debug)]
pub(crate) struct Threshold {
    pub(crate) when: Condition,
    pub(crate) tone: Tone,
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
}

/// Renders the items of a segment (interfaces, disks …) into its block.
pub(crate) struct ItemRenderer<'a> {
    appearance: &'a mut Appearance,
    block: &'a mut Block,
    /// Its interval is due. Values are added to histories only then.
    is_tick: bool,
}

impl<'a> ItemRenderer<'a> {
    /// Clears the block.
    pub(crate) fn new(appearance: &'a mut Appearance, block: &'a mut Block, is_tick: bool) -> Self {
        block.text.clear();
        block.short.clear();
        block.tone = Tone::Normal;
        (block.color, block.background) = (appearance.color, appearance.background);
        if is_tick && appearance.format.has_sparklines() {
            appearance.histories.forget_unseen();
        }
        Self { appearance, block, is_tick }
    }

    /// Renders the only item of a segment.
    pub(crate) fn only(&mut self, values: &[Value<'_>]) {
        self.named("", values);
    }

    /// Renders one of several items, with a value for each field.
    pub(crate) fn named(&mut self, name: &str, values: &[Value<'_>]) {
        let appearance = &mut *self.appearance;
        let (hide_when, short, icons) = match &appearance.extras {
            Some(extras) => (extras.hide_when.as_ref(), extras.short.as_ref(), &extras.icons[..]),
            None => (None, None, &[][..]),
        };
        if hide_when.is_some_and(|condition| condition.holds(values)) {
            return;
        }
        let history = if appearance.format.has_sparklines() {
            let history = appearance.histories.of(name);
            if self.is_tick {
                appearance.format.remember(values, history);
            }
            history
        } else {
            History::EMPTY
        };
        let variant = appearance.variants.iter().find(|variant| variant.when.holds(values));
        let (format, short) = match variant {
            Some(variant) => (&variant.format, variant.short.as_ref()),
            None => (&appearance.format, short),
        };
        let filling = Filling { values, icons, is_markup: appearance.is_markup };
        push_item(format, &filling, history, &appearance.separator, &mut self.block.text);
        if let Some(short) = short {
            push_item(short, &filling, History::EMPTY, &appearance.separator, &mut self.block.short);
        }
        self.judge(values);
    }

    /// Takes the colours of the first threshold that holds, unless an item before was worse.
    fn judge(&mut self, values: &[Value<'_>]) {
        let threshold = self.appearance.thresholds.iter().find(|threshold| threshold.when.holds(values));
        if let Some(threshold) = threshold
            && threshold.tone >= self.block.tone
        {
            // The colours of the segment are those of the normal state.
            if threshold.tone > self.block.tone {
                (self.block.color, self.block.background) = (None, None);
            }
            self.block.tone = threshold.tone;
            self.block.color = threshold.color.or(self.block.color);
            self.block.background = threshold.background.or(self.block.background);
        }
    }

    /// Renders one of several numbered items.
    pub(crate) fn numbered(&mut self, number: u64, values: &[Value<'_>]) {
        if self.appearance.format.has_sparklines() {
            self.named(&number.to_string(), values);
        } else {
            self.named("", values);
        }
    }

    /// Appends a note in place of items; conditions see that all fields are absent.
    pub(crate) fn note(&mut self, words: &str) {
        self.block.text.push_str(words);
        self.judge(&[Value::Absent; MAX_FIELDS]);
    }

    /// Marks the values as stale: the source of new ones does not answer.
    pub(crate) fn stale(&mut self) {
        if !self.block.text.is_empty() {
            self.block.text.push_str(" (stale)");
        }
    }

    /// Applies the tone and colours that a command has set.
    pub(crate) fn paint(&mut self, tone: Tone, color: Option<Color>, background: Option<Color>) {
        self.block.tone = self.block.tone.max(tone);
        self.block.color = color.or(self.block.color);
        self.block.background = background.or(self.block.background);
    }
}

fn push_item(format: &Template, filling: &Filling<'_>, history: &History, separator: &str, out: &mut String) {
    let (start, is_first) = (out.len(), out.is_empty());
    if !is_first {
        out.push_str(separator);
    }
    let after_separator = out.len();
    format.render(filling, history, out);
    if out.len() == after_separator {
        out.truncate(start);
    }
}
