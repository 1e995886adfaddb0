//! Whether anything is reached: a machine without a network learns nothing about feeds.

use std::collections::HashSet;

/// When so many hosts are not reached, one after the other, nothing is.
const MAX_UNREACHED: usize = 3;

/// The hosts that were not reached since another one was.
#[derive(Debug, Default)]
pub(crate) struct Reach(HashSet<String>);

impl Reach {
    /// Takes note of an answer.
    pub(crate) fn answered(&mut self) {
        self.0.clear();
    }

    /// Takes note of a host that was not reached. Returns whether nothing is.
    pub(crate) fn missed(&mut self, host: String) -> bool {
        if self.0.len() < MAX_UNREACHED {
            self.0.insert(host);
        }
        self.0.len() >= MAX_UNREACHED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_that_is_away_is_no_network_that_is() {
        let mut reach = Reach::default();
        let mut missed = |host: &str| reach.missed(host.to_owned());
        assert_eq!(["a", "a", "b", "b", "c", "d"].map(&mut missed), [false, false, false, false, true, true]);
        reach.answered();
        assert!(!reach.missed("a".to_owned()));
    }
}
