//! `whit check import`: Nagios' configuration as whit's.

mod convert;
mod escalations;
mod files;
mod left_out;

use std::path::Path;

use self::convert::Imported;
use crate::failure::Failure;

/// Reads a main file and what it names.
///
/// # Errors
/// If the main file cannot be read. What is wrong with others is left out, and named.
pub(super) fn import(path: &Path) -> Result<Imported, Failure> {
    let read = files::read(path)?;
    Ok(convert::convert(&read))
}
