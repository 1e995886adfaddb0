//! Which series go out, and under which names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use formats::relabel::{Relabelled, Relabelling};
use formats::series_name::{METRIC, SeriesName};
use query::{Matcher, parse_selector};

use crate::options::ReceiverOptions;

/// The series of a receiver. They are worked out when those of the history change.
#[derive(Debug)]
pub(crate) struct Selection {
    selectors: Vec<Vec<Matcher>>,
    relabelling: Relabelling,
    labels: Vec<(String, String)>,
    /// The names in the history.
    recorded: Vec<String>,
    /// Those that go out, each with the name that it gets.
    series: Vec<(String, SeriesName)>,
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
            recorded: Vec::new(),
            series: Vec::new(),
            conflict: None,
        }
    }

    /// Takes the names in the history, in their order.
    pub(crate) fn update(&mut self, recorded: &[&str]) {
        if self.recorded == recorded {
            return;
        }
        let mut first: HashMap<SeriesName, &str> = HashMap::new();
        let (mut series, mut conflict) = (Vec::new(), None);
        for name in recorded {
            let Some(sent) = SeriesName::parse(name).ok().and_then(|name| self.sent(name)) else { continue };
            match first.entry(sent.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(name);
                    series.push(((*name).to_owned(), sent));
                }
                Entry::Occupied(entry) => conflict = Some(((*entry.get()).to_owned(), (*name).to_owned())),
            }
        }
        self.recorded = recorded.iter().map(|name| (*name).to_owned()).collect();
        (self.series, self.conflict) = (series, conflict);
    }

    /// The series that go out, by their names in the history, in the order of these. Of those that get one name it is the first.
    pub(crate) fn series(&self) -> &[(String, SeriesName)] {
        &self.series
    }

    /// Two recorded series that get the same name, if there are some: the second does not go out.
    pub(crate) fn conflict(&self) -> Option<(&str, &str)> {
        self.conflict.as_ref().map(|(one, other)| (one.as_str(), other.as_str()))
    }

    /// Returns whether series of a metric may go out.
    pub(crate) fn may_have(&self, metric: &str) -> bool {
        let may_meet = |matchers: &Vec<Matcher>| {
            matchers.iter().all(|matcher| matcher.label != METRIC || matcher.accepts(metric))
        };
        self.selectors.is_empty() || self.selectors.iter().any(may_meet)
    }

    /// The name with which a series goes out; `None`: it does not.
    pub(crate) fn sent(&self, name: SeriesName) -> Option<SeriesName> {
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
    use super::*;

    #[test]
    fn what_meets_a_selector_goes_out_with_labels() {
        let text = |text: &str| text.to_owned();
        let options = ReceiverOptions {
            selectors: vec![text("{__name__=~\"node_load.+\"}"), text("up{job=\"own\"}")],
            labels: vec![(text("instance"), text("web1")), (text("job"), text("whit"))],
            ..ReceiverOptions::of_everything()
        };
        let mut selection = Selection::new(&options);
        let sent = |selection: &Selection| -> Vec<String> {
            selection.series().iter().map(|(_, name)| name.to_string()).collect()
        };
        selection.update(&["node_load1", "node_memory_MemFree_bytes", "up{job=\"own\"}", "up"]);
        assert_eq!(
            sent(&selection),
            ["node_load1{instance=\"web1\",job=\"whit\"}", "up{instance=\"web1\",job=\"own\"}"]
        );
        assert!(selection.may_have("node_load15") && selection.may_have("up") && !selection.may_have("a:b"));
        // What is not recorded any more is forgotten.
        selection.update(&["node_load5"]);
        assert_eq!(sent(&selection), ["node_load5{instance=\"web1\",job=\"whit\"}"]);
        // Two that get one name are sent as the first of them.
        let options =
            ReceiverOptions { selectors: vec![text("up")], labels: vec![(text("a"), text("b"))], ..options };
        let mut selection = Selection::new(&options);
        selection.update(&["up", "up{a=\"b\"}"]);
        assert_eq!(sent(&selection), ["up{a=\"b\"}"]);
        assert_eq!(selection.conflict(), Some(("up", "up{a=\"b\"}")));
    }
}
