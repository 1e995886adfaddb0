//! Traffic of the interfaces that are up.

use facts::linux::net_attributes::Link;
use facts::source::{Source, Wanted};

use crate::bar::{Block, Scene, Segment};
use crate::show::ABSENT;
use crate::show::text::push_printable;
use crate::show::units::push_bytes_per_second;

/// `eth0 ↓1.3 kB/s ↑340 B/s`, interface after interface.
#[derive(Debug)]
pub(crate) struct Net {
    /// Empty: all that are up.
    names: Vec<String>,
}

impl Net {
    pub(crate) fn new(names: &[String]) -> Self {
        Self { names: names.to_vec() }
    }

    /// One that was asked for is shown up or down; else, without /sys (in a container), whatever is not the loopback.
    fn is_shown(&self, name: &[u8], links: &[Link]) -> bool {
        if !self.names.is_empty() {
            return self.names.iter().any(|asked| asked.as_bytes() == name);
        }
        match links.iter().find(|link| link.name.as_bytes() == name) {
            Some(link) => !link.is_loopback && link.is_up(),
            None => links.is_empty() && name != b"lo",
        }
    }
}

impl Segment for Net {
    fn name(&self) -> &'static str {
        "net"
    }

    fn wanted(&self) -> Wanted {
        Wanted::from([Source::NetDev, Source::LinkState])
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let Ok(net) = scene.sample.net_dev.get() else { return };
        let links = scene.sample.links.get().map_or(&[][..], Vec::as_slice);
        for interface in &net.interfaces {
            if !self.is_shown(interface.name.as_bytes(), links) {
                continue;
            }
            let rates = scene.rates.interfaces.iter().find(|rates| rates.name == interface.name);
            let text = &mut block.text;
            text.push_str(if text.is_empty() { "" } else { "  " });
            push_printable(text, interface.name.as_bytes());
            if links.iter().any(|link| link.name == interface.name && !link.is_up() && !link.is_loopback) {
                text.push_str(" down");
                continue;
            }
            for (arrow, rate) in [
                (" ↓", rates.and_then(|rates| rates.received_bytes_per_second)),
                (" ↑", rates.and_then(|rates| rates.sent_bytes_per_second)),
            ] {
                text.push_str(arrow);
                match rate {
                    Some(rate) => push_bytes_per_second(text, rate),
                    None => text.push_str(ABSENT),
                }
            }
        }
        if block.text.is_empty() {
            block.text.push_str("no network");
        }
    }
}
