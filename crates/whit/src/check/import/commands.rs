//! Command lines of Nagios with their macros as whit's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use formats::nagios::{Macros, NagiosObject, expand};

use super::notes::Notes;
use crate::agent::needs_shell;
use crate::configuration::quoted;

/// The commands by their names, and what their macros may be.
#[derive(Debug)]
pub(super) struct Commands<'f> {
    lines: BTreeMap<&'f str, &'f str>,
    /// `$USERn$`.
    resources: &'f Macros,
    /// Names of custom variables that any host has, without the underscore.
    host_variables: BTreeSet<&'f str>,
}

impl<'f> Commands<'f> {
    pub(super) fn of(objects: &'f [NagiosObject], resources: &'f Macros) -> Self {
        let of_kind = |kind: &'static str| objects.iter().filter(move |object| object.kind == kind);
        Self {
            lines: of_kind("command")
                .filter_map(|command| Some((command.get("command_name")?, command.get("command_line")?)))
                .collect(),
            resources,
            host_variables: of_kind("host")
                .flat_map(|host| host.values.keys().filter_map(|name| name.strip_prefix('_')))
                .collect(),
        }
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
        object: &NagiosObject,
        call: &str,
        notes: &mut Notes,
        out: &mut String,
    ) -> bool {
        let name = call.split('!').next().unwrap_or_default().trim();
        let Some(line) = self.lines.get(name) else {
            notes.leave_out(format!("the command {name}, which does not exist"), object.place);
            return false;
        };
        let braces = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let mut macros = Macros::default();
        for (name, value) in &self.resources.0 {
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
        for name in object.values.keys().filter_map(|name| name.strip_prefix('_')) {
            let (kind, name) = (&object.kind, name.to_uppercase());
            macros.set(&format!("_{}{name}", kind.to_uppercase()), &format!("{{{}}}", variable(kind, &name)));
        }
        if object.kind == "service" {
            for name in &self.host_variables {
                let value = format!("{{{}}}", variable("host", name));
                macros.set(&format!("_HOST{}", name.to_uppercase()), &value);
            }
        }
        let (line, unknown) = expand(&braces(line), &macros);
        for unknown in unknown {
            notes.leave_out(format!("the macro ${unknown}$ of the command {name}"), object.place);
        }
        let words = if needs_shell(&line) { None } else { shell_words::split(&line).ok() };
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

/// What a custom variable is called in whit.
pub(super) fn variable(kind: &str, name: &str) -> String {
    format!("{kind}_{}", name.to_lowercase())
}
