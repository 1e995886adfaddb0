//! Notifications of hosts and services: to whom, of what, how often.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::contacts::note_differences;
use super::convert::{Converter, push_list};
use super::periods::Times;
use super::services::Checked;
use configuration::quoted;

/// The default of Nagios where nothing is said, in units of `interval_length`.
const USUAL_NOTIFICATION_INTERVAL: f64 = 30.0;
const YEAR_S: f64 = 31_536_000.0;

impl<'f> Converter<'f> {
    /// Writes which contacts get notifications of what, when and how often.
    pub(super) fn push_notifications(&mut self, checked: &Checked<'f>, out: &mut String) {
        let period = self.times(checked, "notification_period");
        let is_limited = checked.has("notification_options");
        let options = checked.options("notification_options");
        let is_off = checked.number("notifications_enabled") == Some(0.0)
            || !self.files.is_on("enable_notifications", true)
            || period == Times::Never;
        let (names, groups) = (checked.list("contacts"), checked.list("contact_groups"));
        let receivers = self.contacts.receivers(names.clone(), groups.clone(), checked.is_host());
        // Of several contacts all get what one of them gets; what they do not want themselves is noted with them.
        let wanted = self.contacts.kinds(names, groups, checked.is_host());
        let kinds = kinds_of(is_limited.then_some(&options), &wanted, checked.is_host());
        if is_off || receivers.is_empty() || kinds.is_empty() {
            out.push_str("to = []\n");
            return;
        }
        push_list("to", &receivers.into_iter().collect::<Vec<_>>(), out);
        let escalations = self.escalations.receivers(checked, &self.contacts, &mut self.notes);
        if !escalations.is_empty() {
            let steps = escalations.iter().map(|(from, names)| {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                format!("{{ from = {from}, to = [{}] }}", names.join(", "))
            });
            let _ = writeln!(out, "escalate = [{}]", steps.collect::<Vec<_>>().join(", "));
        }
        let repeat = checked.number("notification_interval").unwrap_or(USUAL_NOTIFICATION_INTERVAL);
        let repeat_s = repeat * self.interval_length();
        if repeat_s > 0.0 {
            let seconds = self.bounded(repeat_s, [60.0, YEAR_S], checked.object);
            let _ = writeln!(out, "repeat = \"{seconds}s\"");
        }
        if let Times::In(times) = period {
            let _ = writeln!(out, "tell_in = {}", quoted(&times));
        }
        note_differences(&self.contacts, checked, &kinds, &mut self.notes);
        let all = if checked.is_host() { 3 } else { 5 };
        if kinds.len() < all {
            push_list("tell_of", &kinds, out);
        }
    }
}

/// Returns the kinds of notifications of a host or service. Its contacts want those with these letters.
fn kinds_of(options: Option<&Vec<char>>, wanted: &BTreeSet<char>, is_host: bool) -> Vec<&'static str> {
    const OF_HOSTS: [(char, &str); 3] = [('d', "critical"), ('r', "recovery"), ('f', "flapping")];
    const OF_SERVICES: [(char, &str); 5] =
        [('w', "warning"), ('c', "critical"), ('u', "unknown"), ('r', "recovery"), ('f', "flapping")];
    let is_told = |letter: &char| {
        options.is_none_or(|options| {
            !options.contains(&'n') && (options.contains(letter) || options.contains(&'a'))
        }) && wanted.contains(letter)
    };
    // The notification of a host that cannot be reached is that of its parent.
    let kinds = if is_host { &OF_HOSTS[..] } else { &OF_SERVICES };
    kinds.iter().filter(|(letter, _)| is_told(letter)).map(|(_, kind)| *kind).collect()
}
