//! The bar for a machine about which nothing was said.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::kinds::KINDS;

/// The settings of the default configuration that the command line makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Defaults {
    /// Interfaces to show; empty for all that are up.
    pub(crate) nets: Vec<String>,
    /// Filesystems to show; empty for the root.
    pub(crate) disks: Vec<PathBuf>,
    /// Mailboxes to show; empty for those that are found.
    pub(crate) mailboxes: Vec<PathBuf>,
}

impl Defaults {
    /// Returns true if the command line asks for a bar of its own, whatever file there is.
    pub(crate) fn is_asked_for(&self) -> bool {
        *self != Self::default()
    }
}

/// It as a configuration, to be read like any other and to start an own one from.
pub(crate) fn default_configuration(defaults: &Defaults) -> String {
    let mut text = String::new();
    let mut segment = |kind: &str, options: &[(&str, String)]| {
        // A String takes whatever is written to it.
        let _ = writeln!(text, "[[segment]]\ntype = \"{kind}\"");
        for (name, value) in options {
            let _ = writeln!(text, "{name} = {value}");
        }
        text.push('\n');
    };
    match defaults.nets.as_slice() {
        [] => segment("net", &[]),
        nets => segment("net", &[("interfaces", array(nets.iter().map(String::as_str)))]),
    }
    let mailboxes = if defaults.mailboxes.is_empty() { own_mailboxes() } else { defaults.mailboxes.clone() };
    if !mailboxes.is_empty() {
        segment("mail", &[("paths", paths(&mailboxes))]);
    }
    segment("memory", &[]);
    segment("cpu", &[]);
    segment("load", &[]);
    match defaults.disks.as_slice() {
        [] => segment("disk", &[]),
        disks => segment("disk", &[("paths", paths(disks))]),
    }
    segment("battery", &[]);
    segment("date", &[]);
    text
}

/// Returns the default configuration with the default formats of the segments, to be changed.
pub(crate) fn printed_defaults(defaults: &Defaults) -> String {
    let mut text = String::new();
    for line in default_configuration(defaults).lines() {
        text.push_str(line);
        text.push('\n');
        let name = line.strip_prefix("type = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(kind) = name.and_then(|name| KINDS.iter().find(|kind| kind.name == name)) {
            let _ = writeln!(text, "format = {}", quoted(kind.format));
            let variants = kind.variants.iter();
            let variants: Vec<String> = variants
                .map(|(when, format)| format!("{{ when = {}, format = {} }}", quoted(when), quoted(format)))
                .collect();
            if !variants.is_empty() {
                let _ = writeln!(text, "variants = [{}]", variants.join(", "));
            }
        }
    }
    text
}

/// $MAIL and ~/Maildir, as far as they are there.
fn own_mailboxes() -> Vec<PathBuf> {
    let named = std::env::var_os("MAIL").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join("Maildir"));
    let is_there = |path: &PathBuf| path.is_absolute() && path.exists();
    let mut found: Vec<_> = named.into_iter().chain(home).filter(is_there).collect();
    found.dedup();
    found
}

fn paths(paths: &[PathBuf]) -> String {
    array(paths.iter().map(|path| path.to_str().unwrap_or_default()))
}

/// Texts as TOML writes them.
fn array<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
