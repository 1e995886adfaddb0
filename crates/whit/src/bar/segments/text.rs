//! Words that stand still.

use crate::bar::appearance::ItemRenderer;
use crate::bar::kind::Kind;
use crate::bar::{Segment, SegmentInput};

pub(crate) const KIND: Kind = Kind {
    name: "text",
    about: "The words of its format: a heading, a button.",
    make: |options| {
        options.required_text("format", "\"words\"")?;
        Ok(Box::new(Text))
    },
    ..Kind::DEFAULT
};

struct Text;

impl Segment for Text {
    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        items.only(&[]);
    }
}
