//! How values read: units, tables, templates, plots. Everything appends to a buffer that the caller writes.

pub mod chain;
pub mod columns;
pub mod natural_order;
pub mod nearest;
pub mod plot;
pub mod printable;
pub mod quantity;
pub mod style;
pub mod table;
pub mod template;
pub mod time_bar;
pub mod units;
pub mod wrap;

/// Stands for an absent value.
pub const ABSENT: &str = "–";
/// Stands for a value that may be absent: the kernel's answer does not say.
pub const UNSURE: &str = "?";
