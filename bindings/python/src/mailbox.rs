//! Unread mail.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::unreadable;

/// A mailbox, mbox or Maildir, that is read again and again: the next reading of an mbox costs what was appended.
#[pyclass(module = "whit")]
pub(crate) struct Mailbox(probe::mailbox::Mailbox);

#[pymethods]
impl Mailbox {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self(probe::mailbox::Mailbox::new(path))
    }

    /// Returns how many messages there are, and how many of them were not read.
    fn read<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mailbox = &mut self.0;
        let read = py.detach(|| mailbox.read());
        let count = read.map_err(|absence| unreadable(self.0.path().display(), absence))?;
        let counts = PyDict::new(py);
        counts.set_item("messages", count.total)?;
        counts.set_item("unread", count.unread)?;
        Ok(counts)
    }
}
