//! Functions of the samples in a range.
//!
//! Where a formula is Prometheus' own (how far a rate goes on beyond its samples), it is described in
//! <https://prometheus.io/docs/prometheus/latest/querying/functions/>.

use crate::function::OverTime;
use crate::samples::Run;
use crate::sum::Sum;

/// The samples of one series in one range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'r> {
    /// Without samples there is no window.
    pub(crate) runs: &'r [Run],
    /// The range, both ends included.
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    /// The time for which it is asked.
    pub(crate) at_ms: i64,
    /// The scalar beside the range.
    pub(crate) argument: f64,
    /// The series may have begun shortly before its first sample, where a counter is 0.
    pub(crate) may_begin: bool,
}

/// Applies a function to a window; `None` if it needs more samples.
pub(crate) fn apply(function: OverTime, window: &Window<'_>) -> Option<f64> {
    let runs = window.runs;
    let (first, last) = (runs.first()?, runs.last()?);
    Some(match function {
        OverTime::Rate => increase(window, true)? / (seconds(window.to_ms - window.from_ms)),
        OverTime::Increase => increase(window, true)?,
        OverTime::Delta => increase(window, false)?,
        OverTime::InstantRate => {
            let (before, elapsed) = last_two(runs)?;
            let step = if last.value < before { last.value } else { last.value - before };
            step / elapsed
        }
        OverTime::InstantDelta => last.value - last_two(runs)?.0,
        OverTime::Derivative => line(runs, first.first_ms)?.0,
        OverTime::PredictLinear => {
            let (slope, intercept) = line(runs, window.at_ms)?;
            slope * window.argument + intercept
        }
        OverTime::Changes => {
            let differs = |pair: &&[Run]| {
                pair[0].value != pair[1].value && !(pair[0].value.is_nan() && pair[1].value.is_nan())
            };
            // A NaN that is held is not another one.
            runs.windows(2).filter(differs).count() as f64
        }
        OverTime::Resets => runs.windows(2).filter(|pair| pair[1].value < pair[0].value).count() as f64,
        OverTime::Count => count(runs) as f64,
        OverTime::Last => last.value,
        OverTime::Present => 1.0,
        OverTime::Minimum => extreme(runs, |value, least| value < least),
        OverTime::Maximum => extreme(runs, |value, most| value > most),
        OverTime::Sum => {
            let mut sum = Sum::default();
            values(runs).for_each(|value| sum.add(value));
            sum.total()
        }
        OverTime::Average => average(runs),
        OverTime::StandardDeviation => variance(runs).sqrt(),
        OverTime::Variance => variance(runs),
        OverTime::Quantile => quantile(window.argument, values(runs).collect()),
    })
}

fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

fn count(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.count).sum()
}

fn values(runs: &[Run]) -> impl Iterator<Item = f64> {
    runs.iter().flat_map(|run| std::iter::repeat_n(run.value, run.count))
}

/// Returns what a counter has grown (or a gauge has changed) over the whole range. Its samples do not reach the ends of the range: it is
/// taken to go on as it did between them, to the ends if these are near, or half the usual distance of two samples; and a counter that may
/// have begun there never to less than 0.
fn increase(window: &Window<'_>, is_counter: bool) -> Option<f64> {
    let runs = window.runs;
    let (first, last, count) = (runs.first()?, runs.last()?, count(runs));
    if count < 2 {
        return None;
    }
    let mut grown = last.value - first.value;
    if is_counter {
        for pair in runs.windows(2) {
            if pair[1].value < pair[0].value {
                grown += pair[0].value;
            }
        }
    }
    let mut to_start = seconds(first.first_ms - window.from_ms);
    let to_end = seconds(window.to_ms - last.last_ms);
    let sampled = seconds(last.last_ms - first.first_ms);
    let usual = sampled / (count - 1) as f64;
    if is_counter && window.may_begin && grown > 0.0 && first.value >= 0.0 {
        to_start = to_start.min(sampled * (first.value / grown));
    }
    let near = usual * 1.1;
    let mut covered = sampled;
    for distance in [to_start, to_end] {
        covered += if distance < near { distance } else { usual / 2.0 };
    }
    Some(grown * (covered / sampled))
}

/// The last value but one, and the seconds from it to the last.
fn last_two(runs: &[Run]) -> Option<(f64, f64)> {
    let last = runs.last()?;
    let (value, at_ms) = if last.count > 1 {
        (last.value, last.last_ms - (last.last_ms - last.first_ms) / (last.count as i64 - 1))
    } else {
        let before = runs.get(runs.len().checked_sub(2)?)?;
        (before.value, before.last_ms)
    };
    let elapsed = seconds(last.last_ms - at_ms);
    (elapsed != 0.0).then_some((value, elapsed))
}

/// The least or the greatest value; NaN only if there is no other.
fn extreme(runs: &[Run], is_beyond: fn(f64, f64) -> bool) -> f64 {
    let mut values = runs.iter().map(|run| run.value);
    let first = values.next().unwrap_or(f64::NAN);
    values.fold(first, |found, value| if is_beyond(value, found) || found.is_nan() { value } else { found })
}

fn average(runs: &[Run]) -> f64 {
    let (mut mean, mut count) = (Sum::default(), 0.0);
    for value in values(runs) {
        count += 1.0;
        let sum = mean.sum;
        // Once infinite it stays so, unless something changes that.
        if sum.is_infinite() && (value.is_finite() || value.is_infinite() && (value > 0.0) == (sum > 0.0)) {
            continue;
        }
        mean.add(value / count - sum / count);
    }
    mean.total()
}

fn variance(runs: &[Run]) -> f64 {
    let (mut mean, mut squares, mut count) = (Sum::default(), Sum::default(), 0.0);
    for value in values(runs) {
        count += 1.0;
        let distance = value - mean.exact();
        mean.add(distance / count);
        squares.add(distance * (value - mean.exact()));
    }
    squares.exact() / count
}

/// The slope a second and the value at an instant of the line through the samples, by least squares.
fn line(runs: &[Run], at_ms: i64) -> Option<(f64, f64)> {
    if count(runs) < 2 {
        return None;
    }
    let first = runs.first()?.value;
    if runs.iter().all(|run| run.value == first) {
        return Some(if first.is_infinite() { (f64::NAN, f64::NAN) } else { (0.0, first) });
    }
    let [mut x_sum, mut y_sum, mut xy_sum, mut xx_sum] = [Sum::default(); 4];
    let mut count = 0.0;
    for run in runs {
        for place in 0..run.count {
            // Instants of a held value are as far from one another as can be.
            let steps = (run.count - 1).max(1) as i64;
            let moment_ms = run.first_ms + (run.last_ms - run.first_ms) * place as i64 / steps;
            let x = seconds(moment_ms - at_ms);
            count += 1.0;
            x_sum.add(x);
            y_sum.add(run.value);
            xy_sum.add(x * run.value);
            xx_sum.add(x * x);
        }
    }
    let [x, y, xy, xx] = [x_sum, y_sum, xy_sum, xx_sum].map(Sum::exact);
    let slope = (xy - x * y / count) / (xx - x * x / count);
    Some((slope, y / count - slope * x / count))
}

/// The value below which a part of the values lies, between the two that are nearest.
pub(crate) fn quantile(part: f64, mut values: Vec<f64>) -> f64 {
    if values.is_empty() || part.is_nan() {
        return f64::NAN;
    }
    if part < 0.0 {
        return f64::NEG_INFINITY;
    }
    if part > 1.0 {
        return f64::INFINITY;
    }
    // NaN is the least.
    values.sort_by(|one, other| match (one.is_nan(), other.is_nan()) {
        (false, false) => one.total_cmp(other),
        (one, other) => other.cmp(&one),
    });
    let rank = part * (values.len() - 1) as f64;
    let lower = rank.floor() as usize;
    let upper = (lower + 1).min(values.len() - 1);
    let weight = rank - rank.floor();
    values[lower] * (1.0 - weight) + values[upper] * weight
}
