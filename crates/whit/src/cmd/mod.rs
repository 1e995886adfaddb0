//! One file a subcommand: glue between the rooms, no decisions of its own.

pub(crate) mod bar;
pub(crate) mod delays;
pub(crate) mod free;
