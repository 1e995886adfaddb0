//! Answers as Prometheus' HTTP API has them.
//!
//! <https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats>

use std::fmt::Write as _;

use formats::series_name::SeriesName;
use query::number::write_in_full;
use query::{Answer, Point};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
use text::printable::Shown as _;

/// An answer as the `data` of a reply. It is written value by value: as a tree a large one would take ten times the memory.
#[derive(Debug)]
pub struct ReplyData<'a>(pub &'a Answer);

impl Serialize for ReplyData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Answer::Scalar(point) => typed("scalar", &PointData(point), serializer),
            Answer::Text(text) => typed("string", &(0, text), serializer),
            Answer::Vector(series) => typed("vector", &Each(series, instant), serializer),
            Answer::Matrix(series) => typed("matrix", &Each(series, range), serializer),
        }
    }
}

fn typed<S: Serializer>(kind: &str, result: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    let mut data = serializer.serialize_map(Some(2))?;
    data.serialize_entry("result", result)?;
    data.serialize_entry("resultType", kind)?;
    data.end()
}

#[derive(Serialize)]
struct InstantData<'a> {
    metric: Labels<'a>,
    value: PointData<'a>,
}

fn instant((name, point): &(SeriesName, Point)) -> InstantData<'_> {
    InstantData { metric: Labels(name), value: PointData(point) }
}

#[derive(Serialize)]
struct RangeData<'a> {
    metric: Labels<'a>,
    values: Each<'a, Point, fn(&'a Point) -> PointData<'a>>,
}

fn range((name, points): &(SeriesName, Vec<Point>)) -> RangeData<'_> {
    RangeData { metric: Labels(name), values: Each(points, PointData) }
}

/// A list. Each element is converted when it is written.
struct Each<'a, T, F>(&'a [T], F);

impl<'a, T, D: Serialize, F: Fn(&'a T) -> D> Serialize for Each<'a, T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

/// Labels as an object, in order.
#[derive(Debug)]
pub struct Labels<'a>(pub &'a SeriesName);

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.labels())
    }
}

/// Seconds since 1970, and the value as a text, since JSON has no NaN.
struct PointData<'a>(&'a Point);

impl Serialize for PointData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Point { at_ms, value } = *self.0;
        let value = number(value);
        match at_ms % 1000 {
            0 => (at_ms / 1000, value).serialize(serializer),
            _ => (at_ms as f64 / 1000.0, value).serialize(serializer),
        }
    }
}

/// A time in milliseconds since 1970 as the API has it where it is no number.
pub fn rfc3339(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default().to_string()
}

/// In full, unless it is very long.
fn number(value: f64) -> String {
    let is_long = value != 0.0 && value.is_finite() && !(1e-6..1e21).contains(&value.abs());
    if is_long { format!("{value:e}") } else { write_in_full(value) }
}

/// Appends a line a sample: milliseconds would be enough, but exports have nanoseconds.
pub fn push_csv(answer: &Answer, text: &mut String) {
    text.push_str(formats::sample_lines::CSV_HEAD);
    text.push('\n');
    let mut push = |name: &SeriesName, point: &Point| {
        let nanoseconds = i128::from(point.at_ms) * 1_000_000;
        let quoted = written(name).replace('"', "\"\"");
        let _ = writeln!(text, "{nanoseconds},\"{quoted}\",{}", write_in_full(point.value));
    };
    match answer {
        Answer::Scalar(point) => push(&SeriesName::default(), point),
        Answer::Text(_) => {}
        Answer::Vector(series) => series.iter().for_each(|(name, point)| push(name, point)),
        Answer::Matrix(series) => {
            series.iter().for_each(|(name, points)| points.iter().for_each(|point| push(name, point)));
        }
    }
}

/// A series without labels has a name, too.
pub fn written(name: &SeriesName) -> String {
    match name.to_string() {
        empty if empty.is_empty() => "{}".to_owned(),
        name => name.shown().to_string(),
    }
}

/// The answer in the `data` of a reply; `None` if it is none.
pub fn from_json(data: &Value) -> Option<Answer> {
    let result = &data["result"];
    let point = |point: &Value| {
        let at_ms = (point.get(0)?.as_f64()? * 1000.0).round() as i64;
        Some(Point { at_ms, value: query::number::parse(point.get(1)?.as_str()?)? })
    };
    let name = |series: &Value| {
        let mut name = SeriesName::default();
        for (label, value) in series["metric"].as_object()? {
            name.set(label, value.as_str()?);
        }
        Some(name)
    };
    Some(match data["resultType"].as_str()? {
        "scalar" => Answer::Scalar(point(result)?),
        "string" => Answer::Text(result.get(1)?.as_str()?.to_owned()),
        "vector" => {
            let one = |series: &Value| Some((name(series)?, point(&series["value"])?));
            Answer::Vector(result.as_array()?.iter().map(one).collect::<Option<_>>()?)
        }
        "matrix" => {
            let one = |series: &Value| {
                let points = series["values"].as_array()?.iter().map(point).collect::<Option<Vec<_>>>()?;
                Some((name(series)?, points))
            };
            Answer::Matrix(result.as_array()?.iter().map(one).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn to_json(answer: &Answer) -> Value {
        serde_json::to_value(ReplyData(answer)).unwrap()
    }

    #[test]
    fn answers_come_back() {
        let name = SeriesName::parse("up{job=\"a\\\"b\"}").unwrap();
        let points = [0.1, -0.0, f64::INFINITY, 1e300, 1e-9, 123_456_789_012.5].into_iter().enumerate();
        let points: Vec<Point> =
            points.map(|(place, value)| Point { at_ms: 1_700_000_000_123 + place as i64, value }).collect();
        for answer in [
            Answer::Matrix(vec![(name.clone(), points.clone()), (SeriesName::default(), Vec::new())]),
            Answer::Vector(points.iter().map(|point| (name.clone(), *point)).collect()),
            Answer::Scalar(points[0]),
            Answer::Text("a".to_owned()),
        ] {
            assert_eq!(from_json(&to_json(&answer)), Some(answer));
        }
        assert_eq!(from_json(&json!({ "resultType": "vector", "result": [{}] })), None);
        assert_eq!(
            to_json(&Answer::Scalar(Point { at_ms: 5000, value: f64::NAN }))["result"],
            json!([5, "NaN"])
        );
    }
}
