//! Configurations of Nagios as people write them, each reduced to one thing, and what `whit check import` makes of it.
//!
//! `an_import_agrees_with_nagios` holds whole generated trees against `nagios4 -pv`; these need no Nagios.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use toml::{Table, Value};

/// What all of them stand on.
const COMMON: &str = r#"
define command {
    command_name probe
    command_line /bin/true
}
define command {
    command_name by-mail
    command_line /usr/bin/printf "%b" "$NOTIFICATIONTYPE$ | $HOSTNAME$\n" | /usr/bin/mail -s "** $HOSTSTATE$ **" $CONTACTEMAIL$
}
define timeperiod {
    timeperiod_name always
    alias always
    sunday 00:00-24:00
    monday 00:00-24:00
    tuesday 00:00-24:00
    wednesday 00:00-24:00
    thursday 00:00-24:00
    friday 00:00-24:00
    saturday 00:00-24:00
}
define contact {
    name usual
    register 0
    host_notification_period always
    service_notification_period always
    host_notification_options d,u,r
    service_notification_options w,u,c,r
    host_notification_commands by-mail
    service_notification_commands by-mail
}
define contact {
    contact_name ann
    use usual
    email ann@example.org
}
define host {
    name usual
    register 0
    check_command probe
    max_check_attempts 3
    check_period always
    notification_period always
    notification_interval 60
    contacts ann
}
define service {
    name usual
    register 0
    check_command probe
    max_check_attempts 3
    check_interval 5
    retry_interval 1
    check_period always
    notification_period always
}
define hostgroup {
    hostgroup_name web
    alias web
    members web10, web2
}
define host {
    host_name web10
    use usual
    address 192.0.2.10
}
define host {
    host_name web2
    use usual
    address 192.0.2.2
}
"#;

/// What was printed.
struct Imported {
    configuration: Table,
    said: String,
    status: Option<i32>,
}

impl Imported {
    /// The tables of one kind.
    fn tables(&self, kind: &str) -> Vec<&Table> {
        let all = self.configuration.get(kind).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_table).collect()
    }

    /// The table of a kind with this name.
    fn named(&self, kind: &str, name: &str) -> &Table {
        self.tables(kind).into_iter().find(|table| table["name"].as_str() == Some(name)).unwrap()
    }

    /// The check of a name on a host, or on a group.
    fn check(&self, name: &str, host: &str) -> &Table {
        let is_it = |table: &&&Table| {
            table["name"].as_str() == Some(name)
                && table["hosts"].as_array().is_some_and(|hosts| hosts.contains(&Value::from(host)))
        };
        let tables = self.tables("check");
        let found: Vec<&Table> = tables.iter().filter(is_it).copied().collect();
        assert_eq!(found.len(), 1, "{name} on {host} in {:?}", self.configuration);
        found[0]
    }
}

/// Imports objects beside the common ones, and has what comes out checked.
fn import(objects: impl AsRef<[u8]>, settings: &str) -> Imported {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory: PathBuf =
        std::env::temp_dir().join(format!("whit-nagios-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("objects.cfg"), [COMMON.as_bytes(), objects.as_ref()].concat()).unwrap();
    std::fs::write(directory.join("nagios.cfg"), format!("cfg_file=objects.cfg\n{settings}")).unwrap();
    let whit = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_whit")).args(words).current_dir(&directory).output().unwrap()
    };
    let output = whit(&["check", "import", "nagios.cfg"]);
    let text = String::from_utf8(output.stdout).unwrap();
    std::fs::write(directory.join("agent.toml"), &text).unwrap();
    let checked = whit(&["agent", "--check", "--config", "agent.toml"]);
    assert!(checked.status.success(), "{}\n{text}", String::from_utf8_lossy(&checked.stderr));
    std::fs::remove_dir_all(&directory).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    Imported { configuration: text.parse().unwrap(), said, status: output.status.code() }
}

/// A service of the usual kind, with what else it says.
fn service(name: &str, more: &str) -> String {
    format!("define service {{\n use usual\n service_description {name}\n {more}\n}}\n")
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    let array = table.get(key).and_then(Value::as_array);
    array.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn a_service_has_what_its_host_has() {
    let imported = import(service("http", "host_name web2"), "");
    let http = imported.check("http", "web2");
    assert_eq!(texts(http, "to"), ["ann"]);
    assert_eq!(http["repeat"].as_str(), Some("3600s"));
    assert_eq!(imported.status, Some(0), "{}", imported.said);
}

#[test]
fn a_period_of_dates_is_one() {
    let period = "define timeperiod {\n timeperiod_name month\n alias month\n day 1 - 31 00:00-24:00\n \
                  2026-01-01 - 2026-02-01 / 3 09:00-10:00\n thursday -1 november 00:00-00:00\n}\n";
    let imported = import(period.to_owned() + &service("http", "host_name web2\n check_period month"), "");
    let http = imported.check("http", "web2");
    let period = http["period"].as_str().unwrap();
    for part in ["day 1 - 31", "2026-01-01 - 2026-02-01 / 3", "thursday -1 november"] {
        assert!(period.contains(part), "{period}");
    }
    assert!(http.get("passive").is_none());
}

#[test]
fn numbers_end_where_nagios_ends_them() {
    let more = "host_name web2\n max_check_attempts 1 # first\n check_interval 60 #hourly";
    let imported = import(service("http", more) + &service("never", "host_name web2\n check_interval 0"), "");
    let http = imported.check("http", "web2");
    assert_eq!((http["attempts"].as_integer(), http["interval"].as_str()), (Some(1), Some("3600s")));
    // It is not run by a schedule.
    assert_eq!(imported.check("never", "web2")["passive"].as_bool(), Some(true));
}

#[test]
fn directives_have_many_names() {
    let objects = "define service {\n use usual\n description a\n host web2\n}\n\
                   define service {\n use usual\n service_description b\n hosts web2\n}\n\
                   define service {\n use usual\n service_description c\n hostgroup web\n}\n\
                   define service {\n use usual\n service_description d\n hostgroups web\n}\n";
    let imported = import(objects, "");
    for (name, host) in [("a", "web2"), ("b", "web2"), ("c", "@web"), ("d", "@web")] {
        imported.check(name, host);
    }
}

#[test]
fn a_service_of_a_host_precedes_that_of_its_group() {
    let own = service("http", "host_name web2\n check_interval 7");
    let imported = import(own + &service("http", "hostgroup_name web\n check_interval 9"), "");
    assert_eq!(imported.check("http", "web2")["interval"].as_str(), Some("420s"));
    assert_eq!(imported.check("http", "web10")["interval"].as_str(), Some("540s"));
    assert_eq!(imported.tables("check").len(), 2);
}

#[test]
fn a_dependency_of_one_host_is_not_that_of_others() {
    let services = service("http", "hostgroup_name web") + &service("cert", "hostgroup_name web");
    let dependency = "define servicedependency {\n host_name web2\n service_description http\n \
                      dependent_host_name web2\n dependent_service_description cert\n notification_failure_criteria w,u,c\n}\n";
    let imported = import(services.clone() + dependency, "");
    assert_eq!(texts(imported.check("cert", "web2"), "depends"), ["{host}/http"]);
    assert!(imported.check("cert", "web10").get("depends").is_none());
    imported.check("http", "@web");
    // Of a group, each on the same host, which is not named again.
    let of_group = "define servicedependency {\n hostgroup_name web\n service_description http\n \
                    dependent_service_description cert\n notification_failure_criteria w,u,c\n}\n";
    let imported = import(services + of_group, "");
    assert_eq!(texts(imported.check("cert", "@web"), "depends"), ["{host}/http"]);
    // A service's parents are on its host.
    let of_parents = service("disk", "host_name web2") + &service("http", "host_name web2\n parents disk");
    assert_eq!(texts(import(of_parents, "").check("http", "web2"), "depends"), ["{host}/disk"]);
}

#[test]
fn a_notification_command_is_what_its_line_does() {
    let by_file = "define command {\n command_name notify-service-by-email\n \
                   command_line /usr/bin/printf \"%b\" \"$SERVICEDESC$\" >> /tmp/told\n}\n\
                   define contact {\n contact_name bob\n use usual\n \
                   service_notification_commands notify-service-by-email\n host_notification_commands notify-service-by-email\n}\n";
    let imported = import(by_file.to_owned() + &service("http", "host_name web2\n contacts bob"), "");
    assert_eq!(imported.named("receiver", "ann")["mail"].as_str(), Some("ann@example.org"));
    let bob = imported.named("receiver", "bob");
    assert!(bob.get("mail").is_none());
    assert!(texts(bob, "command").iter().any(|word| word.contains(">> /tmp/told")), "{bob:?}");
}

#[test]
fn groups_stay_groups_and_hosts_are_in_natural_order() {
    let group = "define servicegroup {\n servicegroup_name shop\n alias shop\n}\n";
    let more = "hostgroup_name web\n servicegroups shop";
    let imported = import(group.to_owned() + &service("http", more), "");
    let http = imported.check("http", "@web");
    assert_eq!(http["labels"]["servicegroups"].as_str(), Some("shop"));
    let hosts: Vec<_> = imported.tables("host").iter().filter_map(|host| host["name"].as_str()).collect();
    assert_eq!(hosts, ["web2", "web10"]);
    assert!(imported.tables("host").iter().all(|host| texts(host, "groups") == ["web"]));
}

#[test]
fn limits_of_contacts_and_escalations_are_carried_over_or_named() {
    let contact = |more: &str| {
        format!("define contact {{\n contact_name bob\n use usual\n email bob@example.org\n {more}\n}}\n")
    };
    let silent = contact("service_notifications_enabled 0");
    let imported = import(silent + &service("http", "host_name web2\n contacts bob"), "");
    assert!(texts(imported.check("http", "web2"), "to").is_empty());
    let escalation = "define servicegroup {\n servicegroup_name shop\n alias shop\n}\n\
                      define serviceescalation {\n servicegroup_name shop\n first_notification 3\n last_notification 0\n \
                      notification_interval 30\n contacts bob\n}\n";
    let escalated = contact("") + escalation + &service("http", "host_name web2\n servicegroups shop");
    let imported = import(escalated, "");
    let step = &imported.check("http", "web2")["escalate"][0];
    assert_eq!(
        (step["from"].as_integer(), texts(step.as_table().unwrap(), "to")),
        (Some(3), vec!["bob".to_owned()])
    );
    // Somebody gets notifications at other times than before: the status says so.
    assert!(imported.said.contains("left out: serviceescalation: notification_interval (objects.cfg:"));
    assert_eq!(imported.status, Some(3));
}

#[test]
fn names_may_be_regular_expressions() {
    let imported = import(service("http", "host_name ^web.?$"), "use_regexp_matching=1\n");
    imported.check("http", "web2");
    assert_eq!(imported.tables("check").len(), 1);
}

#[test]
fn a_file_in_latin_1_is_read() {
    let mut host = b"define host {\n host_name gate\n use usual\n address 192.0.2.1\n alias Z".to_vec();
    host.extend(b"\xfcrich\n}\n");
    let imported = import(host, "");
    assert_eq!(imported.named("host", "gate")["variables"]["alias"].as_str(), Some("Zürich"));
    assert!(
        imported.said.contains("changed: a file in Latin-1 is UTF-8 now (objects.cfg)"),
        "{}",
        imported.said
    );
}
