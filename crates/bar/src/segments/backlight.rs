//! Brightness of the screen.

use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput};
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "backlight",
    about: "Brightness of screens; nothing where none can be set.",
    fields: &[field("percent", "of the brightest"), field("name", "intel_backlight …")],
    format: "light {percent}",
    options: &[("device", "which one; all")],
    make: |options| Ok(Box::new(Backlight { device: options.text("device")?.map(str::to_owned) })),
    ..Kind::DEFAULT
};

struct Backlight {
    device: Option<String>,
}

impl Segment for Backlight {
    fn wanted(&self) -> Wanted {
        Wanted::from([Source::Backlight])
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(backlights) = input.sample.backlights.get() else { return };
        for backlight in backlights {
            let name = backlight.name.as_str();
            if self.device.as_ref().is_none_or(|device| device == name) {
                items.named(name, &[Value::share(backlight.share()), Value::Text(name)]);
            }
        }
    }
}
