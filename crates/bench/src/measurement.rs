//! One measurement: several ways to the same end, in turn, again and again.

use super::programs;

/// Several sides, the first of which is whit's.
pub(crate) struct Measurement {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// How it is measured, in a sentence.
    pub(super) how: String,
    /// The unit of the number.
    pub(super) unit: Unit,
    /// Fewer than are asked for, where a round takes long.
    pub(super) most_rounds: usize,
    pub(super) sides: Vec<Side>,
}

/// The quantity that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds on a CPU.
    Cpu(&'static str),
    /// Nanoseconds that pass.
    Wall(&'static str),
    /// A number of something.
    Count(&'static str),
}

/// One way.
pub(super) struct Side {
    name: String,
    /// Programs that it cannot do without.
    needs: Vec<&'static str>,
    run: Run,
}

type Run = Box<dyn FnMut() -> Result<f64, String>>;

/// A side that could not be measured: whether it should have been, and why it was not.
type Unmeasured = (bool, String);

/// The results of a side.
#[derive(Clone, Debug)]
pub(crate) struct SideMeasured {
    pub(crate) name: String,
    pub(crate) ns: Result<Spread, Unmeasured>,
    /// To whit's side, round by round.
    pub(crate) ratio: Option<Spread>,
}

/// The results of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) how: String,
    pub(crate) unit: Unit,
    pub(crate) rounds: usize,
    pub(crate) sides: Vec<SideMeasured>,
}

/// The spread of several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => *values.get(middle)?,
            _ => (values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0,
        };
        Some(Self { median, least: *values.first()?, most: *values.last()? })
    }
}

impl Measurement {
    pub(super) fn new(name: &'static str, title: &'static str, unit: Unit, how: impl Into<String>) -> Self {
        Self { name, title, how: how.into(), unit, most_rounds: usize::MAX, sides: Vec::new() }
    }

    /// Adds a way; the first is whit's.
    pub(super) fn side(
        mut self,
        name: impl Into<String>,
        needs: &[&'static str],
        run: impl FnMut() -> Result<f64, String> + 'static,
    ) -> Self {
        self.sides.push(Side { name: name.into(), needs: needs.to_vec(), run: Box::new(run) });
        self
    }

    pub(super) fn at_most(mut self, rounds: usize) -> Self {
        self.most_rounds = rounds;
        self
    }

    /// Runs a round for warming up, which does not count, and then as many as are asked for. Calls `goes_on` before each side with the
    /// round and the number of rounds. Returns `None` if it says that this is enough.
    pub(super) fn run(mut self, rounds: usize, goes_on: &dyn Fn(usize, usize) -> bool) -> Option<Measured> {
        let rounds = rounds.min(self.most_rounds).max(1);
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.sides.len()];
        let mut unmeasured: Vec<Option<Unmeasured>> = self
            .sides
            .iter()
            .map(|side| {
                let missing = side.needs.iter().find(|program| !programs::is_there(program))?;
                Some((false, format!("{missing} is not installed")))
            })
            .collect();
        for round in 0..=rounds {
            for ((side, values), unmeasured) in
                self.sides.iter_mut().zip(&mut values).zip(&mut unmeasured).filter(|(_, lost)| lost.is_none())
            {
                if !goes_on(round, rounds) {
                    return None;
                }
                match (side.run)() {
                    Ok(_) if round == 0 => {}
                    Ok(value) => values.push(value),
                    Err(error) => *unmeasured = Some((true, error)),
                }
            }
        }
        let ratios: Vec<Option<Spread>> = values
            .iter()
            .map(|theirs| {
                Spread::of(theirs.iter().zip(&values[0]).map(|(theirs, ours)| theirs / ours).collect())
            })
            .collect();
        let sides =
            std::mem::take(&mut self.sides).into_iter().zip(values).zip(unmeasured).zip(ratios).enumerate();
        let sides = sides.map(|(place, (((side, values), unmeasured), ratio))| SideMeasured {
            name: side.name,
            ns: match (unmeasured, Spread::of(values)) {
                (Some(unmeasured), _) => Err(unmeasured),
                (None, spread) => spread.ok_or((true, "nothing was measured".to_owned())),
            },
            ratio: ratio.filter(|_| place > 0),
        });
        let mut sides: Vec<SideMeasured> = sides.collect();
        // Of a pair that was not measured to the end there is no ratio.
        let has_ours = sides.first().is_some_and(|ours| ours.ns.is_ok());
        for side in &mut sides {
            side.ratio = side.ratio.filter(|_| has_ours && side.ns.is_ok());
        }
        let Self { name, title, how, unit, .. } = self;
        // What was interrupted from elsewhere, as Ctrl-C does, measured nothing.
        goes_on(rounds, rounds).then_some(Measured { name, title, how, unit, rounds, sides })
    }
}

/// Returns the CPU time of whit's own code per unit, in nanoseconds.
pub(super) fn own_cpu(units: u32, mut work: impl FnMut()) -> f64 {
    let before = probe::own_cpu_time();
    (0..units).for_each(|_| work());
    // Of one clock that only goes forward.
    probe::own_cpu_time().saturating_sub(before).0 as f64 / f64::from(units)
}

/// Returns the wall time of whit's own code per unit, in nanoseconds.
pub(super) fn own_wall(units: u32, mut work: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    let before = probe::monotonic_now();
    for _ in 0..units {
        work()?;
    }
    Ok(probe::monotonic_now().saturating_sub(before).0 as f64 / f64::from(units))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_paired_and_the_first_does_not_count() {
        let mut round = 0.0;
        let ours = move || {
            round += 1.0;
            Ok(round)
        };
        let mut theirs_round = 0.0;
        let theirs = move || {
            theirs_round += 1.0;
            Ok(theirs_round * 3.0)
        };
        let measured = Measurement::new("x", "X", Unit::Wall("a round"), "how")
            .side("whit", &[], ours)
            .side("other", &[], theirs)
            .side("missing", &["no-such-program-here"], || Ok(1.0))
            .side("broken", &[], || Err("broke".to_owned()))
            .run(3, &|_, _| true)
            .unwrap();
        let [ours, theirs, missing, broken] = &measured.sides[..] else { panic!() };
        assert_eq!(ours.ns, Ok(Spread { median: 3.0, least: 2.0, most: 4.0 }));
        assert_eq!(theirs.ratio, Some(Spread { median: 3.0, least: 3.0, most: 3.0 }));
        assert_eq!(missing.ns, Err((false, "no-such-program-here is not installed".to_owned())));
        assert_eq!((&broken.ns, broken.ratio), (&Err((true, "broke".to_owned())), None));
    }
}
