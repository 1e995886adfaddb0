//! A sample that is restored from its exported values has the same values again, on every captured machine.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use facts::catalog::{METRICS, RESTORED, Restoration};
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use probe::{Probe, Request, Roots};

type Values = BTreeMap<(String, Vec<(String, String)>), f64>;

/// The values of the rows that are restored, by name and labels.
fn values(sample: &Sample) -> Values {
    let mut values = Values::new();
    for metric in METRICS.iter().filter(|metric| RESTORED.contains(&metric.source)) {
        metric.visit(sample, &mut |labels, value| {
            let labels = metric.labels.iter().zip(labels);
            let labels = labels.map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
            values.insert((metric.name.to_owned(), labels), value);
        });
    }
    values
}

fn machines() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let all = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| {
        path.file_name().unwrap().to_str().unwrap().starts_with("linux") || path.ends_with("server-128cpu")
    })
    .collect()
}

#[test]
fn values_come_back() {
    let machines = machines();
    assert!(machines.len() >= 6, "{machines:?}");
    for machine in machines {
        let wanted: Wanted = Source::ALL.into_iter().collect();
        let roots = Roots::captured(&machine);
        let mut probe = Probe::open(&roots, &Request { wanted, ..Request::default() }).unwrap();
        let mut sample = Sample::default();
        probe.sample(&mut sample);
        let before = values(&sample);
        let mut restoration = Restoration::default();
        for ((metric, labels), value) in &before {
            let label = |name: &str| {
                labels.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
            };
            restoration.put(metric, label, *value);
        }
        let restored = restoration.finish(sample.clock);
        let mut after = values(&restored);
        assert!(before.len() > 60, "{}: {}", machine.display(), before.len());
        for (key, value) in before {
            // What is not for any view of the past.
            const LEFT: [&str; 6] = [
                "node_context_switches_total",
                "node_boot_time_seconds",
                "node_forks_total",
                "node_procs_running",
                "node_procs_blocked",
                "node_processes_threads",
            ];
            let found = after.remove(&key);
            if !LEFT.contains(&key.0.as_str()) {
                assert!(
                    found.is_some_and(|found| (found - value).abs() < 1e-4),
                    "{}: {key:?}: {value} {found:?}",
                    machine.display()
                );
            }
        }
        after.retain(|(name, _), _| name != "node_processes_threads");
        assert!(after.is_empty(), "{}: {after:?}", machine.display());
    }
}
