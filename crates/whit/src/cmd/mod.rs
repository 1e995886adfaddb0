//! One file a subcommand: glue between the rooms, no decisions of its own.

pub(crate) mod bar;
pub(crate) mod delays;
pub(crate) mod doctor;
pub(crate) mod free;
pub(crate) mod pages;
