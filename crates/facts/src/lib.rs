//! The meaning of the kernel's bytes.
//!
//! Everything here is pure: no input or output, no clock, no `unsafe`, no `cfg(target_os)`. A parser takes `&[u8]`
//! and fills a value that the caller keeps, so that a tick allocates nothing; it never panics, whatever the bytes.
//! A difference of two counters is taken in [`rate`] and nowhere else.

#![forbid(unsafe_code)]

pub mod age;
pub mod battery;
pub mod catalog;
pub mod cgroup;
pub mod cgroup_name;
pub mod container;
pub mod cursor;
pub mod freebsd;
pub mod linux;
pub mod mailbox;
pub mod memory;
pub mod name;
pub mod rate;
pub mod sample;
pub mod source;
pub mod task;
pub mod unit;
pub mod varint;
