//! Which of sar's figures are whit's metrics.

/// How a figure becomes values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Gauge,
    /// A rate per second; the counter is the sum of rate times interval.
    Rate,
}

/// A figure of sadf, and the metric that it becomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    section: &'static str,
    field: &'static str,
    pub(super) metric: &'static str,
    /// The label that has the name of the CPU, disk or interface.
    pub(super) id: Option<&'static str>,
    pub(super) label: Option<(&'static str, &'static str)>,
    pub(super) factor: f64,
    pub(super) form: Form,
}

/// The mapping of a figure, by its section and its field; `None` if whit does not measure it.
pub(super) fn find(section: &str, field: &str) -> Option<&'static Mapping> {
    MAPPINGS.iter().find(|mapping| mapping.section == section && mapping.field == field)
}

const fn cpu(field: &'static str, mode: &'static str) -> Mapping {
    Mapping {
        section: "cpu-load",
        field,
        metric: "node_cpu_seconds_total",
        id: Some("cpu"),
        label: Some(("mode", mode)),
        factor: 0.01,
        form: Form::Rate,
    }
}

/// In kibibytes.
const fn memory(field: &'static str, metric: &'static str) -> Mapping {
    Mapping { section: "memory", field, metric, id: None, label: None, factor: 1024.0, form: Form::Gauge }
}

const fn rate(section: &'static str, field: &'static str, metric: &'static str) -> Mapping {
    Mapping { section, field, metric, id: None, label: None, factor: 1.0, form: Form::Rate }
}

const fn device(section: &'static str, field: &'static str, metric: &'static str, factor: f64) -> Mapping {
    Mapping { section, field, metric, id: Some("device"), label: None, factor, form: Form::Rate }
}

const fn queue(field: &'static str, metric: &'static str) -> Mapping {
    Mapping { section: "queue", field, metric, id: None, label: None, factor: 1.0, form: Form::Gauge }
}

/// The share of the interval, in percent.
const fn stalled(section: &'static str, field: &'static str, metric: &'static str) -> Mapping {
    Mapping { section, field, metric, id: None, label: None, factor: 0.01, form: Form::Rate }
}

const fn pressure(
    section: &'static str,
    field: &'static str,
    metric: &'static str,
    window: &'static str,
) -> Mapping {
    let label = Some(("window", window));
    Mapping { section, field, metric, id: None, label, factor: 0.01, form: Form::Gauge }
}

/// As sysstat 12 names them; user, system and nice are what `sar -u` has without ALL, whose usr is without guests.
const MAPPINGS: [Mapping; 74] = [
    cpu("usr", "user"),
    cpu("user", "user"),
    cpu("guest", "user"),
    cpu("nice", "nice"),
    cpu("gnice", "nice"),
    cpu("sys", "system"),
    cpu("system", "system"),
    cpu("iowait", "iowait"),
    cpu("steal", "steal"),
    cpu("irq", "irq"),
    cpu("soft", "softirq"),
    cpu("idle", "idle"),
    rate("process-and-context-switch", "proc", "node_forks_total"),
    rate("process-and-context-switch", "cswch", "node_context_switches_total"),
    rate("swap-pages", "pswpin", "node_vmstat_pswpin"),
    rate("swap-pages", "pswpout", "node_vmstat_pswpout"),
    rate("paging", "pgpgin", "node_vmstat_pgpgin"),
    rate("paging", "pgpgout", "node_vmstat_pgpgout"),
    rate("paging", "fault", "node_vmstat_pgfault"),
    rate("paging", "majflt", "node_vmstat_pgmajfault"),
    rate("paging", "pgscank", "node_vmstat_pgscan_kswapd"),
    rate("paging", "pgscand", "node_vmstat_pgscan_direct"),
    memory("memfree", "node_memory_MemFree_bytes"),
    memory("avail", "node_memory_MemAvailable_bytes"),
    memory("buffers", "node_memory_Buffers_bytes"),
    memory("cached", "node_memory_Cached_bytes"),
    memory("commit", "node_memory_Committed_AS_bytes"),
    memory("dirty", "node_memory_Dirty_bytes"),
    memory("anonpg", "node_memory_AnonPages_bytes"),
    memory("kstack", "node_memory_KernelStack_bytes"),
    memory("pgtbl", "node_memory_PageTables_bytes"),
    memory("vmused", "node_memory_VmallocUsed_bytes"),
    memory("swpfree", "node_memory_SwapFree_bytes"),
    memory("swpcad", "node_memory_SwapCached_bytes"),
    queue("runq-sz", "node_procs_running"),
    queue("plist-sz", "node_processes_threads"),
    queue("ldavg-1", "node_load1"),
    queue("ldavg-5", "node_load5"),
    queue("ldavg-15", "node_load15"),
    queue("blocked", "node_procs_blocked"),
    device("disk", "rkB", "node_disk_read_bytes_total", 1024.0),
    device("disk", "wkB", "node_disk_written_bytes_total", 1024.0),
    device("disk", "util-percent", "node_disk_io_time_seconds_total", 0.01),
    device("net-dev", "rxpck", "node_network_receive_packets_total", 1.0),
    device("net-dev", "txpck", "node_network_transmit_packets_total", 1.0),
    device("net-dev", "rxkB", "node_network_receive_bytes_total", 1024.0),
    device("net-dev", "txkB", "node_network_transmit_bytes_total", 1024.0),
    device("net-edev", "rxerr", "node_network_receive_errs_total", 1.0),
    device("net-edev", "txerr", "node_network_transmit_errs_total", 1.0),
    device("net-edev", "rxdrop", "node_network_receive_drop_total", 1.0),
    device("net-edev", "txdrop", "node_network_transmit_drop_total", 1.0),
    Mapping {
        section: "cpu-frequency",
        field: "frequency",
        metric: "whit_cpu_frequency_hertz",
        id: Some("cpu"),
        label: None,
        factor: 1e6,
        form: Form::Gauge,
    },
    stalled("psi-cpu", "some_avg", "node_pressure_cpu_waiting_seconds_total"),
    stalled("psi-io", "some_avg", "node_pressure_io_waiting_seconds_total"),
    stalled("psi-io", "full_avg", "node_pressure_io_stalled_seconds_total"),
    stalled("psi-mem", "some_avg", "node_pressure_memory_waiting_seconds_total"),
    stalled("psi-mem", "full_avg", "node_pressure_memory_stalled_seconds_total"),
    pressure("psi-cpu", "some_avg10", "whit_pressure_cpu_waiting_ratio", "10s"),
    pressure("psi-cpu", "some_avg60", "whit_pressure_cpu_waiting_ratio", "60s"),
    pressure("psi-cpu", "some_avg300", "whit_pressure_cpu_waiting_ratio", "300s"),
    pressure("psi-io", "some_avg10", "whit_pressure_io_waiting_ratio", "10s"),
    pressure("psi-io", "some_avg60", "whit_pressure_io_waiting_ratio", "60s"),
    pressure("psi-io", "some_avg300", "whit_pressure_io_waiting_ratio", "300s"),
    pressure("psi-io", "full_avg10", "whit_pressure_io_stalled_ratio", "10s"),
    pressure("psi-io", "full_avg60", "whit_pressure_io_stalled_ratio", "60s"),
    pressure("psi-io", "full_avg300", "whit_pressure_io_stalled_ratio", "300s"),
    pressure("psi-mem", "some_avg10", "whit_pressure_memory_waiting_ratio", "10s"),
    pressure("psi-mem", "some_avg60", "whit_pressure_memory_waiting_ratio", "60s"),
    pressure("psi-mem", "some_avg300", "whit_pressure_memory_waiting_ratio", "300s"),
    pressure("psi-mem", "full_avg10", "whit_pressure_memory_stalled_ratio", "10s"),
    pressure("psi-mem", "full_avg60", "whit_pressure_memory_stalled_ratio", "60s"),
    pressure("psi-mem", "full_avg300", "whit_pressure_memory_stalled_ratio", "300s"),
    Mapping {
        section: "filesystems",
        field: "MBfsfree",
        metric: "node_filesystem_free_bytes",
        id: Some("device"),
        label: None,
        factor: 1_048_576.0,
        form: Form::Gauge,
    },
    Mapping {
        section: "filesystems",
        field: "Ifree",
        metric: "node_filesystem_files_free",
        id: Some("device"),
        label: None,
        factor: 1.0,
        form: Form::Gauge,
    },
];
