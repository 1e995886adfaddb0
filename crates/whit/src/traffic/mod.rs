//! `whit sink` and `whit send`: sockets loaded and measured, for test environments.

mod address;
mod agenda;
mod event_loop;
pub(crate) mod send;
pub(crate) mod sink;
pub(crate) mod waits;

pub(crate) use address::Address;
