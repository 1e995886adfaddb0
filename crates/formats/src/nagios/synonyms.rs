//! Directives that have several names: the reader of Nagios 4 (xdata/xodtemplate.c) accepts each of them.

/// Names by kinds of objects, and the name under which they are kept. `*` is every kind.
const SYNONYMS: [(&str, &[&str], &str); 35] = [
    ("*", &["normal_check_interval"], "check_interval"),
    ("*", &["retry_check_interval"], "retry_interval"),
    ("*", &["checks_enabled"], "active_checks_enabled"),
    ("host", &["host", "hosts"], "host_name"),
    ("host", &["host_groups"], "hostgroups"),
    ("host", &["contactgroups"], "contact_groups"),
    ("hostgroup", &["host_groups", "hostgroups"], "hostgroup_members"),
    ("service", &["host", "hosts"], "host_name"),
    ("service", &["description"], "service_description"),
    ("service", &["hostgroup", "hostgroups", "host_groups"], "hostgroup_name"),
    ("service", &["service_groups"], "servicegroups"),
    ("service", &["contactgroups"], "contact_groups"),
    ("contact", &["contact_groups"], "contactgroups"),
    ("servicedependency", &["host", "hosts", "master_host", "master_host_name"], "host_name"),
    (
        "servicedependency",
        &["description", "master_description", "master_service_description"],
        "service_description",
    ),
    ("servicedependency", &["hostgroup", "hostgroups", "host_groups"], "hostgroup_name"),
    ("servicedependency", &["servicegroup", "servicegroups", "service_groups"], "servicegroup_name"),
    ("servicedependency", &["dependent_host", "dependent_hosts"], "dependent_host_name"),
    ("servicedependency", &["dependent_description"], "dependent_service_description"),
    ("servicedependency", &["dependent_hostgroup", "dependent_hostgroups"], "dependent_hostgroup_name"),
    (
        "servicedependency",
        &["dependent_servicegroup", "dependent_servicegroups"],
        "dependent_servicegroup_name",
    ),
    ("servicedependency", &["notification_failure_options"], "notification_failure_criteria"),
    ("servicedependency", &["execution_failure_options"], "execution_failure_criteria"),
    ("hostdependency", &["host", "hosts", "master_host", "master_host_name"], "host_name"),
    ("hostdependency", &["hostgroup", "hostgroups", "host_groups"], "hostgroup_name"),
    ("hostdependency", &["dependent_host", "dependent_hosts"], "dependent_host_name"),
    ("hostdependency", &["dependent_hostgroup", "dependent_hostgroups"], "dependent_hostgroup_name"),
    ("hostdependency", &["notification_failure_options"], "notification_failure_criteria"),
    ("hostdependency", &["execution_failure_options"], "execution_failure_criteria"),
    ("serviceescalation", &["host", "hosts"], "host_name"),
    ("serviceescalation", &["description"], "service_description"),
    ("serviceescalation", &["servicegroup", "servicegroups", "service_groups"], "servicegroup_name"),
    ("serviceescalation", &["hostgroup", "hostgroups", "host_groups"], "hostgroup_name"),
    ("hostescalation", &["host", "hosts"], "host_name"),
    ("hostescalation", &["hostgroup", "hostgroups", "host_groups"], "hostgroup_name"),
];

/// Returns the name under which a directive is kept.
pub(super) fn canonical<'n>(kind: &str, name: &'n str) -> &'n str {
    let is_of_kind = |of: &str| of == kind || (of == "*" && kind != "timeperiod");
    SYNONYMS
        .iter()
        .find(|(of, names, _)| is_of_kind(of) && names.contains(&name))
        .map_or(name, |(.., kept)| kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_directive_has_many_names() {
        for (kind, name, kept) in [
            ("service", "hosts", "host_name"),
            ("service", "description", "service_description"),
            ("service", "hostgroup", "hostgroup_name"),
            ("host", "host_groups", "hostgroups"),
            ("host", "normal_check_interval", "check_interval"),
            ("hostescalation", "host", "host_name"),
            ("servicedependency", "master_description", "service_description"),
            ("contact", "contact_groups", "contactgroups"),
            ("host", "alias", "alias"),
            ("hostgroup", "members", "members"),
        ] {
            assert_eq!(canonical(kind, name), kept, "{kind} {name}");
        }
    }
}
