//! Dependencies of services: while one has a problem, no notifications are sent of the other.

use std::collections::{BTreeMap, BTreeSet};

use formats::nagios::{NagiosObject, hosts_by_keys};

use super::notes::Notes;
use super::services::{Groups, ServiceGroups, ServiceName, Services, of_service_groups};

/// For each service those it depends on.
#[derive(Debug, Default)]
pub(super) struct Dependencies<'f>(BTreeMap<ServiceName<'f>, BTreeSet<ServiceName<'f>>>);

impl<'f> Dependencies<'f> {
    pub(super) fn of(
        objects: &'f [NagiosObject],
        groups: &Groups<'f>,
        service_groups: &ServiceGroups<'f>,
        services: &Services<'f>,
        notes: &mut Notes,
    ) -> Self {
        let mut all = Self::default();
        for dependency in objects.iter().filter(|object| object.kind == "servicedependency") {
            let criteria = dependency.options("notification_failure_criteria");
            let execution = dependency.options("execution_failure_criteria");
            let is_none = |criteria: &[char]| criteria.is_empty() || criteria.contains(&'n');
            if !is_none(&execution) {
                notes.leave_out("servicedependency: execution_failure_criteria", dependency.place);
            }
            if is_none(&criteria) {
                continue;
            }
            if !['w', 'c', 'u', 'a'].iter().any(|state| criteria.contains(state)) {
                let what = "servicedependency: notification_failure_criteria of states that are no problems";
                notes.leave_out(what, dependency.place);
                continue;
            }
            if dependency.get("dependency_period").is_some() {
                notes.leave_out("servicedependency: dependency_period", dependency.place);
            }
            // whit's are silent in any problem: Nagios' in those that are named, and then `w`, `c` and `u` are all.
            if !criteria.contains(&'a') && !['w', 'c', 'u'].iter().all(|state| criteria.contains(state)) {
                notes.change(
                    "servicedependency: it counts in each problem, and not in some",
                    dependency.place,
                );
            }
            if dependency.number("inherits_parent").is_some_and(|inherits| inherits > 0.0) {
                notes.leave_out("servicedependency: inherits_parent", dependency.place);
            }
            all.add(dependency, objects, groups, service_groups, services, notes);
        }
        all.add_parents(services, notes);
        all
    }

    fn add(
        &mut self,
        dependency: &'f NagiosObject,
        objects: &'f [NagiosObject],
        groups: &Groups<'f>,
        service_groups: &ServiceGroups<'f>,
        services: &Services<'f>,
        notes: &mut Notes,
    ) {
        let hosts = |keys: [&str; 2]| hosts_by_keys(dependency, keys, objects, groups);
        let of_groups = |key: &str| of_service_groups(&dependency.list(key), service_groups);
        let mut masters =
            services.named(&hosts(["host_name", "hostgroup_name"]), &dependency.list("service_description"));
        masters.extend(of_groups("servicegroup_name"));
        let dependent_descriptions = dependency.list("dependent_service_description");
        let dependent_hosts = hosts(["dependent_host_name", "dependent_hostgroup_name"]);
        let mut dependents = services.named(&dependent_hosts, &dependent_descriptions);
        dependents.extend(of_groups("dependent_servicegroup_name"));
        let is_of_same_host =
            ["dependent_host_name", "dependent_hostgroup_name", "dependent_servicegroup_name"]
                .iter()
                .all(|key| dependency.get(key).is_none());
        let mut pairs = BTreeSet::new();
        let is_of_dependents_host = ["host_name", "hostgroup_name", "servicegroup_name"]
            .iter()
            .all(|key| dependency.get(key).is_none());
        if is_of_dependents_host {
            for dependent in &dependents {
                let same = BTreeSet::from([dependent.0]);
                let masters = services.named(&same, &dependency.list("service_description"));
                pairs.extend(
                    masters
                        .into_iter()
                        .filter(|master| master != dependent)
                        .map(|master| (*dependent, master)),
                );
            }
        }
        for master in &masters {
            let same = || services.named(&BTreeSet::from([master.0]), &dependent_descriptions);
            let dependents = if is_of_same_host { same() } else { dependents.clone() };
            pairs.extend(dependents.into_iter().filter(|one| one != master).map(|one| (one, *master)));
        }
        if pairs.is_empty() {
            notes.leave_out("servicedependency of no services", dependency.place);
        }
        for (dependent, master) in pairs {
            self.0.entry(dependent).or_default().insert(master);
        }
    }

    /// Adds the `parents` of services: no notifications are sent of a service whose parents all have problems.
    fn add_parents(&mut self, services: &Services<'f>, notes: &mut Notes) {
        for checked in services.all() {
            let (host, Some(description)) = (checked.host_name(), checked.description()) else { continue };
            let parent = match checked.object.list("parents").as_slice() {
                [] => continue,
                [name] => (host, *name),
                [of, name] if services.has(of, name) => (*of, *name),
                _ => {
                    notes.leave_out("service: parents, of which there are several", checked.object.place);
                    continue;
                }
            };
            match services.has(parent.0, parent.1) {
                true => drop(self.0.entry((host, description)).or_default().insert(parent)),
                false => notes.leave_out("service: parents, which do not exist", checked.object.place),
            }
        }
    }

    /// Returns the names of checks on which a service depends; one of its own host is `{host}/NAME`.
    pub(super) fn names(&self, host: &str, description: &str) -> Vec<String> {
        let masters = self.0.get(&(host, description)).into_iter().flatten();
        let name = |text: &str| text.replace('{', "{{").replace('}', "}}");
        masters
            .map(|(of, master)| match *of == host {
                true => format!("{{host}}/{}", name(master)),
                false => format!("{}/{}", name(of), name(master)),
            })
            .collect()
    }
}
