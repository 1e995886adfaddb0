//! Notes on what an import cannot carry over: each thing with its first place, and how much depends on it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use formats::nagios::Place;
use text::printable::Shown as _;

/// The directives of hosts and services that are read.
const READ: [&str; 35] = [
    "active_checks_enabled",
    "address",
    "alias",
    "check_command",
    "check_freshness",
    "check_interval",
    "check_period",
    "contact_groups",
    "contacts",
    "flap_detection_enabled",
    "freshness_threshold",
    "host_name",
    "hostgroup_name",
    "hostgroups",
    "is_volatile",
    "max_check_attempts",
    "name",
    "notification_interval",
    "notification_options",
    "notification_period",
    "notifications_enabled",
    "parents",
    "register",
    "retry_interval",
    "service_description",
    "servicegroups",
    "use",
    // Always so in whit.
    "obsess",
    "obsess_over_host",
    "obsess_over_service",
    "parallelize_check",
    "passive_checks_enabled",
    "process_perf_data",
    "retain_nonstatus_information",
    "retain_status_information",
];
/// Directives for Nagios' own pages, and habits that no result depends on.
const OF_NO_CONCERN: [&str; 22] = [
    "2d_coords",
    "3d_coords",
    "action_url",
    "display_name",
    "event_handler_enabled",
    "failure_prediction_enabled",
    "flap_detection_options",
    "gd2_image",
    "high_flap_threshold",
    "hourly_value",
    "icon_image",
    "icon_image_alt",
    "importance",
    "initial_state",
    "low_flap_threshold",
    "notes",
    "notes_url",
    "retain_info",
    "stalking_options",
    "statusmap_image",
    "vrml_image",
    "gd_image",
];

/// How much a thing matters that is not carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A run or a notification depends on it.
    Effect,
    /// Nothing that runs or is notified depends on it.
    Remark,
}

/// Notes on what was left out or changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    left_out: BTreeMap<String, (Place, usize, Weight)>,
    changed: BTreeMap<String, (Place, usize)>,
}

impl Notes {
    /// Notes what is left out although something depends on it.
    pub(super) fn leave_out(&mut self, what: impl Into<String>, place: Place) {
        self.add(what.into(), place, Weight::Effect);
    }

    /// Notes what is left out and on which nothing depends.
    pub(super) fn remark(&mut self, what: impl Into<String>, place: Place) {
        self.add(what.into(), place, Weight::Remark);
    }

    fn add(&mut self, what: String, place: Place, weight: Weight) {
        let (_, count, heaviest) = self.left_out.entry(what).or_insert((place, 0, weight));
        *count += 1;
        *heaviest = (*heaviest).min(weight);
    }

    /// Notes what is carried over with another effect.
    pub(super) fn change(&mut self, what: impl Into<String>, place: Place) {
        self.changed.entry(what.into()).or_insert((place, 0)).1 += 1;
    }

    /// Notes a directive of a host or service that is not read.
    pub(super) fn directive(&mut self, kind: &str, name: &str, place: Place) {
        if !READ.contains(&name) && !OF_NO_CONCERN.contains(&name) && !name.starts_with('_') {
            self.leave_out(format!("{kind}: {name}"), place);
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        for (what, (place, count, weight)) in other.left_out {
            self.left_out.entry(what).or_insert((place, 0, weight)).1 += count;
        }
        for (what, (place, count)) in other.changed {
            self.changed.entry(what).or_insert((place, 0)).1 += count;
        }
    }

    /// How many things were changed and left out.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.changed.len(), self.left_out.len())
    }

    /// Returns whether a run or a notification depends on something that was left out.
    pub(super) fn has_effect(&self) -> bool {
        self.left_out.values().any(|(.., weight)| *weight == Weight::Effect)
    }

    /// One line each, what matters first.
    pub(super) fn lines(&self, files: &[PathBuf]) -> Vec<String> {
        let at = |place: &Place, count: usize| {
            let file = files.get(place.file).map(|file| file.shown().to_string()).unwrap_or_default();
            let more = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
            match place.line {
                0 => format!("({file}{more})"),
                line => format!("({file}:{line}{more})"),
            }
        };
        let of_weight = |wanted: Weight| {
            let found = self.left_out.iter().filter(move |(_, (.., weight))| *weight == wanted);
            found.map(|(what, (place, count, _))| {
                let mut line = String::from("left out: ");
                let _ = write!(line, "{} {}", what.shown(), at(place, *count));
                line
            })
        };
        let changed = self
            .changed
            .iter()
            .map(|(what, (place, count))| format!("changed: {} {}", what.shown(), at(place, *count)));
        of_weight(Weight::Effect).chain(changed).chain(of_weight(Weight::Remark)).collect()
    }
}
