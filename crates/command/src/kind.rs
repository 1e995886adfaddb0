//! The kinds of values that options take: one name, one parser and one explanation each.

use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::value_parser;

use crate::quantity;

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How long something takes.
    Duration,
    /// Between two readings.
    Interval,
    /// A duration that may be 0.
    Wait,
    /// How old something is: a duration with its unit.
    Age,
    /// A number of bytes.
    Size,
    /// How many, at least one.
    Count,
    /// A count that may be 0.
    Amount,
    /// Threads of whit's own.
    Workers,
    /// How many in a second.
    Rate,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A file or directory.
    Path,
    /// The number of a process or thread.
    Id,
    /// A user, by name or number.
    User,
    /// A name as the kernel or the system has it.
    Name,
    /// A pattern of names.
    Glob,
    /// The directory or path of a cgroup, or what people call it.
    Cgroup,
    /// An instant of the past.
    Instant,
    /// An address of HTTP.
    Url,
}

impl Kind {
    /// One of each name.
    pub const NAMED: [Self; 15] = [
        Self::Duration,
        Self::Age,
        Self::Size,
        Self::Count,
        Self::Rate,
        Self::File,
        Self::Directory,
        Self::Path,
        Self::Id,
        Self::User,
        Self::Name,
        Self::Glob,
        Self::Cgroup,
        Self::Instant,
        Self::Url,
    ];

    /// As help names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Duration | Self::Interval | Self::Wait => "DURATION",
            Self::Age => "AGE",
            Self::Size => "SIZE",
            Self::Count | Self::Amount | Self::Workers => "N",
            Self::Rate => "RATE",
            Self::File => "FILE",
            Self::Directory => "DIR",
            Self::Path => "PATH",
            Self::Id => "ID",
            Self::User => "USER",
            Self::Name => "NAME",
            Self::Glob => "GLOB",
            Self::Cgroup => "CGROUP",
            Self::Instant => "INSTANT",
            Self::Url => "URL",
        }
    }

    /// Describes the values that are accepted.
    pub fn help(self) -> &'static str {
        match self {
            Self::Duration | Self::Interval | Self::Wait => {
                "how long: `5` (seconds), `5s`, `200ms`, `1m30s`, `1d12h`; units `y w d h m s ms us ns`"
            }
            Self::Age => "a duration whose unit is named: `30s`, `6h`, `7d`; a number alone is refused",
            Self::Size => "bytes: `512`, `64K`, `10G` and `10GiB` of 1024, `1MB` of 1000",
            Self::Count | Self::Amount | Self::Workers => "how many: `3`, `10k`, `1M`, of 1000",
            Self::Rate => "how many in a second: `0.5`, `10k`",
            Self::File => "a file; `-` is standard output where it is written",
            Self::Directory => "a directory",
            Self::Path => "a file or directory",
            Self::Id => "the number of a process or thread; several with commas between them",
            Self::User => "a user, by name or number",
            Self::Name => "a name as the kernel or the system has it",
            Self::Glob => "a pattern: `*.log`, `core.*`",
            Self::Cgroup => {
                "a cgroup: its directory, its path with or without the first slash, or the name of its unit or the id of its container"
            }
            Self::Instant => {
                "when: `03:12`, `yesterday 14:00`, `today`, `-2h`, `10 minutes ago`, `2026-11-22 14:00`, `2026-11-22T14:00:00Z`, `@1795356000`"
            }
            Self::Url => "an address of HTTP: `http://localhost:8428`",
        }
    }

    /// Returns the parser of such values.
    pub fn parser(self) -> ValueParser {
        match self {
            Self::Duration => quantity::duration.into(),
            Self::Interval => quantity::interval.into(),
            Self::Wait => quantity::wait.into(),
            Self::Age => quantity::age.into(),
            Self::Size => quantity::size.into(),
            Self::Count => quantity::count.into(),
            Self::Amount => quantity::amount.into(),
            Self::Workers => quantity::workers.into(),
            Self::Rate => quantity::rate.into(),
            Self::File | Self::Directory | Self::Path | Self::Cgroup => value_parser!(PathBuf),
            Self::Id => value_parser!(u32).range(1..).into(),
            Self::User | Self::Name | Self::Glob | Self::Instant | Self::Url => value_parser!(String),
        }
    }
}
