//! Checks that whit does itself, without a process.

mod certificate;
mod expression;
mod files;
mod found;
mod look;
mod names;
mod network;
mod ping;
mod pool;
mod processes;
mod subject;
mod units;

pub(super) use look::look;
pub(super) use pool::{Looked, NativePool};
pub use subject::{CertificateCheck, ExpressionCheck, FileCheck, HttpCheck, NameCheck, Native, PingCheck};
