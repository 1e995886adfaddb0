//! What an import leaves out, and what may be left out without a word.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use formats::nagios::Place;
use text::printable::Shown as _;

/// What is read of hosts and services.
pub(super) const KNOWN: [&str; 19] = [
    "host_name",
    "address",
    "check_command",
    "check_interval",
    "normal_check_interval",
    "retry_interval",
    "retry_check_interval",
    "max_check_attempts",
    "check_period",
    "contacts",
    "contact_groups",
    "notification_interval",
    "notification_options",
    "notification_period",
    "service_description",
    "hostgroup_name",
    "flap_detection_enabled",
    "check_timeout",
    "host",
];
/// Kinds that are read, or of which nothing is to be said.
pub(super) const KINDS: [&str; 13] = [
    "host",
    "hostgroup",
    "service",
    "servicegroup",
    "command",
    "contact",
    "contactgroup",
    "timeperiod",
    "servicedependency",
    "serviceescalation",
    "hostescalation",
    "hostextinfo",
    "serviceextinfo",
];

/// What concerns Nagios' own pages, files and habits, or is always so in whit.
const OF_NO_CONCERN: [&str; 38] = [
    "action_url",
    "active_checks_enabled",
    "alias",
    "check_freshness",
    "display_name",
    "event_handler_enabled",
    "failure_prediction_enabled",
    "freshness_threshold",
    "gd2_image",
    "hostgroups",
    "icon_image",
    "icon_image_alt",
    "importance",
    "initial_state",
    "is_volatile",
    "name",
    "notes",
    "notes_url",
    "notifications_enabled",
    "obsess",
    "obsess_over_host",
    "obsess_over_service",
    "parallelize_check",
    "passive_checks_enabled",
    "process_perf_data",
    "register",
    "retain_nonstatus_information",
    "retain_status_information",
    "servicegroups",
    "statusmap_image",
    "use",
    "vrml_image",
    "2d_coords",
    "3d_coords",
    "parents",
    "low_flap_threshold",
    "high_flap_threshold",
    "flap_detection_options",
];

/// What was left out, each with the first place where it was.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, (Place, usize)>);

impl LeftOut {
    /// Notes something.
    pub(super) fn add(&mut self, what: impl Into<String>, place: Place) {
        self.0.entry(what.into()).or_insert((place, 0)).1 += 1;
    }

    /// Notes a directive that has no counterpart, unless it is of no concern.
    pub(super) fn add_directive(&mut self, kind: &str, name: &str, known: &[&str], place: Place) {
        if !known.contains(&name) && !OF_NO_CONCERN.contains(&name) && !name.starts_with('_') {
            self.add(format!("{kind}: {name}"), place);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// As comments.
    pub(super) fn write(&self, files: &[PathBuf], out: &mut String) {
        for (what, (place, count)) in &self.0 {
            let file = files.get(place.file).map(|file| file.shown().to_string()).unwrap_or_default();
            let more = if *count > 1 { format!(", and {} more", count - 1) } else { String::new() };
            let _ = writeln!(out, "# left out: {} ({file}:{}{more})", what.shown(), place.line);
        }
    }
}
