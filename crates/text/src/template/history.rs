//! The past values that sparklines draw.

use std::collections::VecDeque;

/// The last values of each sparkline of one template, the newest last.
#[derive(Clone, Debug, Default)]
pub struct History {
    slots: Vec<VecDeque<Option<f64>>>,
}

impl History {
    /// Without values.
    pub const EMPTY: &Self = &Self { slots: Vec::new() };

    /// Adds a value and drops the oldest beyond `width`.
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

/// One history for each item of a segment: an interface, a disk.
#[derive(Clone, Debug, Default)]
pub struct Histories {
    known: Vec<(String, History, bool)>,
}

/// Bounds the memory for items that come and go under new names.
const MAX_ITEMS: usize = 64;

impl Histories {
    /// Returns the history of the item with this name; makes one if there is none.
    pub fn of(&mut self, name: &str) -> &mut History {
        let found = self.known.iter().position(|(known, ..)| known == name);
        let index = found.unwrap_or_else(|| {
            if self.known.len() >= MAX_ITEMS {
                self.known.remove(0);
            }
            self.known.push((name.to_owned(), History::default(), true));
            self.known.len() - 1
        });
        self.known[index].2 = true;
        &mut self.known[index].1
    }

    /// Drops the histories that were not used since the last call.
    pub fn forget_unseen(&mut self) {
        self.known.retain_mut(|(_, _, seen)| std::mem::take(seen));
    }
}
