//! What went wrong, as Python says it.

use std::fmt::Display;
use std::io;

use facts::sample::Absence;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyPermissionError, PyProcessLookupError};

/// Returns the exception for something that cannot be read.
pub(crate) fn unreadable(what: impl Display, absence: Absence) -> PyErr {
    let message = format!("{what}: {absence}");
    match absence {
        Absence::Denied => PyPermissionError::new_err(message),
        Absence::Gone => PyProcessLookupError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// Returns the exception that Python has for a kind of error of a system call.
pub(crate) fn of_system(what: impl Display, error: &io::Error) -> PyErr {
    io::Error::new(error.kind(), format!("{what}: {error}")).into()
}

/// Returns the exception for another error of the system.
pub(crate) fn failed(error: impl Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}
