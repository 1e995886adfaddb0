//! `whit check import` beside `nagios4 -pv`, whose objects.precache has every host, service, dependency and escalation as Nagios has it.

mod generated;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use formats::nagios::{NagiosObject, read_objects};
use libtest_mimic::Failed;
use toml::{Table, Value};

use super::machine::{Scratch, WHIT};
use super::trials::{Need, Trial, exact, times};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("an_import_agrees_with_nagios", &[Need::Root, Need::Program("nagios4")], agrees)]
}

/// Of a host, or of a service by host and description.
type Name = (String, String);

/// What is compared of a host or service.
#[derive(Clone, Debug, Default, PartialEq)]
struct Facts {
    /// Minutes.
    interval: f64,
    retry: f64,
    /// 0: one notification.
    repeat: f64,
    attempts: f64,
    contacts: BTreeSet<String>,
    /// `w`, `u`, `c`, `r`, `f`; of hosts `d`, `r`, `f`.
    options: BTreeSet<char>,
    is_active: bool,
    /// The argument of the command, which names the definition.
    argument: String,
    /// Whether it is done, and told of, always.
    is_always: [bool; 2],
    depends: BTreeSet<Name>,
    escalations: BTreeMap<u32, BTreeSet<String>>,
    parents: BTreeSet<String>,
    groups: BTreeSet<String>,
    address: String,
    is_flapping_seen: bool,
}

fn agrees() -> Result<(), Failed> {
    let trees = times("WHIT_TREES", 40);
    let first = times("WHIT_SEED", u64::from(std::process::id()));
    let (mut compared, mut dependencies, mut escalations) = (0, 0, 0);
    for seed in first..first + trees {
        let scratch = Scratch::for_all(&format!("nagios-{seed}"));
        let main = generated::write(&scratch.0, seed);
        Command::new("chown").args(["-R", "nagios"]).arg(&scratch.0).status()?;
        let verified = Command::new("nagios4").arg("-pv").arg(&main).output()?;
        let said = String::from_utf8_lossy(&verified.stdout).into_owned();
        assert!(verified.status.success(), "seed {seed}: {said}");
        let precache = fs::read_to_string(scratch.0.join("precache"))?;
        let imported = Command::new(WHIT).args(["check", "import"]).arg(&main).output()?;
        let text = String::from_utf8(imported.stdout)?;
        let remarks = String::from_utf8(imported.stderr)?;
        assert!(matches!(imported.status.code(), Some(0 | 3)), "seed {seed}: {remarks}");
        must_be_accepted(&scratch.0, &text, seed)?;
        let (nagios, whit) = (of_nagios(&precache), of_whit(&text)?);
        let names = |facts: &BTreeMap<Name, Facts>| facts.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&nagios), names(&whit), "seed {seed}");
        for (name, expected) in &nagios {
            let found = &whit[name];
            let place = scratch.0.display();
            assert_eq!(
                found, expected,
                "seed {seed}, {name:?} (WHIT_SEED={seed} makes it again in {place})\n{remarks}\n{text}"
            );
            compared += 1;
            dependencies += expected.depends.len();
            escalations += expected.escalations.len();
        }
        let mails = of_kind(&precache, "contact").filter_map(|contact| {
            let is_told = contact.get("service_notification_options").is_some_and(|options| options != "n");
            is_told.then(|| (text_of(&contact, "contact_name"), text_of(&contact, "email")))
        });
        assert_eq!(mails.collect::<BTreeMap<_, _>>(), receivers(&text)?, "seed {seed}");
    }
    println!(
        "{trees} trees: {compared} hosts and services, {dependencies} dependencies, {escalations} escalations"
    );
    assert!(dependencies > 20 && escalations > 20, "{dependencies} {escalations}");
    Ok(())
}

/// What is imported is a configuration.
fn must_be_accepted(directory: &Path, text: &str, seed: u64) -> Result<(), Failed> {
    let path = directory.join("agent.toml");
    fs::write(&path, text)?;
    let checked = Command::new(WHIT).args(["agent", "--check", "-c"]).arg(&path).output()?;
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success(), "seed {seed}: {said}\n{text}");
    Ok(())
}

fn of_kind(precache: &str, kind: &'static str) -> impl Iterator<Item = NagiosObject> {
    read_objects(precache, 0).0.into_iter().filter(move |object| object.kind == kind)
}

fn text_of(object: &NagiosObject, key: &str) -> String {
    object.get(key).unwrap_or_default().to_owned()
}

/// As Nagios has expanded them.
fn of_nagios(precache: &str) -> BTreeMap<Name, Facts> {
    let groups: BTreeMap<String, BTreeSet<String>> = of_kind(precache, "contactgroup")
        .map(|group| (text_of(&group, "contactgroup_name"), set(group.list("members"))))
        .collect();
    // What each contact gets of hosts and of services.
    let wanted: BTreeMap<String, [BTreeSet<char>; 2]> = of_kind(precache, "contact")
        .map(|contact| {
            let letters = |key: &str, all: &str| {
                let options: Vec<char> =
                    contact.list(key).iter().filter_map(|word| word.chars().next()).collect();
                if options.contains(&'a') {
                    all.chars().collect()
                } else {
                    options.into_iter().filter(|one| *one != 'n').collect()
                }
            };
            let wanted = [
                letters("host_notification_options", "durfs"),
                letters("service_notification_options", "wucrfs"),
            ];
            (text_of(&contact, "contact_name"), wanted)
        })
        .collect();
    let is_host = |object: &NagiosObject| object.kind.starts_with("host");
    let contacts = |object: &NagiosObject| -> BTreeSet<String> {
        let of_groups = object.list("contact_groups").into_iter().flat_map(|group| groups[group].clone());
        let all = set(object.list("contacts")).into_iter().chain(of_groups);
        all.filter(|contact| !wanted[contact][usize::from(!is_host(object))].is_empty()).collect()
    };
    let mut all = BTreeMap::new();
    for object in read_objects(precache, 0).0 {
        let is_host = object.kind == "host";
        if !is_host && object.kind != "service" {
            continue;
        }
        let name = (text_of(&object, "host_name"), text_of(&object, "service_description"));
        let number = |key: &str| object.number(key).unwrap_or(0.0);
        let is_active = number("active_checks_enabled") > 0.0
            && object.get("check_period") != Some("never")
            && object.get("check_command").is_some()
            && (is_host || number("check_interval") > 0.0);
        let letters = if is_host { "drf" } else { "wucrf" };
        let options = object.list("notification_options");
        // `a` is all.
        let options = options
            .iter()
            .flat_map(|option| if *option == "a" { letters } else { option }.chars().collect::<Vec<_>>());
        let of_contacts: BTreeSet<char> = contacts(&object)
            .iter()
            .flat_map(|contact| wanted[contact][usize::from(!is_host)].clone())
            .collect();
        let options: BTreeSet<char> =
            options.filter(|letter| letters.contains(*letter) && of_contacts.contains(letter)).collect();
        let is_told = number("notifications_enabled") > 0.0
            && object.get("notification_period") != Some("never")
            && !options.is_empty();
        all.insert(
            name,
            Facts {
                interval: match number("check_interval") {
                    0.0 => 5.0,
                    interval => interval,
                },
                retry: number("retry_interval"),
                repeat: if is_told { number("notification_interval") } else { 0.0 },
                attempts: number("max_check_attempts"),
                contacts: if is_told { contacts(&object) } else { BTreeSet::new() },
                options: if is_told { options } else { BTreeSet::new() },
                is_active,
                argument: match is_active {
                    true => object
                        .get("check_command")
                        .and_then(|call| call.split('!').nth(1))
                        .unwrap_or("")
                        .to_owned(),
                    false => String::new(),
                },
                is_always: [
                    !matches!(object.get("check_period"), Some("work" | "dates" | "no-holidays")),
                    !is_told
                        || !matches!(
                            object.get("notification_period"),
                            Some("work" | "dates" | "no-holidays")
                        ),
                ],
                parents: if is_host { set(object.list("parents")) } else { BTreeSet::new() },
                address: if is_host { text_of(&object, "address") } else { String::new() },
                is_flapping_seen: number("flap_detection_enabled") > 0.0,
                ..Facts::default()
            },
        );
    }
    for group in of_kind(precache, "hostgroup") {
        for host in group.list("members") {
            let facts = all.get_mut(&(host.to_owned(), String::new())).unwrap();
            facts.groups.insert(text_of(&group, "hostgroup_name"));
        }
    }
    for dependency in of_kind(precache, "servicedependency") {
        let name = |host: &str, service: &str| (text_of(&dependency, host), text_of(&dependency, service));
        let dependent = name("dependent_host_name", "dependent_service_description");
        let master = name("host_name", "service_description");
        all.get_mut(&dependent).unwrap().depends.insert(master);
    }
    for escalation in of_kind(precache, "serviceescalation").chain(of_kind(precache, "hostescalation")) {
        let name = (text_of(&escalation, "host_name"), text_of(&escalation, "service_description"));
        let facts = all.get_mut(&name).unwrap();
        if !facts.contacts.is_empty() && !contacts(&escalation).is_empty() {
            let from = escalation.number("first_notification").unwrap_or(1.0).max(1.0) as u32;
            facts.escalations.entry(from).or_default().extend(contacts(&escalation));
        }
    }
    all
}

fn set(list: Vec<&str>) -> BTreeSet<String> {
    list.into_iter().map(str::to_owned).collect()
}

fn tables<'t>(root: &'t Table, key: &str) -> Vec<&'t Table> {
    root.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect()
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn string<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn receivers(text: &str) -> Result<BTreeMap<String, String>, Failed> {
    let root: Table = text.parse()?;
    let all = tables(&root, "receiver").into_iter();
    Ok(all.map(|table| (string(table, "name").to_owned(), string(table, "mail").to_owned())).collect())
}

/// As the import has written them, each host's own.
fn of_whit(text: &str) -> Result<BTreeMap<Name, Facts>, Failed> {
    let root: Table = text.parse()?;
    let hosts = tables(&root, "host");
    let mut all = BTreeMap::new();
    for host in &hosts {
        let name = string(host, "name");
        let mut facts = facts(host, name, true);
        facts.parents = texts(host, "parents").into_iter().collect();
        // Nagios uses a group with `register 0`, and does not list it.
        facts.groups = texts(host, "groups").into_iter().filter(|group| group != "hidden").collect();
        facts.address = if host.contains_key("address") { string(host, "address") } else { name }.to_owned();
        all.insert((name.to_owned(), String::new()), facts);
    }
    for check in tables(&root, "check") {
        for pattern in texts(check, "hosts") {
            let is_meant = |host: &&&Table| match pattern.strip_prefix('@') {
                Some(group) => texts(host, "groups").iter().any(|known| known == group),
                None => string(host, "name") == pattern,
            };
            let meant: Vec<&&Table> = hosts.iter().filter(is_meant).collect();
            assert!(!meant.is_empty(), "{pattern}: {text}");
            for host in meant {
                let host = string(host, "name");
                let known = all
                    .insert((host.to_owned(), string(check, "name").to_owned()), facts(check, host, false));
                assert!(known.is_none(), "two checks of one name: {text}");
            }
        }
    }
    Ok(all)
}

fn facts(table: &Table, host: &str, is_host: bool) -> Facts {
    let minutes =
        |key: &str| string(table, key).trim_end_matches('s').parse::<f64>().map_or(0.0, |s| s / 60.0);
    let told = texts(table, "tell_of");
    let named = [
        ("critical", if is_host { 'd' } else { 'c' }),
        ("warning", 'w'),
        ("unknown", 'u'),
        ("recovery", 'r'),
        ("flapping", 'f'),
    ];
    let letters = if is_host { "drf" } else { "wucrf" };
    let is_told = !texts(table, "to").is_empty();
    let options = named.iter().filter(|(name, letter)| {
        is_told && letters.contains(*letter) && (told.is_empty() || told.iter().any(|told| told == name))
    });
    let words = texts(table, "command");
    let depends = texts(table, "depends").into_iter().map(|name| {
        let (of, service) = name.split_once('/').unwrap_or((&name, ""));
        (if of == "{host}" { host } else { of }.to_owned(), service.to_owned())
    });
    let escalations = table.get("escalate").and_then(Value::as_array).into_iter().flatten();
    let escalations = escalations.filter_map(Value::as_table).map(|step| {
        let from = step.get("from").and_then(Value::as_integer).unwrap_or(0);
        (u32::try_from(from).unwrap_or(0), texts(step, "to").into_iter().collect())
    });
    Facts {
        interval: minutes("interval"),
        retry: minutes("retry"),
        repeat: minutes("repeat"),
        attempts: table.get("attempts").and_then(Value::as_integer).map_or(0.0, |attempts| attempts as f64),
        contacts: texts(table, "to").into_iter().collect(),
        options: options.map(|(_, letter)| *letter).collect(),
        is_active: !words.is_empty(),
        argument: words.last().cloned().unwrap_or_default(),
        is_always: [!table.contains_key("period"), !table.contains_key("tell_in")],
        depends: depends.collect(),
        escalations: escalations.collect(),
        is_flapping_seen: table.get("flapping").and_then(Value::as_bool) != Some(false),
        ..Facts::default()
    }
}
