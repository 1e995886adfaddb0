//! Escalations of Nagios: who else gets the later notifications of a problem.

use std::collections::{BTreeMap, BTreeSet};

use formats::nagios::{NagiosObject, hosts_of};

use super::left_out::LeftOut;

/// The members of groups, by their names.
type Groups<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// What escalations are looked up in.
pub(super) struct Escalations<'c, 'f> {
    pub(super) objects: &'f [NagiosObject],
    pub(super) host_groups: &'c Groups<'f>,
    pub(super) contact_groups: &'c Groups<'f>,
    pub(super) receivers: &'c BTreeSet<&'f str>,
}

/// What has no counterpart in whit.
const UNKNOWN: [&str; 3] = ["notification_interval", "escalation_period", "escalation_options"];

impl<'f> Escalations<'_, 'f> {
    /// Those of a service of some hosts, or of a host: from which notification on which receivers get it, too.
    pub(super) fn of(
        &self,
        service: Option<&str>,
        hosts: &[&str],
        left_out: &mut LeftOut,
    ) -> BTreeMap<u32, BTreeSet<&'f str>> {
        let kind = if service.is_some() { "serviceescalation" } else { "hostescalation" };
        let mut found: BTreeMap<u32, BTreeSet<&'f str>> = BTreeMap::new();
        for object in self.objects.iter().filter(|object| object.kind == kind) {
            let is_of_service = service.is_none_or(|service| {
                object.list("service_description").iter().any(|one| [service, "*"].contains(one))
            });
            let meant = hosts_of(object, self.objects, self.host_groups);
            let count = hosts.iter().filter(|host| meant.contains(*host)).count();
            if !is_of_service || count == 0 {
                continue;
            }
            if count < hosts.len() {
                left_out.add(format!("{kind} of some hosts of a service"), object.place);
                continue;
            }
            for key in UNKNOWN.into_iter().filter(|key| object.get(key).is_some()) {
                left_out.add(format!("{kind}: {key}"), object.place);
            }
            if object.get("last_notification").is_some_and(|last| last != "0") {
                left_out.add(format!("{kind}: last_notification, it does not end"), object.place);
            }
            let from = object.get("first_notification").and_then(|from| from.parse().ok()).unwrap_or(1);
            let mut contacts: BTreeSet<&str> = object.list("contacts").into_iter().collect();
            for group in object.list("contact_groups") {
                contacts.extend(self.contact_groups.get(group).into_iter().flatten());
            }
            contacts.retain(|contact| self.receivers.contains(contact));
            if !contacts.is_empty() {
                found.entry(from).or_default().extend(contacts);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use formats::nagios::{members, read_objects};

    use super::*;

    #[test]
    fn later_notifications_go_to_others_too() {
        let text = "define serviceescalation {\nhost_name web1,web2\nservice_description http\nfirst_notification 3\ncontact_groups all\n}\n\
                    define hostescalation {\nhost_name web1\nfirst_notification 2\nlast_notification 4\ncontacts boss,nobody\n}\n\
                    define contactgroup {\ncontactgroup_name all\nmembers ann,boss\n}\n";
        let (objects, faults) = read_objects(text, 0);
        assert!(faults.is_empty(), "{faults:?}");
        let (host_groups, contact_groups) =
            (members(&objects, "hostgroup"), members(&objects, "contactgroup"));
        let receivers = BTreeSet::from(["ann", "boss"]);
        let escalations = Escalations {
            objects: &objects,
            host_groups: &host_groups,
            contact_groups: &contact_groups,
            receivers: &receivers,
        };
        let mut left_out = LeftOut::default();
        let mut of = |service, hosts: &[&str]| escalations.of(service, hosts, &mut left_out);
        assert_eq!(of(Some("http"), &["web1"]), BTreeMap::from([(3, BTreeSet::from(["ann", "boss"]))]));
        assert_eq!(of(Some("ssh"), &["web1"]), BTreeMap::new());
        assert_eq!(of(None, &["web1"]), BTreeMap::from([(2, BTreeSet::from(["boss"]))]));
        // Of a check of three hosts only some.
        assert_eq!(of(Some("http"), &["web1", "web2", "web3"]), BTreeMap::new());
        assert_eq!(left_out.count(), 2);
    }
}
