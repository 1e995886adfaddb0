//! Settings that `whit top` remembers: columns, order and interval, in whit/top.toml.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use facts::unit::Nanos;

use facts::task::groups::GroupBy;
use serde::Deserialize;

use super::columns::Column;
use command::failure::Failure;
use command::paths;
use probe::named;
use text::nearest::did_you_mean;
use text::printable::Shown as _;
use text::printable::line_and_column;
use text::quantity;

/// The settings that are remembered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) columns: Vec<Column>,
    pub(crate) sort: Column,
    pub(crate) is_reversed: bool,
    pub(crate) is_tree: bool,
    pub(crate) by: GroupBy,
    pub(crate) with_commands: bool,
    pub(crate) with_each_cpu: bool,
    /// Lines of each disk and interface above the table.
    pub(crate) with_each_device: bool,
    /// Each kernel thread is a row.
    pub(crate) with_kernel_threads: bool,
    /// Notes on what limits the view are shown on the screen.
    pub(crate) with_notes: bool,
    pub(crate) interval: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            columns: Column::DEFAULT.to_vec(),
            sort: Column::Cpu,
            is_reversed: false,
            is_tree: false,
            by: GroupBy::Process,
            with_commands: false,
            with_each_cpu: false,
            with_each_device: false,
            with_kernel_threads: false,
            with_notes: true,
            interval: Duration::from_secs(1),
        }
    }
}

/// The file, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    columns: Option<Vec<toml::Spanned<String>>>,
    sort: Option<toml::Spanned<String>>,
    reverse: Option<bool>,
    tree: Option<bool>,
    by: Option<toml::Spanned<String>>,
    command_lines: Option<bool>,
    each_cpu: Option<bool>,
    each_device: Option<bool>,
    kernel_threads: Option<bool>,
    notes: Option<bool>,
    interval: Option<toml::Spanned<Interval>>,
}

/// Seconds, or a text with units.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Interval {
    Seconds(f64),
    Text(String),
}

/// What can be typed and kept. The command line takes more.
const POSSIBLE: RangeInclusive<Nanos> = Nanos(100_000_000)..=Nanos(3_600 * Nanos::SECOND.0);

/// The time between two readings, of what was typed or kept.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = quantity::duration(text)?;
    match POSSIBLE.contains(&interval) {
        true => Ok(Duration::from_nanos(interval.0)),
        false => Err("an interval is 100ms to 1h".to_owned()),
    }
}

/// Names of what rows stand for.
pub(crate) const GROUPS: [(&str, GroupBy); 4] = [
    ("process", GroupBy::Process),
    ("thread", GroupBy::Thread),
    ("user", GroupBy::User),
    ("cgroup", GroupBy::Cgroup),
];

/// The name of what rows stand for.
pub(crate) fn group_name(by: GroupBy) -> &'static str {
    GROUPS.iter().find(|(_, group)| *group == by).map_or("process", |(name, _)| *name)
}

impl Settings {
    /// From the first file there is; without one as they come.
    pub(crate) fn read() -> Result<Self, Failure> {
        let found =
            paths::configuration_directories().into_iter().map(|directory| directory.join("whit/top.toml"));
        let Some(path) = found.into_iter().find(|path| path.exists()) else { return Ok(Self::default()) };
        let text = named::read_text(&path, named::CONFIGURATION_BYTES)
            .map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
        Self::parse(&text).map_err(|(offset, message)| {
            let (line, column) = line_and_column(&text, offset);
            Failure::new(format!("{}:{line}:{column}: {message}", path.shown()))
        })
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let file: File = toml::from_str(text)
            .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
        let column = |name: &toml::Spanned<String>| {
            Column::named(name.get_ref()).ok_or_else(|| {
                let hint = did_you_mean(
                    name.get_ref(),
                    Column::all().map(Column::name).collect::<Vec<_>>().into_iter(),
                );
                (name.span().start, format!("no column is called \"{}\"{hint}", name.get_ref()))
            })
        };
        let mut settings = Self::default();
        if let Some(columns) = &file.columns {
            settings.columns = columns.iter().map(column).collect::<Result<_, _>>()?;
        }
        if let Some(sort) = &file.sort {
            settings.sort = column(sort)?;
        }
        if let Some(by) = &file.by {
            let group = GROUPS.iter().find(|(name, _)| name == by.get_ref());
            let names = "process, thread, user or cgroup";
            settings.by =
                group.ok_or_else(|| (by.span().start, format!("\"{}\" is not {names}", by.get_ref())))?.1;
        }
        if let Some(interval) = &file.interval {
            let text = match interval.get_ref() {
                Interval::Seconds(seconds) => format!("{seconds}s"),
                Interval::Text(text) => text.clone(),
            };
            settings.interval = parse_interval(&text).map_err(|message| (interval.span().start, message))?;
        }
        settings.is_reversed = file.reverse.unwrap_or(false);
        settings.is_tree = file.tree.unwrap_or(false);
        settings.with_commands = file.command_lines.unwrap_or(false);
        settings.with_each_cpu = file.each_cpu.unwrap_or(false);
        settings.with_each_device = file.each_device.unwrap_or(false);
        settings.with_kernel_threads = file.kernel_threads.unwrap_or(false);
        settings.with_notes = file.notes.unwrap_or(true);
        Ok(settings)
    }

    /// As the file holds them.
    fn text(&self) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|column| format!("\"{}\"", column.name())).collect();
        format!(
            "# Written by whit top.\ncolumns = [{}]\nsort = \"{}\"\nreverse = {}\ntree = {}\nby = \"{}\"\n\
             command_lines = {}\neach_cpu = {}\neach_device = {}\nkernel_threads = {}\nnotes = {}\ninterval = {:?}\n",
            columns.join(", "),
            self.sort.name(),
            self.is_reversed,
            self.is_tree,
            group_name(self.by),
            self.with_commands,
            self.with_each_cpu,
            self.with_each_device,
            self.with_kernel_threads,
            self.with_notes,
            Duration::from_nanos(Nanos::from(self.interval).clamp(*POSSIBLE.start(), *POSSIBLE.end()).0)
                .as_secs_f64()
        )
    }

    /// Writes them into the user's own file, whole or not at all. Where they went.
    pub(crate) fn write(&self) -> Result<PathBuf, Failure> {
        let own = paths::own_configuration_directory();
        let directory =
            own.ok_or_else(|| Failure::new("neither XDG_CONFIG_HOME nor HOME says where"))?.join("whit");
        let path = directory.join("top.toml");
        let fail = |error| Failure::new(format!("{}: {error}", path.shown()));
        fs::create_dir_all(&directory).map_err(fail)?;
        let new = directory.join(format!(".top.toml.{}", std::process::id()));
        fs::write(&new, self.text()).map_err(fail)?;
        fs::rename(&new, &path).map_err(fail)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let settings = Settings {
            columns: vec![Column::Command, Column::Pid],
            by: GroupBy::Cgroup,
            is_tree: true,
            interval: Duration::from_millis(1500),
            ..Settings::default()
        };
        assert_eq!(Settings::parse(&settings.text()), Ok(settings));
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }

    #[test]
    fn faults_have_a_place_and_a_hint() {
        let fault = |text: &str| Settings::parse(text).unwrap_err();
        assert_eq!(
            fault("tree = true\nsort = \"memry\""),
            (19, "no column is called \"memry\"; did you mean \"memory\"?".to_owned())
        );
        assert_eq!(fault("interval = 0.0").0, 11);
        assert!(fault("colums = []").1.contains("colums"));
        assert!(fault("by = \"x\"").1.contains("process, thread, user or cgroup"));
    }
}
