//! The files of a Nagios configuration.

use std::path::{Path, PathBuf};

use formats::nagios::{Macros, NagiosObject, Place, read_objects, read_settings, resolve};
use probe::named;
use text::printable::Shown as _;

use super::names::make_valid;
use super::notes::Notes;
use super::patterns::{self, NamePatterns};

const MAX_BYTES: u64 = 64 << 20;
/// After this number of files no further ones are included.
const MAX_INCLUDING_FILES: usize = 10_000;
/// Directories of directories, so deep at most.
const MAX_DEPTH: usize = 10;

/// All that was read.
#[derive(Debug, Default)]
pub(super) struct NagiosFiles {
    /// Objects with what their templates say.
    pub(super) objects: Vec<NagiosObject>,
    /// `$USERn$`.
    pub(super) macros: Macros,
    /// The main file's settings.
    pub(super) settings: Vec<(String, String)>,
    /// The files, by their numbers.
    pub(super) files: Vec<PathBuf>,
    /// Notes on what cannot be read.
    pub(super) notes: Notes,
}

impl NagiosFiles {
    /// The last value of a setting.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether a setting is on; `usual` is its default.
    pub(super) fn is_on(&self, name: &str, usual: bool) -> bool {
        // An object file alone says nothing of what Nagios' main file does.
        match self.setting(name) {
            Some(value) => value.trim() != "0",
            None => usual || self.setting("cfg_file").or(self.setting("cfg_dir")).is_none(),
        }
    }
}

/// Reads a main file and what it names.
pub(super) fn read(main: &Path) -> Result<NagiosFiles, String> {
    let bytes = named::read(main, MAX_BYTES).map_err(|error| format!("{}: {error}", main.shown()))?;
    let mut read = NagiosFiles { files: vec![main.to_owned()], ..NagiosFiles::default() };
    let text = read.decode(bytes, 0);
    read.settings = read_settings(&text);
    let below = main.parent().unwrap_or(Path::new("."));
    let mut objects = Vec::new();
    // An object file itself is as good.
    if text.lines().any(|line| line.trim_start().starts_with("define")) {
        read.add_objects(&text, 0, &mut objects);
    }
    for (name, value) in read.settings.clone() {
        let path = below.join(&value);
        match name.as_str() {
            "cfg_file" => read.read_file(&path, &mut objects),
            "cfg_dir" => read.read_directory(&path, &mut objects, 0),
            "resource_file" => read.read_resources(&path),
            _ => {}
        }
    }
    let (resolved, faults) = resolve(&objects);
    for fault in faults {
        read.notes.leave_out(fault.message, fault.place);
    }
    read.objects = resolved;
    let is_set = |name: &str| read.setting(name).is_some_and(|value| value != "0");
    let name_patterns = match (is_set("use_true_regexp_matching"), is_set("use_regexp_matching")) {
        (true, true) => Some(NamePatterns::All),
        (false, true) => Some(NamePatterns::Some),
        (_, false) => None,
    };
    if let Some(name_patterns) = name_patterns {
        patterns::expand(&mut read.objects, name_patterns, &mut read.notes);
    }
    make_valid(&mut read.objects, &mut read.notes);
    Ok(read)
}

impl NagiosFiles {
    fn text(&mut self, path: &Path) -> Option<String> {
        match named::read(path, MAX_BYTES) {
            Ok(bytes) => {
                self.files.push(path.to_owned());
                Some(self.decode(bytes, self.files.len() - 1))
            }
            Err(error) => {
                self.notes.leave_out(format!("{}: {error}", path.shown()), Place::default());
                None
            }
        }
    }

    /// A text in UTF-8; a file that is not is in Latin-1, as old configurations are.
    fn decode(&mut self, bytes: Vec<u8>, file: usize) -> String {
        String::from_utf8(bytes).unwrap_or_else(|error| {
            self.notes.change("a file in Latin-1 is UTF-8 now", Place { file, line: 0 });
            error.as_bytes().iter().map(|byte| char::from(*byte)).collect()
        })
    }

    fn read_file(&mut self, path: &Path, objects: &mut Vec<NagiosObject>) {
        if let Some(text) = self.text(path) {
            self.add_objects(&text, self.files.len() - 1, objects);
        }
    }

    fn add_objects(&mut self, text: &str, file: usize, objects: &mut Vec<NagiosObject>) {
        // The limit ends files that include each other.
        for (name, path) in read_settings(text) {
            let path = self.files[file].parent().unwrap_or(Path::new(".")).join(path);
            match name.as_str() {
                "include_file" if self.files.len() < MAX_INCLUDING_FILES => self.read_file(&path, objects),
                "include_dir" if self.files.len() < MAX_INCLUDING_FILES => {
                    self.read_directory(&path, objects, 0);
                }
                _ => {}
            }
        }
        let (new, faults) = read_objects(text, file);
        objects.extend(new);
        for fault in faults {
            // A main file has settings in it.
            let is_main =
                file == 0 && ["cfg_file", "cfg_dir"].into_iter().any(|name| self.setting(name).is_some());
            if !is_main {
                self.notes.leave_out(fault.message, fault.place);
            }
        }
    }

    fn read_directory(&mut self, path: &Path, objects: &mut Vec<NagiosObject>, depth: usize) {
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                return self.notes.leave_out(format!("{}: {error}", path.shown()), Place::default());
            }
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() && depth < MAX_DEPTH {
                if !is_hidden(&path) {
                    self.read_directory(&path, objects, depth + 1);
                }
            } else if path.extension().is_some_and(|extension| extension == "cfg") && !is_hidden(&path) {
                self.read_file(&path, objects);
            }
        }
    }

    fn read_resources(&mut self, path: &Path) {
        for (name, value) in self.text(path).map(|text| read_settings(&text)).unwrap_or_default() {
            self.macros.set(name.trim_matches('$'), &value);
        }
    }
}

/// Nagios reads none whose name begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}
