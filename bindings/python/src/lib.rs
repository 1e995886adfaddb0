//! The readings and the history of whit for Python: `whit._whit`, which the package `whit` shows under its own name.
//!
//! A reading is a dictionary whose keys have their unit, as in the program's JSON; what is not known is None, never 0.

mod directory;
mod error;
mod history;
mod machine;
mod mailbox;
mod run;
mod sampler;
mod tasks;

use pyo3::prelude::*;

#[pymodule]
fn _whit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(directory::scan, module)?)?;
    module.add_function(wrap_pyfunction!(machine::sysctl, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::delays, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::tasks, module)?)?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<tasks::Tasks>()?;
    module.add_class::<mailbox::Mailbox>()?;
    module.add_class::<sampler::Sampler>()?;
    module.add_class::<history::History>()
}
