//! What is told about a command: for people, on standard error or in a file, and for programs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use facts::unit::Nanos;

use super::{Options, Supervised};
use crate::failure::{Failure, say};
use crate::show;
use crate::show::run::FIGURES;
use crate::show::run_json::RunJson;

/// What is told of each run as it ends, and of all at the end. Its files are there before the command is started, lest its time
/// was for nothing.
pub(super) struct Report<'a> {
    options: &'a Options,
    lock_waited: Option<Nanos>,
    json: Option<Target<'a>>,
    output: Option<Target<'a>>,
    figures: Vec<[Nanos; FIGURES.len()]>,
}

struct Target<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> Target<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| failed(path, &error))?;
        Ok(Self { path, file })
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| failed(self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

impl<'a> Report<'a> {
    /// Makes the files that were asked for.
    pub(super) fn create(options: &'a Options) -> Result<Self, Failure> {
        let create = |path: &'a Option<PathBuf>| path.as_deref().map(Target::create).transpose();
        let (json, output) = (create(&options.json)?, create(&options.output)?);
        Ok(Self { options, lock_waited: None, json, output, figures: Vec::new() })
    }

    /// How long the lock was waited for.
    pub(super) fn lock_waited(&mut self, waited: Nanos) {
        self.lock_waited = Some(waited);
    }

    /// Tells a run. What people read comes in any case.
    pub(super) fn add(&mut self, run: &Supervised) -> Result<(), Failure> {
        self.figures.push(FIGURES.map(|(_, figure)| figure(run)));
        let mut text = String::new();
        show::run::push(run, &mut text);
        let told = self.write(&text);
        let Some(json) = &mut self.json else { return told };
        let document = RunJson::new(self.options, run, self.lock_waited);
        let document = serde_json::to_string(&document).map_err(Failure::internal)?;
        told.and(json.write(&(document + "\n")))
    }

    /// Tells what several runs have in common.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        if self.figures.len() < 2 {
            return Ok(());
        }
        let mut text = String::new();
        show::run::push_spread(&self.figures, &mut text);
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.output {
            _ if self.options.is_quiet => Ok(()),
            Some(output) => output.write(text),
            None => {
                say(text);
                Ok(())
            }
        }
    }
}
