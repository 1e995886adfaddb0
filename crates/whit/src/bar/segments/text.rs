//! Words that stand still.

use crate::bar::kind::Kind;
use crate::bar::look::Items;
use crate::bar::{Scene, Segment};

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
    fn say(&mut self, _scene: &Scene<'_>, items: &mut Items<'_>) {
        items.only(&[]);
    }
}
