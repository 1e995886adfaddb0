//! The fleet as a table, and one machine in full.

use std::fmt::Write as _;

use facts::unit::{Bytes, Nanos};
use fleet::{Machine, MachineUses, Severity, Snapshot, Use};
use text::printable::Shown as _;
use text::table::{Align, Table};
use text::units::{Size, Span};

/// Writes a line for each of the first so many machines, and counts all of them. `is_chosen`: a selector chooses among them.
pub(super) fn table(snapshot: &Snapshot, most: usize, is_chosen: bool, out: &mut String) {
    if snapshot.machines.is_empty() && is_chosen {
        out.push_str("the store has no machine that meets the selector\n");
        return;
    }
    if snapshot.machines.is_empty() {
        out.push_str(
            "the store has no machine: [[remote_write]] in the configuration of an agent sends to it\n",
        );
        return;
    }
    let right = |heading| (heading, Align::Right);
    let left = |heading| (heading, Align::Left);
    let columns = [
        left("MACHINE"),
        right("SEEN"),
        right("CPUS"),
        right("MEMORY LEFT"),
        left("WAITS FOR"),
        left("WHAT IS THE MATTER"),
    ];
    let mut table = Table::new(&columns);
    for machine in snapshot.machines.iter().take(most) {
        table.row([
            machine.name.shown().to_string(),
            seen(machine, snapshot.at_ms),
            cpus(machine),
            memory(machine),
            waits(machine, 1),
            troubles(machine),
        ]);
    }
    table.write(out);
    let troubled = |severity: Severity| {
        let worst =
            |machine: &&Machine| machine.troubles.first().is_some_and(|trouble| trouble.severity >= severity);
        snapshot.machines.iter().filter(worst).count()
    };
    let (count, critical, warning) =
        (snapshot.machines.len(), troubled(Severity::Critical), troubled(Severity::Warning));
    let noun = if count == 1 { "machine" } else { "machines" };
    let _ = writeln!(out, "{count} {noun}, {critical} critical, {} in warning", warning - critical);
}

/// Writes everything about a machine.
pub(super) fn one(machine: &Machine, at_ms: i64, out: &mut String) {
    let mut line = |name: &str, text: String| {
        if !text.is_empty() {
            let _ = writeln!(out, "{name:<12} {text}");
        }
    };
    line("machine", machine.name.shown().to_string());
    let is_seen = machine.seen_ns.or(machine.silent_since_ns).is_some();
    line("seen", if is_seen { format!("{} ago", seen(machine, at_ms)) } else { "–".to_owned() });
    line("agent", machine.version.as_ref().map(|version| version.shown().to_string()).unwrap_or_default());
    line("CPUs", cpus(machine));
    // What would be written as zero is none.
    if let Some(largest) = machine.largest.as_ref().filter(|largest| largest.used_cpus >= 0.005) {
        line("", format!("{} used {:.2}", largest.comm.shown(), largest.used_cpus));
    }
    let total = machine.memory_bytes.filter(|_| machine.memory_available_bytes.is_some());
    let total = total.map(|bytes| format!(" of {}", Size(Bytes(bytes as u64))));
    line("memory left", format!("{}{}", memory(machine), total.unwrap_or_default()));
    line("waits for", waits(machine, usize::MAX));
    if let Some(fullest) = &machine.fullest {
        let percent = 100.0 * fullest.available_ratio;
        line("fullest", format!("{}, {percent:.0} % left", fullest.mountpoint.shown()));
    }
    // The store's clock is known to half a second.
    let ahead_s = machine.clock_ahead_ns.map(|ahead_ns| ahead_ns as f64 / 1e9);
    if let Some(ahead_s) = ahead_s.filter(|ahead_s| ahead_s.abs() >= 1.0) {
        let side = if ahead_s < 0.0 { "behind" } else { "ahead" };
        line("clock", format!("{:.1} s {side}", ahead_s.abs()));
    }
    for (place, trouble) in machine.troubles.iter().enumerate() {
        let name = if place == 0 { "trouble" } else { "" };
        line(name, format!("{}{}", trouble.text.shown(), mark(trouble.severity)));
    }
}

/// Writes what the programs and the units of a machine did, the first so many of each.
pub(super) fn uses(uses: &MachineUses, most: usize, out: &mut String) {
    for (heading, uses) in [("PROGRAM", &uses.programs), ("UNIT", &uses.units)] {
        // A store that gets no recorded expressions has none.
        if uses.is_empty() {
            continue;
        }
        let right = |heading| (heading, Align::Right);
        let columns = [
            (heading, Align::Left),
            right("ON CPU"),
            right("RUN QUEUE"),
            right("BLOCK I/O"),
            right("MEMORY WAIT"),
            right("RESIDENT"),
        ];
        let mut table = Table::new(&columns);
        for Use { name, on_cpu_ratio, run_queue_ratio, block_io_ratio, memory_ratio, resident_bytes } in
            uses.iter().take(most)
        {
            let name = if name.is_empty() { "none".to_owned() } else { name.shown().to_string() };
            let [on_cpu, run_queue, block_io, memory] =
                [on_cpu_ratio, run_queue_ratio, block_io_ratio, memory_ratio]
                    .map(|ratio| ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2} s/s")));
            let resident =
                resident_bytes.map_or_else(|| "–".to_owned(), |bytes| Size(Bytes(bytes as u64)).to_string());
            table.row([name, on_cpu, run_queue, block_io, memory, resident]);
        }
        out.push('\n');
        table.write(out);
    }
}

fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => " (critical)",
        Severity::Warning => " (warning)",
        Severity::Notice => "",
    }
}

fn seen(machine: &Machine, at_ms: i64) -> String {
    match machine.seen_ns.or(machine.silent_since_ns) {
        Some(seen_ns) => Span(Nanos(u64::try_from(at_ms * 1_000_000 - seen_ns).unwrap_or(0))).to_string(),
        None => "–".to_owned(),
    }
}

fn cpus(machine: &Machine) -> String {
    let busy = machine.busy_cpus.map_or_else(|| "–".to_owned(), |busy| format!("{busy:.2}"));
    machine.cpus_count.map_or_else(|| busy.clone(), |count| format!("{busy} of {count}"))
}

fn memory(machine: &Machine) -> String {
    machine
        .memory_available_bytes
        .map_or_else(|| "–".to_owned(), |bytes| Size(Bytes(bytes as u64)).to_string())
}

/// Its longest waits.
fn waits(machine: &Machine, most: usize) -> String {
    // What would be written as zero is none.
    let long = machine.waits.iter().filter(|wait| wait.waited_ratio >= 0.005).take(most);
    let waits: Vec<String> =
        long.map(|wait| format!("{} {:.2} s/s", wait.cause.shown(), wait.waited_ratio)).collect();
    waits.join(", ")
}

fn troubles(machine: &Machine) -> String {
    let texts: Vec<String> =
        machine.troubles.iter().map(|trouble| trouble.text.shown().to_string()).collect();
    texts.join("; ")
}
