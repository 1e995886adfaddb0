//! How a segment looks: its format, when it is hidden, when it changes its colour.

use text::template::{Condition, Filling, Histories, History, Template, Value};

use super::block::{Block, Color, Tone};

/// What the configuration says of a segment's looks.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) format: Template,
    pub(crate) short: Option<Template>,
    /// Other formats, the first whose condition holds.
    pub(crate) variants: Vec<Variant>,
    /// The first whose condition holds counts.
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) hide_when: Option<Condition>,
    pub(crate) icons: Vec<String>,
    /// Between one thing and the next, where a segment shows several.
    pub(crate) separator: String,
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
    pub(crate) is_markup: bool,
    pub(crate) min_width: String,
    pub(crate) align: Option<&'static str>,
    pub(crate) histories: Histories,
}

/// A format for when something holds.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) when: Condition,
    pub(crate) format: Template,
    pub(crate) short: Option<Template>,
}

/// A tone or colour for when something holds.
#[derive(Debug)]
pub(crate) struct Threshold {
    pub(crate) when: Condition,
    pub(crate) tone: Tone,
    pub(crate) color: Option<Color>,
    pub(crate) background: Option<Color>,
}

/// Takes what a segment says, thing by thing, into its block.
pub(crate) struct Items<'a> {
    look: &'a mut Look,
    block: &'a mut Block,
    /// Whether this is the segment's time, and not only a line drawn anew.
    is_tick: bool,
}

impl<'a> Items<'a> {
    /// Empties the block.
    pub(crate) fn new(look: &'a mut Look, block: &'a mut Block, is_tick: bool) -> Self {
        block.text.clear();
        block.short.clear();
        block.tone = Tone::Normal;
        (block.color, block.background) = (look.color, look.background);
        if is_tick {
            look.histories.forget_unseen();
        }
        Self { look, block, is_tick }
    }

    /// Adds the one thing that the segment shows.
    pub(crate) fn only(&mut self, values: &[Value<'_>]) {
        self.named("", values);
    }

    /// Adds one of several things, with a value for each of the segment's fields.
    pub(crate) fn named(&mut self, name: &str, values: &[Value<'_>]) {
        let look = &mut *self.look;
        if look.hide_when.as_ref().is_some_and(|condition| condition.holds(values)) {
            return;
        }
        let none = History::default();
        let history = if look.format.has_sparklines() {
            let history = look.histories.of(name);
            if self.is_tick {
                look.format.remember(values, history);
            }
            history
        } else {
            &none
        };
        let variant = look.variants.iter().find(|variant| variant.when.holds(values));
        let (format, short) = match variant {
            Some(variant) => (&variant.format, variant.short.as_ref()),
            None => (&look.format, look.short.as_ref()),
        };
        let filling = Filling { values, icons: &look.icons, is_markup: look.is_markup };
        push_item(format, &filling, history, &look.separator, &mut self.block.text);
        if let Some(short) = short {
            push_item(short, &filling, &none, &look.separator, &mut self.block.short);
        }
        if let Some(threshold) = look.thresholds.iter().find(|threshold| threshold.when.holds(values))
            && threshold.tone >= self.block.tone
        {
            // The segment's own colours are those of what is as it should be.
            if threshold.tone > self.block.tone {
                (self.block.color, self.block.background) = (None, None);
            }
            self.block.tone = threshold.tone;
            self.block.color = threshold.color.or(self.block.color);
            self.block.background = threshold.background.or(self.block.background);
        }
    }

    /// Adds one of several things that have numbers.
    pub(crate) fn numbered(&mut self, number: u64, values: &[Value<'_>]) {
        if self.look.format.has_sparklines() {
            self.named(&number.to_string(), values);
        } else {
            self.named("", values);
        }
    }

    /// Shows words as they are where there is nothing else to show.
    pub(crate) fn note(&mut self, words: &str) {
        self.block.text.push_str(words);
    }

    /// Says that the values are old: what would give new ones does not answer.
    pub(crate) fn stale(&mut self) {
        if !self.block.text.is_empty() {
            self.block.text.push_str(" (stale)");
        }
    }

    /// Paints the block as a command asked for.
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
