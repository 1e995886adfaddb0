//! Metrics of other programs, recorded beside those of the machine: exporters are asked over HTTP, and files of a directory are read
//! (docs/EXPORTERS.md).
//!
//! Each target has a thread of its own (`worker`), so that one that hangs delays no other: it fetches a text (`fetching`, `text_files`) and
//! makes samples of it (`reading`). One thread (`watch`) says when they are read (`target`), and writes what has come to a history of its own
//! (`recording`), as the checks have one.

#![forbid(unsafe_code)]

mod fetching;
mod options;
mod reading;
mod recording;
mod status;
pub mod tables;
mod target;
mod text_files;
mod watch;
mod worker;

pub use options::{ExporterOptions, Place, TargetOptions};
pub use status::TargetStatus;
pub use watch::ExporterWatch;
