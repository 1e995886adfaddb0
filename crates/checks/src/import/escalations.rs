//! Escalations of Nagios: who else gets the later notifications of a problem.

use std::collections::{BTreeMap, BTreeSet};

use formats::nagios::{NagiosObject, hosts_of};

use super::contacts::Contacts;
use super::notes::Notes;
use super::services::{Checked, Groups, ServiceGroups, ServiceName, Services, of_service_groups};

/// The escalations of each host and service. The description of a host's own is empty.
#[derive(Debug, Default)]
pub(super) struct Escalations<'f>(BTreeMap<ServiceName<'f>, Vec<&'f NagiosObject>>);

/// The directives that have no counterpart in whit.
const UNKNOWN: [&str; 3] = ["notification_interval", "escalation_period", "escalation_options"];

impl<'f> Escalations<'f> {
    pub(super) fn of(
        objects: &'f [NagiosObject],
        groups: &Groups<'f>,
        service_groups: &ServiceGroups<'f>,
        services: &Services<'f>,
        notes: &mut Notes,
    ) -> Self {
        let mut all: BTreeMap<ServiceName<'f>, Vec<&NagiosObject>> = BTreeMap::new();
        for object in objects {
            let hosts = || hosts_of(object, objects, groups);
            let meant: BTreeSet<ServiceName<'f>> = match object.kind.as_str() {
                "hostescalation" => hosts().into_iter().map(|host| (host, "")).collect(),
                "serviceescalation" => {
                    let mut meant = services.named(&hosts(), &object.list("service_description"));
                    meant.extend(of_service_groups(&object.list("servicegroup_name"), service_groups));
                    meant
                }
                _ => continue,
            };
            // Without it Nagios never escalates.
            if object.number("first_notification").is_none() {
                notes.leave_out(format!("{} without first_notification", object.kind), object.place);
                continue;
            }
            for key in UNKNOWN.into_iter().filter(|key| object.get(key).is_some()) {
                notes.leave_out(format!("{}: {key}", object.kind), object.place);
            }
            if object.number("last_notification").is_some_and(|last| last > 0.0) {
                let what = format!("{}: last_notification, it does not end", object.kind);
                notes.leave_out(what, object.place);
            }
            if meant.is_empty() {
                notes.leave_out(format!("{} of nothing", object.kind), object.place);
            }
            for name in meant {
                all.entry(name).or_default().push(object);
            }
        }
        Self(all)
    }

    /// Returns from which notification on which receivers get those of a host or service, too. Without contacts of its own an escalation
    /// has those of what it escalates.
    pub(super) fn receivers<'c>(
        &self,
        checked: &Checked<'c>,
        contacts: &'c Contacts<'_>,
        notes: &mut Notes,
    ) -> BTreeMap<u32, BTreeSet<&'c str>>
    where
        'f: 'c,
    {
        let is_host = checked.is_host();
        let name = (checked.host_name(), checked.description().unwrap_or_default());
        let mut found: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for object in self.0.get(&name).into_iter().flatten() {
            let from = object.number("first_notification").unwrap_or(1.0).clamp(1.0, 1000.0) as u32;
            let has_own = ["contacts", "contact_groups"].iter().any(|key| object.values.contains_key(*key));
            let receivers = match has_own {
                true => contacts.receivers(object.list("contacts"), object.list("contact_groups"), is_host),
                false => {
                    contacts.receivers(checked.list("contacts"), checked.list("contact_groups"), is_host)
                }
            };
            let usual = contacts.receivers(checked.list("contacts"), checked.list("contact_groups"), is_host);
            if !usual.is_subset(&receivers) {
                let what =
                    "escalation: its contacts get notifications too, and not instead of the usual ones";
                notes.change(what, object.place);
            }
            found.entry(from).or_default().extend(receivers);
        }
        found.retain(|_, receivers| !receivers.is_empty());
        found
    }
}
