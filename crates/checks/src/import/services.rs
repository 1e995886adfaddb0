//! Services of hosts, one by one, as Nagios has them: what the definition says, and what it has from its host.

use std::collections::{BTreeMap, BTreeSet};

use formats::nagios::{NagiosObject, add_nested, hosts_of};

use super::notes::Notes;

/// The members of groups, by their names.
pub(super) type Groups<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// A service of a host: its host and its description.
pub(super) type ServiceName<'f> = (&'f str, &'f str);

/// The members of service groups, by their names.
pub(super) type ServiceGroups<'f> = BTreeMap<&'f str, BTreeSet<ServiceName<'f>>>;

/// A host, or a service of one, with what it inherits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked<'f> {
    pub(super) object: &'f NagiosObject,
    /// The host of a service.
    pub(super) host: Option<&'f NagiosObject>,
}

/// The directives that a service has from its host if it says nothing itself:
/// <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/objectinheritance.html#implied_inheritance>.
const IMPLIED: [&str; 4] = ["contacts", "contact_groups", "notification_interval", "notification_period"];

impl<'f> Checked<'f> {
    /// The object that says something.
    fn speaker(&self, name: &str) -> &'f NagiosObject {
        let says = |name: &str| self.object.values.contains_key(name);
        let is_said = match name {
            "contacts" | "contact_groups" => says("contacts") || says("contact_groups"),
            name => says(name),
        };
        match self.host {
            Some(host) if IMPLIED.contains(&name) && !is_said => host,
            _ => self.object,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'f str> {
        self.speaker(name).get(name)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.speaker(name).number(name)
    }

    pub(super) fn list(&self, name: &str) -> Vec<&'f str> {
        self.speaker(name).list(name)
    }

    pub(super) fn options(&self, name: &str) -> Vec<char> {
        self.speaker(name).options(name)
    }

    /// Returns whether something is said, if only that it is nothing.
    pub(super) fn has(&self, name: &str) -> bool {
        self.speaker(name).values.get(name).is_some_and(|value| value != "null")
    }

    pub(super) fn is_host(&self) -> bool {
        self.host.is_none()
    }

    pub(super) fn host_name(&self) -> &'f str {
        self.host.unwrap_or(self.object).get("host_name").unwrap_or_default()
    }

    pub(super) fn description(&self) -> Option<&'f str> {
        self.object.get("service_description")
    }
}

/// The services of hosts by host and description, and the order of their definitions.
#[derive(Debug, Default)]
pub(super) struct Services<'f> {
    of_hosts: BTreeMap<(&'f str, &'f str), &'f NagiosObject>,
    hosts: BTreeMap<&'f str, &'f NagiosObject>,
}

impl<'f> Services<'f> {
    pub(super) fn of(objects: &'f [NagiosObject], groups: &Groups<'f>, notes: &mut Notes) -> Self {
        let hosts = objects.iter().filter(|object| object.kind == "host");
        let hosts: BTreeMap<_, _> = hosts.filter_map(|host| Some((host.get("host_name")?, host))).collect();
        // A host's own definition counts before one of its group.
        let mut found: BTreeMap<(&str, &str), (&NagiosObject, bool)> = BTreeMap::new();
        for service in objects.iter().filter(|object| object.kind == "service") {
            let Some(name) = service.get("service_description") else { continue };
            let own: BTreeSet<&str> = service.list("host_name").into_iter().collect();
            let meant = hosts_of(service, objects, groups);
            if meant.is_empty() {
                notes.leave_out(format!("the service {name}, which is of no host"), service.place);
            }
            for host in meant {
                if !hosts.contains_key(host) {
                    let what = format!("the service {name} of the host {host}, which does not exist");
                    notes.leave_out(what, service.place);
                    continue;
                }
                let is_own = own.contains(host);
                match found.get(&(host, name)) {
                    // Nagios warns of two of one kind, and which of them it takes depends on more than their order.
                    Some((other, was_own)) if *was_own == is_own => {
                        notes.leave_out(format!("a second service {name} of the host {host}"), other.place);
                    }
                    Some((_, true)) => continue,
                    _ => {}
                }
                found.insert((host, name), (service, is_own));
            }
        }
        let of_hosts = found.into_iter().map(|(name, (service, _))| (name, service)).collect();
        Self { of_hosts, hosts }
    }

    pub(super) fn has(&self, host: &str, description: &str) -> bool {
        self.of_hosts.contains_key(&(host, description))
    }

    pub(super) fn has_host(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
    }

    /// All services, each with its host.
    pub(super) fn all(&self) -> impl Iterator<Item = Checked<'f>> {
        self.of_hosts
            .iter()
            .map(|((host, _), service)| Checked { object: service, host: self.hosts.get(host).copied() })
    }

    /// Services by hosts, host groups and descriptions, as dependencies and escalations name them; `*` is each.
    pub(super) fn named(
        &self,
        hosts: &BTreeSet<&'f str>,
        descriptions: &[&str],
    ) -> BTreeSet<(&'f str, &'f str)> {
        let is_meant = |(host, name): &&(&str, &str)| {
            let is_named = |wanted: &&str| wanted == name || *wanted == "*";
            let is_excluded = descriptions.iter().any(|wanted| wanted.strip_prefix('!') == Some(*name));
            hosts.contains(host) && descriptions.iter().any(is_named) && !is_excluded
        };
        self.of_hosts.keys().filter(is_meant).copied().collect()
    }
}

/// The members of service groups, each a host and a description.
pub(super) fn service_groups<'f>(objects: &'f [NagiosObject], services: &Services<'f>) -> ServiceGroups<'f> {
    let groups: Vec<&NagiosObject> = objects.iter().filter(|object| object.kind == "servicegroup").collect();
    let mut members: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for group in &groups {
        let Some(name) = group.get("servicegroup_name") else { continue };
        let listed = group.list("members");
        let (mut meant, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        for pair in listed.chunks_exact(2) {
            let (set, host) = match pair[0].strip_prefix('!') {
                Some(host) => (&mut left_out, host),
                None => (&mut meant, pair[0]),
            };
            let is_meant = |(of, name): &&(&str, &str)| {
                (host == "*" || host == *of) && (pair[1] == "*" || pair[1] == *name)
            };
            set.extend(services.of_hosts.keys().filter(is_meant).copied());
        }
        meant.retain(|service| !left_out.contains(service));
        members.entry(name).or_default().extend(meant);
    }
    for checked in services.all() {
        for group in checked.object.list("servicegroups") {
            if let Some(description) = checked.description() {
                members.entry(group).or_default().insert((checked.host_name(), description));
            }
        }
    }
    add_nested(&groups, "servicegroup", &mut members);
    members
}

/// Returns the services of service groups without those of groups with `!`.
pub(super) fn of_service_groups<'f>(
    names: &[&str],
    groups: &ServiceGroups<'f>,
) -> BTreeSet<(&'f str, &'f str)> {
    let (mut meant, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        let (set, name) = match name.strip_prefix('!') {
            Some(name) => (&mut left_out, name),
            None => (&mut meant, *name),
        };
        match name {
            "*" => set.extend(groups.values().flatten().copied()),
            name => set.extend(groups.get(name).into_iter().flatten().copied()),
        }
    }
    meant.retain(|service| !left_out.contains(service));
    meant
}
