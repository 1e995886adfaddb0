//! Which hosts are meant: by names, by groups, by all of them, and without some.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::NagiosObject;

/// Groups of groups, so deep at most.
const MAX_DEPTH: usize = 50;

/// The members of all groups of a kind (`hostgroup`, `contactgroup`): those that the group names, those of groups that it names, and
/// those that name the group themselves.
pub fn members<'o>(objects: &'o [NagiosObject], kind: &str) -> BTreeMap<&'o str, BTreeSet<&'o str>> {
    let member = kind.trim_end_matches("group");
    let (name_key, own_key) = (format!("{kind}_name"), format!("{member}_name"));
    let all: BTreeSet<&str> = names(objects, member, &own_key).collect();
    let groups: Vec<&NagiosObject> = objects.iter().filter(|object| object.kind == kind).collect();
    let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in &groups {
        let Some(name) = group.get(&name_key) else { continue };
        let own = group.list("members").into_iter();
        let named = own
            .filter(|one| !one.starts_with('!'))
            .flat_map(|one| if one == "*" { all.iter().copied().collect() } else { vec![one] });
        members.entry(name).or_default().extend(named);
    }
    let groups_key = format!("{kind}s");
    for object in objects.iter().filter(|object| object.kind == member) {
        for group in object.list(&groups_key) {
            if let (Some(members), Some(name)) = (members.get_mut(group), object.get(&own_key)) {
                members.insert(name);
            }
        }
    }
    add_nested(&groups, kind, &mut members);
    for group in &groups {
        if let Some(members) = group.get(&name_key).and_then(|name| members.get_mut(name)) {
            for one in group.list("members").into_iter().filter_map(|one| one.strip_prefix('!')) {
                members.remove(one);
            }
        }
    }
    members
}

/// Adds the members of the groups that each group of a kind names as its own (`hostgroup_members`).
pub fn add_nested<'o, T: Clone + Ord>(
    groups: &[&'o NagiosObject],
    kind: &str,
    members: &mut BTreeMap<&'o str, BTreeSet<T>>,
) {
    let (name_key, nested_key) = (format!("{kind}_name"), format!("{kind}_members"));
    for _ in 0..MAX_DEPTH {
        let mut has_grown = false;
        for group in groups {
            let Some(name) = group.get(&name_key) else { continue };
            for nested in group.list(&nested_key) {
                let more = members.get(nested).cloned().unwrap_or_default();
                let known = members.entry(name).or_default();
                let before = known.len();
                known.extend(more);
                has_grown |= known.len() > before;
            }
        }
        if !has_grown {
            break;
        }
    }
}

/// The hosts of a service: `host_name` and `hostgroup_name`, with `*` for all and `!` before those that are left out.
pub fn hosts_of<'o>(
    service: &'o NagiosObject,
    objects: &'o [NagiosObject],
    groups: &BTreeMap<&'o str, BTreeSet<&'o str>>,
) -> BTreeSet<&'o str> {
    hosts_by_keys(service, ["host_name", "hostgroup_name"], objects, groups)
}

/// Returns the hosts of a service by other directives: those of hosts and of host groups.
pub fn hosts_by_keys<'o>(
    service: &'o NagiosObject,
    [host_key, group_key]: [&str; 2],
    objects: &'o [NagiosObject],
    groups: &BTreeMap<&'o str, BTreeSet<&'o str>>,
) -> BTreeSet<&'o str> {
    let mut hosts: BTreeSet<&str> = BTreeSet::new();
    let mut left_out: BTreeSet<&str> = BTreeSet::new();
    for name in service.list(group_key) {
        let (set, name) = match name.strip_prefix('!') {
            Some(name) => (&mut left_out, name),
            None => (&mut hosts, name),
        };
        match name {
            "*" => set.extend(groups.values().flatten()),
            name => set.extend(groups.get(name).into_iter().flatten()),
        }
    }
    for name in service.list(host_key) {
        match name.strip_prefix('!') {
            Some(name) => drop(left_out.insert(name)),
            None if name == "*" => hosts.extend(names(objects, "host", "host_name")),
            None => drop(hosts.insert(name)),
        }
    }
    hosts.retain(|host| !left_out.contains(host));
    hosts
}

fn names<'o>(objects: &'o [NagiosObject], kind: &str, key: &str) -> impl Iterator<Item = &'o str> {
    objects.iter().filter(move |object| object.kind == kind).filter_map(move |object| object.get(key))
}

#[cfg(test)]
mod tests {
    use super::super::syntax::read_objects;
    use super::*;

    #[test]
    fn groups_and_exclusions_name_hosts() {
        let text = "define host {\n host_name a\n hostgroups web\n}\ndefine host {\n host_name b\n}\n\
                    define host {\n host_name c\n}\ndefine hostgroup {\n hostgroup_name web\n members b\n}\n\
                    define hostgroup {\n hostgroup_name all\n hostgroup_members web\n members c\n}\n\
                    define service {\n hostgroup_name all\n host_name !b\n}\ndefine service {\n host_name *,!a\n}\n";
        let (objects, _) = read_objects(text, 0);
        let groups = members(&objects, "hostgroup");
        assert_eq!(groups["all"].iter().copied().collect::<Vec<_>>(), ["a", "b", "c"]);
        let services: Vec<Vec<&str>> = objects
            .iter()
            .filter(|object| object.kind == "service")
            .map(|service| hosts_of(service, &objects, &groups).into_iter().collect())
            .collect();
        assert_eq!(services, [vec!["a", "c"], vec!["b", "c"]]);
    }
}
