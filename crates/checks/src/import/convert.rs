//! Nagios' objects as whit's tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use formats::nagios::{NagiosObject, Place, members};

use super::commands::{Commands, variable};
use super::contacts::Contacts;
use super::dependencies::Dependencies;
use super::escalations::Escalations;
use super::files::NagiosFiles;
use super::notes::Notes;
use super::periods::{Periods, Times};
use super::services::{Checked, Groups, ServiceGroups, Services, service_groups};
use configuration::quoted;
use text::natural_order::by_natural_order;
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
/// The default of Nagios where nothing is said, in units of `interval_length`.
const USUAL_INTERVAL: f64 = 5.0;
const USUAL_RETRY_INTERVAL: f64 = 1.0;
/// Nothing is checked less often than once a year.
const YEAR_S: f64 = 365.0 * 86_400.0;

/// The configuration, and what became of it.
#[derive(Debug)]
pub struct Imported {
    /// TOML.
    pub text: String,
    /// The notes on what was left out or changed, a line each, what matters first. The text names these as well.
    pub notes: Vec<String>,
    /// How much was carried over, changed and left out.
    pub summary: String,
    /// A run or a notification depends on something that was left out.
    pub has_effect: bool,
}

/// All that tables are written from.
pub(super) struct Converter<'f> {
    pub(super) files: &'f NagiosFiles,
    pub(super) groups: Groups<'f>,
    pub(super) services: Services<'f>,
    pub(super) service_groups: ServiceGroups<'f>,
    pub(super) commands: Commands<'f>,
    pub(super) periods: Periods<'f>,
    pub(super) contacts: Contacts<'f>,
    pub(super) dependencies: Dependencies<'f>,
    pub(super) escalations: Escalations<'f>,
    pub(super) notes: Notes,
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
    converter.settings();
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
            "hosts: {host_count}, services: {check_count}, changed: {changed}, left out: {left_out}"
        ),
        has_effect: notes.has_effect(),
    }
}

impl<'f> Converter<'f> {
    fn hosts(&mut self) -> (String, usize) {
        let hosts = self.files.objects.iter().filter(|object| object.kind == "host");
        let mut hosts: Vec<&NagiosObject> = hosts.filter(|host| host.get("host_name").is_some()).collect();
        hosts.sort_by(|one, other| by_natural_order(name(one), name(other)));
        let (mut out, mut parents_of) = (String::new(), BTreeMap::new());
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
            let parents = self.parents(host, &mut parents_of);
            push_list("parents", &parents, &mut out);
            self.push_variables(host, &mut out);
            self.push_check(&checked, &mut out);
        }
        (out, hosts.len())
    }

    /// The parents of a host, without those that do not exist, and those that it is a parent of itself.
    fn parents(
        &mut self,
        host: &'f NagiosObject,
        parents_of: &mut BTreeMap<&'f str, Vec<&'f str>>,
    ) -> Vec<&'f str> {
        let mut parents = Vec::new();
        for parent in host.list("parents") {
            let (mut seen, mut left) = (BTreeSet::new(), vec![parent]);
            while let Some(next) = left.pop().filter(|_| !seen.contains(name(host))) {
                if seen.insert(next) {
                    left.extend(parents_of.get(next).into_iter().flatten());
                }
            }
            if !self.services.has_host(parent) {
                self.notes.leave_out(format!("the parent {parent}, which does not exist"), host.place);
            } else if seen.contains(name(host)) {
                self.notes
                    .leave_out(format!("the parent {parent}, whose parent is {}", name(host)), host.place);
            } else {
                parents.push(parent);
            }
        }
        parents_of.insert(name(host), parents.clone());
        parents
    }

    /// Converts the settings of the main file.
    fn settings(&mut self) {
        let main = Place::default();
        for name in
            ["ocsp_command", "ochp_command", "global_service_event_handler", "global_host_event_handler"]
        {
            if self.files.setting(name).is_some() {
                self.notes.leave_out(name, main);
            }
        }
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

    /// Writes the options that hosts and services have in common.
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
        let runs = if checked.is_host() { "execute_host_checks" } else { "execute_service_checks" };
        let is_active = object.number("active_checks_enabled") != Some(0.0)
            && period != Times::Never
            && self.files.is_on(runs, true);
        let call = object.get("check_command").filter(|call| is_active && !call.is_empty());
        match call {
            // Nagios runs such a service on request alone.
            Some(_) if interval <= 0.0 && !checked.is_host() => out.push_str("passive = true\n"),
            Some(call) => {
                if !self.commands.write(checked, call, &mut self.notes, out) {
                    out.push_str("passive = true\n");
                }
                self.push_timeout(checked, out);
            }
            // A host that nothing checks is up: it needs no table of its own kind, unless results are submitted.
            None if checked.is_host()
                && !object.values.contains_key("check_command")
                && !is_submitted(object) =>
            {
                return;
            }
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
            let seconds = self.bounded(seconds, [1.0, YEAR_S], object);
            let _ = writeln!(out, "{name} = \"{seconds}s\"");
        }
        if let Some(attempts) = object.number("max_check_attempts") {
            let _ = writeln!(out, "attempts = {}", attempts.clamp(1.0, 1000.0).trunc());
        }
        let freshness = if checked.is_host() {
            ("check_host_freshness", false)
        } else {
            ("check_service_freshness", true)
        };
        let is_fresh = self.files.is_on(freshness.0, freshness.1);
        if is_fresh && object.number("check_freshness").is_some_and(|checks| checks > 0.0) {
            if !is_active && object.get("check_command").is_some() {
                let what = format!("{}: the check_command that runs when a result is stale", object.kind);
                self.notes.leave_out(what, object.place);
            }
            match object.number("freshness_threshold").filter(|seconds| *seconds > 0.0) {
                Some(seconds) => {
                    let seconds = self.bounded(seconds, [1.0, YEAR_S], object);
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
        // Nagios detects flapping only if its main file says so.
        if object.number("flap_detection_enabled") == Some(0.0)
            || !self.files.is_on("enable_flap_detection", false)
        {
            out.push_str("flapping = false\n");
        }
        self.push_notifications(checked, out);
    }

    /// A length of time that whit has.
    pub(super) fn bounded(&mut self, seconds: f64, [least, most]: [f64; 2], object: &NagiosObject) -> f64 {
        let bounded = seconds.clamp(least, most);
        if bounded != seconds {
            let is = if seconds > most { "more" } else { "less" };
            let what = format!("{}: a time of {is} than {bounded} s, which is {bounded} s", object.kind);
            self.notes.change(what, object.place);
        }
        bounded
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

    pub(super) fn interval_length(&self) -> f64 {
        let length = self.files.setting("interval_length").and_then(|text| quantity::number(text).ok());
        length.filter(|length| *length > 0.0).unwrap_or(60.0)
    }

    pub(super) fn times(&mut self, checked: &Checked<'f>, key: &str) -> Times {
        match checked.get(key) {
            Some(name) => self.periods.times(name, checked.object, &mut self.notes),
            None => Times::Always,
        }
    }
}

/// Returns whether results of a host are submitted. Nagios takes them of every host; here a host must say something about it.
fn is_submitted(host: &NagiosObject) -> bool {
    let is_set = |name: &str, value: f64| host.number(name) == Some(value);
    is_set("active_checks_enabled", 0.0)
        || is_set("check_freshness", 1.0)
        || is_set("passive_checks_enabled", 1.0)
}

fn name(host: &NagiosObject) -> &str {
    host.get("host_name").unwrap_or_default()
}

pub(super) fn push_list(name: &str, values: &[&str], out: &mut String) {
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
