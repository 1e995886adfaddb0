//! Which series go out, and under which names.

use std::collections::HashMap;

use formats::relabel::{Relabelled, Relabelling};
use formats::series_name::SeriesName;
use query::{Matcher, QueryError, parse_selector};

use crate::options::ReceiverOptions;

/// The series of a receiver. Names are worked out once.
#[derive(Debug)]
pub(crate) struct Selection {
    selectors: Vec<Vec<Matcher>>,
    relabelling: Relabelling,
    labels: Vec<(String, String)>,
    /// The names with which recorded series go out; `None`: they do not.
    names: HashMap<String, Option<SeriesName>>,
}

impl Selection {
    /// The selection of a receiver.
    ///
    /// # Errors
    /// If a selector is none.
    pub(crate) fn new(options: &ReceiverOptions) -> Result<Self, QueryError> {
        let selectors =
            options.selectors.iter().map(|text| parse_selector(text)).collect::<Result<_, _>>()?;
        Ok(Self {
            selectors,
            relabelling: options.relabelling.clone(),
            labels: options.labels.clone(),
            names: HashMap::new(),
        })
    }

    /// Works out the names of these series, and forgets all others.
    pub(crate) fn update<'n>(&mut self, recorded: impl Iterator<Item = &'n str>) {
        let mut known = std::mem::take(&mut self.names);
        for name in recorded {
            let (name, sent) = known.remove_entry(name).unwrap_or_else(|| (name.to_owned(), self.sent(name)));
            self.names.insert(name, sent);
        }
    }

    /// The series that go out, by their names in the history, in the order of these.
    pub(crate) fn series(&self) -> Vec<(&str, &SeriesName)> {
        let mut series: Vec<_> = self
            .names
            .iter()
            .filter_map(|(recorded, sent)| Some((recorded.as_str(), sent.as_ref()?)))
            .collect();
        series.sort_unstable_by_key(|(recorded, _)| *recorded);
        series
    }

    fn sent(&self, recorded: &str) -> Option<SeriesName> {
        let name = SeriesName::parse(recorded).ok()?;
        let meets = |matchers: &Vec<Matcher>| {
            matchers.iter().all(|matcher| matcher.accepts(name.get(&matcher.label)))
        };
        if !self.selectors.is_empty() && !self.selectors.iter().any(meets) {
            return None;
        }
        let mut name = name;
        for (label, value) in &self.labels {
            if name.get(label).is_empty() {
                name.set(label, value);
            }
        }
        match self.relabelling.apply(name, |_, _| {}) {
            Relabelled::Series(name) => Some(name),
            Relabelled::Dropped(_) | Relabelled::Nameless(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_meets_a_selector_goes_out_with_labels() {
        let text = |text: &str| text.to_owned();
        let options = ReceiverOptions {
            name: text("store"),
            url: text("http://store/"),
            headers: Vec::new(),
            selectors: vec![text("{__name__=~\"node_load.+\"}"), text("up{job=\"own\"}")],
            relabelling: Relabelling::default(),
            labels: vec![(text("instance"), text("web1")), (text("job"), text("whit"))],
            interval: Duration::ZERO,
            timeout: Duration::ZERO,
            first: Duration::ZERO,
            again: Duration::ZERO,
        };
        let mut selection = Selection::new(&options).unwrap();
        let sent = |selection: &Selection| -> Vec<String> {
            selection.series().into_iter().map(|(_, name)| name.to_string()).collect()
        };
        selection.update(["node_load1", "node_memory_MemFree_bytes", "up{job=\"own\"}", "up"].into_iter());
        assert_eq!(
            sent(&selection),
            ["node_load1{instance=\"web1\",job=\"whit\"}", "up{instance=\"web1\",job=\"own\"}"]
        );
        // What is not recorded any more is forgotten.
        selection.update(["node_load5"].into_iter());
        assert_eq!(sent(&selection), ["node_load5{instance=\"web1\",job=\"whit\"}"]);
        assert!(Selection::new(&ReceiverOptions { selectors: vec![text("{")], ..options }).is_err());
    }
}
