//! What a store is asked about all machines, and what is learned from each series of an answer.

use formats::series_name::SeriesName;

use crate::machine::{FiringAlert, FullestFilesystem, Largest, Machine};

/// A series that each agent sends, and nothing else.
pub(crate) const SIGN_OF_LIFE: &str = "whit_build_info";

/// An expression that has a series or some for each machine. `$match` stands for more matchers.
pub(crate) struct Question {
    pub(crate) expression: &'static str,
    pub(crate) learn: fn(&mut Machine, &SeriesName, f64),
}

/// When machines were seen last.
pub(crate) const LAST_SEEN: Question = Question {
    expression: "max by (instance) (timestamp(whit_agent_cpu_seconds_total{$match}))",
    learn: |machine, _, seen_s| machine.seen_ns = Some((seen_s * 1e9) as i64),
};

/// The others. Filesystems that are full by nature, or as good as memory, are left out, as the usual alerts leave them out.
pub(crate) const QUESTIONS: [Question; 11] = [
    Question {
        expression: "max by (instance, version) (whit_build_info{$match})",
        learn: |machine, series, _| machine.version = Some(series.get("version").to_owned()),
    },
    Question {
        expression: "count by (instance) (node_cpu_seconds_total{mode=\"idle\",$match})",
        learn: |machine, _, cpus| machine.cpus_count = Some(cpus),
    },
    Question {
        expression: "sum by (instance) (rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$match}[2m]))",
        learn: |machine, _, cpus| machine.busy_cpus = Some(cpus),
    },
    Question {
        expression: "sum by (instance, state) (rate(whit_tasks_seconds_total{state!~\"on_cpu|unrecorded\",$match}[2m])) > 0",
        learn: |machine, series, waited_ratio| machine.wait(series.get("state"), waited_ratio),
    },
    Question {
        expression: "max by (instance) (node_memory_MemTotal_bytes{$match})",
        learn: |machine, _, bytes| machine.memory_bytes = Some(bytes),
    },
    Question {
        expression: "max by (instance) (node_memory_MemAvailable_bytes{$match})",
        learn: |machine, _, bytes| machine.memory_available_bytes = Some(bytes),
    },
    Question {
        expression: "bottomk by (instance) (1, node_filesystem_avail_bytes{fstype!~\"tmpfs|ramfs|squashfs|iso9660|erofs|overlay\",$match} \
                     / (node_filesystem_size_bytes{$match} > 0))",
        learn: |machine, series, available_ratio| {
            let mountpoint = series.get("mountpoint").to_owned();
            machine.fullest = Some(FullestFilesystem { mountpoint, available_ratio });
        },
    },
    Question {
        expression: "count_values by (instance) (\"state\", whit_check_state{$match} > 0)",
        learn: |machine, series, count| {
            let count = count as u64;
            match series.get("state") {
                "1" => machine.checks.warning_count = count,
                "2" => machine.checks.critical_count = count,
                _ => machine.checks.unknown_count = count,
            }
        },
    },
    Question {
        expression: "count by (instance, alertname, severity) (ALERTS{alertstate=\"firing\",$match})",
        learn: |machine, series, count| {
            let [name, severity] = ["alertname", "severity"].map(|label| series.get(label).to_owned());
            machine.alerts.push(FiringAlert { name, severity, count: count as u64 });
        },
    },
    Question {
        expression: "max by (instance) (whit_remote_write_clock_ahead_seconds{$match})",
        learn: |machine, _, ahead_s| machine.clock_ahead_ns = Some((ahead_s * 1e9) as i64),
    },
    Question {
        expression: "topk by (instance) (1, {__name__=\"comm:whit_task_on_cpu_seconds:rate1m\",$match})",
        learn: |machine, series, used_cpus| {
            machine.largest = Some(Largest { comm: series.get("comm").to_owned(), used_cpus });
        },
    },
];

#[cfg(test)]
mod tests {
    use facts::catalog::{METRICS, agent_metric};
    use query::Query;

    use super::*;

    #[test]
    fn each_question_is_an_expression_with_and_without_matchers() {
        for Question { expression, .. } in QUESTIONS.iter().chain([&LAST_SEEN]) {
            assert!(expression.contains("$match"), "{expression}");
            // What a recording rule is called is the configuration's.
            let metrics = Query::parse(&expression.replace("$match", "")).unwrap().metrics().unwrap();
            let is_recorded = |name: &String| {
                name.contains(':')
                    || METRICS.iter().any(|metric| metric.name == name)
                    || agent_metric(name).is_some()
            };
            assert!(metrics.iter().all(is_recorded), "{expression}");
            for matchers in ["", "env=\"prod\",rack=~\"a|b\""] {
                let expression = expression.replace("$match", matchers);
                assert!(Query::parse(&expression).is_ok(), "{expression}");
            }
        }
    }
}
