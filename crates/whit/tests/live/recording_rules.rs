//! Recording rules of remote write, and what they answer.

use std::collections::BTreeMap;
use std::path::Path;

use formats::series_name::SeriesName;
use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{document, whit};
use super::remote_write::Samples;

/// Recording rules: a series that is always there, and some that come and go.
pub(crate) const RULES: [(&str, &str); 2] = [
    ("test:memory", "node_memory_MemTotal_bytes + 1"),
    ("test:cpu", "topk(2, sum by (comm) (rate(whit_task_on_cpu_seconds_total[2s])) > 0)"),
];

/// Asserts that rules answered what the history says later, but for rounding: over a longer time the sum of tasks' counters has those that ended
/// in it, too; it is larger, and so is what its increase loses.
pub(crate) fn assert_rules(directory: &Path, place_ns: i64, found: &Samples) -> Result<(), Failed> {
    let answers = answers_of_rules(directory, place_ns)?;
    assert!(found.keys().eq(answers.keys()), "rules answered {found:?}, and later {answers:?}");
    let is_alike = |one: &u64, other: &u64| {
        let [one_value, other_value] = [one, other].map(|bits| f64::from_bits(*bits));
        one == other || (one_value - other_value).abs() <= 1e-12 * one_value.abs().max(1.0)
    };
    let others = found.iter().zip(answers.values()).filter(|((_, one), other)| !is_alike(one, other));
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "rules answered, and later: {others:?}");
    Ok(())
}

/// What rules answer at each whole second up to a place in nanoseconds since 1970, with a marker where a series ends.
fn answers_of_rules(directory: &Path, place_ns: i64) -> Result<Samples, Failed> {
    let data = directory.join("data").display().to_string();
    let first_ns = document(&["history", "--json", "--data", &data])["first_realtime_ns"].as_i64();
    let first_s = first_ns.ok_or("no first tick")?.div_euclid(1_000_000_000) + 1;
    let last_s = place_ns / 1_000_000_000;
    let mut all = Samples::new();
    for (rule, expression) in RULES {
        let time = |seconds: i64| format!("@{seconds}");
        let words = ["query", expression, "--step", "1s", "--json", "--data", &data, "--since"];
        let answer = whit(&[&words[..], &[&time(first_s), "--until", &time(last_s)]].concat());
        let answer: Value = serde_json::from_str(&answer)?;
        for series in answer["data"]["result"].as_array().ok_or("no result")? {
            let mut name = SeriesName::default();
            for (label, value) in series["metric"].as_object().ok_or("no labels")? {
                name.set(label, value.as_str().ok_or("no text")?);
            }
            name.set("__name__", rule);
            let values = series["values"].as_array().ok_or("no values")?.iter().map(|value| {
                let at_ms = (value[0].as_f64().unwrap_or_default() * 1000.0).round() as i64;
                (at_ms, value[1].as_str().and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN))
            });
            let values: BTreeMap<i64, f64> = values.collect();
            for (at_ms, value) in &values {
                all.insert((name.to_string(), *at_ms), value.to_bits());
                let next_ms = at_ms + 1000;
                if next_ms <= last_s * 1000 && !values.contains_key(&next_ms) {
                    all.insert((name.to_string(), next_ms), query::STALE_BITS);
                }
            }
        }
    }
    Ok(all)
}
