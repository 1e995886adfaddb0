//! The measures of the values of an expression, by the names in it.

use query::Query;
use text::plot::Measure;

/// That of an expression; numbers, where it does not say.
pub fn of(expression: &str) -> Measure {
    let quantities = Query::parse(expression).ok().and_then(|query| query.quantities());
    let mut measures =
        quantities.iter().flatten().map(|quantity| of_metric(&quantity.metric, quantity.is_per_second));
    let Some(first) = measures.next() else { return Measure::Number };
    if measures.all(|other| other == first) { first } else { Measure::Number }
}

fn of_metric(name: &str, is_rate: bool) -> Measure {
    // These are times since 1970, and not lengths of time.
    if ["_time_seconds", "_timestamp_seconds"].iter().any(|end| name.ends_with(end)) && !is_rate {
        return Measure::Number;
    }
    let base = name.strip_suffix("_total").unwrap_or(name);
    let unit = base.rsplit('_').next().unwrap_or_default();
    match (unit, is_rate) {
        ("bytes", true) => Measure::BytesPerSecond,
        ("bytes", false) => Measure::Bytes,
        // Seconds a second.
        ("seconds", true) | ("ratio", false) => Measure::Ratio,
        ("seconds", false) => Measure::Seconds,
        ("celsius", false) => Measure::Celsius,
        (_, true) => Measure::Rate,
        (_, false) => Measure::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_values_are() {
        for (expression, measure) in [
            ("node_memory_MemAvailable_bytes", Measure::Bytes),
            ("rate(node_network_receive_bytes_total{device=\"eth0\"}[1m])", Measure::BytesPerSecond),
            ("sum by (mode_seconds) (rate(node_cpu_seconds_total[1m]))", Measure::Ratio),
            ("sum by (mode) (rate(node_cpu_seconds_total[1m]))", Measure::Ratio),
            ("increase(node_cpu_seconds_total[1m])", Measure::Seconds),
            ("rate(node_context_switches_total[1m])", Measure::Rate),
            ("node_load1", Measure::Number),
            ("node_boot_time_seconds", Measure::Number),
            ("node_disk_io_time_seconds_total", Measure::Seconds),
            ("node_memory_MemFree_bytes / node_memory_MemTotal_bytes", Measure::Number),
            ("whit_pressure_cpu_waiting_ratio", Measure::Ratio),
            ("count(node_memory_MemFree_bytes)", Measure::Number),
            ("node_load1 + node_memory_MemFree_bytes", Measure::Number),
            ("topk(3, whit_task_resident_bytes)", Measure::Bytes),
            ("count by (job) (node_memory_MemFree_bytes)", Measure::Number),
            ("COUNT(node_memory_MemFree_bytes)", Measure::Number),
            ("node_memory_MemFree_bytes > bool 5", Measure::Number),
            ("node_memory_MemFree_bytes > 5", Measure::Bytes),
            ("absent(node_memory_MemFree_bytes)", Measure::Number),
            ("changes(node_memory_MemFree_bytes[1m])", Measure::Number),
            ("log2(node_memory_MemFree_bytes)", Measure::Number),
            ("node_memory_MemFree_bytes * 2", Measure::Number),
            ("node_memory_MemTotal_bytes - node_memory_MemFree_bytes", Measure::Bytes),
            ("quantile_over_time(0.9, node_memory_MemFree_bytes[1m])", Measure::Bytes),
            ("rate (node_network_receive_bytes_total{device=\"a/b\"}[1m])", Measure::BytesPerSecond),
            ("node_filesystem_avail_bytes{mountpoint=\"/\"} # a/b", Measure::Bytes),
            ("timestamp(node_load1)", Measure::Number),
            ("histogram_quantile(0.9, rate(x_seconds_bucket[1m]))", Measure::Seconds),
            ("{a=\"b\"}", Measure::Number),
            ("(", Measure::Number),
            ("1 + 1", Measure::Number),
            ("", Measure::Number),
        ] {
            assert_eq!(of(expression), measure, "{expression}");
        }
    }
}
