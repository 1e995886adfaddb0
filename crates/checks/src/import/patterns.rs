//! Names as regular expressions: `use_regexp_matching` and `use_true_regexp_matching` of Nagios' main file.

use formats::nagios::NagiosObject;
use formats::re2::WholeRegex;

use super::notes::Notes;

/// Directives that name other objects, and the directive that names these.
const REFERENCES: [(&str, &str, &str); 10] = [
    ("host_name", "host", "host_name"),
    ("dependent_host_name", "host", "host_name"),
    ("members", "host", "host_name"),
    ("members", "contact", "contact_name"),
    ("hostgroup_name", "hostgroup", "hostgroup_name"),
    ("dependent_hostgroup_name", "hostgroup", "hostgroup_name"),
    ("hostgroup_members", "hostgroup", "hostgroup_name"),
    ("hostgroups", "hostgroup", "hostgroup_name"),
    ("service_description", "service", "service_description"),
    ("dependent_service_description", "service", "service_description"),
];

/// Which names are expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamePatterns {
    /// Names with `*`, `?`, `+` or `\.`.
    Some,
    All,
}

/// Replaces names that are expressions by the names that they match. `*` alone, which is every name, stays.
pub(super) fn expand(objects: &mut [NagiosObject], patterns: NamePatterns, notes: &mut Notes) {
    let names_of = |kind: &str, key: &str, objects: &[NagiosObject]| -> Vec<String> {
        let mut names: Vec<String> = objects
            .iter()
            .filter(|object| object.kind == kind)
            .flat_map(|object| object.list(key).into_iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    for (key, kind, name_key) in REFERENCES {
        let known = names_of(kind, name_key, objects);
        for object in objects.iter_mut().filter(|object| is_reference(object, key, kind)) {
            let Some(value) = object.get(key).map(str::to_owned) else { continue };
            let mut expanded: Vec<String> = Vec::new();
            for name in object.list(key) {
                let (sign, pattern) = name.strip_prefix('!').map_or(("", name), |name| ("!", name));
                let is_pattern = patterns == NamePatterns::All
                    || pattern.contains(['*', '?', '+'])
                    || pattern.contains("\\.");
                let is_name = known.iter().any(|known| known == pattern) && patterns == NamePatterns::Some;
                if !is_pattern || pattern == "*" || is_name {
                    expanded.push(name.to_owned());
                    continue;
                }
                // regexec(3) looks for a match anywhere.
                match WholeRegex::new(&format!("(?:.|\n)*(?:{pattern})(?:.|\n)*")) {
                    Ok(regex) => {
                        let matching = known.iter().filter(|name| regex.is_match(name));
                        expanded.extend(matching.map(|name| format!("{sign}{name}")));
                    }
                    Err(error) => notes.leave_out(format!("the expression {pattern}: {error}"), object.place),
                }
            }
            let expanded = expanded.join(",");
            if expanded != value {
                object.values.insert(key.to_owned(), expanded);
            }
        }
    }
}

/// Returns whether a directive of an object names others, and not the object itself.
fn is_reference(object: &NagiosObject, key: &str, kind: &str) -> bool {
    match (object.kind.as_str(), key) {
        ("host", "host_name") | ("hostgroup", "hostgroup_name") | ("service", "service_description") => false,
        ("hostgroup", "members") => kind == "host",
        ("contactgroup", "members") => kind == "contact",
        (_, "members") => false,
        _ => true,
    }
}
