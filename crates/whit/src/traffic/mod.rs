//! `whit sink` and `whit send`: sockets loaded and measured, for test environments.

mod address;
mod agenda;
pub(crate) mod arguments;
mod event_loop;
mod http_body;
pub(crate) mod render;
pub(crate) mod send;
pub(crate) mod sink;
pub(crate) mod waits;
