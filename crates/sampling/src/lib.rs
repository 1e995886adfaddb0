//! Watches a machine over time.
//!
//! The parts that every program needs if it reads a machine again and again, whatever it does with the figures: samples and the rates
//! between them ([`machine`], [`network_total`], [`tasks`]), when to take them ([`schedule`], [`ticker`]), names and labels ([`users`],
//! [`task_labels`], [`cgroup_members`], [`containers`]), the output of commands ([`command`]), and what the program itself costs ([`own_cost`]).

pub mod agent_client;
pub mod agent_protocol;
pub mod asleep;
mod cgroup_ids;
pub mod cgroup_members;
pub mod command;
#[cfg_attr(not(feature = "containers"), path = "no_container_files.rs")]
pub mod container_files;
pub mod containers;
pub mod machine;
mod memory;
pub mod network_total;
pub mod own_cost;
pub mod schedule;
pub mod task_labels;
pub mod tasks;
pub mod ticker;
pub mod users;

pub use memory::Formula;
