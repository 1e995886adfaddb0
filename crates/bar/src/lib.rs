//! `whit bar`, the status line: segments say what they want of the machine and what they make of it; an output writes the line.
//!
//! ```text
//! configuration ─► Line: segments, grouped by how often they are drawn (samplers)
//! loop: wait for the next whole interval, a signal, a click, an answer
//!       sampler: probe.sample, rates          what is due, and only that
//!       segment.render ─► appearance ─► block format, thresholds, colours
//!       output.line ─► one write, if it changed
//! ```

#![forbid(unsafe_code)]

mod actions;
mod appearance;
mod arguments;
mod block;
mod clicks;
mod command;
mod config;
mod cycle;
mod debug;
mod events;
mod kind;
mod kinds;
mod line;
mod line_output;
mod options;
mod outflow;
mod outputs;
mod query;
mod reference;
mod segment;
mod segments;
#[cfg(test)]
mod simulation;
mod theme;

pub use self::command::run;
pub use arguments::command;

pub(crate) use block::{Block, Color, Tone};
pub(crate) use config::{Defaults, Origin, import, printed_defaults};
pub(crate) use line_output::{LineOutput, LineStyle, shown};
pub(crate) use reference::reference;
pub(crate) use segment::{Segment, SegmentContext, SegmentInput};
pub(crate) use theme::Theme;
