//! Nagios' objects as whit's tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use formats::nagios::{NagiosObject, members};

use super::commands::{Commands, variable};
use super::contacts::Contacts;
use super::dependencies::Dependencies;
use super::escalations::Escalations;
use super::files::NagiosFiles;
use super::natural_order::by_natural_order;
use super::notes::Notes;
use super::periods::{Periods, Times};
use super::services::{Checked, Groups, Services, service_groups};
use crate::configuration::quoted;
use text::quantity;

/// Kinds that are read, or that say nothing by themselves.
const KINDS: [&str; 13] = [
    "host",
    "hostgroup",
    "service",
    "servicegroup",
    "command",
    "contact",
    "contactgroup",
    "timeperiod",
    "servicedependency",
    "serviceescalation",
    "hostescalation",
    "hostextinfo",
    "serviceextinfo",
];
/// What Nagios takes where nothing is said, in units of `interval_length`.
const USUAL_INTERVAL: f64 = 5.0;
const USUAL_RETRY_INTERVAL: f64 = 1.0;
const USUAL_NOTIFICATION_INTERVAL: f64 = 30.0;

/// The configuration, and what became of it.
#[derive(Debug)]
pub(crate) struct Imported {
    /// TOML.
    pub(crate) text: String,
    /// What was left out or changed, a line each, what matters first. The text names these as well.
    pub(crate) notes: Vec<String>,
    /// How much was carried over, changed and left out.
    pub(crate) summary: String,
    /// Whether something runs, or somebody is notified, depends on what was left out.
    pub(crate) has_effect: bool,
}

/// All that tables are written from.
struct Converter<'f> {
    files: &'f NagiosFiles,
    groups: Groups<'f>,
    services: Services<'f>,
    service_groups: BTreeMap<&'f str, BTreeSet<(&'f str, &'f str)>>,
    commands: Commands<'f>,
    periods: Periods<'f>,
    contacts: Contacts<'f>,
    dependencies: Dependencies<'f>,
    escalations: Escalations<'f>,
    notes: Notes,
}

pub(super) fn convert(files: &NagiosFiles) -> Imported {
    let objects = &files.objects;
    let (mut notes, mut receivers) = (Notes::default(), String::new());
    let groups = members(objects, "hostgroup");
    let services = Services::of(objects, &groups, &mut notes);
    let service_groups = service_groups(objects, &services);
    let commands = Commands::of(objects, &files.macros);
    let periods = Periods::of(objects);
    let contacts = Contacts::write(objects, &commands, &periods, &mut notes, &mut receivers);
    let mut converter = Converter {
        dependencies: Dependencies::of(objects, &groups, &service_groups, &services, &mut notes),
        escalations: Escalations::of(objects, &groups, &service_groups, &services, &mut notes),
        files,
        groups,
        services,
        service_groups,
        commands,
        periods,
        contacts,
        notes,
    };
    let (hosts, host_count) = converter.hosts();
    let (checks, check_count) = converter.checks();
    for object in objects.iter().filter(|object| !KINDS.contains(&object.kind.as_str())) {
        converter.notes.leave_out(format!("define {}", object.kind), object.place);
    }
    let mut notes = converter.notes;
    notes.extend(files.notes.clone());
    let lines = notes.lines(&files.files);
    let mut text = String::from("# From Nagios' configuration.\n");
    lines.iter().for_each(|line| {
        let _ = writeln!(text, "# {line}");
    });
    text.extend([receivers, hosts, checks]);
    let (changed, left_out) = notes.counts();
    Imported {
        text,
        notes: lines,
        summary: format!(
            "{host_count} hosts and {check_count} checks of them were carried over, {changed} things changed, {left_out} left out"
        ),
        has_effect: notes.has_effect(),
    }
}

impl<'f> Converter<'f> {
    fn hosts(&mut self) -> (String, usize) {
        let hosts = self.files.objects.iter().filter(|object| object.kind == "host");
        let mut hosts: Vec<&NagiosObject> = hosts.filter(|host| host.get("host_name").is_some()).collect();
        hosts.sort_by(|one, other| by_natural_order(name(one), name(other)));
        let mut out = String::new();
        for host in &hosts {
            let checked = Checked { object: host, host: None };
            let host_name = name(host);
            let _ = write!(out, "\n[[host]]\nname = {}\n", quoted(host_name));
            if let Some(address) =
                host.get("address").filter(|address| !address.is_empty() && *address != host_name)
            {
                let _ = writeln!(out, "address = {}", quoted(address));
            }
            let groups = self.groups.iter().filter(|(_, hosts)| hosts.contains(host_name));
            push_list("groups", &groups.map(|(group, _)| *group).collect::<Vec<_>>(), &mut out);
            let (known, unknown): (Vec<&str>, Vec<&str>) =
                host.list("parents").into_iter().partition(|parent| self.services.has_host(parent));
            push_list("parents", &known, &mut out);
            for parent in unknown {
                self.notes.leave_out(format!("the parent {parent}, which does not exist"), host.place);
            }
            self.push_variables(host, &mut out);
            self.push_check(&checked, &mut out);
        }
        (out, hosts.len())
    }

    /// Services that differ only in their hosts are one check.
    fn checks(&mut self) -> (String, usize) {
        let all: Vec<Checked<'f>> = self.services.all().collect();
        let mut checks: BTreeMap<(&str, String), Vec<Checked<'f>>> = BTreeMap::new();
        for checked in &all {
            let name = checked.description().unwrap_or_default();
            let mut body = String::new();
            self.push_variables(checked.object, &mut body);
            let is_member = |(_, members): &(&&str, &BTreeSet<(&str, &str)>)| {
                members.contains(&(checked.host_name(), name))
            };
            let groups: Vec<&str> =
                self.service_groups.iter().filter(is_member).map(|(group, _)| *group).collect();
            if !groups.is_empty() {
                let _ = writeln!(body, "labels = {{ servicegroups = {} }}", quoted(&groups.join(",")));
            }
            let depends = self.dependencies.names(checked.host_name(), name);
            push_list("depends", &depends.iter().map(String::as_str).collect::<Vec<_>>(), &mut body);
            self.push_check(checked, &mut body);
            checks.entry((name, body)).or_default().push(*checked);
        }
        let mut ordered: Vec<_> = checks.into_iter().collect();
        ordered.sort_by(|((one, _), _), ((other, _), _)| by_natural_order(one, other));
        let mut out = String::new();
        for ((name, body), checked) in ordered {
            let _ = write!(out, "\n[[check]]\nname = {}\n", quoted(name));
            let hosts: Vec<String> = self.shortest(&checked);
            push_list("hosts", &hosts.iter().map(String::as_str).collect::<Vec<_>>(), &mut out);
            out.push_str(&body);
        }
        (out, all.len())
    }

    /// Hosts by their groups where a definition names these, so that it can be maintained by hand; the others by their names.
    fn shortest(&self, checked: &[Checked<'f>]) -> Vec<String> {
        let mut left: BTreeSet<&str> = checked.iter().map(Checked::host_name).collect();
        let all = left.clone();
        let named: BTreeSet<&str> =
            checked.iter().flat_map(|checked| checked.object.list("hostgroup_name")).collect();
        let mut hosts = Vec::new();
        for group in named {
            let members =
                self.groups.get(group).filter(|members| !members.is_empty() && members.is_subset(&all));
            if let Some(members) = members.filter(|members| members.iter().any(|host| left.contains(host))) {
                left.retain(|host| !members.contains(host));
                hosts.push(format!("@{group}"));
            }
        }
        let mut names: Vec<&str> = left.into_iter().collect();
        names.sort_by(|one, other| by_natural_order(one, other));
        hosts.extend(names.into_iter().map(str::to_owned));
        hosts
    }

    /// `_COMMUNITY public` and the alias, which commands may name.
    fn push_variables(&self, object: &NagiosObject, out: &mut String) {
        let own = object.values.iter().filter(|(name, _)| name.starts_with('_'));
        let mut variables: Vec<(String, &str)> =
            own.map(|(name, value)| (variable(&object.kind, &name[1..]), value.as_str())).collect();
        if object.kind == "host" {
            variables.push(("alias".to_owned(), object.get("alias").unwrap_or(name(object))));
        }
        if !variables.is_empty() {
            let parts = variables.iter().map(|(name, value)| format!("{} = {}", key(name), quoted(value)));
            let _ = writeln!(out, "variables = {{ {} }}", parts.collect::<Vec<_>>().join(", "));
        }
    }

    /// What hosts and services have in common.
    fn push_check(&mut self, checked: &Checked<'f>, out: &mut String) {
        let object = checked.object;
        for name in object.values.keys() {
            self.notes.directive(&object.kind, name, object.place);
        }
        if object.number("is_volatile").is_some_and(|volatile| volatile > 0.0) {
            self.notes.leave_out(format!("{}: is_volatile", object.kind), object.place);
        }
        let period = self.times(checked, "check_period");
        let interval = object.number("check_interval").unwrap_or(USUAL_INTERVAL);
        let is_active = object.number("active_checks_enabled") != Some(0.0) && period != Times::Never;
        let call = object.get("check_command").filter(|call| is_active && !call.is_empty());
        match call {
            // Nagios runs such a service when somebody asks, and never by itself.
            Some(_) if interval <= 0.0 && !checked.is_host() => out.push_str("passive = true\n"),
            Some(call) => {
                if !self.commands.write(object, call, &mut self.notes, out) {
                    out.push_str("passive = true\n");
                }
                self.push_timeout(checked, out);
            }
            // A host that nothing checks is up: it needs no table of its own kind.
            None if checked.is_host() && object.get("check_command").is_none() => return,
            None => out.push_str("passive = true\n"),
        }
        if interval <= 0.0 && checked.is_host() {
            let what = "host: check_interval 0, which is checked every five minutes and not only if one of its services fails";
            self.notes.change(what, object.place);
        }
        let length = self.interval_length();
        let interval = if interval > 0.0 { interval } else { USUAL_INTERVAL } * length;
        let retry = object.number("retry_interval").filter(|retry| *retry > 0.0);
        for (name, seconds) in
            [("interval", interval), ("retry", retry.unwrap_or(USUAL_RETRY_INTERVAL) * length)]
        {
            let _ = writeln!(out, "{name} = \"{}s\"", seconds.max(1.0));
        }
        if let Some(attempts) = object.number("max_check_attempts") {
            let _ = writeln!(out, "attempts = {}", attempts.clamp(1.0, 1000.0).trunc());
        }
        if object.number("check_freshness").is_some_and(|checks| checks > 0.0) {
            match object.number("freshness_threshold").filter(|seconds| *seconds > 0.0) {
                Some(seconds) => {
                    let _ = writeln!(out, "fresh = \"{seconds}s\"");
                }
                None => self
                    .notes
                    .leave_out(format!("{}: check_freshness without a threshold", object.kind), object.place),
            }
        }
        if let Times::In(times) = period {
            let _ = writeln!(out, "period = {}", quoted(&times));
        }
        if object.number("flap_detection_enabled") == Some(0.0) {
            out.push_str("flapping = false\n");
        }
        self.push_notifications(checked, out);
    }

    fn push_timeout(&self, checked: &Checked<'_>, out: &mut String) {
        let (key, usual) =
            if checked.is_host() { ("host_check_timeout", "30") } else { ("service_check_timeout", "60") };
        let seconds = self.files.setting(key).and_then(|text| quantity::number(text).ok());
        let seconds = seconds.filter(|seconds| (1.0..=3600.0).contains(seconds));
        let _ = writeln!(
            out,
            "timeout = \"{}s\"",
            seconds.map_or(usual.to_owned(), |seconds| seconds.to_string())
        );
        let state = match self.files.setting("service_check_timeout_state") {
            Some("o") => "ok",
            Some("w") => "warning",
            Some("u") => "unknown",
            _ => "critical",
        };
        let _ = writeln!(out, "timeout_state = \"{state}\"");
    }

    fn interval_length(&self) -> f64 {
        let length = self.files.setting("interval_length").and_then(|text| quantity::number(text).ok());
        length.filter(|length| *length > 0.0).unwrap_or(60.0)
    }

    fn push_notifications(&mut self, checked: &Checked<'f>, out: &mut String) {
        let period = self.times(checked, "notification_period");
        let options = checked.list("notification_options");
        let is_off = checked.number("notifications_enabled") == Some(0.0)
            || options.iter().any(|option| option.starts_with('n'))
            || period == Times::Never;
        let receivers = self.contacts.receivers(checked.list("contacts"), checked.list("contact_groups"));
        if is_off || receivers.is_empty() {
            out.push_str("to = []\n");
            return;
        }
        push_list("to", &receivers.into_iter().collect::<Vec<_>>(), out);
        let escalations = self.escalations.receivers(checked, &self.contacts);
        if !escalations.is_empty() {
            let steps = escalations.iter().map(|(from, names)| {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                format!("{{ from = {from}, to = [{}] }}", names.join(", "))
            });
            let _ = writeln!(out, "escalate = [{}]", steps.collect::<Vec<_>>().join(", "));
        }
        let repeat = checked.number("notification_interval").unwrap_or(USUAL_NOTIFICATION_INTERVAL);
        let repeat_s = repeat * self.interval_length();
        if repeat_s > 0.0 {
            if repeat_s < 60.0 {
                self.notes.change("notification_interval below a minute, which is one", checked.object.place);
            }
            let _ = writeln!(out, "repeat = \"{}s\"", repeat_s.max(60.0));
        }
        if let Times::In(times) = period {
            let _ = writeln!(out, "tell_in = {}", quoted(&times));
        }
        push_list("tell_of", &kinds_of(&options, checked.is_host()), out);
    }

    fn times(&mut self, checked: &Checked<'f>, key: &str) -> Times {
        match checked.get(key) {
            Some(name) => self.periods.times(name, checked.object, &mut self.notes),
            None => Times::Always,
        }
    }
}

/// What is told; empty: everything.
fn kinds_of(options: &[&str], is_host: bool) -> Vec<&'static str> {
    const NAMED: [(&str, &str); 6] = [
        ("w", "warning"),
        ("c", "critical"),
        ("d", "critical"),
        ("u", "unknown"),
        ("r", "recovery"),
        ("f", "flapping"),
    ];
    let is_set = |letter: &str| options.iter().any(|option| option.starts_with(letter));
    if options.is_empty() || is_set("a") {
        return Vec::new();
    }
    let mut kinds: Vec<&str> = Vec::new();
    for (letter, kind) in NAMED {
        // Of a host, u is that it cannot be reached, which is told of its parent.
        let is_of_host = is_host && letter == "u";
        if is_set(letter) && !is_of_host && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

fn name(host: &NagiosObject) -> &str {
    host.get("host_name").unwrap_or_default()
}

fn push_list(name: &str, values: &[&str], out: &mut String) {
    if !values.is_empty() {
        let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        let _ = writeln!(out, "{name} = [{}]", values.join(", "));
    }
}

/// A key in TOML.
fn key(name: &str) -> String {
    let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare { name.to_owned() } else { quoted(name) }
}
