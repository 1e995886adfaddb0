//! The bar for a machine about which nothing was said.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::kind::Kind;
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
    write(defaults, false)
}

/// Returns the default configuration with the default formats of the segments, to be changed.
pub(crate) fn printed_defaults(defaults: &Defaults) -> String {
    write(defaults, true)
}

/// Writes the segments, also with what their kinds have by default.
fn write(defaults: &Defaults, is_whole: bool) -> String {
    let mut text = String::new();
    let mut segment = |name: &str, options: &[(&str, String)]| {
        // A String takes whatever is written to it.
        let _ = writeln!(text, "[[segment]]\ntype = \"{name}\"");
        let kind = KINDS.iter().copied().find(|kind| is_whole && kind.name == name);
        let (formats, others): (Vec<_>, Vec<_>) = options.iter().partition(|(name, _)| *name == "format");
        match (formats.first(), kind) {
            (Some((name, format)), _) => drop(writeln!(text, "{name} = {format}")),
            (None, Some(kind)) => drop(writeln!(text, "format = {}", quoted(kind.format))),
            (None, None) => {}
        }
        text.push_str(&kind.map_or_else(String::new, variants_of));
        for (name, value) in others {
            let _ = writeln!(text, "{name} = {value}");
        }
        text.push('\n');
    };
    // Values have the same width at each line, so that nothing moves. Short forms fit into 80 columns.
    let formats = |format: &str, short: &str| vec![("format", quoted(format)), ("short", quoted(short))];
    let mut net =
        formats("{name}[ {ssid}][ {quality}] ↓{received:>9} ↑{sent:>9}", "↓{received:>9} ↑{sent:>9}");
    if !defaults.nets.is_empty() {
        net.push(("interfaces", array(defaults.nets.iter().map(String::as_str))));
    }
    segment("net", &net);
    let mailboxes = if defaults.mailboxes.is_empty() { own_mailboxes() } else { defaults.mailboxes.clone() };
    if !mailboxes.is_empty() {
        segment("mail", &[("paths", paths(&mailboxes))]);
    }
    segment("memory", &formats("mem {used:>8} {used_percent:>4}", "mem {used_percent:>4}"));
    segment("cpu", &formats("cpu {busy:>5}[ {temperature}]", "cpu {busy:>5}"));
    segment("load", &formats("load {load1:>5}", "{load1:>5}"));
    let mut disk = formats("{path} {available} free", "{path} {available}");
    if !defaults.disks.is_empty() {
        disk.push(("paths", paths(&defaults.disks)));
    }
    segment("disk", &disk);
    segment("battery", &[]);
    segment("date", &[("short", quoted("%H:%M:%S"))]);
    text
}

/// The default variants of a kind as a line, if it has some.
fn variants_of(kind: &Kind) -> String {
    let variant =
        |(when, format): &(&str, &str)| format!("{{ when = {}, format = {} }}", quoted(when), quoted(format));
    let variants: Vec<String> = kind.variants.iter().map(variant).collect();
    if variants.is_empty() { String::new() } else { format!("variants = [{}]\n", variants.join(", ")) }
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
