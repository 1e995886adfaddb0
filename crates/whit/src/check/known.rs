//! The checks that are known in a data directory, and what is said where they are not.

use std::path::Path;

use checks::CheckLedger;
use text::printable::Shown as _;

use super::arguments;
use command::failure::Failure;

/// Opens the ledger of a data directory, to be asked.
pub(super) fn open_for_reading(directory: &Path) -> Result<CheckLedger, Failure> {
    must_be_in(directory)?;
    CheckLedger::open_for_reading(directory).map_err(|error| of_ledger(directory, error))
}

/// Refuses a data directory in which nothing was checked.
pub(super) fn must_be_in(directory: &Path) -> Result<(), Failure> {
    if !CheckLedger::is_in(directory).map_err(|error| command::past::unseen(directory, &error))? {
        let path = directory.shown();
        return Err(Failure::new(format!(
            "{path}: no agent has checked anything there yet; [[check]] in its configuration says what to check"
        )));
    }
    Ok(())
}

/// Describes a failure of its ledger.
pub(super) fn of_ledger(directory: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {error}", directory.shown()))
}

/// Refuses the name of a check, with those that are named most alike.
pub(super) fn unknown(name: &str, known: &[impl AsRef<str>]) -> Failure {
    let hint = match arguments::is_action(name) {
        true => format!(" (an action stands before what it is for: whit check {name} …)"),
        false => text::nearest::did_you_mean(name, known.iter().map(AsRef::as_ref)),
    };
    Failure::new(format!("no check is called \"{}\"{hint}; whit check list --all lists them", name.shown()))
}
