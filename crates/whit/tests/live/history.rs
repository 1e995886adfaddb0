//! `whit history`: what it exports can be imported again, and what sysstat recorded is what whit records.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

use super::machine::{Load, Scratch, documents, whit};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("an_export_can_be_imported", &[], round_trip),
        exact("a_metric_that_is_misspelt_is_named", &[], misspelt),
        exact("protocols_are_counted_as_nstat_does", &[Need::Program("nstat")], protocols),
        timed(
            "sysstat_recorded_the_same",
            &[Need::Program("sadf")],
            "5 to 40 %, or half a second: records of sadc lie anywhere within their second",
            sysstat,
        ),
    ]
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn agent(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(super::machine::WHIT);
    command.arg("agent").arg("--data").arg(data).arg("--now").arg(data.join("now"));
    command.arg("--socket").arg(data.join("agent.sock")).args(words);
    command
}

fn misspelt() -> Result<(), Failed> {
    let scratch = Scratch::new("history-misspelt");
    let data = scratch.0.join("data");
    assert!(agent(&data, &["-i", "100ms", "-n", "5"]).status()?.success());
    let ask = |words: &[&str]| {
        let mut command = Command::new(super::machine::WHIT);
        command.arg("query").args(words).arg("--data").arg(&data).output()
    };
    let known = ask(&["node_load1", "--fail-empty"])?;
    assert!(known.status.success() && known.stderr.is_empty(), "{known:?}");
    let misspelt = ask(&["rate(node_lod1[1m])"])?;
    let words = String::from_utf8_lossy(&misspelt.stderr);
    assert!(
        misspelt.status.success() && words.contains("node_lod1") && words.contains("node_load1"),
        "{words}"
    );
    assert_eq!(ask(&["node_lod1", "--fail-empty"])?.status.code(), Some(1));
    // It is known, and has no series of this name.
    let none = ask(&["whit_task_waiting{comm=\"none\"}", "--fail-empty"])?;
    assert!(none.status.code() == Some(1) && none.stderr.is_empty(), "{none:?}");
    Ok(())
}

/// The counters of protocols by nstat, as the catalogue names them.
fn counted_by_nstat() -> BTreeMap<String, f64> {
    let output = Command::new("nstat").arg("-asz").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let counter = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?;
        let protocol =
            ["TcpExt", "Tcp", "Udp6", "Udp"].into_iter().find(|protocol| name.starts_with(protocol))?;
        Some((format!("node_netstat_{protocol}_{}", &name[protocol.len()..]), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(counter).collect()
}

/// What whit recorded lies between what nstat says before and after.
fn protocols() -> Result<(), Failed> {
    let scratch = Scratch::new("history-protocols");
    let data = scratch.0.join("data");
    let before = counted_by_nstat();
    assert!(agent(&data, &["-i", "50ms", "-n", "2"]).status()?.success());
    let after = counted_by_nstat();
    let text = whit(&[
        "history",
        "export",
        "--data",
        shown(&data),
        "--format",
        "json",
        "--series",
        "node_netstat_*",
    ]);
    let mut compared = 0;
    for document in documents(&text) {
        let name = document["series"].as_str().unwrap_or_default();
        let value = document["values"][0].as_f64().ok_or_else(|| format!("{name} has no value"))?;
        // nstat shows no connections that are there now.
        let Some(before) = before.get(name) else { continue };
        let between = *before..=after[name];
        assert!(between.contains(&value), "{name}: {value}, nstat {between:?}");
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} counters: {text}");
    Ok(())
}

fn round_trip() -> Result<(), Failed> {
    let scratch = Scratch::new("history-round-trip");
    let data = scratch.0.join("data");
    assert!(agent(&data, &["-i", "100ms", "-n", "15"]).status()?.success());
    let export =
        |data: &Path, format: &str| whit(&["history", "export", "--data", shown(data), "--format", format]);
    for format in ["csv", "json", "prometheus", "openmetrics"] {
        let (file, other) = (scratch.0.join(format), scratch.0.join(format!("{format}-data")));
        let text = export(&data, format);
        std::fs::write(&file, &text)?;
        whit(&["history", "import", shown(&file), "--data", shown(&other)]);
        let again = export(&other, format);
        if format == "json" {
            let series = |text: &str| -> Vec<_> {
                let of = |document: &serde_json::Value| {
                    (
                        document["series"].clone(),
                        document["kind"].clone(),
                        document["realtimes_ns"].clone(),
                        document["values"].clone(),
                    )
                };
                documents(text).iter().map(of).collect()
            };
            assert_eq!(series(&again), series(&text));
        } else {
            assert!(again == text, "{format} is another text");
        }
        whit(&["history", "verify", "--data", shown(&other)]);
    }
    Ok(())
}

/// Time and value.
type Samples = Vec<(u64, f64)>;

/// The samples of the series that match, summed at each time.
fn samples(data: &Path, series: &str) -> Samples {
    let text = whit(&["history", "export", "--data", shown(data), "--format", "json", "--series", series]);
    let mut sums = std::collections::BTreeMap::new();
    for document in documents(&text) {
        let times = document["realtimes_ns"].as_array().unwrap().iter().map(|time| time.as_u64().unwrap());
        let values = document["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
        times.zip(values).for_each(|(time, value)| *sums.entry(time).or_insert(0.0) += value);
    }
    sums.into_iter().collect()
}

/// The value at a time, on the line between the samples around it.
fn at(samples: &Samples, time: u64) -> f64 {
    let after = samples.partition_point(|(at, _)| *at < time).clamp(1, samples.len() - 1);
    let ((first, low), (last, high)) = (samples[after - 1], samples[after]);
    low + (high - low) * (time as f64 - first as f64) / (last - first) as f64
}

fn sysstat() -> Result<(), Failed> {
    let scratch = Scratch::new("history-sysstat");
    let (data, imported) = (scratch.0.join("data"), scratch.0.join("imported"));
    let (binary, json) = (scratch.0.join("sa"), scratch.0.join("sa.json"));
    let _load = Load::start(&["stress", "--cpu", "1", "--io", "1"]);
    let mut recording = agent(&data, &["-i", "200ms", "-n", "55"]).spawn()?;
    let status = Command::new("/usr/lib/sysstat/sadc").args(["-S", "ALL", "1", "9"]).arg(&binary).status()?;
    assert!(status.success() && recording.wait()?.success());
    let output = Command::new("sadf").arg("-j").arg(&binary).args(["--", "-A"]).output()?;
    std::fs::write(&json, &output.stdout)?;
    whit(&["history", "import", shown(&json), "--data", shown(&imported)]);
    // sadc writes a record within its second, and sadf has whole seconds: the ends of the interval are that much unsure.
    for (series, tolerance) in [
        ("node_cpu_seconds_total*mode=\"idle\"*", 0.25),
        ("node_cpu_seconds_total*mode=\"user\"*", 0.25),
        ("node_context_switches_total", 0.4),
        ("node_memory_MemAvailable_bytes", 0.05),
        ("node_load1", 0.3),
    ] {
        let (theirs, ours) = (samples(&imported, series), samples(&data, series));
        let (first, last) = (theirs[0].0, theirs[theirs.len() - 1].0);
        let is_gauge = !series.contains("_total");
        let change = |samples: &Samples| match is_gauge {
            true => samples[samples.len() / 2].1,
            false => at(samples, last) - at(samples, first),
        };
        let (theirs, ours) = (change(&theirs), change(&ours));
        // Half a second of a CPU is nothing of eight.
        let is_same = (theirs - ours).abs() <= f64::max(ours * tolerance, 0.5);
        assert!(is_same, "{series}: sysstat {theirs}, whit {ours}");
    }
    Ok(())
}
