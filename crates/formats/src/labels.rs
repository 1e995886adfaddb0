//! Labels with their values.

use std::cmp::Ordering;
use std::fmt;

/// Labels with their values, in the order of the labels, which are different. In two pieces of memory, so that it costs little to copy,
/// compare and drop them: a question about tasks makes thousands.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Labels {
    /// Each label and its value, one behind the other.
    text: String,
    /// Where each of these ends.
    ends: Vec<usize>,
}

impl Labels {
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut begin = 0;
        self.ends.chunks_exact(2).map(move |ends| {
            let pair = (&self.text[begin..ends[0]], &self.text[ends[0]..ends[1]]);
            begin = ends[1];
            pair
        })
    }

    pub(crate) fn get(&self, label: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == label).map(|(_, value)| value)
    }

    /// Gives a label a value, whether it has one or not.
    pub(crate) fn insert(&mut self, label: &str, value: &str) {
        if self.iter().last().is_none_or(|(last, _)| last < label) {
            self.push(label, value);
            return;
        }
        let mut changed = Self::default();
        for (known, value) in self.iter().filter(|(known, _)| *known < label) {
            changed.push(known, value);
        }
        changed.push(label, value);
        for (known, value) in self.iter().filter(|(known, _)| *known > label) {
            changed.push(known, value);
        }
        *self = changed;
    }

    /// Returns those for which `is_kept` returns `true`.
    pub(crate) fn kept(&self, mut is_kept: impl FnMut(&str) -> bool) -> Self {
        let mut kept = Self::default();
        for (label, value) in self.iter().filter(|(label, _)| is_kept(label)) {
            kept.push(label, value);
        }
        kept
    }

    /// Returns their approximate size in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.text.len() + size_of_val(self.ends.as_slice())
    }

    /// Adds a label that is behind all others.
    fn push(&mut self, label: &str, value: &str) {
        for text in [label, value] {
            self.text.push_str(text);
            self.ends.push(self.text.len());
        }
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Ord for Labels {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for Labels {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

    use proptest::prelude::*;

    use super::*;

    fn labels(pairs: &[(String, String)]) -> (Labels, BTreeMap<String, String>) {
        let (mut labels, mut map) = (Labels::default(), BTreeMap::new());
        for (label, value) in pairs {
            labels.insert(label, value);
            map.insert(label.clone(), value.clone());
        }
        (labels, map)
    }

    proptest! {
        #[test]
        fn they_are_as_a_map_is(
            pairs in prop::collection::vec(("[ab\u{0}é]{0,3}", "[ab\u{0}é]{0,3}"), 0..8),
            others in prop::collection::vec(("[ab\u{0}é]{0,3}", "[ab\u{0}é]{0,3}"), 0..8),
        ) {
            let ((one, mut map), (other, other_map)) = (labels(&pairs), labels(&others));
            let of = |map: &BTreeMap<String, String>| map.clone().into_iter().collect::<Vec<_>>();
            let owned = |labels: &Labels| -> Vec<(String, String)> {
                labels.iter().map(|(label, value)| (label.to_owned(), value.to_owned())).collect()
            };
            prop_assert_eq!(owned(&one), of(&map));
            prop_assert_eq!(one.cmp(&other), map.cmp(&other_map));
            prop_assert_eq!(one == other, map == other_map);
            prop_assert_eq!(one.is_empty(), map.is_empty());
            for (label, _) in pairs.iter().chain(&others) {
                prop_assert_eq!(one.get(label), map.get(label).map(String::as_str));
            }
            // However they were made, equal ones have one hash.
            let mut reversed = Labels::default();
            map.iter().rev().for_each(|(label, value)| reversed.insert(label, value));
            let hasher = BuildHasherDefault::<DefaultHasher>::default();
            prop_assert_eq!(hasher.hash_one(&reversed), hasher.hash_one(&one));
            map.retain(|label, _| label.len() > 1);
            prop_assert_eq!(owned(&one.kept(|label| label.len() > 1)), of(&map));
        }
    }
}
