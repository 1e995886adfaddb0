//! Other people's bytes: protocols and formats that whit shares with other programs.
//!
//! Everything here is pure: no input or output, no clock. What comes from outside is bounded and never trusted; nothing
//! panics, whatever the bytes.

#![forbid(unsafe_code)]

pub mod atom;
pub mod certificate;
pub mod conky;
pub mod containers;
pub mod dbus;
pub mod dns;
pub mod exposition;
pub mod fnmatch;
pub mod hosts;
pub mod i3bar;
pub mod i3status;
mod labels;
#[cfg(feature = "livestatus")]
pub mod livestatus;
pub mod locale;
pub mod nagios;
pub mod passwd;
pub mod perfdata;
mod placed_error;
pub mod plugin_output;
#[cfg(feature = "relabel")]
pub mod re2;
#[cfg(feature = "relabel")]
pub mod redaction;
#[cfg(feature = "relabel")]
pub mod relabel;
#[cfg(feature = "remote-write")]
pub mod remote_write;
pub mod resolv_conf;
#[cfg(feature = "samples")]
pub mod sadf;
#[cfg(feature = "samples")]
pub mod sample_lines;
#[cfg(feature = "samples")]
pub mod samples;
pub mod series_name;
pub mod shell;
pub mod tmpfiles;
pub mod waybar;

pub use placed_error::PlacedError;
