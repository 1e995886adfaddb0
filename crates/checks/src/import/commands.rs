//! Command lines of Nagios with their macros as whit's.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use formats::nagios::{Macros, NagiosObject, expand};

use super::notes::Notes;
use super::services::Checked;
use crate::tables::needs_shell;
use configuration::quoted;

/// The commands by their names.
#[derive(Debug)]
pub(super) struct Commands<'f> {
    lines: BTreeMap<&'f str, &'f str>,
    /// `$USERn$`.
    resources: &'f Macros,
}

/// The parts of a program of a shell where whit puts no placeholder, since a second reading would take its value for a part of the program.
const READ_TWICE: [&str; 6] = ["`", "$(", "${", "<<", "eval", "sh -c"];

impl<'f> Commands<'f> {
    pub(super) fn of(objects: &'f [NagiosObject], resources: &'f Macros) -> Self {
        let commands = objects.iter().filter(|object| object.kind == "command");
        let lines = commands
            .filter_map(|command| Some((command.get("command_name")?, command.get("command_line")?)))
            .collect();
        Self { lines, resources }
    }

    /// Returns the line of a command, with the values of `$USERn$` and of the call's arguments.
    pub(super) fn line(&self, call: &str) -> Option<String> {
        let name = call.split('!').next().unwrap_or_default().trim();
        let mut macros = self.resources.clone();
        macros.set_arguments(call);
        self.lines.get(name).map(|line| expand(line, &macros).0)
    }

    /// Appends `command`, and `shell` if it needs one. Returns `false` if there is no such command.
    pub(super) fn write(
        &self,
        checked: &Checked<'_>,
        call: &str,
        notes: &mut Notes,
        out: &mut String,
    ) -> bool {
        let place = checked.object.place;
        let name = call.split('!').next().unwrap_or_default().trim();
        let Some(line) = self.lines.get(name) else {
            notes.leave_out(format!("the command {name}, which does not exist"), place);
            return false;
        };
        let mut macros = Macros::default();
        for (name, value) in &self.resources.0 {
            macros.set(name, &braces(value));
        }
        macros.set_arguments(&braces(call));
        let texts = [&braces(line), &braces(call)];
        let is_read_twice = READ_TWICE.iter().any(|part| texts.iter().any(|text| text.contains(part)));
        for (name, (value, placeholder)) in values(checked, &texts) {
            // Nagios fills values in before it splits words: only one that is one word in any place can be a placeholder.
            match is_plain(&value) && !is_read_twice {
                true => macros.set(&name, &placeholder),
                false => macros.set(&name, &braces(&value)),
            }
        }
        let (line, unknown) = expand(texts[0], &macros);
        for unknown in unknown {
            notes.leave_out(format!("the macro ${unknown}$ of the command {name}"), place);
        }
        let words = if needs_shell(&line) { None } else { shell_words::split(&without_comments(&line)).ok() };
        match words {
            Some(words) if !words.is_empty() => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let _ = writeln!(out, "command = [{}]", words.join(", "));
            }
            _ => {
                let _ = writeln!(out, "command = {}\nshell = true", quoted(&line));
            }
        }
        true
    }
}

fn braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The values of macros by their names, each with the placeholder that stands for it. A custom variable that a host lacks is empty.
fn values(checked: &Checked<'_>, texts: &[&String]) -> BTreeMap<String, (String, String)> {
    let host = checked.host.unwrap_or(checked.object);
    let name = checked.host_name();
    let of_host = |key: &str| host.get(key).filter(|value| !value.is_empty()).unwrap_or(name).to_owned();
    let mut values = BTreeMap::new();
    let mut set = |name: &str, value: String, placeholder: String| {
        values.insert(name.to_owned(), (value, placeholder));
    };
    set("HOSTADDRESS", of_host("address"), "{address}".to_owned());
    set("HOSTNAME", name.to_owned(), "{host}".to_owned());
    set("HOSTALIAS", of_host("alias"), "{alias}".to_owned());
    if let Some(description) = checked.description() {
        set("SERVICEDESC", description.to_owned(), "{name}".to_owned());
    }
    for (prefix, kind, object) in
        [("_HOST", "host", Some(host)), ("_SERVICE", "service", checked.host.map(|_| checked.object))]
    {
        let named = texts.iter().flat_map(|text| text.split('$')).filter(|name| name.starts_with(prefix));
        for macro_name in named {
            let variable_name = &macro_name[prefix.len()..];
            let value =
                object.and_then(|object| object.get(&format!("_{variable_name}"))).unwrap_or_default();
            let placeholder = format!("{{{}}}", variable(kind, variable_name));
            set(macro_name, value.to_owned(), placeholder);
        }
    }
    values
}

/// Returns whether a value is one word, whatever stands around it.
fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "._:/@%+=,-".contains(letter))
}

/// A `#` begins no comment for Nagios, which splits the words of such a line itself.
fn without_comments(line: &str) -> String {
    let (mut quote, mut before, mut out) = (None, ' ', String::with_capacity(line.len()));
    for letter in line.chars() {
        match (letter, quote) {
            ('\'' | '"', None) if before != '\\' => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            ('#', None) if before.is_whitespace() => out.push('\\'),
            _ => {}
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// Returns the name of a custom variable in whit.
pub(super) fn variable(kind: &str, name: &str) -> String {
    format!("{kind}_{}", name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use formats::nagios::read_objects;

    use super::*;

    #[test]
    fn values_are_words_where_nagios_has_them_as_words() {
        for (line, command) in [
            ("/p/x -H $HOSTADDRESS$ '$HOSTNAME$'", "[\"/p/x\", \"-H\", \"{address}\", \"{host}\"]"),
            ("/p/x $_SERVICEARGS$ \"$_SERVICEARGS$\"", "[\"/p/x\", \"-w\", \"5\", \"-w 5\"]"),
            // A variable that this host lacks is nothing.
            ("/p/x $_HOSTOPT$ \"$_HOSTOPT$\" $_HOSTCOMMUNITY$", "[\"/p/x\", \"\", \"{host_community}\"]"),
            ("/p/x $HOSTALIAS$", "[\"/p/x\", \"the\", \"first\"]"),
            ("/p/x -a #foo bar", "[\"/p/x\", \"-a\", \"#foo\", \"bar\"]"),
            ("/p/x {a}", "[\"/p/x\", \"{{a}}\"]"),
            ("/p/x $HOSTNAME$ | y", "\"/p/x {host} | y\"\nshell = true"),
            // What a shell would read twice is filled in here.
            ("/p/x `cat $HOSTNAME$`", "\"/p/x `cat a`\"\nshell = true"),
            ("sh -c \"x $HOSTADDRESS$\"", "[\"sh\", \"-c\", \"x 192.0.2.1\"]"),
        ] {
            let text = format!(
                "define command {{\ncommand_name c\ncommand_line {line}\n}}\n\
                 define host {{\nhost_name a\naddress 192.0.2.1\nalias the first\n_community public\n}}\n\
                 define service {{\nservice_description s\n_ARGS -w 5\n}}\n"
            );
            let (objects, faults) = read_objects(&text, 0);
            assert!(faults.is_empty(), "{faults:?}");
            let macros = Macros::default();
            let checked = Checked { object: &objects[2], host: Some(&objects[1]) };
            let (mut notes, mut out) = (Notes::default(), String::new());
            assert!(Commands::of(&objects, &macros).write(&checked, "c", &mut notes, &mut out));
            assert_eq!(
                (out.as_str(), notes.counts()),
                (format!("command = {command}\n").as_str(), (0, 0)),
                "{line}"
            );
        }
    }
}
