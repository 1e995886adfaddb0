//! One output, one file: for whom, in what form.

mod i3bar;
mod plain;

pub(crate) use i3bar::I3bar;
pub(crate) use plain::Plain;
