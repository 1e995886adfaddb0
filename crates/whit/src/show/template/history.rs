//! What sparklines remember.

use std::collections::VecDeque;

/// The last values of each sparkline of one template, the newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    slots: Vec<VecDeque<Option<f64>>>,
}

impl History {
    /// Adds a value, and forgets the oldest beyond `width`.
    pub(super) fn push(&mut self, slot: usize, width: usize, value: Option<f64>) {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || VecDeque::with_capacity(width + 1));
        }
        let values = &mut self.slots[slot];
        values.push_back(value);
        while values.len() > width {
            values.pop_front();
        }
    }

    pub(super) fn values(
        &self,
        slot: usize,
    ) -> impl DoubleEndedIterator<Item = &Option<f64>> + ExactSizeIterator + Clone {
        const NONE: &VecDeque<Option<f64>> = &VecDeque::new();
        self.slots.get(slot).unwrap_or(NONE).iter()
    }
}

/// One history for each thing that a segment shows: an interface, a disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histories {
    known: Vec<(String, History, bool)>,
}

/// What comes and goes under ever new names must not be remembered for ever.
const MOST_THINGS: usize = 64;

impl Histories {
    /// The history of the thing of this name.
    pub(crate) fn of(&mut self, name: &str) -> &mut History {
        let found = self.known.iter().position(|(known, ..)| known == name);
        let index = found.unwrap_or_else(|| {
            if self.known.len() >= MOST_THINGS {
                self.known.remove(0);
            }
            self.known.push((name.to_owned(), History::default(), true));
            self.known.len() - 1
        });
        self.known[index].2 = true;
        &mut self.known[index].1
    }

    /// Forgets what was not asked for since the last call.
    pub(crate) fn forget_unseen(&mut self) {
        self.known.retain_mut(|(_, _, seen)| std::mem::take(seen));
    }
}
