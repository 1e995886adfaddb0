//! Contacts of Nagios as receivers: by what their notification commands do, not by what they are called.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use formats::nagios::{NagiosObject, members};

use super::commands::Commands;
use super::notes::Notes;
use super::notification_lines::{is_stock_mail, shell_program};
use super::periods::{Periods, Times};
use super::services::Checked;
use configuration::quoted;

/// The receivers of each contact, and the members of contact groups.
#[derive(Debug, Default)]
pub(super) struct Contacts<'f> {
    receivers: BTreeMap<&'f str, Vec<String>>,
    /// The notifications that each contact gets of hosts and services, in the letters of its options.
    wanted: BTreeMap<&'f str, [BTreeSet<char>; 2]>,
    groups: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

/// The kinds of objects: hosts and services.
const KINDS: [&str; 2] = ["host", "service"];

impl<'f> Contacts<'f> {
    /// Reads the contacts, and appends a `[[receiver]]` for each thing that their commands do.
    pub(super) fn write(
        objects: &'f [NagiosObject],
        commands: &Commands<'_>,
        periods: &Periods<'_>,
        notes: &mut Notes,
        out: &mut String,
    ) -> Self {
        let groups = members(objects, "contactgroup");
        let mut contacts = Self { receivers: BTreeMap::new(), wanted: BTreeMap::new(), groups };
        // The last of one name counts.
        let mut by_name: BTreeMap<&str, &NagiosObject> = BTreeMap::new();
        for contact in objects.iter().filter(|object| object.kind == "contact") {
            let Some(name) = contact.get("contact_name") else { continue };
            if let Some(other) = by_name.insert(name, contact) {
                notes.leave_out(format!("a second contact {name}"), other.place);
            }
        }
        for (name, contact) in by_name {
            limits(contact, name, periods, notes);
            let ways = Ways::of(contact, name, commands, notes);
            let mut names = Vec::new();
            let receiver = receiver_name(name);
            if receiver != name {
                notes.change(format!("the contact {name}, which is called {receiver}"), contact.place);
            }
            if let Some(address) = &ways.mail {
                names.push(receiver.clone());
                let _ =
                    write!(out, "\n[[receiver]]\nname = {}\nmail = {}\n", quoted(&receiver), quoted(address));
            }
            if let Some(program) = ways.program() {
                let receiver = if names.is_empty() { receiver } else { format!("{receiver} (command)") };
                let words = ["/bin/sh", "-c", &program].map(quoted).join(", ");
                let _ = write!(out, "\n[[receiver]]\nname = {}\ncommand = [{words}]\n", quoted(&receiver));
                names.push(receiver);
            }
            contacts.receivers.insert(name, names);
            contacts.wanted.insert(name, KINDS.map(|kind| wanted(contact, kind)));
        }
        contacts
    }

    /// Returns what at least one of these contacts gets of hosts or services.
    pub(super) fn kinds<'c>(
        &'c self,
        names: impl IntoIterator<Item = &'c str>,
        groups: impl IntoIterator<Item = &'c str>,
        is_host: bool,
    ) -> BTreeSet<char> {
        let names = self.names(names, groups);
        let contacts = names.into_iter().filter_map(|name| self.wanted.get(name));
        contacts
            .flat_map(|[of_hosts, of_services]| if is_host { of_hosts } else { of_services })
            .copied()
            .collect()
    }

    /// Returns the receivers of contacts and contact groups, each once: of those that get anything of hosts or services.
    pub(super) fn receivers<'c>(
        &'c self,
        names: impl IntoIterator<Item = &'c str>,
        groups: impl IntoIterator<Item = &'c str>,
        is_host: bool,
    ) -> BTreeSet<&'c str> {
        let all = self.names(names, groups).into_iter().filter(|name| {
            let wanted = self.wanted.get(name);
            wanted.is_some_and(|[of_hosts, of_services]| {
                !if is_host { of_hosts } else { of_services }.is_empty()
            })
        });
        all.flat_map(|name| self.receivers.get(name).into_iter().flatten().map(String::as_str)).collect()
    }

    /// Returns the names of contacts and of the members of contact groups, each once.
    fn names<'c>(
        &'c self,
        names: impl IntoIterator<Item = &'c str>,
        groups: impl IntoIterator<Item = &'c str>,
    ) -> BTreeSet<&'c str> {
        let of_groups =
            groups.into_iter().flat_map(|group| self.groups.get(group).into_iter().flatten().copied());
        names.into_iter().chain(of_groups).collect()
    }
}

/// A name that a receiver can have.
fn receiver_name(contact: &str) -> String {
    const MAX_BYTES: usize = 80;
    let name: String = contact.chars().map(|letter| if letter.is_control() { '_' } else { letter }).collect();
    let name = name[..name.floor_char_boundary(MAX_BYTES)].to_owned();
    if name.starts_with('{') { format!("_{name}") } else { name }
}

/// The ways in which a contact's commands notify.
#[derive(Debug, Default)]
struct Ways {
    mail: Option<String>,
    /// Programs for a shell, by kinds.
    programs: [Vec<String>; 2],
}

impl Ways {
    fn of(contact: &NagiosObject, name: &str, commands: &Commands<'_>, notes: &mut Notes) -> Self {
        let mut ways = Self::default();
        let mut mails = [false; 2];
        let wants = KINDS.map(|kind| wants(contact, kind));
        for (place, kind) in KINDS.iter().enumerate().filter(|(place, _)| wants[*place]) {
            for call in contact.list(&format!("{kind}_notification_commands")) {
                let Some(line) = commands.line(call) else {
                    notes.leave_out(
                        format!("contact {name}: the command {call}, which does not exist"),
                        contact.place,
                    );
                    continue;
                };
                if is_stock_mail(&line) {
                    mails[place] = true;
                    continue;
                }
                match shell_program(&line, contact) {
                    Ok(program) => ways.programs[place].push(program),
                    Err(reason) => notes
                        .leave_out(format!("contact {name}: the command {call}: {reason}"), contact.place),
                }
            }
        }
        if mails.contains(&true) {
            match contact.get("email") {
                Some(address) if address.contains('@') => {
                    ways.mail = Some(address.to_owned());
                    notes.change(
                        "notification commands that send mail: whit sends it itself, in its own words",
                        contact.place,
                    );
                    // A receiver gets both.
                    if mails.contains(&false) && wants.iter().all(|wants| *wants) {
                        notes.change(
                            format!("contact {name} gets mail of hosts and of services"),
                            contact.place,
                        );
                    }
                }
                _ => notes.leave_out(format!("contact {name}: mail, it has no address"), contact.place),
            }
        }
        ways
    }

    /// One program for both kinds.
    fn program(&self) -> Option<String> {
        let [of_hosts, of_services] = self.programs.each_ref().map(|programs| programs.join("; "));
        let program = match (of_hosts.as_str(), of_services.as_str()) {
            ("", "") => return None,
            (host, service) if host == service => host.to_owned(),
            (host, service) => {
                let or_nothing =
                    |program: &str| if program.is_empty() { ":".to_owned() } else { program.to_owned() };
                format!(
                    "if [ -n \"$NAGIOS_SERVICEDESC\" ]; then {}; else {}; fi",
                    or_nothing(service),
                    or_nothing(host)
                )
            }
        };
        Some(program)
    }
}

/// Returns what a contact gets of hosts or services, in the letters of its options: nothing without options.
fn wanted(contact: &NagiosObject, kind: &str) -> BTreeSet<char> {
    let all = if kind == "host" { "durfs" } else { "wucrfs" };
    let options = contact.options(&format!("{kind}_notification_options"));
    let is_off =
        contact.number(&format!("{kind}_notifications_enabled")) == Some(0.0) || options.contains(&'n');
    all.chars().filter(|letter| !is_off && (options.contains(letter) || options.contains(&'a'))).collect()
}

fn wants(contact: &NagiosObject, kind: &str) -> bool {
    !wanted(contact, kind).is_empty()
}

/// Limits of a contact's own, which whit has for checks alone: if all contacts of a check have the same, the check has them.
fn limits(contact: &NagiosObject, name: &str, periods: &Periods<'_>, notes: &mut Notes) {
    if !KINDS.iter().any(|kind| wants(contact, kind)) {
        notes.remark(format!("contact {name}, to which Nagios sends nothing by its options"), contact.place);
    }
    for kind in KINDS {
        let key = format!("{kind}_notification_period");
        if let Some(period) = contact.get(&key).filter(|_| wants(contact, kind))
            && periods.times(period, contact, notes) != Times::Always
        {
            notes.leave_out(format!("contact {name}: {key} {period}"), contact.place);
        }
    }
    if contact.number("minimum_importance").is_some_and(|least| least > 0.0) {
        notes.leave_out(format!("contact {name}: minimum_importance"), contact.place);
    }
}

/// Notes contacts that get together what only some of them want.
pub(super) fn note_differences(
    contacts: &Contacts<'_>,
    checked: &Checked<'_>,
    kinds: &[&str],
    notes: &mut Notes,
) {
    let letter = |kind: &&str| match (*kind, checked.is_host()) {
        ("critical", true) => 'd',
        (kind, _) => kind.chars().next().unwrap_or_default(),
    };
    let all = contacts.names(checked.list("contacts"), checked.list("contact_groups"));
    for name in all {
        let Some([of_hosts, of_services]) = contacts.wanted.get(name) else { continue };
        let wanted = if checked.is_host() { of_hosts } else { of_services };
        // One that wants nothing gets nothing.
        if !wanted.is_empty() && kinds.iter().map(letter).any(|letter| !wanted.contains(&letter)) {
            let what = format!("contact {name} gets what others of the same hosts and services get");
            notes.change(what, checked.object.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use formats::nagios::{Macros, read_objects};

    use super::*;

    /// The receivers of a contact whose commands have this line, and what is noted.
    fn receivers(line: &str) -> (String, usize) {
        let text = format!(
            "define command {{\ncommand_name c\ncommand_line {line}\n}}\n\
             define contact {{\ncontact_name ann\nemail ann@example.org\npager 123\nservice_notification_options w,u,c,r\n\
             host_notification_options d,u,r\nservice_notification_commands c\nhost_notification_commands c\n}}\n"
        );
        let (objects, faults) = read_objects(&text, 0);
        assert!(faults.is_empty(), "{faults:?}");
        let macros = Macros::default();
        let commands = Commands::of(&objects, &macros);
        let (mut notes, mut out) = (Notes::default(), String::new());
        Contacts::write(&objects, &commands, &Periods::of(&objects), &mut notes, &mut out);
        (out, notes.counts().1)
    }

    #[test]
    fn a_command_is_what_its_line_does() {
        let mail = "\n[[receiver]]\nname = \"ann\"\nmail = \"ann@example.org\"\n";
        for line in [
            "/usr/bin/printf \"%b\" \"a | b\\n$SERVICEDESC$\" | /usr/bin/mail -s \"** $HOSTNAME$ **\" $CONTACTEMAIL$",
            "echo x | mailx -s 'a b' $CONTACTEMAIL$",
        ] {
            assert_eq!(receivers(line), (mail.to_owned(), 0), "{line}");
        }
        for (line, program) in [
            // Called like mail, and it is none.
            (
                "/usr/bin/printf \"%b\" x >> /var/log/by-email",
                "/usr/bin/printf \"%b\" x >> /var/log/by-email",
            ),
            (
                "/opt/sms $CONTACTPAGER$ $HOSTNAME$ '$SERVICEOUTPUT$' \"$HOSTSTATE$!\"",
                "/opt/sms 123 \"$NAGIOS_HOSTNAME\" ''\"$NAGIOS_SERVICEOUTPUT\"'' \"${NAGIOS_HOSTSTATE}!\"",
            ),
            ("echo x | mail -s y $CONTACTEMAIL$\\; reboot", "echo x | mail -s y ann@example.org; reboot"),
            ("/opt/pay 5$$", "/opt/pay 5$"),
            // Not a field of a receiver.
            ("/opt/x \"{text}\" {kind}", "/opt/x \"{\"\"text}\" {''kind}"),
        ] {
            let words = ["/bin/sh", "-c", program].map(quoted).join(", ");
            let expected = format!("\n[[receiver]]\nname = \"ann\"\ncommand = [{words}]\n");
            assert_eq!(receivers(line), (expected, 0), "{line}");
        }
        // What whit does not know, or cannot pass on unharmed, is named.
        for line in ["/opt/x $SERVICENOTES$", "/opt/x `$HOSTNAME$`", "/opt/x 'a"] {
            assert_eq!(receivers(line), (String::new(), 1), "{line}");
        }
    }
}
