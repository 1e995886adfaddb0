//! Checks and hosts as TOML.

mod check;
mod command;
mod host;
mod names;
mod variables;

pub(crate) use self::command::needs_shell;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::native;
use crate::{Check, CheckOptions, PushOptions};
use store::Retention;

use self::check::{CheckTemplate, SharedWords};
use self::host::Host;
use self::names::{check_name, service_name};
use self::variables::Variables;
use ::configuration::{Fault, Options};
use jiff::tz::TimeZone;
use notify::tables as receivers;

/// The usual size of the history of their states and figures.
const USUAL_HISTORY_BYTES: u64 = 500_000_000;
const USUAL_RUNNING: usize = 256;
const USUAL_STARTS_A_SECOND: f64 = 200.0;
/// As many as a large Nagios has, and some more.
const MAX_CHECKS: usize = 200_000;

/// The options that `[checks]` may have.
const OPTIONS: [&str; 8] =
    ["running", "starts", "groups", "hosts", "variables", "command_file", "livestatus", "push"];

/// `push = { url = "http://192.0.2.1:9140", token = "…", host = "db1" }`.
fn push(table: &Options<'_, '_>) -> Result<Option<PushOptions>, Fault> {
    let Some(value) = table.get("push") else { return Ok(None) };
    let push = Options::of(value)?;
    push.refuse_unknown(["url", "token", "token_file", "host"].into_iter(), "push")?;
    let url = push.required_text("url", "\"http://192.0.2.1:9140\"")?;
    push.check_http_address("url", url)?;
    let machine = || probe::host_name();
    let host = push.text("host")?.map_or_else(machine, str::to_owned);
    check_name(&host).map_err(|message| push.fault_of("host", message))?;
    Ok(Some(PushOptions { url: url.to_owned(), token: push.secret("token")?, host }))
}

fn path(table: &Options<'_, '_>, key: &str) -> Result<Option<PathBuf>, Fault> {
    let Some(path) = table.text(key)? else { return Ok(None) };
    match path.starts_with('/') {
        true => Ok(Some(path.into())),
        false => Err(table.fault_of(key, "expected a whole path, such as \"/run/whit/nagios.cmd\"")),
    }
}

fn runner() -> Vec<OsString> {
    vec![probe::spawn::own_program(), "check".into(), "runner".into()]
}

/// Reads `[checks]`, `[[host]]` and `[[check]]`. `None`: nothing is checked.
pub fn read(root: &Options<'_, '_>, zone: TimeZone) -> Result<Option<CheckOptions>, Fault> {
    let mut checks = Vec::new();
    let mut options = CheckOptions {
        checks: Arc::default(),
        most_running: USUAL_RUNNING,
        most_starts_a_second: USUAL_STARTS_A_SECOND,
        groups: Vec::new(),
        receivers: receivers::read(root)?,
        job_program: receivers::job_program(),
        zone,
        retention: Retention { most_bytes: USUAL_HISTORY_BYTES, ..Retention::default() },
        runner: runner(),
        push: None,
        command_file: None,
        livestatus: None,
    };
    let mut words = SharedWords::default();
    let mut common = Variables::default();
    let mut hosts = Vec::new();
    if let Some(value) = root.get("checks") {
        let table = Options::of(value)?;
        table.refuse_unknown(OPTIONS.into_iter(), "[checks]")?;
        if let Some(running) = table.number("running", 1.0, 100_000.0)? {
            options.most_running = running as usize;
        }
        options.most_starts_a_second =
            table.number("starts", 0.1, 1e6)?.unwrap_or(options.most_starts_a_second);
        options.groups = groups(&table)?;
        common = host::variables(&table)?;
        options.push = push(&table)?;
        options.command_file = path(&table, "command_file")?;
        options.livestatus = path(&table, "livestatus")?;
        for path in table.paths("hosts")? {
            hosts.extend(host::read_list(&path).map_err(|message| table.fault_of("hosts", message))?);
        }
    }
    let mut names = HashSet::new();
    for table in root.tables("host")? {
        let known = host::OPTIONS.into_iter().chain(check::OPTIONS).chain(native::options());
        table.refuse_unknown(known, "a host")?;
        let host = Host::read(&table, None)?;
        if let Some(template) = CheckTemplate::read(&table, &options.receivers)? {
            let check = template.of_host("", Some(&host), &common, &mut words);
            add(&mut checks, &mut names, check, &table)?;
        }
        hosts.push(host);
    }
    let hosts = by_name(hosts, root)?;
    for table in root.tables("check")? {
        let known =
            ["name", "host", "hosts", "labels"].into_iter().chain(check::OPTIONS).chain(native::options());
        table.refuse_unknown(known, "a check")?;
        let name = table.required_text("name", "\"http\"")?;
        let has_host = table.get("host").is_some() || table.get("hosts").is_some();
        let is_name = if has_host { service_name(name) } else { check_name(name) };
        is_name.map_err(|message| table.fault_of("name", message))?;
        let wanted = || {
            table.fault("this needs command = [\"/usr/lib/nagios/plugins/check_load\", …] or passive = true")
        };
        let template = CheckTemplate::read(&table, &options.receivers)?.ok_or_else(wanted)?;
        if let Some(group) = template.group()
            && options.groups.iter().all(|(known, _)| known != group)
        {
            return Err(table.fault_of("group", format!("[checks.groups] has no {group} = 4")));
        }
        match selected(&table, &hosts)? {
            None => add(&mut checks, &mut names, template.of_host(name, None, &common, &mut words), &table)?,
            Some(selected) => {
                for host in selected {
                    let check = template.of_host(name, Some(&host), &common, &mut words);
                    add(&mut checks, &mut names, check, &table)?;
                }
            }
        }
    }
    refuse_circles(&checks, root)?;
    checks.shrink_to_fit();
    options.checks = Arc::new(checks);
    Ok((!options.checks.is_empty()).then_some(options))
}

/// Adds a check whose name is new.
fn add(
    checks: &mut Vec<Check>,
    names: &mut HashSet<String>,
    check: Result<Check, String>,
    table: &Options<'_, '_>,
) -> Result<(), Fault> {
    let check = check.map_err(|message| table.fault_of("command", message))?;
    let name = check.name.to_string();
    if !names.insert(name.clone()) {
        return Err(table.fault_of("name", format!("there is a check \"{name}\" already")));
    }
    if checks.len() >= MAX_CHECKS {
        return Err(table.fault(format!("there are more than {MAX_CHECKS} checks")));
    }
    checks.push(check);
    Ok(())
}

fn by_name(hosts: Vec<Host>, root: &Options<'_, '_>) -> Result<Vec<Host>, Fault> {
    let mut names = HashSet::new();
    for host in &hosts {
        if !names.insert(host.name.as_str()) {
            return Err(root.fault_of("host", format!("there are two hosts \"{}\"", host.name)));
        }
    }
    let unknown = hosts.iter().flat_map(|host| &host.parents).find(|parent| !names.contains(parent.as_str()));
    match unknown {
        Some(parent) => {
            Err(root.fault_of("host", format!("there is no host \"{parent}\", which is one's parent")))
        }
        None => Ok(hosts),
    }
}

/// The hosts of a check; `None`: it is of this machine.
fn selected(table: &Options<'_, '_>, hosts: &[Host]) -> Result<Option<Vec<Host>>, Fault> {
    if let Some(name) = table.text("host")? {
        if table.get("hosts").is_some() {
            return Err(table.fault_of("host", "either host or hosts"));
        }
        check_name(name).map_err(|message| table.fault_of("host", message))?;
        let found = hosts.iter().find(|host| host.name == name).cloned();
        let usual = || Host { name: name.to_owned(), address: name.to_owned(), ..Host::default() };
        return Ok(Some(vec![found.unwrap_or_else(usual)]));
    }
    if table.get("hosts").is_none() {
        return Ok(None);
    }
    let patterns = table.texts("hosts")?;
    let found: Vec<Host> = hosts.iter().filter(|host| host.is_selected(&patterns)).cloned().collect();
    match found.is_empty() {
        true => Err(table.fault_of("hosts", "no host is meant by this: see [[host]] and hosts of [checks]")),
        false => Ok(Some(found)),
    }
}

/// `[checks.groups]`: for each so many at a time.
fn groups(table: &Options<'_, '_>) -> Result<Vec<(String, usize)>, Fault> {
    let Some(value) = table.get("groups") else { return Ok(Vec::new()) };
    let groups = Options::of(value)?;
    let mut known = Vec::new();
    for (name, _) in groups.iter() {
        if let Some(most) = groups.number(name.get_ref(), 1.0, 100_000.0)? {
            known.push((name.get_ref().to_string(), most as usize));
        }
    }
    Ok(known)
}

/// Hosts that are each other's parents are reached by none.
fn refuse_circles(checks: &[Check], root: &Options<'_, '_>) -> Result<(), Fault> {
    let hosts = checks.iter().filter(|check| check.is_of_host());
    let parents: HashMap<&str, &[String]> =
        hosts.map(|check| (check.name.host.as_str(), check.parents.as_slice())).collect();
    for start in parents.keys() {
        let (mut seen, mut left) = (HashSet::new(), vec![*start]);
        while let Some(host) = left.pop() {
            for parent in parents.get(host).copied().unwrap_or_default() {
                if parent == start {
                    return Err(root.fault_of("host", format!("\"{start}\" is its own parent's parent")));
                }
                if seen.insert(parent.as_str()) {
                    left.push(parent);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::CheckWay;

    use super::*;
    use ::configuration::parse;

    fn options(text: &str) -> Result<Option<CheckOptions>, Fault> {
        read(&Options::new(parse(text)?.get_ref(), 0..0), TimeZone::UTC)
    }

    fn plugins(text: &str) -> Vec<(String, String)> {
        let options = options(text).unwrap_or_else(|fault| panic!("{}", fault.message)).unwrap();
        let words = |check: &Check| match &check.way {
            CheckWay::Plugin(plugin) => plugin.words.join(" "),
            way => format!("{way:?}"),
        };
        options.checks.iter().map(|check| (check.name.to_string(), words(check))).collect()
    }

    #[test]
    fn one_check_is_for_many_hosts() {
        let directory = std::env::temp_dir().join(format!("whit-hosts-{}", std::process::id()));
        fs::create_dir_all(directory.join("d")).unwrap();
        fs::write(
            directory.join("hosts.csv"),
            "name, address, groups, site\nmail1, 10.0.0.9,mail web,\"a b\"\n",
        )
        .unwrap();
        fs::write(directory.join("d/db.toml"), "groups = [\"web\"]\nvariables = { site = \"c\" }\n").unwrap();
        let place = directory.display();
        let text = format!(
            "[checks]\nhosts = [\"{place}/hosts.csv\", \"{place}/d\"]\nvariables = {{ p = \"/p\" }}\n\
             [[host]]\nname = \"web1\"\ncommand = [\"{{p}}/ping\", \"{{address}}\"]\n\
             [[check]]\nname = \"x\"\nhosts = [\"@web\"]\ncommand = [\"x\", \"{{host}}\", \"{{address}}\", \"{{site}}\"]\n\
             [[check]]\nname = \"load\"\ncommand = \"load {{{{}}}}\"\n"
        );
        let expected = [
            ("web1", "/p/ping web1"),
            ("mail1/x", "x mail1 10.0.0.9 a b"),
            ("db/x", "x db db c"),
            ("load", "load {}"),
        ];
        let expected = expected.map(|(name, words)| (name.to_owned(), words.to_owned()));
        assert_eq!(plugins(&text), expected);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn faults_say_what_is_wrong() {
        let check = "[[check]]\nname = \"a\"\ncommand = [\"x\"]\n";
        for (text, message) in [
            ("[[check]]\nname = \"a\"".to_owned(), "this needs command"),
            (format!("{check}{check}"), "there is a check \"a\" already"),
            (format!("{check}intervall = 1"), "a check has no option \"intervall\"; did you mean"),
            (format!("{check}interval = \"100ms\""), "expected 1s to 1y"),
            (format!("{check}to = \"ann\""), "there is no [[receiver]]"),
            (format!("{check}group = \"db\""), "[checks.groups] has no db"),
            (format!("{check}hosts = [\"x*\"]"), "no host is meant"),
            (format!("{check}period = \"noon\""), "\"noon\" is no day"),
            (format!("{check}tcp = \"a:1\""), "a check looks at one thing"),
            ("[[check]]\nname = \"a\"\ntcp = \"a\"".to_owned(), "expected an address and a port"),
            ("[[check]]\nname = \"a\"\nexpression = \"sum(\"".to_owned(), ""),
            ("[[check]]\nname = \"a\"\ncommand = [\"{b}\"]".to_owned(), "nothing is called {b} here"),
            ("[[check]]\nname = \"a/b\"\npassive = true".to_owned(), "expected a name"),
            ("[[host]]\nname = \"a\"\nparents = [\"b\"]".to_owned(), "there is no host \"b\""),
            (
                "[[host]]\nname = \"a\"\nparents = [\"b\"]\ncommand = [\"x\"]\n[[host]]\nname = \"b\"\n\
                 parents = [\"a\"]\ncommand = [\"x\"]"
                    .to_owned(),
                "",
            ),
        ] {
            let fault = options(&text).expect_err(&text);
            assert!(fault.message.starts_with(message), "{text}: {}", fault.message);
        }
    }
}
