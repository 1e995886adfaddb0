//! Counters of CPU time, which may decrease although nothing was reset: idle and iowait do (proc_stat(5)), and steal on some hypervisors. In
//! an expression a counter that decreases counts as reset, and its whole value as new. One is therefore recorded as it was until that is reached
//! again.

use std::collections::HashMap;

use facts::catalog::{LabelValue, Metric};
use facts::linux::stat::CpuTicks;
use facts::sample::Sample;
use facts::unit::Ticks;

/// The metric of these counters.
const CPU_SECONDS: &str = "node_cpu_seconds_total";
/// A CPU was taken away and came back if its idle time is so much less. Prometheus' node_exporter decides alike.
const RESET_S: u64 = 3;

/// The counters of all CPUs, as they were recorded last.
#[derive(Debug, Default)]
pub(crate) struct CpuCounters(HashMap<u64, Cpu>);

#[derive(Debug, Default)]
struct Cpu {
    /// As it was read last.
    idle: Ticks,
    /// By the key of a series.
    recorded_s: HashMap<u64, f64>,
}

impl CpuCounters {
    /// Returns whether these are the counters of a metric.
    pub(crate) fn are_of(metric: &Metric) -> bool {
        metric.name == CPU_SECONDS
    }

    /// Forgets the CPUs that came back since the last sample.
    pub(crate) fn begin(&mut self, sample: &Sample) {
        let Ok(stat) = sample.stat.get() else { return };
        let reset = RESET_S * u64::from(stat.ticks_per_second.unwrap_or_default());
        for (number, CpuTicks { idle, .. }) in &stat.cpus {
            let cpu = self.0.entry(u64::from(*number)).or_default();
            if idle.0.saturating_add(reset) <= cpu.idle.0 {
                cpu.recorded_s.clear();
            }
            cpu.idle = *idle;
        }
    }

    /// Returns what is recorded of a counter with these labels and this value. `key` is that of its series.
    pub(crate) fn recorded(&mut self, labels: &[LabelValue<'_>], key: u64, value: f64) -> f64 {
        let [LabelValue::Number(number), _] = labels else { return value };
        let recorded = self.0.entry(*number).or_default().recorded_s.entry(key).or_insert(value);
        *recorded = recorded.max(value);
        *recorded
    }
}

#[cfg(test)]
mod tests {
    use facts::catalog::METRICS;
    use facts::linux::stat::Stat;

    use super::*;

    /// Records samples of a CPU, each with its idle, iowait and steal in seconds, and returns what was recorded.
    fn recorded(samples: &[[u64; 3]]) -> Vec<[f64; 3]> {
        let metric = METRICS.iter().find(|metric| CpuCounters::are_of(metric)).unwrap();
        let mut counters = CpuCounters::default();
        let mut all = Vec::new();
        for [idle, iowait, steal] in samples {
            let [idle, iowait, steal] = [idle, iowait, steal].map(|seconds| Ticks(seconds * 100));
            let ticks = CpuTicks { idle, iowait, steal, ..CpuTicks::default() };
            let mut sample = Sample::default();
            sample.stat.set(Stat { ticks_per_second: Some(100), cpus: vec![(0, ticks)], ..Stat::default() });
            counters.begin(&sample);
            let mut values = [0.0; 3];
            metric.visit(&sample, &mut |labels, value| {
                let place = |mode: &str| ["idle", "iowait", "steal"].iter().position(|known| *known == mode);
                if let [_, LabelValue::Text(mode)] = labels
                    && let Some(place) = place(mode)
                {
                    values[place] = counters.recorded(labels, place as u64, value);
                }
            });
            all.push(values);
        }
        all
    }

    #[test]
    fn what_decreases_is_not_reset() {
        // By little, again and again; and by much.
        let read = [[100, 50, 7], [101, 48, 7], [102, 46, 1], [100, 44, 7], [103, 51, 8]];
        let expected = [[100, 50, 7], [101, 50, 7], [102, 50, 7], [102, 50, 7], [103, 51, 8]];
        assert_eq!(recorded(&read), expected.map(|all| all.map(f64::from)));
    }

    #[test]
    fn a_cpu_that_came_back_begins_again() {
        let read = [[100, 50, 2], [0, 0, 0], [1, 0, 1]];
        assert_eq!(recorded(&read), read.map(|all| all.map(|seconds| seconds as f64)));
        // Three seconds less is as much as it takes.
        assert_eq!(recorded(&[[100, 50, 2], [97, 49, 2]])[1], [97.0, 49.0, 2.0]);
    }
}
