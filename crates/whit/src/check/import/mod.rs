//! `whit check import`: Nagios' configuration as whit's.
//!
//! Nagios' objects are of one host each, whit's checks of many: services are taken apart by hosts ([`services`]), with what each has from
//! its host, its dependencies and escalations, and those that come out alike are one check again ([`convert`]). So nothing that was said
//! of one host is said of others.

mod commands;
mod contacts;
mod convert;
mod dependencies;
mod escalations;
mod files;
mod natural_order;
mod notes;
mod patterns;
mod periods;
mod services;

use std::path::Path;

pub(super) use self::convert::Imported;
use crate::failure::Failure;

/// Reads a main file and what it names.
///
/// # Errors
/// If the main file cannot be read. What is wrong with others is left out, and named.
pub(super) fn import(path: &Path) -> Result<Imported, Failure> {
    let read = files::read(path)?;
    Ok(convert::convert(&read))
}
