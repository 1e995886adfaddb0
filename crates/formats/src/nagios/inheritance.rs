//! Templates: <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/objectinheritance.html>.

use std::collections::HashMap;

use super::syntax::{NagiosFault, NagiosObject};

/// Templates of templates, so deep at most.
const MAX_DEPTH: usize = 50;

/// Gives every object what its templates say. Templates that are nothing else are left out.
pub fn resolve(objects: &[NagiosObject]) -> (Vec<NagiosObject>, Vec<NagiosFault>) {
    let mut templates: HashMap<(&str, &str), &NagiosObject> = HashMap::new();
    for object in objects {
        if let Some(name) = object.get("name") {
            templates.insert((&object.kind, name), object);
        }
    }
    let mut faults = Vec::new();
    let mut resolved = Vec::new();
    for object in objects.iter().filter(|object| !object.is_template()) {
        let mut whole = inherited(object, &templates, &mut faults, 0);
        // An additive value that nothing was added to.
        for value in whole.values.iter_mut().filter(|(key, _)| is_list(key)).map(|(_, value)| value) {
            if let Some(rest) = value.strip_prefix('+') {
                *value = rest.trim().to_owned();
            }
        }
        resolved.push(whole);
    }
    (resolved, faults)
}

/// Returns whether `+` before a value adds to what is inherited. In others, such as the number of a pager, it is a sign.
fn is_list(key: &str) -> bool {
    const LISTS: [&str; 10] = [
        "contacts",
        "contact_groups",
        "contactgroups",
        "hostgroups",
        "servicegroups",
        "host_name",
        "hostgroup_name",
        "servicegroup_name",
        "parents",
        "members",
    ];
    LISTS.contains(&key) || key.starts_with("dependent_") || key.ends_with("_members")
}

fn inherited(
    object: &NagiosObject,
    templates: &HashMap<(&str, &str), &NagiosObject>,
    faults: &mut Vec<NagiosFault>,
    depth: usize,
) -> NagiosObject {
    let mut whole = object.clone();
    if depth > MAX_DEPTH {
        let message = "its templates use each other".to_owned();
        faults.push(NagiosFault { place: object.place, message });
        return whole;
    }
    for name in object.list("use") {
        let Some(template) = templates.get(&(object.kind.as_str(), name)) else {
            let message = format!("there is no template {name:?}");
            faults.push(NagiosFault { place: object.place, message });
            continue;
        };
        let template = inherited(template, templates, faults, depth + 1);
        // What is not inherited: what it is called, and that it is a template.
        let own = ["name", "use", "register"];
        for (key, value) in template.values.into_iter().filter(|(key, _)| !own.contains(&key.as_str())) {
            match whole.values.get_mut(&key) {
                None => drop(whole.values.insert(key, value)),
                // `+a` adds to what is inherited; the first template that says something counts.
                Some(known) if is_list(&key) && known.starts_with('+') && value != "null" => {
                    *known = format!("{},{}", value, known[1..].trim());
                }
                Some(_) => {}
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::super::syntax::read_objects;
    use super::*;

    #[test]
    fn values_come_from_templates() {
        let text = "define host {\n name base\n check_interval 5\n hostgroups a\n alias x\n register 0\n}\n\
                    define host {\n name mid\n use base\n hostgroups +b\n check_interval 7\n register 0\n}\n\
                    define host {\n use mid,base\n host_name h\n hostgroups +c\n pager +49\n alias null\n}\n\
                    define host {\n use nothing\n host_name i\n}\ndefine host {\n name l\n use l\n}\n";
        let (resolved, faults) = resolve(&read_objects(text, 0).0);
        let host = &resolved[0];
        assert_eq!((host.get("check_interval"), host.get("hostgroups")), (Some("7"), Some("a,b,c")));
        assert_eq!((host.get("alias"), host.get("name"), host.get("pager")), (None, None, Some("+49")));
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
