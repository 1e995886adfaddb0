//! What the thread of a receiver says of its work: in the log, and in the file with its place.

use std::sync::PoisonError;
use std::time::Duration;

use service::Level;
use text::printable::Shown as _;

use super::{Sending, now_ns};
use crate::delivery::Later;
use crate::shipment::Shipment;
use crate::source::ORIGIN_COUNT;

/// The histories of origins, in their order.
const HISTORIES: [&str; ORIGIN_COUNT] = [
    "the history that is sent",
    "the history of checks that is sent",
    "the history that rules read",
    "the history of exporters that is sent",
];

impl Sending {
    /// Says what is wrong. Returns how long to wait: longer each time, and not as long as others that failed at the same time.
    pub(super) fn wait_after(&mut self, Later { message, after, .. }: Later) -> Duration {
        self.say(Some(message));
        let jitter = f64::from((now_ns() / 1000 % 400) as u32) / 1000.0;
        let pause = self.pause.take().mul_f64(0.8 + jitter);
        after.unwrap_or_default().max(pause)
    }

    /// Keeps the progress with the trouble that there is now, and lets the log say when one begins or ends.
    pub(super) fn say(&mut self, trouble: Option<String>) {
        let name = &self.options.name;
        match (&trouble, self.is_in_trouble) {
            (Some(trouble), false) => {
                let rest = match self.refused.iter().any(Option::is_some) {
                    true => {
                        "it is tried again; what it still refuses in a minute is left out if it takes other samples"
                    }
                    false => "it is tried again, and nothing is lost as long as the history has it",
                };
                self.log
                    .write(Level::Warning, &format!("remote write to {name}: {}; {rest}", trouble.shown()));
            }
            (None, true) => self.log.write(Level::Info, &format!("remote write to {name} works again")),
            _ => {}
        }
        self.is_in_trouble = trouble.is_some();
        self.progress.trouble = trouble.or_else(|| self.unread());
        self.say_unread();
        self.keep();
    }

    /// Says that a trouble is over, unless a shipment is still refused.
    pub(super) fn say_end(&mut self) {
        match self.refused.iter().any(Option::is_some) {
            true => self.keep(),
            false => self.say(None),
        }
    }

    /// Says what cannot be read, where nothing is to be sent.
    pub(super) fn rest(&mut self) {
        if self.is_in_trouble {
            return self.say_end();
        }
        let unread = self.unread();
        if self.progress.trouble != unread {
            self.progress.trouble = unread;
            self.keep();
        }
        self.say_unread();
    }

    /// A history that cannot be read, and why.
    fn unread(&self) -> Option<String> {
        self.sources.iter().find_map(|source| source.fault.clone())
    }

    fn say_unread(&mut self) {
        let name = &self.options.name;
        for (source, what) in self.sources.iter().zip(HISTORIES) {
            let fault = source.fault.as_ref().map(|fault| format!("remote write to {name}: {fault}"));
            self.log.fault(what, fault);
        }
    }

    /// Says that a receiver has not written all of what it has taken.
    pub(super) fn say_unwritten(&mut self, shipment: &Shipment) {
        let unwritten = (shipment.unwritten_count > 0).then(|| {
            format!(
                "remote write to {}: {} samples of a request that was taken were not written: {}",
                self.options.name,
                shipment.unwritten_count,
                shipment.unwritten_message.shown()
            )
        });
        self.log.fault("samples that are not written", unwritten);
    }

    /// Keeps the progress for the next agent, and shows it to this one. Before it was read there is none.
    pub(super) fn keep(&mut self) {
        let name = &self.options.name;
        if self.progress.name.is_empty() {
            return;
        }
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.progress.clone());
        let written = self.progress.write(&self.data);
        let unwritten =
            written.err().map(|error| format!("remote write to {name}: its place cannot be kept: {error}"));
        self.log.fault("the place of a receiver", unwritten);
    }
}
