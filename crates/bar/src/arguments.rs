//! Options of `whit bar`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, builder::PossibleValue, value_parser};
use probe::Roots;

use crate::Defaults;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{count, interval, option, paragraphs, past, past_of, root, roots, several, switch};
use command::past;

/// `whit bar`, validated.
#[derive(Debug)]
pub(crate) enum BarCommand {
    /// Draw it.
    Draw(BarArgs),
    /// Say whether a configuration is good.
    Check { config: Option<PathBuf> },
    /// Print a configuration made from one of i3status or conky.
    Import { path: PathBuf },
    /// Print the default configuration.
    PrintDefaults(Defaults),
    /// Print the reference of the configuration.
    Reference,
}

/// The arguments of `whit bar`.
#[derive(Clone, Debug)]
pub(crate) struct BarArgs {
    pub(crate) roots: Roots,
    /// An earlier capture of the machine.
    pub(crate) before: Option<Roots>,
    /// None: as the configuration says.
    pub(crate) config: Option<PathBuf>,
    pub(crate) defaults: Defaults,
    /// `None`: as the configuration says, or as detected.
    pub(crate) output: Option<BarOutput>,
    /// None: as the configuration says.
    pub(crate) interval: Option<Duration>,
    pub(crate) count: Option<u64>,
    pub(crate) is_debug: bool,
    /// The instant whose recorded values are shown, in nanoseconds since 1970, and the directory of the history.
    pub(crate) past: Option<(i64, PathBuf)>,
}

/// The program that reads the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarOutput {
    Plain,
    I3bar,
    Waybar,
    Tmux,
    Xmobar,
    Lemonbar,
    Polybar,
    Dwm,
}

impl BarOutput {
    /// Names and what they are.
    pub(crate) const NAMED: [(&str, Self, &str); 8] = [
        ("i3bar", Self::I3bar, "The protocol of i3bar and swaybar"),
        ("plain", Self::Plain, "A line of text"),
        ("waybar", Self::Waybar, "An object a line, for a custom module"),
        ("tmux", Self::Tmux, "A line for status-right"),
        ("xmobar", Self::Xmobar, "A line for UnsafeStdinReader"),
        ("lemonbar", Self::Lemonbar, "A line for lemonbar"),
        ("polybar", Self::Polybar, "A line for a custom/script module with tail = true"),
        ("dwm", Self::Dwm, "The name of the root window"),
    ];
}

impl clap::ValueEnum for BarOutput {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [BarOutput; BarOutput::NAMED.len()] = {
            let mut variants = [BarOutput::Plain; BarOutput::NAMED.len()];
            let mut index = 0;
            while index < variants.len() {
                variants[index] = BarOutput::NAMED[index].1;
                index += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, _, help) = Self::NAMED.into_iter().find(|(_, output, _)| output == self)?;
        Some(PossibleValue::new(name).help(help))
    }
}

const EXPLANATION: &str = "\
Without a configuration (whit/bar.toml in $XDG_CONFIG_HOME, ~/.config or /etc/xdg) it shows what
suits the machine. --print-defaults prints that as a configuration to start from; --reference
prints all segments, fields and options.

SIGUSR1 draws at once, SIGHUP reads the configuration again.";

/// Returns the options of `whit bar`.
pub fn command() -> Command {
    Command::new("bar").about("A status line: network, memory, CPU, load, disk, battery, date").defer(
        |command| {
            let command = command
                .arg(option("config", Kind::File, "The configuration [default: see below]"))
                .arg(
                    Arg::new("for")
                        .long("for")
                        .value_name("PROGRAM")
                        .value_parser(value_parser!(BarOutput))
                        .help("The program that reads it [default: the one that started whit; a terminal reads plain]"),
                )
                .arg(interval("A line so often, on whole intervals of the clock [default: 1s]"))
                .arg(count("End after N lines"))
                .arg(switch("once", "Print one line and end").conflicts_with("count"))
                .arg(default("disk", Kind::Path, "Without a configuration: show the filesystem PATH is on"))
                .arg(default("net", Kind::Name, "Without a configuration: show this interface, up or down"))
                .arg(default("mailbox", Kind::Path, "Without a configuration: show this mbox or Maildir"))
                .arg(switch("debug", "Append what the cycle before cost: wall time, CPU time, system calls"))
                .arg(switch("check", "Say whether the configuration is good, and end").conflicts_with_all(["count", "interval", "for", "once"]))
                .arg(
                    option("import", Kind::File, "Print the equivalent of a configuration of i3status or conky (- is standard input), and end")
                        .exclusive(true),
                )
                .arg(switch("print-defaults", "Print the default configuration, and end").conflicts_with_all(["count", "interval", "for", "once", "check"]))
                .arg(switch("reference", "Print all segments, fields and options, and end").exclusive(true))
                .arg(root())
                .arg(
                    option("root-before", Kind::Directory, "With --root: an earlier capture of that machine, and rates are those between the two")
                        .requires("root"),
                );
            past(command, "With --once: the line as it was at this instant").after_help(paragraphs(EXPLANATION))
        },
    )
}

/// Returns an option of the default configuration. It conflicts with --config.
fn default(name: &'static str, kind: Kind, help: &'static str) -> Arg {
    several(name, kind, help).conflicts_with("config")
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<BarCommand, Failure> {
    let one_path = |name| matches.get_one::<PathBuf>(name).cloned();
    if matches.get_flag("reference") {
        return Ok(BarCommand::Reference);
    }
    if let Some(path) = one_path("import") {
        return Ok(BarCommand::Import { path });
    }
    let defaults = Defaults {
        nets: matches.get_many::<String>("net").map(|nets| nets.cloned().collect()).unwrap_or_default(),
        disks: absolute_paths(matches, "disk")?,
        mailboxes: absolute_paths(matches, "mailbox")?,
    };
    if matches.get_flag("print-defaults") {
        return Ok(BarCommand::PrintDefaults(defaults));
    }
    let config = one_path("config");
    if matches.get_flag("check") {
        return Ok(BarCommand::Check { config });
    }
    let roots = roots(matches);
    let past = match past_of(matches)? {
        (None, _) => None,
        (Some(_), _) if !matches.get_flag("once") || roots.is_captured() => {
            return Err(Failure::usage("--at is for one line: it goes with --once, and without --root"));
        }
        (Some(at_ns), data) => Some((at_ns, past::directory(data.as_deref())?)),
    };
    // A captured machine stands still, and so does its line.
    let is_one = matches.get_flag("once") || (roots.is_captured() && !matches.contains_id("count"));
    Ok(BarCommand::Draw(BarArgs {
        config,
        defaults,
        output: matches.get_one("for").copied(),
        interval: matches.get_one("interval").copied(),
        count: if is_one { Some(1) } else { matches.get_one("count").copied() },
        is_debug: matches.get_flag("debug"),
        past,
        before: one_path("root-before").map(Roots::captured),
        roots,
    }))
}

fn absolute_paths(matches: &ArgMatches, name: &str) -> Result<Vec<PathBuf>, Failure> {
    let paths = matches.get_many::<PathBuf>(name).into_iter().flatten();
    let absolute = |path: &PathBuf| {
        let fail = |error| Failure::usage(format!("--{name} {}: {error}", Path::display(path)));
        std::path::absolute(path).map_err(fail)
    };
    paths.map(absolute).collect()
}
