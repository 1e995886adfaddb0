//! Hosts: from the configuration, from a table in CSV, or from a directory with a file for each.

use std::path::Path;

use probe::named;
use text::printable::Shown as _;

use super::names;
use super::variables::Variables;
use configuration::{Fault, Options, expected, parse, text};

/// A host, without its check.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    pub(super) name: String,
    /// The value of `{address}`.
    pub(super) address: String,
    pub(super) groups: Vec<String>,
    pub(super) variables: Variables,
    pub(super) labels: Vec<(String, String)>,
    pub(super) parents: Vec<String>,
}

/// A list of hosts is not longer than this.
const MAX_BYTES: u64 = 64 << 20;

/// The options that a table of a host may have beside those of its check.
pub(super) const OPTIONS: [&str; 5] = ["name", "address", "groups", "parents", "labels"];

impl Host {
    /// Reads a table; `name` is that of its file.
    pub(super) fn read(table: &Options<'_, '_>, name: Option<&str>) -> Result<Self, Fault> {
        let name = match (table.text("name")?, name) {
            (Some(name), _) | (None, Some(name)) => name.to_owned(),
            (None, None) => return Err(table.fault("this needs name = \"web1\"")),
        };
        names::check_name(&name).map_err(|message| table.fault_of("name", message))?;
        let address = table.text("address")?.unwrap_or(&name).to_owned();
        Ok(Self {
            address,
            groups: table.texts("groups")?,
            variables: variables(table)?,
            labels: names::labels(table)?,
            parents: table.texts("parents")?,
            name,
        })
    }

    /// Returns whether one of the patterns is its name, or `@` and one of its groups.
    pub(super) fn is_selected(&self, patterns: &[String]) -> bool {
        let matches = |pattern: &String| match pattern.strip_prefix('@') {
            Some(group) => self.groups.iter().any(|own| own == group),
            None => fast_glob::glob_match(pattern, &self.name),
        };
        patterns.iter().any(matches)
    }
}

/// `variables = { community = "public" }`.
pub(super) fn variables(table: &Options<'_, '_>) -> Result<Variables, Fault> {
    let mut variables = Variables::default();
    if let Some(value) = table.get("variables") {
        let all = value.get_ref().as_table().ok_or_else(|| expected(value, "{ community = \"public\" }"))?;
        for (name, value) in all.iter() {
            variables.set(name.get_ref(), text(value)?);
        }
    }
    Ok(variables)
}

/// The hosts of a file in CSV, whose first line names the columns, or of a directory with a file in TOML for each.
///
/// # Errors
/// What is wrong, with its place.
pub(super) fn read_list(path: &Path) -> Result<Vec<Host>, String> {
    match path.is_dir() {
        true => read_directory(path),
        false => read_csv(path),
    }
}

fn read_directory(path: &Path) -> Result<Vec<Host>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.shown());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|extension| extension == "toml") {
            files.push(file);
        }
    }
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let name = file.file_stem().and_then(|name| name.to_str());
        let text = named::read_text(file, named::CONFIGURATION_BYTES)
            .map_err(|error| format!("{}: {error}", file.shown()))?;
        let host = parse(&text).and_then(|document| {
            let table = Options::new(document.get_ref(), 0..0);
            table.refuse_unknown(OPTIONS.into_iter().chain(["variables"]), "a host in a file of its own")?;
            Host::read(&table, name)
        });
        host.map_err(|fault| fault.in_text(&file.shown().to_string(), &text))
    };
    files.iter().map(read).collect()
}

fn read_csv(path: &Path) -> Result<Vec<Host>, String> {
    let text = named::read_text(path, MAX_BYTES).map_err(|error| format!("{}: {error}", path.shown()))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let wrong = |line: u64, message: String| format!("{}:{line}: {message}", path.shown());
    let columns = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    if !columns.iter().any(|column| column == "name") {
        return Err(wrong(1, "the first line must name the columns, one of them \"name\"".to_owned()));
    }
    let mut hosts = Vec::new();
    for record in reader.records() {
        let record = record
            .map_err(|error| wrong(error.position().map_or(0, csv::Position::line), error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut host = Host::default();
        for (column, value) in columns.iter().zip(&record) {
            let list = || value.split_whitespace().map(str::to_owned).collect();
            match column {
                "name" => value.clone_into(&mut host.name),
                "address" => value.clone_into(&mut host.address),
                "groups" => host.groups = list(),
                "parents" => host.parents = list(),
                other => host.variables.set(other, value),
            }
        }
        names::check_name(&host.name).map_err(|message| wrong(line, message))?;
        if host.address.is_empty() {
            host.address.clone_from(&host.name);
        }
        hosts.push(host);
    }
    Ok(hosts)
}
