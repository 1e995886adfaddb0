//! The language against Prometheus itself, over the same samples.

use std::fmt::Write as _;
use std::process::Command;

use formats::series_name::SeriesName;
use history::answer::ReplyData;
use libtest_mimic::Failed;
use query::{Answer, Limits, Point, Query, QueryError, STALE_BITS, Selection, Series, Source};
use remote_store::RemoteStore;
use serde_json::{Value, json};

use super::machine::{Scratch, WHIT};
use super::prometheus::Prometheus;
use super::query_expressions::{AT_AN_INSTANT, EXPRESSIONS, REFUSED};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let prometheus = [Need::Program("prometheus")];
    vec![
        exact("expressions_mean_what_they_mean_in_prometheus", &prometheus, expressions),
        exact("what_is_not_in_the_subset_is_refused_by_name", &[], refused),
    ]
}

const START_MS: i64 = 1_700_000_000_000;
const LENGTH_MS: i64 = 3_600_000;

/// Series in memory.
struct Memory(Vec<(SeriesName, Vec<Point>)>);

impl Source for Memory {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let is_inside = |point: &&Point| (selection.from_ms..=selection.to_ms).contains(&point.at_ms);
        let series = self.0.iter().filter(|(name, _)| selection.is_met_by(name)).map(|(name, points)| {
            Series { name: name.clone(), samples: points.iter().filter(is_inside).copied().collect() }
        });
        Ok(series.filter(|series| !series.samples.is_empty()).collect())
    }
}

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An hour of series that come, go, flap, are reset, and are no numbers.
fn data() -> Memory {
    let mut random = Random(7);
    let mut all: Vec<(SeriesName, Vec<Point>)> = Vec::new();
    let mut push = |name: &str, from: f64, to: f64, value: &mut dyn FnMut(i64) -> f64| {
        let name = SeriesName::parse(name).expect("a series");
        let mut points = Vec::new();
        for tick in 0..240_i64 {
            // Every 15 s, but for a few milliseconds.
            let jitter = (tick * 7919 + name.to_string().len() as i64 * 31) % 40;
            let part = tick as f64 / 240.0;
            if part >= from && part < to {
                points.push(Point { at_ms: START_MS + tick * 15_000 + jitter, value: value(tick) });
            } else if part >= to
                && points.last().is_some_and(|last: &Point| last.value.to_bits() != STALE_BITS)
            {
                points.push(Point {
                    at_ms: START_MS + tick * 15_000 + jitter,
                    value: f64::from_bits(STALE_BITS),
                });
            }
        }
        all.push((name, points));
    };
    for (job, instance) in [("web", "a:1"), ("web", "b:1"), ("db", "c:2")] {
        push(&format!("up{{job=\"{job}\",instance=\"{instance}\"}}"), 0.0, 1.0, &mut |tick| {
            f64::from(u8::from(!(100..110).contains(&tick) || instance != "b:1"))
        });
        for code in ["200", "404", "500"] {
            let mut total = 0.0;
            let name = format!("requests_total{{job=\"{job}\",instance=\"{instance}\",code=\"{code}\"}}");
            push(&name, 0.0, 1.0, &mut |tick| {
                total += (random.next() * 50.0).floor();
                if tick == 77 && instance == "a:1" {
                    total = 3.0;
                }
                total
            });
        }
    }
    for (room, floor, base) in
        [("kitchen", "0", 21.5), ("bed", "1", 18.0), ("bath", "1", 24.0), ("attic", "2", -3.0)]
    {
        push(&format!("temp{{room=\"{room}\",floor=\"{floor}\"}}"), 0.0, 1.0, &mut |tick| {
            base + ((tick as f64 / 20.0).sin() * 40.0).round() / 10.0 + random.next()
        });
    }
    push("info{job=\"web\",version=\"2.1\"}", 0.0, 1.0, &mut |_| 1.0);
    push("info{job=\"db\",version=\"9\"}", 0.0, 1.0, &mut |_| 1.0);
    push("constant", 0.0, 1.0, &mut |_| 42.0);
    push("late{job=\"web\"}", 0.6, 1.0, &mut |tick| (tick * 3) as f64);
    push("gone{job=\"db\"}", 0.0, 0.45, &mut |tick| tick as f64);
    push("huge{a=\"1\"}", 0.0, 1.0, &mut |_| 1.5e308);
    push("huge{a=\"2\"}", 0.0, 1.0, &mut |_| 1.6e308);
    push("tiny", 0.0, 1.0, &mut |tick| if tick % 100 == 0 { 1e16 } else { 0.1 });
    push("date", 0.0, 1.0, &mut |tick| 1_600_000_000.0 + tick as f64 * 1_234_567.5);
    push("odd{a=\"nan\"}", 0.0, 1.0, &mut |tick| if tick % 3 == 0 { f64::NAN } else { tick as f64 });
    push("odd{a=\"inf\"}", 0.0, 1.0, &mut |tick| if tick % 4 == 0 { f64::INFINITY } else { -1.0 });
    push("odd{a=\"fine\"}", 0.0, 1.0, &mut |tick| -tick as f64);
    for (job, bounds) in [("web", &["0.1", "0.5", "1", "+Inf"][..]), ("db", &["0.1", "0.5", "2.5"][..])] {
        for (place, bound) in bounds.iter().enumerate() {
            let mut total = 0.0;
            push(&format!("latency_bucket{{job=\"{job}\",le=\"{bound}\"}}"), 0.0, 1.0, &mut |_| {
                total += (place + 1) as f64 * 3.0;
                total
            });
        }
    }
    // It comes and goes.
    let mut points = Vec::new();
    for tick in 0..240_i64 {
        let at_ms = START_MS + tick * 15_000;
        match tick / 11 % 2 {
            0 => points.push(Point { at_ms, value: tick as f64 }),
            _ if tick % 11 == 0 => points.push(Point { at_ms, value: f64::from_bits(STALE_BITS) }),
            _ => {}
        }
    }
    all.push((SeriesName::parse("flapping{job=\"x\"}").expect("a series"), points));
    Memory(all)
}

fn expressions() -> Result<(), Failed> {
    let scratch = Scratch::new("query");
    let words = ["--web.enable-remote-write-receiver", "--storage.tsdb.retention.time=100y"];
    let prometheus = Prometheus::start(&scratch, "global: {}\n", &words)?;
    let data = data();
    let samples: Vec<(SeriesName, Vec<(i64, f64)>)> = data
        .0
        .iter()
        .map(|(name, points)| (name.clone(), points.iter().map(|point| (point.at_ms, point.value)).collect()))
        .collect();
    RemoteStore::new(&prometheus.url()).append(samples.iter().map(|(name, samples)| (name, &samples[..])))?;
    let end_ms = START_MS + LENGTH_MS;
    let instants = [START_MS + 601_000, START_MS + 1_799_500, end_ms - 45_000];
    let (mut differences, mut asked) = (String::new(), 0);
    for expression in EXPRESSIONS.iter().chain(AT_AN_INSTANT) {
        for at_ms in instants {
            let theirs = ask(&prometheus, "query", &[("query", expression), ("time", &seconds(at_ms))])?;
            let ours = Query::parse(expression).and_then(|query| query.at(&data, at_ms, &Limits::default()));
            compare(&format!("{expression} at {at_ms}"), &theirs, &ours, &mut differences);
            asked += 1;
        }
        if AT_AN_INSTANT.contains(expression) {
            continue;
        }
        for (step_ms, from_ms) in [(60_000, START_MS + 600_000), (37_000, START_MS - 60_000)] {
            let times = [seconds(from_ms), seconds(end_ms - 10_000), seconds(step_ms)];
            let form =
                [("query", *expression), ("start", &times[0]), ("end", &times[1]), ("step", &times[2])];
            let theirs = ask(&prometheus, "query_range", &form)?;
            let ours = Query::parse(expression).and_then(|query| {
                query.between(&data, [from_ms, end_ms - 10_000], step_ms, &Limits::default())
            });
            compare(&format!("{expression} every {step_ms}"), &theirs, &ours, &mut differences);
            asked += 1;
        }
    }
    assert!(EXPRESSIONS.len() >= 300, "{} expressions", EXPRESSIONS.len());
    match differences.is_empty() {
        true => Ok(()),
        false => Err(format!("of {asked} answers these differ:\n{differences}").into()),
    }
}

fn seconds(milliseconds: i64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

fn ask(prometheus: &Prometheus, path: &str, form: &[(&str, &str)]) -> Result<Value, Failed> {
    let mut target = format!("/api/v1/{path}?");
    for (name, value) in form {
        let _ = write!(target, "{name}=");
        for byte in value.bytes() {
            let _ = write!(target, "%{byte:02X}");
        }
        target.push('&');
    }
    prometheus.get(&target).ok_or_else(|| format!("prometheus does not answer {target}").into())
}

fn compare(what: &str, theirs: &Value, ours: &Result<Answer, QueryError>, differences: &mut String) {
    let is_refused = theirs["status"] != "success";
    let difference = match ours {
        Err(error) if is_refused => {
            // What is wrong with the question, and what with the data.
            let kind = if matches!(error, QueryError::Malformed(_)) { "bad_data" } else { "execution" };
            let theirs = &theirs["errorType"];
            (theirs != kind).then(|| format!("errors: {theirs}, {kind} {error}"))
        }
        Err(error) => Some(format!("refused: {error}; Prometheus: {}", theirs["data"]["result"])),
        Ok(answer) if is_refused => {
            Some(format!("Prometheus refuses it: {}; whit: {}", theirs["error"], json!(ReplyData(answer))))
        }
        Ok(answer) => {
            let is_ordered =
                what.starts_with("sort") || what.starts_with("topk") || what.starts_with("bottomk");
            let ours = json!(ReplyData(answer));
            let is_vector = ours["resultType"] == "vector";
            let [one, other] = [&theirs["data"], &ours].map(|data| normal(data, !is_ordered || !is_vector));
            (!is_same(&one, &other)).then(|| format!("\n    {one}\n    {other}"))
        }
    };
    if let Some(difference) = difference {
        let difference: String = difference.chars().take(1500).collect();
        let _ = writeln!(differences, "{what}: {difference}");
    }
}

/// In the order of the labels, if there is no other.
fn normal(data: &Value, is_sorted: bool) -> Value {
    let mut data = data.clone();
    if data["resultType"] == "string" {
        data["result"][0] = json!(0);
    }
    if let Some(series) =
        data["result"].as_array_mut().filter(|series| is_sorted && series.iter().all(Value::is_object))
    {
        let labels = |series: &Value| {
            let mut labels: Vec<String> =
                series["metric"].as_object().into_iter().flatten().map(|pair| format!("{pair:?}")).collect();
            labels.sort();
            labels
        };
        series.sort_by_key(labels);
    }
    data
}

/// Whether two values are the same, numbers within what the order of a sum may change.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) if one != other => {
            let number = |text: &str| query::number::parse(text);
            match (number(one), number(other)) {
                (Some(one), Some(other)) => {
                    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-3)
                }
                _ => false,
            }
        }
        (one, other) => one == other,
    }
}

fn refused() -> Result<(), Failed> {
    for (expression, name) in REFUSED {
        let output = Command::new(WHIT).args(["query", "--data", "/nowhere", expression]).output()?;
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{expression}: {message}");
        assert!(message.contains(name), "{expression}: {message}");
    }
    Ok(())
}
