//! The report about a command: for people, on standard error or in a file, and for programs.

use std::path::Path;

use facts::unit::Nanos;

use super::comparison::{self, Earlier, RunFigures};
use super::earlier;
use super::options::RunOptions;
use super::render;
use super::supervise::Supervised;
use crate::run::json::RunJson;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::new_file::NewFile;

/// Reports each run as it ends, and all at the end. That its files can be written is known before the command is
/// started; what is in them changes when the last run has ended.
pub(super) struct Report<'a> {
    options: &'a RunOptions,
    lock_waited: Option<Nanos>,
    /// None: text to standard error.
    output: Option<NewFile>,
    figures: Vec<RunFigures>,
    /// The figures of an earlier report.
    before: Option<Earlier>,
}

impl<'a> Report<'a> {
    /// Begins the files that were asked for.
    pub(super) fn create(options: &'a RunOptions) -> Result<Self, Failure> {
        let standard = options.is_json.then(|| Path::new("-"));
        let output = options.output.as_deref().or(standard).map(NewFile::create).transpose()?;
        let before = options.compare.as_deref().map(earlier::read).transpose()?;
        Ok(Self { options, lock_waited: None, output, figures: Vec::new(), before })
    }

    /// How long the lock was waited for.
    pub(super) fn lock_waited(&mut self, waited: Nanos) {
        self.lock_waited = Some(waited);
    }

    /// Adds a run to the report, and writes it.
    pub(super) fn add(&mut self, run: &Supervised) -> Result<(), Failure> {
        self.figures.push(comparison::figures_of(run));
        let mut text = String::new();
        if self.options.is_json {
            let document = RunJson::new(self.options, run, self.lock_waited);
            let realtime = probe::clock_now().realtime;
            Documents::of_live().push(DocumentKind::Run, realtime, &document, &mut text)?;
        } else {
            render::push(run, &mut text);
        }
        self.write(&text)
    }

    /// Writes what several runs have in common, and puts the files in their places.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let mut written = Ok(());
        if self.figures.len() > 1 && !self.options.is_json {
            let mut text = String::new();
            comparison::push_spread(&self.figures, &mut text);
            written = self.write(&text);
        }
        if let Some(before) = self.before.take() {
            let mut text = String::new();
            comparison::push_comparison(&before, &self.options.command_words(), &self.figures, &mut text);
            written = written.and(self.write(&text));
        }
        match self.output {
            Some(file) => written.and(file.finish()),
            None => written,
        }
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
