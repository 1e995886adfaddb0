//! The options of a table for a check, or for a host's own.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::{Check, CheckName, CheckWay, NotificationOptions, Period, Plugin, State};
use probe::spawn::UserIds;
use text::quantity;

use notify::Receiver;

use super::command::CommandText;
use super::host::{self, Host};
use super::names;
use super::variables::Variables;
use crate::native::Native;
use configuration::{Fault, Options, expected, text as text_of};
use notify::tables as receivers;

/// Options of both kinds of tables.
pub(super) const OPTIONS: [&str; 22] = [
    "command",
    "shell",
    "passive",
    "fresh",
    "interval",
    "retry",
    "attempts",
    "timeout",
    "timeout_state",
    "environment",
    "user",
    "directory",
    "group",
    "variables",
    "period",
    "to",
    "repeat",
    "escalate",
    "tell_in",
    "tell_of",
    "flapping",
    "depends",
];

/// A backup may be due each week, or each month.
const INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(365 * 86_400);
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);
const STATES: [(&str, State); 4] = [
    ("ok", State::Ok),
    ("warning", State::Warning),
    ("critical", State::Critical),
    ("unknown", State::Unknown),
];

/// Words of commands, each once: those of a thousand hosts are mostly the same.
#[derive(Debug, Default)]
pub(super) struct SharedWords(HashSet<Arc<str>>);

impl SharedWords {
    fn get(&mut self, word: String) -> Arc<str> {
        if let Some(known) = self.0.get(word.as_str()) {
            return Arc::clone(known);
        }
        let word: Arc<str> = word.into();
        self.0.insert(Arc::clone(&word));
        word
    }
}

/// A check before it has a host.
#[derive(Clone, Debug)]
pub(super) struct CheckTemplate {
    check: Check,
    command: Option<CommandText>,
    native: Option<Native>,
    plugin: Plugin,
    environment: Vec<(String, String)>,
    variables: Variables,
}

impl CheckTemplate {
    /// Reads a table. `None`: it says nothing of a check.
    pub(super) fn read(table: &Options<'_, '_>, receivers: &[Receiver]) -> Result<Option<Self>, Fault> {
        let command = CommandText::read(table)?;
        let is_passive = table.flag("passive")?;
        let native = Native::read(table)?;
        match (command.is_some() || native.is_some(), is_passive) {
            (true, true) => {
                return Err(table.fault_of("passive", "a check is either passive or has a command"));
            }
            (false, false) => return Ok(None),
            (_, _) => {}
        }
        if command.is_some() && native.is_some() {
            return Err(table.fault_of("command", "a check looks at one thing"));
        }
        let mut check = Check::new(CheckName::default(), CheckWay::Passive);
        let duration = |key: &str| table.duration_within(key, INTERVALS, "1s to 1y");
        check.interval = duration("interval")?.unwrap_or(check.interval);
        check.retry_interval = duration("retry")?.unwrap_or(check.retry_interval.min(check.interval));
        if let Some(timeout) = table.duration("timeout")? {
            if timeout > MAX_TIMEOUT {
                return Err(table.fault_of("timeout", "expected 1h or less"));
            }
            check.timeout = timeout;
        }
        check.timeout_state = table.choice("timeout_state", &STATES)?.unwrap_or(check.timeout_state);
        check.fresh_for = duration("fresh")?;
        if let Some(attempts) = table.number("attempts", 1.0, 1000.0)? {
            check.attempts = attempts as u32;
        }
        check.group = table.text("group")?.map(str::to_owned);
        check.period = period(table, "period")?;
        check.labels = names::labels(table)?;
        check.ignores_flapping = !table.flag_or("flapping", true)?;
        check.depends = table.texts("depends")?;
        check.notifications = Arc::new(notifications(table, receivers)?);
        let plugin = Plugin {
            user: user(table)?,
            directory: table.text("directory")?.map(str::to_owned),
            ..Plugin::default()
        };
        Ok(Some(Self {
            check,
            command,
            native,
            plugin,
            environment: environment(table)?,
            variables: host::variables(table)?,
        }))
    }

    /// The check of a host, or of this machine's.
    ///
    /// # Errors
    /// If its command has variables that are not known.
    pub(super) fn of_host(
        &self,
        service: &str,
        host: Option<&Host>,
        common: &Variables,
        shared: &mut SharedWords,
    ) -> Result<Check, String> {
        let mut variables = common.clone();
        variables.extend(&self.variables);
        let mut check = self.check.clone();
        if let Some(host) = host {
            variables.set("host", &host.name);
            variables.set("address", &host.address);
            variables.extend(&host.variables);
            check.name.host.clone_from(&host.name);
            check.address.clone_from(&host.address);
            check.labels.extend(
                host.labels
                    .iter()
                    .filter(|(name, _)| self.check.labels.iter().all(|(own, _)| own != name))
                    .cloned(),
            );
            if service.is_empty() {
                check.parents.clone_from(&host.parents);
            }
        }
        variables.set("name", service);
        service.clone_into(&mut check.name.service);
        let depends = self.check.depends.iter().map(|name| variables.fill(name));
        check.depends = depends.collect::<Result<_, _>>()?;
        if let Some(native) = &self.native {
            check.way = CheckWay::Native(native.filled(|text| variables.fill(text))?);
        }
        if let Some(command) = &self.command {
            let mut plugin = self.plugin.clone();
            plugin.words = command.words(&variables)?.into_iter().map(|word| shared.get(word)).collect();
            for (name, value) in &self.environment {
                plugin.environment.push((name.clone(), variables.fill(value)?));
            }
            check.way = CheckWay::Plugin(plugin);
        }
        Ok(check)
    }

    /// The group in which it counts.
    pub(super) fn group(&self) -> Option<&str> {
        self.check.group.as_deref()
    }
}

fn period(table: &Options<'_, '_>, key: &str) -> Result<Option<Period>, Fault> {
    let period = table.text(key)?.map(str::parse).transpose();
    period.map_err(|message: String| table.fault_of(key, message))
}

fn user(table: &Options<'_, '_>) -> Result<Option<UserIds>, Fault> {
    let Some(name) = table.text("user")? else { return Ok(None) };
    let found = sampling::users::ids(name);
    let (uid, gid, groups) =
        found.ok_or_else(|| table.fault_of("user", format!("no user is called \"{name}\"")))?;
    Ok(Some(UserIds { uid, gid, groups }))
}

fn environment(table: &Options<'_, '_>) -> Result<Vec<(String, String)>, Fault> {
    let Some(value) = table.get("environment") else { return Ok(Vec::new()) };
    let all = value.get_ref().as_table().ok_or_else(|| expected(value, "{ HOME = \"/var/lib/nagios\" }"))?;
    let mut environment = Vec::new();
    for (name, value) in all.iter() {
        let value_text = text_of(value)?;
        if name.get_ref().contains(['=', '\0']) || value_text.contains('\0') {
            return Err(Fault::new(name.span(), "a variable's name has no =, and nothing a zero byte"));
        }
        environment.push((name.get_ref().to_string(), value_text.to_owned()));
    }
    Ok(environment)
}

fn notifications(table: &Options<'_, '_>, known: &[Receiver]) -> Result<NotificationOptions, Fault> {
    receivers::refuse_unknown(table, "to", known)?;
    let mut notifications = NotificationOptions {
        receivers: table.texts("to")?,
        period: period(table, "tell_in")?,
        ..NotificationOptions::default()
    };
    notifications.is_silent = table.get("to").is_some() && notifications.receivers.is_empty();
    tell_of(table, &mut notifications)?;
    if let Some(value) = table.get("repeat") {
        let length = quantity::age(text_of(value)?).map_err(|wanted| expected(value, &wanted))?;
        if length.0 < 60_000_000_000 {
            return Err(table.fault_of("repeat", "expected 1m or more"));
        }
        notifications.repeat = Some(Duration::from_nanos(length.0));
    }
    for step in table.tables("escalate")? {
        step.refuse_unknown(["from", "to"].into_iter(), "an escalation")?;
        let from = step.number("from", 1.0, 1000.0)?.ok_or_else(|| step.fault("this needs from = 3"))?;
        receivers::refuse_unknown(&step, "to", known)?;
        let to = step.texts("to")?;
        if to.is_empty() {
            return Err(step.fault("this needs to = \"the name of a receiver\""));
        }
        notifications.escalations.push((from as u32, to));
    }
    Ok(notifications)
}

/// `tell_of = ["critical", "recovery"]`: of nothing else.
fn tell_of(table: &Options<'_, '_>, notifications: &mut NotificationOptions) -> Result<(), Fault> {
    const OTHERS: [&str; 2] = ["recovery", "flapping"];
    if table.get("tell_of").is_none() {
        return Ok(());
    }
    let wanted = table.texts("tell_of")?;
    let known = || STATES.iter().skip(1).map(|(name, _)| *name).chain(OTHERS);
    if let Some(unknown) = wanted.iter().find(|word| !known().any(|known| known == **word)) {
        let hint = text::nearest::did_you_mean(unknown, known());
        return Err(table.fault_of("tell_of", format!("no such thing: \"{unknown}\"{hint}")));
    }
    let is_wanted = |name: &str| wanted.iter().any(|word| word == name);
    notifications.untold =
        STATES.iter().filter(|(name, _)| !is_wanted(name)).map(|(_, state)| *state).collect();
    notifications.hides_recoveries = !is_wanted("recovery");
    notifications.hides_flapping = !is_wanted("flapping");
    Ok(())
}
