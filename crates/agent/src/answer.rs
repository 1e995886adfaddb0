//! Answers as Prometheus' HTTP API has them.
//!
//! <https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats>

use std::fmt::Write as _;

use formats::series_name::SeriesName;
use query::number::write_in_full;
use query::{Answer, Point};
use serde_json::{Map, Value, json};
use text::printable::Shown as _;

/// The `data` of a reply.
pub fn to_json(answer: &Answer) -> Value {
    match answer {
        Answer::Scalar(point) => json!({ "resultType": "scalar", "result": point_json(*point) }),
        Answer::Text(text) => json!({ "resultType": "string", "result": [0, text] }),
        Answer::Vector(series) => {
            let one = |(name, point): &(SeriesName, Point)| json!({ "metric": labels_json(name), "value": point_json(*point) });
            json!({ "resultType": "vector", "result": series.iter().map(one).collect::<Vec<_>>() })
        }
        Answer::Matrix(series) => {
            let one = |(name, points): &(SeriesName, Vec<Point>)| {
                let points: Vec<Value> = points.iter().map(|point| point_json(*point)).collect();
                json!({ "metric": labels_json(name), "values": points })
            };
            json!({ "resultType": "matrix", "result": series.iter().map(one).collect::<Vec<_>>() })
        }
    }
}

/// Labels as an object, in order.
pub fn labels_json(name: &SeriesName) -> Value {
    Value::Object(
        name.labels().map(|(label, value)| (label.to_owned(), Value::from(value))).collect::<Map<_, _>>(),
    )
}

/// Seconds since 1970, and the value as a text, since JSON has no NaN.
fn point_json(point: Point) -> Value {
    json!([seconds(point.at_ms), number(point.value)])
}

/// A time in milliseconds since 1970 as the API has it where it is no number.
pub fn rfc3339(at_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default().to_string()
}

fn seconds(at_ms: i64) -> Value {
    match at_ms % 1000 {
        0 => json!(at_ms / 1000),
        _ => json!(at_ms as f64 / 1000.0),
    }
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
pub(crate) fn from_json(data: &Value) -> Option<Answer> {
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
    use super::*;

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
