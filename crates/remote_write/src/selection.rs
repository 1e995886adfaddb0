//! Which series go out, and under which names.

use std::collections::HashMap;

use formats::relabel::{Relabelled, Relabelling};
use formats::series_name::SeriesName;
use query::{Matcher, parse_selector};

use crate::options::ReceiverOptions;

/// The series of a receiver. Names are worked out once.
#[derive(Debug)]
pub(crate) struct Selection {
    selectors: Vec<Vec<Matcher>>,
    relabelling: Relabelling,
    labels: Vec<(String, String)>,
    /// The names with which recorded series go out; `None`: they do not.
    names: HashMap<String, Option<SeriesName>>,
    /// Two recorded series that get the same name.
    conflict: Option<(String, String)>,
}

impl Selection {
    /// The selection of a receiver.
    pub(crate) fn new(options: &ReceiverOptions) -> Self {
        // They were parsed when the options were read.
        let parsed = |text: &String| parse_selector(text).unwrap_or_default();
        Self {
            selectors: options.selectors.iter().map(parsed).collect(),
            relabelling: options.relabelling.clone(),
            labels: options.labels.clone(),
            names: HashMap::new(),
            conflict: None,
        }
    }

    /// Works out the names of these series, and forgets all others.
    pub(crate) fn update<'n>(&mut self, recorded: impl Iterator<Item = &'n str>) {
        let mut known = std::mem::take(&mut self.names);
        for name in recorded {
            let (name, sent) = known.remove_entry(name).unwrap_or_else(|| (name.to_owned(), self.sent(name)));
            self.names.insert(name, sent);
        }
    }

    /// The series that go out, by their names in the history, in the order of these. Of those that get one name it is the first.
    pub(crate) fn series(&mut self) -> Vec<(&str, &SeriesName)> {
        let named =
            self.names.iter().filter_map(|(recorded, sent)| Some((recorded.as_str(), sent.as_ref()?)));
        let mut series: Vec<_> = named.collect();
        series.sort_unstable_by_key(|(recorded, _)| *recorded);
        let mut first: HashMap<&SeriesName, &str> = HashMap::with_capacity(series.len());
        let mut conflict = None;
        series.retain(|(recorded, sent)| match first.get(sent) {
            None => first.insert(sent, recorded).is_none(),
            Some(other) => {
                conflict = Some(((*other).to_owned(), (*recorded).to_owned()));
                false
            }
        });
        self.conflict = conflict;
        series
    }

    /// Two recorded series that get the same name, if there are some: the second does not go out.
    pub(crate) fn conflict(&self) -> Option<(&str, &str)> {
        self.conflict.as_ref().map(|(one, other)| (one.as_str(), other.as_str()))
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
        let mut selection = Selection::new(&options);
        let sent = |selection: &mut Selection| -> Vec<String> {
            selection.series().into_iter().map(|(_, name)| name.to_string()).collect()
        };
        selection.update(["node_load1", "node_memory_MemFree_bytes", "up{job=\"own\"}", "up"].into_iter());
        assert_eq!(
            sent(&mut selection),
            ["node_load1{instance=\"web1\",job=\"whit\"}", "up{instance=\"web1\",job=\"own\"}"]
        );
        // What is not recorded any more is forgotten.
        selection.update(["node_load5"].into_iter());
        assert_eq!(sent(&mut selection), ["node_load5{instance=\"web1\",job=\"whit\"}"]);
        // Two that get one name are sent as the first of them.
        let options =
            ReceiverOptions { selectors: vec![text("up")], labels: vec![(text("a"), text("b"))], ..options };
        let mut selection = Selection::new(&options);
        selection.update(["up{a=\"b\"}", "up"].into_iter());
        assert_eq!(sent(&mut selection), ["up{a=\"b\"}"]);
        assert_eq!(selection.conflict(), Some(("up", "up{a=\"b\"}")));
    }
}
