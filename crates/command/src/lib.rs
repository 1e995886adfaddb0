//! Parts that all commands share: options and their kinds of values, failures and exit statuses, documents, output, paths, and the
//! past for views of the present.
//!
//! A command's crate depends on this one and on no other command's.

#![forbid(unsafe_code)]

#[cfg(feature = "agent")]
pub mod agent_files;
pub mod agent_problems;
pub mod agent_rows;
pub mod delay_accounting;
pub mod document;
pub mod failure;
pub mod instant;
pub mod kind;
pub mod new_file;
pub mod options;
pub mod output;
#[cfg(feature = "agent")]
pub mod past;
#[cfg(not(feature = "agent"))]
#[path = "no_past.rs"]
pub mod past;
#[cfg(feature = "agent")]
pub mod past_origin;
pub mod paths;
pub mod pressure_fields;
pub mod progress;
pub mod quantity;
#[cfg(feature = "agent")]
pub mod running_agent;
pub mod task_fields;
pub mod time_zone;
