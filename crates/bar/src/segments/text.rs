//! Words that stand still.

use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput};

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
