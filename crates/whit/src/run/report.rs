//! The report about a command: for people, on standard error or in a file, and for programs.

use std::path::PathBuf;

use facts::unit::Nanos;

use super::options::RunOptions;
use super::render::{self, FIGURES};
use super::supervise::Supervised;
use crate::failure::{Failure, write_stderr};
use crate::new_file::NewFile;
use crate::run::json::RunJson;

/// Reports each run as it ends, and all at the end. That its files can be written is known before the command is
/// started; what is in them changes when the last run has ended.
pub(super) struct Report<'a> {
    options: &'a RunOptions,
    lock_waited: Option<Nanos>,
    json: Option<NewFile>,
    output: Option<NewFile>,
    figures: Vec<[Nanos; FIGURES.len()]>,
}

impl<'a> Report<'a> {
    /// Begins the files that were asked for.
    pub(super) fn create(options: &'a RunOptions) -> Result<Self, Failure> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(NewFile::create).transpose();
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
        render::push(run, &mut text);
        let written = self.write(&text);
        let Some(json) = &mut self.json else { return written };
        let document = RunJson::new(self.options, run, self.lock_waited);
        let document = serde_json::to_string(&document).map_err(Failure::internal)?;
        written.and(json.write(&(document + "\n")))
    }

    /// Tells what several runs have in common, and puts the files in their places.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let mut written = Ok(());
        if self.figures.len() > 1 {
            let mut text = String::new();
            render::push_spread(&self.figures, &mut text);
            written = self.write(&text);
        }
        for file in [self.json, self.output].into_iter().flatten() {
            written = written.and(file.finish());
        }
        written
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.output {
            _ if self.options.is_quiet => Ok(()),
            Some(output) => output.write(text),
            None => {
                write_stderr(text);
                Ok(())
            }
        }
    }
}
