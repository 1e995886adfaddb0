//! Sums that lose nothing to rounding.
//!
//! They are Neumaier's, as Prometheus' are: a thousand small increments of a large counter are not lost, and a sum hardly depends on the order
//! in which series come.

/// A sum with what rounding took from it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) sum: f64,
    lost: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, value: f64) {
        let total = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - total) + value
        } else {
            (value - total) + self.sum
        };
        self.sum = total;
    }

    pub(crate) fn exact(self) -> f64 {
        self.sum + self.lost
    }

    /// Returns the sum, corrected by what was lost in rounding. An infinite sum is not corrected: what it lost is NaN.
    pub(crate) fn total(self) -> f64 {
        if self.sum.is_infinite() { self.sum } else { self.exact() }
    }
}
