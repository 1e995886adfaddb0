//! One segment, one file: its kind (what the configuration can say of it), what it wants, what it says.

pub(crate) mod backlight;
pub(crate) mod battery;
pub(crate) mod checks;
pub(crate) mod command;
pub(crate) mod cpu;
pub(crate) mod date;
mod date_words;
pub(crate) mod delays;
pub(crate) mod disk;
pub(crate) mod disk_io;
#[cfg(feature = "feeds")]
pub(crate) mod feeds;
pub(crate) mod file;
pub(crate) mod frequency;
pub(crate) mod load;
pub(crate) mod mail;
pub(crate) mod memory;
pub(crate) mod net;
pub(crate) mod path;
pub(crate) mod pressure;
pub(crate) mod process;
pub(crate) mod swap;
pub(crate) mod temperature;
pub(crate) mod text;
pub(crate) mod uptime;

use ::text::template::Field;

/// A row of a kind's table of fields.
const fn field(name: &'static str, help: &'static str) -> Field {
    Field { name, help }
}
