//! Injected faults, to test clients.

use facts::unit::Nanos;

/// A fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is reset in its place.
    Reset,
    /// It comes later by so much.
    Slow(Nanos),
    /// Half of it comes, and then the end.
    Half,
}

impl Fault {
    /// As the option and the log name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Slow(_) => "slow",
            Self::Half => "half",
        }
    }
}

/// Faults and how often each happens, of all answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Faults(pub(crate) Vec<(f64, Fault)>);

/// Random enough to be spread, and the same in every run: xorshift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        // Seeds that follow each other must not begin alike.
        let mut dice = Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.next();
        dice
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Faults {
    /// The fault of the next answer, if it has one.
    pub(super) fn roll(&self, dice: &mut Dice) -> Option<Fault> {
        let mut at = dice.next();
        self.0.iter().find_map(|(rate, fault)| {
            at -= rate;
            (at < 0.0).then_some(*fault)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_happen_as_often_as_asked_for() {
        let faults = Faults(vec![(0.1, Fault::Reset), (0.3, Fault::Half)]);
        let mut counts = [0; 3];
        for client in 0..1_000 {
            let mut dice = Dice::new(client);
            for _ in 0..10 {
                let place = match faults.roll(&mut dice) {
                    Some(Fault::Reset) => 0,
                    Some(_) => 1,
                    None => 2,
                };
                counts[place] += 1;
            }
        }
        for (count, expected) in counts.into_iter().zip([1_000.0_f64, 3_000.0, 6_000.0]) {
            assert!((f64::from(count) / expected - 1.0).abs() < 0.1, "{counts:?}");
        }
    }
}
