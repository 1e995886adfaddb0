//! Values and rates as people read them. Everything writes into a buffer that goes out with one write.

pub(crate) mod age;
pub(crate) mod age_json;
pub(crate) mod bench;
pub(crate) mod bench_html;
pub(crate) mod columns;
pub(crate) mod delays;
pub(crate) mod delays_classic;
pub(crate) mod delays_json;
pub(crate) mod division;
pub(crate) mod doctor;
pub(crate) mod memory;
pub(crate) mod memory_json;
pub(crate) mod nearest;
pub(crate) mod run;
pub(crate) mod run_json;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod template;
pub(crate) mod text;
pub(crate) mod traffic;
pub(crate) mod units;

/// What stands where a value is absent.
pub(crate) const ABSENT: &str = "–";
/// What stands where the reader cannot tell whether a value is absent.
pub(crate) const UNSURE: &str = "?";
