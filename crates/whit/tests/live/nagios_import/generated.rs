//! Configurations of Nagios, put together at random from what people write: templates, groups of groups, exclusions, synonyms, remarks
//! behind numbers, overrides, time periods of every kind.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::random::Random;

const HOSTS: [&str; 6] = ["web1", "web2", "web10", "db-a", "db-b", "gate"];
const CONTACTS: [&str; 4] = ["ann", "bob", "carl", "silent"];
const PERIODS: [&str; 5] = ["always", "work", "dates", "no-holidays", "never"];

/// Groups, their direct members, and the group that is in each.
const GROUPS: [(&str, &[&str], &str); 4] = [
    ("web", &["web1", "web2", "web10"], ""),
    ("db", &["db-a", "db-b"], ""),
    ("edge", &["gate"], "web"),
    ("one", &["web2"], ""),
];

const FIXED: &str = "\
define command {
    command_name probe
    command_line /bin/true -H $HOSTADDRESS$ $ARG1$
}
# Debian's.
define command {
    command_name tell
    command_line /usr/bin/printf \"%b\" \"$NOTIFICATIONTYPE$ | $HOSTNAME$\\n\" | /usr/bin/mail -s \"** $HOSTSTATE$ **\" $CONTACTEMAIL$
}
define timeperiod {
    timeperiod_name always
    name always
    alias Every hour ; of every day
    sunday 00:00-24:00
    monday 00:00-24:00
    tuesday 00:00-24:00
    wednesday 00:00-24:00
    thursday 00:00-24:00
    friday 00:00-24:00
    saturday 00:00-24:00
}
define timeperiod {
    timeperiod_name work
    alias work
    monday 09:00-12:00,13:00-17:00
    friday 09:00-15:00
    december 25 00:00-00:00
    monday 1 january 00:00-00:00
}
define timeperiod {
    timeperiod_name dates
    alias dates
    day 1 - 31 00:00-24:00
    2026-01-01 - 2026-02-01 / 3 09:00-10:00
    thursday -1 november 00:00-00:00
    july 10 - 15 22:00-23:00
}
define timeperiod {
    timeperiod_name holidays
    alias holidays
    december 24 - 26 00:00-24:00
}
define timeperiod {
    timeperiod_name no-holidays
    alias no holidays
    use always
    exclude holidays
    monday 00:00-24:00
    sunday 00:00-24:00
}
define timeperiod {
    timeperiod_name never
    alias never
}
define contactgroup {
    contactgroup_name admins
    alias admins
    members ann
    contactgroup_members night
}
define contactgroup {
    contactgroup_name night
    alias night
    members carl
    members silent
}
define contactgroup {
    contactgroup_name most
    alias most
    members *, !bob
}
define hostgroup {
    hostgroup_name hidden
    alias hidden
    members db-a, web2
    register 0
}
";

/// A service definition with its hosts.
struct Service {
    description: String,
    hosts: BTreeSet<&'static str>,
}

struct Tree {
    random: Random,
    text: String,
}

/// Writes a configuration into a directory. Returns the path of its main file.
pub(super) fn write(directory: &Path, seed: u64) -> PathBuf {
    let mut tree = Tree { random: Random::new(seed), text: FIXED.to_owned() };
    tree.contacts();
    tree.templates();
    tree.hosts();
    let services = tree.services();
    tree.dependencies(&services);
    tree.escalations(&services);
    let objects = directory.join("objects.cfg");
    fs::write(&objects, tree.text).unwrap();
    let place = directory.display();
    let main = directory.join("nagios.cfg");
    let settings = format!(
        "cfg_file={place}/objects.cfg\nlog_file={place}/log\nobject_cache_file={place}/cache\n\
         precached_object_file={place}/precache\nstatus_file={place}/status\ntemp_file={place}/temporary\n\
         temp_path={place}\ncheck_result_path={place}\nlock_file={place}/lock\ncommand_file={place}/command\n\
         state_retention_file={place}/retention\nenable_flap_detection=1\n"
    );
    fs::write(&main, settings).unwrap();
    main
}

/// The members of a group and of those in it.
fn members(group: &str) -> BTreeSet<&'static str> {
    let Some((_, own, nested)) = GROUPS.iter().find(|(name, ..)| *name == group) else {
        return BTreeSet::new();
    };
    own.iter().copied().chain(members(nested)).collect()
}

impl Tree {
    fn line(&mut self, name: &str, value: &str) {
        let space = *self.random.one_of(&[" ", "\t", "    "]);
        let remark = *self.random.one_of(&["", "", "", " ; so"]);
        let _ = writeln!(self.text, "{space}{name}{space}{value}{remark}");
    }

    /// A number, behind which there may be a text.
    fn number(&mut self, name: &str, values: &[&str]) {
        let value = *self.random.one_of(values);
        let text = *self.random.one_of(&["", "", " # hourly", " #x"]);
        self.line(name, &format!("{value}{text}"));
    }

    /// One of the names of a directive.
    fn named(&mut self, names: &[&str], value: &str) {
        let name = *self.random.one_of(names);
        self.line(name, value);
    }

    fn contacts(&mut self) {
        for contact in CONTACTS {
            let options = match contact {
                "silent" => ["n", "n"],
                // No flapping.
                "bob" => ["d,u,r", "w,u,c,r"],
                "carl" => ["d r f", "w,u c,r,f"],
                _ => ["d,u,r,f,s", "w,u,c,r,f"],
            };
            let _ = writeln!(
                self.text,
                "define contact {{\n contact_name {contact}\n email {contact}@example.org\n \
                 host_notification_options {}\n service_notification_options {}\n host_notification_commands tell\n \
                 service_notification_commands tell\n host_notification_period always\n service_notification_period always\n}}",
                options[0], options[1]
            );
        }
    }

    fn templates(&mut self) {
        for kind in ["host", "service"] {
            let _ = writeln!(self.text, "define {kind} {{\n name base\n register 0");
            self.number("max_check_attempts", &["3", "1", "10"]);
            self.line("check_period", "always");
            self.line("notification_period", "always");
            if self.random.once_in(2) {
                self.number("check_interval", &["5", "10"]);
            }
            self.text.push_str("}\n");
            let _ = writeln!(self.text, "define {kind} {{\n name often\n use base\n register 0");
            self.number("retry_interval", &["2", "3"]);
            self.line("contact_groups", "admins");
            self.text.push_str("}\n");
        }
    }

    /// What hosts and services may say alike.
    fn common(&mut self, is_host: bool) {
        if self.random.once_in(3) {
            let names = ["check_interval", "normal_check_interval"];
            let name = *self.random.one_of(&names);
            self.number(name, if is_host { &["1", "60"] } else { &["1", "60", "0", "15"] });
        }
        if self.random.once_in(4) {
            self.number("retry_check_interval", &["1", "4"]);
        }
        if self.random.once_in(3) {
            self.number("max_check_attempts", &["2", "4"]);
        }
        if self.random.once_in(3) {
            let period = *self.random.one_of(&PERIODS);
            self.line("notification_period", period);
        }
        if self.random.once_in(5) {
            let period = *self.random.one_of(&PERIODS);
            self.line("check_period", period);
        }
        if self.random.once_in(3) {
            self.number("notification_interval", &["0", "30", "120", "1e1"]);
        } else if self.random.once_in(8) {
            self.line("notification_interval", "null");
        }
        match self.random.below(6) {
            3 => self.line("contact_groups", "most"),
            0 => {
                let contact = *self.random.one_of(&CONTACTS);
                self.line("contacts", contact);
            }
            1 => self.line("contact_groups", "+night"),
            2 => self.line("contacts", "bob,ann"),
            _ => {}
        }
        if self.random.once_in(4) {
            let options =
                if is_host { ["d,r", "d,u,r,f,s", "n", "r"] } else { ["w,c", "c,r", "n", "w,u,c,r,f,s"] };
            let options = *self.random.one_of(&options);
            self.line("notification_options", options);
        }
        for (name, times) in
            [("notifications_enabled", 8), ("flap_detection_enabled", 6), ("active_checks_enabled", 8)]
        {
            if self.random.once_in(times) {
                self.line(name, "0");
            }
        }
    }

    fn hosts(&mut self) {
        for (group, own, nested) in GROUPS {
            let _ = writeln!(self.text, "define hostgroup {{\n hostgroup_name {group}\n alias {group}");
            // Some say themselves that they are in it.
            let listed: Vec<&str> = own.iter().copied().filter(|host| *host != "web10").collect();
            // In one line, or in a line each.
            match self.random.once_in(2) {
                true => self.line("members", &listed.join(" , ")),
                false => listed.iter().for_each(|member| self.line("members", member)),
            }
            if !nested.is_empty() {
                self.line("hostgroup_members", nested);
            }
            self.text.push_str("}\n");
        }
        for host in HOSTS {
            let _ = writeln!(self.text, "define host {{\n host_name {host}\n address 192.0.2.1");
            let template = *self.random.one_of(&["base", "often"]);
            self.line("use", template);
            self.line("check_command", &format!("probe!{host}"));
            if host == "web10" {
                self.named(&["hostgroups", "host_groups"], "web");
            }
            if host != "gate" && self.random.once_in(2) {
                self.line("parents", "gate");
            }
            if template == "base" {
                self.line("contacts", "bob");
            } else {
                self.common(true);
            }
            self.text.push_str("}\n");
        }
    }

    fn services(&mut self) -> Vec<Service> {
        let mut services = Vec::new();
        for number in 0..3 + self.random.below(6) {
            let description = format!("service {number}");
            let mut hosts = BTreeSet::new();
            let _ = writeln!(self.text, "define service {{");
            self.named(&["service_description", "description"], &description);
            let host = *self.random.one_of(&HOSTS);
            let group = *self.random.one_of(&["web", "db", "edge"]);
            match self.random.below(6) {
                4 => {
                    self.line("hostgroup_name", "hidden");
                    hosts.extend(["db-a", "web2"]);
                }
                0 => {
                    self.named(&["host_name", "hosts", "host"], &format!("{host}, gate"));
                    hosts.extend([host, "gate"]);
                }
                1 => {
                    self.named(&["host_name", "hosts"], "*");
                    hosts.extend(HOSTS);
                }
                2 => {
                    self.named(&["hostgroup_name", "hostgroup", "hostgroups"], group);
                    hosts.extend(members(group));
                }
                3 => {
                    self.named(&["hostgroup_name", "hostgroups"], "edge,!db");
                    self.line("host_name", "!web1");
                    hosts.extend(members("edge"));
                    hosts.remove("web1");
                }
                _ => {
                    self.named(&["hostgroup_name", "hostgroups"], "db");
                    self.named(&["host_name", "host"], "web1");
                    hosts.extend(["db-a", "db-b", "web1"]);
                }
            }
            let template = *self.random.one_of(&["base", "often", "base,often"]);
            self.line("use", template);
            self.line("check_command", &format!("probe!{number}"));
            self.common(false);
            self.text.push_str("}\n");
            services.push(Service { description, hosts });
        }
        services
    }

    fn dependencies(&mut self, services: &[Service]) {
        for _ in 0..1 + self.random.below(4) {
            let place = self.random.below(services.len() as u64 - 1) as usize;
            // Later services depend on earlier ones: no circles.
            let (master, dependent) = (&services[place], &services[place + 1]);
            let both: Vec<&str> = master.hosts.intersection(&dependent.hosts).copied().collect();
            let kind = self.random.below(3);
            let group = ["web", "db", "edge"]
                .into_iter()
                .find(|group| members(group).iter().all(|host| both.contains(host)));
            if kind > 0 && both.is_empty() {
                continue;
            }
            self.text.push_str("define servicedependency {\n");
            match (kind, group) {
                (0, _) => {
                    let one = |hosts: &BTreeSet<&'static str>, random: &mut Random| {
                        let all: Vec<&str> = hosts.iter().copied().collect();
                        (*random.one_of(&all)).to_owned()
                    };
                    let (of, on) =
                        (one(&dependent.hosts, &mut self.random), one(&master.hosts, &mut self.random));
                    self.named(&["host_name", "master_host", "host"], &on);
                    self.named(&["dependent_host_name", "dependent_host"], &of);
                }
                // On the same host, which is not named again.
                (2, Some(group)) => self.named(&["hostgroup_name", "hostgroup"], group),
                _ => {
                    let host = *self.random.one_of(&both);
                    self.line("host_name", host);
                }
            }
            self.named(
                &["service_description", "master_service_description", "description"],
                &master.description,
            );
            self.named(&["dependent_service_description", "dependent_description"], &dependent.description);
            self.named(&["notification_failure_criteria", "notification_failure_options"], "w,u,c");
            self.text.push_str("}\n");
        }
    }

    fn escalations(&mut self, services: &[Service]) {
        for _ in 0..1 + self.random.below(3) {
            let service = self.random.one_of(services);
            let hosts: Vec<&str> = service.hosts.iter().copied().collect();
            let host = *self.random.one_of(&hosts);
            self.text.push_str("define serviceescalation {\n");
            self.named(&["host_name", "host"], host);
            self.named(&["service_description", "description"], &service.description);
            self.number("first_notification", &["2", "3"]);
            self.line("last_notification", "0");
            self.line("notification_interval", "30");
            if self.random.once_in(2) {
                self.line("contacts", "carl");
            }
            self.text.push_str("}\n");
        }
        self.text.push_str("define hostescalation {\n");
        self.named(&["hostgroup_name", "hostgroup", "hostgroups"], "db");
        self.text.push_str(" first_notification 4\n last_notification 0\n notification_interval 30\n contact_groups night\n}\n");
    }
}
