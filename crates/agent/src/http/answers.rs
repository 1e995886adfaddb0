//! Answers as plots need them: columns at the same times.

use formats::series_name::SeriesName;
use query::{Answer, Limits, Point, Query, QueryError, Source};

use fleet::Asked;
use history::drawing::measure_of;
use history::past::{BatchedSource, Past};

use super::replies::{Answers, Curve, Curves, Fault};

/// The most points that the values of one tick may have.
const MAX_POINTS_AT_A_TICK: usize = 200_000;

/// The most points that all curves of an answer may have together.
const MAX_POINTS: usize = 2_000_000;
const TOO_MANY: &str = "the series are too many for a plot: sum them, or select fewer";

/// Steps of a time in milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    pub(super) step_ms: i64,
}

impl Steps {
    fn count(self) -> usize {
        usize::try_from((self.to_ms - self.from_ms) / self.step_ms + 1).unwrap_or(0)
    }

    fn place(self, at_ms: i64) -> usize {
        usize::try_from((at_ms - self.from_ms) / self.step_ms).unwrap_or(usize::MAX)
    }
}

impl From<Steps> for Asked {
    fn from(Steps { from_ms, to_ms, step_ms }: Steps) -> Self {
        Self::Between { from_ms, to_ms, step_ms }
    }
}

/// The values of expressions at an instant.
pub(super) fn of_instant(
    queries: &[Query],
    source: &dyn Source,
    at_ms: i64,
    is_interrupted: &dyn Fn() -> bool,
) -> Answers {
    let limits = Limits { most_points: MAX_POINTS_AT_A_TICK, is_interrupted, ..Limits::default() };
    let steps = Steps { from_ms: at_ms, to_ms: at_ms, step_ms: 1 };
    let answers = queries.iter().map(|query| curves("", query.at(source, at_ms, &limits), steps)).collect();
    Answers { from_ms: at_ms, step_ms: steps.step_ms, count: 1, answers }
}

/// Returns an error in place of each of so many expressions.
pub(super) fn too_large(count: usize, at_ms: i64) -> Answers {
    let message = "the values are too many for a page that is open: sum them, or select fewer";
    let one = |_| {
        let fault = Fault { message: message.to_owned(), place: None };
        Curves { measure: measure_of("").name(), curves: Vec::new(), fault: Some(fault) }
    };
    Answers { from_ms: at_ms, step_ms: 1, count: 1, answers: (0..count).map(one).collect() }
}

/// Returns the values of expressions at each step. The error of an expression is in its place.
pub(super) fn between(texts: &[String], past: &Past, steps: Steps, limits: &Limits<'_>) -> Answers {
    let all = |past: &dyn Source| -> Vec<Curves> {
        let mut left = MAX_POINTS;
        let one = |text: &String| {
            let answer = Query::parse(text)
                .and_then(|query| query.between(past, [steps.from_ms, steps.to_ms], steps.step_ms, limits));
            match fits(answer.as_ref().ok(), steps, &mut left) {
                true => curves(text, answer, steps),
                false => refused(text, TOO_MANY.to_owned()),
            }
        };
        texts.iter().map(one).collect()
    };
    // If the batch cannot be read, each expression reports its own error.
    let answers = BatchedSource::evaluate(past, limits, |past| Ok(all(past))).unwrap_or_else(|_| all(past));
    Answers { from_ms: steps.from_ms, step_ms: steps.step_ms, count: steps.count(), answers }
}

/// Returns what a store elsewhere answered to expressions.
pub(super) fn of_store(texts: &[String], found: Vec<Result<Answer, String>>, steps: Steps) -> Answers {
    let mut left = MAX_POINTS;
    let one = |(text, answer): (&String, Result<Answer, String>)| match answer {
        Ok(answer) if fits(Some(&answer), steps, &mut left) => curves(text, Ok(answer), steps),
        answer => refused(text, answer.err().unwrap_or_else(|| TOO_MANY.to_owned())),
    };
    let answers = texts.iter().zip(found).map(one).collect();
    Answers { from_ms: steps.from_ms, step_ms: steps.step_ms, count: steps.count(), answers }
}

/// Takes the points of an answer from those that are left; whether there were enough.
fn fits(answer: Option<&Answer>, steps: Steps, left: &mut usize) -> bool {
    let Some(Answer::Matrix(series)) = answer else { return true };
    let rest = left.checked_sub(series.len().saturating_mul(steps.count()));
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Returns an error in the place of an expression.
fn refused(text: &str, message: String) -> Curves {
    let fault = Some(Fault { message, place: None });
    Curves { measure: measure_of(text).name(), curves: Vec::new(), fault }
}

fn curves(text: &str, answer: Result<Answer, QueryError>, steps: Steps) -> Curves {
    let measure = measure_of(text).name();
    let series = match answer {
        Ok(Answer::Matrix(series)) => series,
        Ok(Answer::Vector(values)) => values.into_iter().map(|(name, point)| (name, vec![point])).collect(),
        Ok(Answer::Scalar(point)) => vec![(SeriesName::default(), vec![point])],
        Ok(Answer::Text(_)) => Vec::new(),
        Err(error) => return Curves { measure, curves: Vec::new(), fault: Some(fault(text, &error)) },
    };
    Curves { measure, curves: series.into_iter().map(|series| curve(series, steps)).collect(), fault: None }
}

fn curve((name, points): (SeriesName, Vec<Point>), steps: Steps) -> Curve {
    let mut values = vec![None; steps.count()];
    for point in points {
        if let Some(value) = values.get_mut(steps.place(point.at_ms)).filter(|_| point.value.is_finite()) {
            // A screen shows less, and digits are what is sent.
            *value = Some(point.value as f32);
        }
    }
    Curve {
        labels: name.labels().map(|(label, value)| (label.to_owned(), value.to_owned())).collect(),
        values,
    }
}

fn fault(text: &str, error: &QueryError) -> Fault {
    match error {
        QueryError::Malformed(fault) => {
            let before = fault.place.and_then(|place| text.get(..place));
            // The page counts as its strings do.
            let place = before.map(|before| before.encode_utf16().count() as u32);
            Fault { message: fault.message.clone(), place }
        }
        error => Fault { message: error.to_string(), place: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_a_place_for_each_step() {
        let name = SeriesName::parse("a{b=\"c\"}").unwrap();
        let steps = Steps { from_ms: 1000, to_ms: 4500, step_ms: 1000 };
        let point = |at_ms, value| Point { at_ms, value };
        let points = vec![point(1000, 0.1), point(3000, f64::NAN), point(4000, 3.0)];
        let answer = curves("", Ok(Answer::Matrix(vec![(name, points)])), steps);
        assert_eq!(answer.curves[0].values, [Some(0.1), None, None, Some(3.0)]);
        assert_eq!(answer.curves[0].labels["b"], "c");
    }

    #[test]
    fn a_fault_has_its_place() {
        let text = "vector(\"é𝄞\") +";
        let fault = fault(text, &Query::parse("sum(\"é𝄞\", x y)").unwrap_err());
        assert!(fault.place.is_none_or(|place| place <= 16), "{fault:?}");
    }
}
