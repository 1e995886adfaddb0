//! `whit bar`.

use std::process::ExitCode;

use crate::args::BarArgs;
use crate::failure::Failure;

/// Draws the bar.
pub(crate) fn run(args: &BarArgs) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    crate::bar::run(args)
}
