//! Nagios' objects as whit's tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use formats::nagios::{Macros, NagiosObject, expand, hosts_of, members, weekly};

use super::escalations::Escalations;
use super::files::NagiosFiles;
use super::left_out::{KINDS, KNOWN, LeftOut};
use crate::agent::needs_shell;
use crate::configuration::quoted;
use text::quantity;

/// The configuration, and what was left out of it.
pub(crate) struct Imported {
    /// TOML.
    pub(crate) text: String,
    /// How many things were left out, which the text names.
    pub(crate) left_out: usize,
}

struct Converter<'f> {
    files: &'f NagiosFiles,
    left_out: LeftOut,
    groups: BTreeMap<&'f str, BTreeSet<&'f str>>,
    contact_groups: BTreeMap<&'f str, BTreeSet<&'f str>>,
    /// Names of custom variables that any host has, without the underscore.
    host_variables: BTreeSet<&'f str>,
    commands: BTreeMap<&'f str, &'f str>,
    time_periods: BTreeMap<&'f str, &'f NagiosObject>,
    /// Contacts with an address.
    receivers: BTreeSet<&'f str>,
    out: String,
}

pub(super) fn convert(files: &NagiosFiles) -> Imported {
    let of_kind = |kind: &'static str| files.objects.iter().filter(move |object| object.kind == kind);
    let mut converter = Converter {
        host_variables: of_kind("host")
            .flat_map(|host| host.values.keys().filter_map(|name| name.strip_prefix('_')))
            .collect(),
        commands: of_kind("command")
            .filter_map(|command| Some((command.get("command_name")?, command.get("command_line")?)))
            .collect(),
        time_periods: of_kind("timeperiod")
            .filter_map(|period| Some((period.get("timeperiod_name")?, period)))
            .collect(),
        files,
        left_out: LeftOut::default(),
        groups: members(&files.objects, "hostgroup"),
        contact_groups: members(&files.objects, "contactgroup"),
        receivers: BTreeSet::new(),
        out: String::new(),
    };
    converter.contacts();
    converter.hosts();
    converter.services();
    converter.others();
    let Converter { left_out, out, .. } = converter;
    let mut text = String::from("# From Nagios' configuration.\n");
    files.left_out.write(&files.files, &mut text);
    left_out.write(&files.files, &mut text);
    text.push_str(&out);
    Imported { text, left_out: left_out.count() + files.left_out.count() }
}

impl<'f> Converter<'f> {
    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &'f NagiosObject> + use<'f> {
        self.files.objects.iter().filter(move |object| object.kind == kind)
    }

    /// Contacts with an address of mail are told; what their commands would do is not known.
    fn contacts(&mut self) {
        for contact in self.of_kind("contact") {
            let Some(name) = contact.get("contact_name") else { continue };
            match contact.get("email") {
                Some(address) if address.contains('@') => {
                    self.receivers.insert(name);
                    let _ = write!(
                        self.out,
                        "\n[[receiver]]\nname = {}\nmail = {}\n",
                        quoted(name),
                        quoted(address)
                    );
                }
                _ => self.left_out.add(format!("contact {name}, which has no email"), contact.place),
            }
            for key in ["service_notification_commands", "host_notification_commands"] {
                for command in contact.list(key).into_iter().filter(|command| !command.contains("mail")) {
                    self.left_out.add(format!("contact: the notification command {command}"), contact.place);
                }
            }
        }
    }

    fn hosts(&mut self) {
        for host in self.of_kind("host") {
            let Some(name) = host.get("host_name") else { continue };
            let _ = write!(self.out, "\n[[host]]\nname = {}\n", quoted(name));
            if let Some(address) = host.get("address").filter(|address| *address != name) {
                let _ = writeln!(self.out, "address = {}", quoted(address));
            }
            let groups: Vec<&str> = self
                .groups
                .iter()
                .filter(|(_, hosts)| hosts.contains(name))
                .map(|(group, _)| *group)
                .collect();
            self.write_list("groups", &groups);
            self.write_list("parents", &host.list("parents"));
            self.write_variables(host);
            self.write_escalations(None, &[name]);
            let default_timeout = self.files.setting("host_check_timeout").unwrap_or("30").to_owned();
            self.write_check(host, &default_timeout);
        }
    }

    fn services(&mut self) {
        let known: BTreeSet<&str> = self.of_kind("host").filter_map(|host| host.get("host_name")).collect();
        for service in self.of_kind("service") {
            let Some(name) = service.get("service_description") else { continue };
            let mut hosts: Vec<&str> =
                hosts_of(service, &self.files.objects, &self.groups).into_iter().collect();
            let unknown: Vec<&str> = hosts.iter().copied().filter(|host| !known.contains(host)).collect();
            for host in unknown {
                self.left_out
                    .add(format!("the service {name} of the host {host}, which there is not"), service.place);
            }
            hosts.retain(|host| known.contains(host));
            if hosts.is_empty() {
                self.left_out.add(format!("the service {name}, which is of no host"), service.place);
                continue;
            }
            let _ = write!(self.out, "\n[[check]]\nname = {}\n", quoted(name));
            self.write_list("hosts", &hosts);
            self.write_variables(service);
            self.write_escalations(Some(name), &hosts);
            let depends = self.depends(name, &hosts);
            self.write_list("depends", &depends.iter().map(String::as_str).collect::<Vec<_>>());
            let default_timeout = self.files.setting("service_check_timeout").unwrap_or("60").to_owned();
            self.write_check(service, &default_timeout);
        }
    }

    /// What a service of some hosts depends on: if that is not fine, nobody is told of it.
    fn depends(&mut self, service: &str, hosts: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        for dependency in self.of_kind("servicedependency") {
            let is_meant = dependency.list("dependent_service_description").contains(&service)
                && dependency.list("dependent_host_name").iter().any(|host| hosts.contains(host));
            if !is_meant {
                continue;
            }
            for host in dependency.list("host_name") {
                for master in dependency.list("service_description") {
                    found.push(format!("{host}/{master}"));
                }
            }
        }
        found
    }

    /// `_COMMUNITY public` and the alias, which commands may name.
    fn write_variables(&mut self, object: &NagiosObject) {
        let own = object.values.iter().filter(|(name, _)| name.starts_with('_'));
        let mut variables: Vec<(String, &str)> =
            own.map(|(name, value)| (variable(&object.kind, &name[1..]), value.as_str())).collect();
        if object.kind == "host" {
            let name = object.get("host_name").unwrap_or_default();
            variables.push(("alias".to_owned(), object.get("alias").unwrap_or(name)));
        }
        if !variables.is_empty() {
            let parts = variables.iter().map(|(name, value)| format!("{} = {}", key(name), quoted(value)));
            let _ = writeln!(self.out, "variables = {{ {} }}", parts.collect::<Vec<_>>().join(", "));
        }
    }

    fn write_list(&mut self, name: &str, values: &[&str]) {
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            let _ = writeln!(self.out, "{name} = [{}]", values.join(", "));
        }
    }

    fn write_escalations(&mut self, service: Option<&str>, hosts: &[&str]) {
        let escalations = Escalations {
            objects: &self.files.objects,
            host_groups: &self.groups,
            contact_groups: &self.contact_groups,
            receivers: &self.receivers,
        };
        let found = escalations.of(service, hosts, &mut self.left_out);
        let written = found.iter().map(|(from, names)| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            format!("{{ from = {from}, to = [{}] }}", names.join(", "))
        });
        if !found.is_empty() {
            let _ = writeln!(self.out, "escalate = [{}]", written.collect::<Vec<_>>().join(", "));
        }
    }

    /// What hosts and services have in common.
    fn write_check(&mut self, object: &NagiosObject, timeout_s: &str) {
        for name in object.values.keys() {
            self.left_out.add_directive(&object.kind, name, &KNOWN, object.place);
        }
        let is_active = object.get("active_checks_enabled") != Some("0");
        let period = self.period(object, "check_period");
        let command = object.get("check_command").filter(|_| is_active && period.as_deref() != Some(""));
        match command {
            Some(call) => {
                self.write_command(object, call);
                let _ = writeln!(self.out, "timeout = \"{timeout_s}s\"");
                let state = match self.files.setting("service_check_timeout_state") {
                    Some("o") => "ok",
                    Some("w") => "warning",
                    Some("u") => "unknown",
                    _ => "critical",
                };
                let _ = writeln!(self.out, "timeout_state = \"{state}\"");
            }
            // A host that nobody asks is up: it needs no table of its own kind.
            None if object.kind == "host" && object.get("check_command").is_none() => return,
            None => self.out.push_str("passive = true\n"),
        }
        let interval_length: f64 = self
            .files
            .setting("interval_length")
            .and_then(|text| quantity::number(text).ok())
            .unwrap_or(60.0);
        let length = |names: &[&str]| {
            let text = names.iter().find_map(|name| object.get(name))?;
            let seconds = quantity::number(text).ok()? * interval_length;
            (seconds >= 1.0).then_some(seconds)
        };
        for (name, seconds) in [
            ("interval", length(&["check_interval", "normal_check_interval"])),
            ("retry", length(&["retry_interval", "retry_check_interval"])),
        ] {
            if let Some(seconds) = seconds {
                let _ = writeln!(self.out, "{name} = \"{seconds}s\"");
            }
        }
        if let Some(attempts) = object.get("max_check_attempts").and_then(|text| text.parse::<u32>().ok()) {
            let _ = writeln!(self.out, "attempts = {}", attempts.max(1));
        }
        if object.get("check_freshness") == Some("1")
            && let Some(seconds) = object.get("freshness_threshold").filter(|text| *text != "0")
        {
            let _ = writeln!(self.out, "fresh = \"{seconds}s\"");
        }
        if let Some(period) = period.filter(|period| !period.is_empty()) {
            let _ = writeln!(self.out, "period = {}", quoted(&period));
        }
        if object.get("flap_detection_enabled") == Some("0") {
            self.out.push_str("flapping = false\n");
        }
        self.write_telling(object, length(&["notification_interval"]));
    }

    fn write_telling(&mut self, object: &NagiosObject, repeat_s: Option<f64>) {
        let period = self.period(object, "notification_period");
        let options = object.list("notification_options");
        if object.get("notifications_enabled") == Some("0")
            || options.contains(&"n")
            || period.as_deref() == Some("")
        {
            self.out.push_str("to = []\n");
            return;
        }
        let mut contacts: BTreeSet<&str> = object.list("contacts").into_iter().collect();
        for group in object.list("contact_groups") {
            contacts.extend(self.contact_groups.get(group).into_iter().flatten());
        }
        contacts.retain(|contact| self.receivers.contains(contact));
        let names: Vec<String> = contacts.iter().map(|name| quoted(name)).collect();
        let _ = writeln!(self.out, "to = [{}]", names.join(", "));
        if let Some(seconds) = repeat_s.filter(|seconds| *seconds >= 60.0) {
            let _ = writeln!(self.out, "repeat = \"{seconds}s\"");
        }
        if let Some(period) = period {
            let _ = writeln!(self.out, "tell_in = {}", quoted(&period));
        }
        if !options.is_empty() {
            let named = [
                ("w", "warning"),
                ("c", "critical"),
                ("d", "critical"),
                ("u", "unknown"),
                ("r", "recovery"),
                ("f", "flapping"),
            ];
            let mut wanted: Vec<&str> = Vec::new();
            for (letter, name) in named {
                // Of a host u is that it cannot be reached, of which nobody is told anyway.
                let is_of_host = object.kind == "host" && letter == "u";
                if options.contains(&letter) && !is_of_host && !wanted.contains(&name) {
                    wanted.push(name);
                }
            }
            self.write_list("tell_of", &wanted);
        }
    }

    /// The times of a time period; `None`: always.
    fn period(&mut self, object: &NagiosObject, key: &str) -> Option<String> {
        let name = object.get(key)?;
        let Some(period) = self.time_periods.get(name).copied() else {
            self.left_out.add(format!("the time period {name}, which there is not"), object.place);
            return None;
        };
        let (times, odd) = weekly(period);
        for odd in odd {
            self.left_out.add(format!("time period {name}: {odd}"), period.place);
        }
        times
    }

    fn write_command(&mut self, object: &NagiosObject, call: &str) {
        let name = call.split('!').next().unwrap_or_default().trim();
        let Some(line) = self.commands.get(name) else {
            self.left_out.add(format!("the command {name}, which there is not"), object.place);
            self.out.push_str("passive = true\n");
            return;
        };
        let braces = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let mut macros = Macros::default();
        for (name, value) in &self.files.macros.0 {
            macros.set(name, &braces(value));
        }
        macros.set_arguments(&braces(call));
        for (name, variable) in [
            ("HOSTADDRESS", "{address}"),
            ("HOSTNAME", "{host}"),
            ("HOSTALIAS", "{alias}"),
            ("SERVICEDESC", "{name}"),
        ] {
            macros.set(name, variable);
        }
        for (name, _) in object.values.iter().filter(|(name, _)| name.starts_with('_')) {
            let name = name[1..].to_uppercase();
            macros.set(
                &format!("_{}{name}", object.kind.to_uppercase()),
                &format!("{{{}}}", variable(&object.kind, &name)),
            );
        }
        if object.kind == "service" {
            for name in &self.host_variables {
                macros.set(
                    &format!("_HOST{}", name.to_uppercase()),
                    &format!("{{{}}}", variable("host", name)),
                );
            }
        }
        let (line, unknown) = expand(&braces(line), &macros);
        for unknown in unknown {
            self.left_out.add(format!("the macro ${unknown}$ of the command {name}"), object.place);
        }
        let words = if needs_shell(&line) { None } else { shell_words::split(&line).ok() };
        match words {
            Some(words) if !words.is_empty() => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let _ = writeln!(self.out, "command = [{}]", words.join(", "));
            }
            _ => {
                let _ = writeln!(self.out, "command = {}\nshell = true", quoted(&line));
            }
        }
    }

    /// Whole objects without a counterpart.
    fn others(&mut self) {
        for object in &self.files.objects {
            if !KINDS.contains(&object.kind.as_str()) {
                self.left_out.add(format!("define {}", object.kind), object.place);
            }
        }
    }
}

/// What a custom variable is called in whit.
fn variable(kind: &str, name: &str) -> String {
    format!("{kind}_{}", name.to_lowercase())
}

/// A key in TOML.
fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare { name.to_owned() } else { quoted(name) }
}
