//! `whit check import`: Nagios' configuration as whit's.
//!
//! Nagios' objects are of one host each, whit's checks of many: services are taken apart by hosts (`services`), with what each has from
//! its host, its dependencies and escalations, and those that come out alike are one check again (`convert`). So nothing that was said
//! of one host is said of others.

mod commands;
mod contacts;
mod convert;
mod dependencies;
mod escalations;
mod files;
mod names;
mod notes;
mod notification_lines;
mod notifications;
mod patterns;
mod periods;
mod services;

use std::path::Path;

pub use self::convert::Imported;

/// Reads a main file and what it names.
///
/// # Errors
/// If the main file cannot be read. What is wrong with others is left out, and named.
pub fn import(path: &Path) -> Result<Imported, String> {
    let read = files::read(path)?;
    Ok(convert::convert(&read))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;

    const KINDS: [&str; 11] = [
        "host",
        "service",
        "hostgroup",
        "contact",
        "command",
        "timeperiod",
        "servicedependency",
        "serviceescalation",
        "servicegroup",
        "hostescalation",
        "contactgroup",
    ];
    /// Directives, right and wrong.
    const LINES: [&str; 63] = [
        "host_name a",
        "host_name a",
        "host_name b,!a",
        "host_name *",
        "host_name @x/{y}*",
        "service_description x",
        "service_description x",
        "service_description x/{y}\\; z",
        "service_description é \"z\"",
        "hostgroup_name g",
        "hostgroup_name !g",
        "members a,b",
        "members a,x",
        "use t",
        "name t",
        "register 0",
        "check_command c!1!{2}",
        "check_command c",
        "check_command none",
        "command_name c",
        "command_line /bin/x '$ARG1$' $HOSTNAME$ | y",
        "command_line /bin/x {} $_SERVICEX$",
        "command_line `x`",
        "command_line printf x | mail -s y $CONTACTEMAIL$",
        "command_line /bin/x $HOSTNAME$ \"{text}\"",
        "contact_name ann",
        "contact_name {bob",
        "contacts ann",
        "contacts ann,bob",
        "email ann@example.org",
        "email \"x\\y",
        "timeperiod_name t",
        "check_period t",
        "notification_period t",
        "monday 09:00-17:00",
        "monday 22:00-02:00",
        "day 1 - 31 25:00-26:00",
        "july 4 00:00-00:00",
        "monday 9 09:00-10:00",
        "2026-02-30 09:00-10:00",
        "exclude t",
        "exclude u",
        "check_interval 0",
        "check_interval -1",
        "check_interval 1e300",
        "retry_interval 0",
        "max_check_attempts 99999999999",
        "max_check_attempts x",
        "notification_interval 1e9",
        "notification_interval 0.1",
        "freshness_threshold 1e99",
        "check_freshness 1",
        "service_notification_commands c",
        "host_notification_commands c",
        "service_notification_options w,u,c,r",
        "host_notification_options d,u,r",
        "_X{ é 'y' \"z",
        "_COMMUNITY public",
        "parents b",
        "parents a",
        "dependent_service_description x",
        "notification_failure_criteria w",
        "servicegroups sg",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(
            std::env::var("WHIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
        ))]
        #[test]
        fn what_is_imported_is_a_configuration(
            objects in proptest::collection::vec((0..KINDS.len(), proptest::collection::vec(0..LINES.len(), 0..14)), 0..12)
        ) {
            let directory = std::env::temp_dir().join(format!("whit-import-{}", std::process::id()));
            fs::create_dir_all(&directory).unwrap();
            let file = directory.join("objects.cfg");
            let object = |(kind, places): &(usize, Vec<usize>)| {
                let lines: Vec<&str> = places.iter().map(|place| LINES[*place]).collect();
                format!("define {} {{\n{}\n}}\n", KINDS[*kind], lines.join("\n"))
            };
            let text: String = objects.iter().map(object).collect();
            fs::write(&file, &text).unwrap();
            let imported = import(&file).unwrap();
            let root = configuration::parse(&imported.text);
            let checks = root.and_then(|root| {
                crate::tables::read(&configuration::Options::new(root.get_ref(), 0..0), TimeZone::UTC)
            });
            if let Err(fault) = checks {
                panic!("{text}\n{}\n{}", fault.message, imported.text);
            }
        }
    }
}
