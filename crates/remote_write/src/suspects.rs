//! Series that a receiver refused.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use formats::series_name::SeriesName;

/// A series that was refused in so many shipments one after another is set aside for a time.
pub(crate) const MAX_REFUSALS: u32 = 3;
const ASIDE: Duration = Duration::from_secs(600);
/// Refused series that are known; beyond that all are tried again.
const MAX_SUSPECTS: usize = 10_000;

/// Series that a receiver refused.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    pub(crate) known: HashMap<SeriesName, Suspect>,
}

/// A series that was refused.
#[derive(Debug)]
pub(crate) struct Suspect {
    /// Shipments in which it was refused, one after another.
    pub(crate) refusals: u32,
    refused_at: Instant,
    pub(crate) message: String,
}

impl Suspect {
    /// After a time it is tried again.
    pub(crate) fn is_aside(&self) -> bool {
        self.refusals >= MAX_REFUSALS && self.refused_at.elapsed() < ASIDE
    }
}

impl Suspects {
    /// Returns a series that was refused.
    pub(crate) fn get(&self, name: &SeriesName) -> Option<&Suspect> {
        self.known.get(name)
    }

    /// A series that is refused, and what the receiver said of it.
    pub(crate) fn first(&self) -> Option<(String, &str)> {
        let first = self.known.iter().min_by_key(|(name, _)| name.to_string());
        first.map(|(name, suspect)| (name.to_string(), suspect.message.as_str()))
    }

    /// Learns from the series of a shipment that is over, each with what the receiver said if it was refused.
    pub(crate) fn learn<'s>(&mut self, outcomes: impl Iterator<Item = (&'s SeriesName, Option<&'s str>)>) {
        if self.known.len() > MAX_SUSPECTS {
            self.known.clear();
        }
        for (name, refused) in outcomes {
            match (refused, self.known.get_mut(name)) {
                (None, None) => {}
                (None, Some(_)) => {
                    self.known.remove(name);
                }
                // It was not sent.
                (Some(_), Some(suspect)) if suspect.is_aside() => {}
                (Some(message), known) => {
                    let refusals = 1 + known.map_or(0, |suspect| suspect.refusals);
                    let (refused_at, message) = (Instant::now(), message.to_owned());
                    self.known.insert(name.clone(), Suspect { refusals, refused_at, message });
                }
            }
        }
    }
}
