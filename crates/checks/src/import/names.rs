//! Names of hosts and services that whit does not have: hosts with a slash, which stands between a host and its check, or with what begins
//! a pattern; services with a semicolon.

use std::collections::{BTreeMap, BTreeSet};

use formats::nagios::NagiosObject;

use super::notes::Notes;

/// Directives that name hosts.
const OF_HOSTS: [&str; 4] = ["host_name", "dependent_host_name", "members", "parents"];
/// Directives that name services.
const OF_SERVICES: [&str; 3] = ["service_description", "dependent_service_description", "members"];
/// The longest name.
const MAX_BYTES: usize = 200;

/// Gives hosts with such names others, wherever they are named. A second host of one name is left out.
pub(super) fn make_valid(objects: &mut Vec<NagiosObject>, notes: &mut Notes) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for host in objects.iter().filter(|object| object.kind == "host") {
        let Some(name) = host.get("host_name") else { continue };
        let valid = valid(name);
        if valid != name {
            notes.change(format!("the host {name}, which is called {valid}"), host.place);
            names.insert(name.to_owned(), valid);
        }
    }
    for object in objects.iter_mut().filter(|_| !names.is_empty()) {
        for key in OF_HOSTS.iter().filter(|key| is_of_hosts(object, key)).copied().collect::<Vec<_>>() {
            let Some(value) = object.get(key) else { continue };
            let renamed = value.split(',').map(|name| {
                let (sign, name) =
                    name.trim().strip_prefix('!').map_or(("", name.trim()), |name| ("!", name));
                format!("{sign}{}", names.get(name).map_or(name, String::as_str))
            });
            let renamed = renamed.collect::<Vec<_>>().join(",");
            object.values.insert(key.to_owned(), renamed);
        }
    }
    for object in objects.iter_mut() {
        for key in OF_SERVICES {
            let Some(value) = object.get(key).filter(|value| value.contains(is_odd_in_service)) else {
                continue;
            };
            let valid = value.replace(is_odd_in_service, "_");
            if object.kind == "service" {
                notes.change(format!("the service {value}, which is called {valid}"), object.place);
            }
            object.values.insert(key.to_owned(), valid);
        }
    }
    // The last one counts.
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut kept: Vec<NagiosObject> = Vec::with_capacity(objects.len());
    for object in objects.drain(..).rev() {
        let is_second = object.kind == "host"
            && object.get("host_name").is_some_and(|name| !known.insert(name.to_owned()));
        match is_second {
            true => notes.leave_out(
                format!("a second host {}", object.get("host_name").unwrap_or_default()),
                object.place,
            ),
            false => kept.push(object),
        }
    }
    kept.reverse();
    *objects = kept;
}

fn is_of_hosts(object: &NagiosObject, key: &str) -> bool {
    match (object.kind.as_str(), key) {
        ("hostgroup" | "servicegroup", "members") | ("host", "parents") => true,
        (_, "members" | "parents") => false,
        _ => true,
    }
}

fn valid(name: &str) -> String {
    let is_odd = |letter: char| letter.is_control() || "/;*?[]{}@!\\".contains(letter);
    let name: String = name.chars().map(|letter| if is_odd(letter) { '_' } else { letter }).collect();
    name[..name.floor_char_boundary(MAX_BYTES)].to_owned()
}

/// In the name of a service a slash is one.
fn is_odd_in_service(letter: char) -> bool {
    letter.is_control() || letter == ';'
}
