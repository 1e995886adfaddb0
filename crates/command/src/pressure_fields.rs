//! The fields of a pressure file in JSON: one shape for `free` and `top`.

use facts::linux::pressure::{Pressure, Stall};
use serde::Serialize;

/// Stalls of some and of all tasks.
#[derive(Debug, Serialize)]
pub struct PressureFields {
    some: Option<StallFields>,
    full: Option<StallFields>,
}

#[derive(Debug, Serialize)]
struct StallFields {
    average_10s_ratio: f64,
    average_60s_ratio: f64,
    average_300s_ratio: f64,
    total_ns: u64,
}

impl PressureFields {
    /// The fields of a pressure.
    pub fn new(pressure: &Pressure) -> Self {
        Self { some: pressure.some.map(StallFields::new), full: pressure.full.map(StallFields::new) }
    }
}

impl StallFields {
    fn new(stall: Stall) -> Self {
        let percent = stall.averages_percent();
        let [average_10s_ratio, average_60s_ratio, average_300s_ratio] =
            percent.map(|percent| percent / 100.0);
        Self { average_10s_ratio, average_60s_ratio, average_300s_ratio, total_ns: stall.total.0 }
    }
}
