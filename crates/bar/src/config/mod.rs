//! The configuration of the bar: TOML in, segments out, or a fault with its place.

mod defaults;
mod import;
mod read;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::actions::Actions;
use super::appearance::Appearance;
use super::kind::Kind;
use super::{Block, LineStyle, Segment, Theme};
use crate::arguments::BarOutput;
use command::failure::Failure;
use command::paths;
use probe::named;
use text::printable::Shown as _;

pub(crate) use defaults::{Defaults, default_configuration, printed_defaults};
pub(crate) use import::import;
pub(crate) use read::{BAR_OPTIONS, SEGMENT_OPTIONS, read};

/// A bar, read and found good.
pub(crate) struct BarConfig {
    /// The program that reads it; `None`: detected.
    pub(crate) output: Option<BarOutput>,
    pub(crate) style: LineStyle,
    pub(crate) members: Vec<Member>,
}

impl BarConfig {
    /// Without segments: what there is of a configuration that cannot be read.
    pub(crate) fn empty() -> Self {
        let style = LineStyle { theme: Theme::default(), separator: " | ".to_owned() };
        Self { output: None, style, members: Vec::new() }
    }

    /// Returns true if a segment runs a command.
    pub(crate) fn has_commands(&self) -> bool {
        self.members.iter().any(|member| member.segment.commands().is_some())
    }
}

/// A segment and all that was said of it.
pub(crate) struct Member {
    pub(crate) kind: &'static Kind,
    /// Which of its kind.
    pub(crate) instance: String,
    pub(crate) segment: Box<dyn Segment>,
    pub(crate) interval: Duration,
    pub(crate) appearance: Appearance,
    /// A text that defines the minimum width of its block.
    pub(crate) min_width: String,
    /// The alignment in a block that is wider than its text.
    pub(crate) align: Option<&'static str>,
    pub(crate) actions: Actions,
}

impl Member {
    /// An empty block for it.
    pub(crate) fn block(&self) -> Block {
        Block {
            kind: self.kind.name,
            instance: self.instance.clone(),
            is_markup: self.appearance.is_markup,
            min_width: self.min_width.clone(),
            align: self.align,
            ..Block::default()
        }
    }
}

/// Where a bar's configuration comes from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    File(PathBuf),
    /// None was found: what suits the machine.
    Defaults(Defaults),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.shown()),
            Self::Defaults(_) => f.write_str("the default configuration"),
        }
    }
}

/// The name below a directory for configurations.
const FILE: &str = "whit/bar.toml";

impl Origin {
    /// The file that was named; else that of the user, else that of the system (XDG Base Directory Specification).
    pub(crate) fn find(named: Option<&Path>, defaults: Defaults) -> Self {
        if let Some(path) = named {
            return Self::File(path.to_owned());
        }
        if defaults.is_asked_for() {
            return Self::Defaults(defaults);
        }
        paths::find_configuration(FILE).map_or(Self::Defaults(defaults), Self::File)
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(crate) fn read(&self, interval: Option<Duration>) -> Result<BarConfig, Failure> {
        let text = match self {
            Self::Defaults(defaults) => default_configuration(defaults),
            Self::File(path) => {
                let text = named::read_text(path, named::CONFIGURATION_BYTES);
                text.map_err(|error| Failure::new(format!("{self}: {error}")))?
            }
        };
        read(&text, interval).map_err(|fault| Failure::new(fault.in_text(&self.to_string(), &text)))
    }
}
