//! `whit top`: every task, what it used and what it waited for, again and again.

pub(crate) mod arguments;
mod batch;
mod columns;
mod head;
mod lines;
mod machine;
mod notes;
pub(crate) mod options;
mod past;
mod past_place;
mod screen;
mod session;
mod settings;

use std::process::ExitCode;

use crate::failure::Failure;
use options::{OutputKind, TopOptions};

/// Shows tasks until ended.
pub(crate) fn run(options: &TopOptions) -> Result<ExitCode, Failure> {
    match options.output {
        OutputKind::Screen => screen::run(options),
        OutputKind::Text | OutputKind::Json => batch::run(options),
    }
}
