//! The oldest and the largest file of a walk.

use std::cmp::Reverse;
use std::ffi::CStr;

use facts::age::Aged;
use facts::unit::Bytes;

use super::node::Node;

/// The files of a walk that people ask for first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extremes {
    pub(crate) oldest: Option<Found<i64>>,
    pub(crate) largest: Option<Found<Bytes>>,
}

/// A file, and what it is known for.
#[derive(Clone, Debug)]
pub(crate) struct Found<T> {
    pub(crate) path: Vec<u8>,
    pub(crate) value: T,
}

impl Extremes {
    pub(super) fn add(&mut self, node: &Node, name: &CStr, file: &Aged) {
        if let Some(time_ns) = file.time_ns
            && self.oldest.as_ref().is_none_or(|oldest| time_ns < oldest.value)
        {
            self.oldest = Some(Found { path: node.path(Some(name)), value: time_ns });
        }
        if file.bytes > self.largest.as_ref().map_or(Bytes(0), |largest| largest.value) {
            self.largest = Some(Found { path: node.path(Some(name)), value: file.bytes });
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        // Of equals the first by path, however threads came by them.
        if let Some(found) = other.oldest {
            let is_first = |oldest: &Found<i64>| (found.value, &found.path) < (oldest.value, &oldest.path);
            if self.oldest.as_ref().is_none_or(is_first) {
                self.oldest = Some(found);
            }
        }
        if let Some(found) = other.largest {
            let is_first = |largest: &Found<Bytes>| {
                (Reverse(found.value), &found.path) < (Reverse(largest.value), &largest.path)
            };
            if self.largest.as_ref().is_none_or(is_first) {
                self.largest = Some(found);
            }
        }
    }
}
