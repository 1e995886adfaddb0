//! Checks that whit does itself, without a process.

mod certificate;
mod expression;
mod files;
mod names;
mod network;
mod outcome;
mod ping;
mod pool;
mod processes;
mod run;
mod subject;
mod units;

pub(super) use pool::{NativePool, NativeResult};
pub(super) use run::run;
pub use subject::{CertificateCheck, ExpressionCheck, FileCheck, HttpCheck, NameCheck, Native, PingCheck};
