//! The lines above the table: what the machine as a whole does, in as many words as there is room for.

use std::fmt::Write as _;

use facts::rate::{DiskRates, InterfaceRates};
use facts::unit::{Bytes, Ratio};
use probe::tasks::TaskSource;
use text::ABSENT;
use text::units::{Size, Span};

use super::session::Session;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Breadth {
    /// From 40 columns on.
    Narrow,
    /// From 80 columns on.
    Medium,
    /// Everything that is known.
    Wide,
}

impl Breadth {
    /// Returns the breadth of a screen of so many columns.
    pub(super) fn of(columns: u16) -> Self {
        match columns {
            ..80 => Self::Narrow,
            80..132 => Self::Medium,
            132.. => Self::Wide,
        }
    }
}

/// The lines: CPU, memory, traffic, tasks.
pub(super) fn lines(session: &Session, breadth: Breadth) -> [String; 4] {
    [
        cpu_line(session, breadth),
        memory_line(session, breadth),
        traffic_line(session, breadth),
        tasks_line(session, breadth),
    ]
}

fn or_absent(text: Option<String>) -> String {
    text.unwrap_or_else(|| ABSENT.to_owned())
}

/// Appends to a text, which cannot fail.
macro_rules! push {
    ($out:expr, $($what:tt)*) => {
        let _ = write!($out, $($what)*);
    };
}

fn cpu_line(session: &Session, breadth: Breadth) -> String {
    let machine = &session.machine;
    let mut line = String::from("CPU ");
    match (machine.cpu(), breadth) {
        (Some(cpu), _) => {
            let [busy, user, system, iowait, steal] =
                [cpu.busy, cpu.user, cpu.system, cpu.iowait, cpu.steal].map(Ratio::percent);
            push!(line, "{busy:.1} %");
            match breadth {
                Breadth::Wide => {
                    push!(
                        line,
                        " (user {user:.1}, system {system:.1}, I/O wait {iowait:.1}, stolen {steal:.1})"
                    );
                }
                Breadth::Medium => {
                    push!(line, " (us {user:.0} sy {system:.0} io {iowait:.0} st {steal:.0})");
                }
                Breadth::Narrow => {}
            }
        }
        (None, _) => line.push_str(ABSENT),
    }
    // A container's quota says more about it than the machine's CPUs do. Where there is little room, it takes that of the
    // longer averages and of the uptime.
    let quota_cpus = machine.cpu_quota_cpus();
    if let Some(cpus) = quota_cpus {
        match breadth {
            Breadth::Narrow => {
                push!(line, "  quota {cpus:.1}");
            }
            _ => {
                push!(line, "   quota {cpus:.2} CPUs");
            }
        }
    }
    let is_short = quota_cpus.is_some() && breadth < Breadth::Wide;
    if let Ok(load) = machine.now().load.get() {
        let [one, five, fifteen] = load.averages();
        match breadth {
            Breadth::Narrow => {
                push!(line, "  load {one:.2}");
            }
            Breadth::Medium if is_short => {
                push!(line, "   load {one:.2}");
            }
            _ => {
                push!(line, "   load {one:.2} {five:.2} {fifteen:.2}");
            }
        }
    }
    if !is_short && let Ok(uptime) = machine.now().uptime.get() {
        let gap = if breadth == Breadth::Narrow { " " } else { "   up" };
        push!(line, "{gap} {}", Span(uptime.uptime));
    }
    line
}

/// Memory as `whit free` counts it, the own cgroup's limit, and swap.
fn memory_line(session: &Session, breadth: Breadth) -> String {
    let Some(memory) = session.machine.memory() else { return format!("memory {ABSENT}") };
    let breakdown = &memory.breakdown;
    let available = or_absent(memory.available.map(|available| Size(available.bytes).to_string()));
    let used = or_absent(memory.used().map(|used| Size(used).to_string()));
    let mut line = format!("memory {used} of {}", Size(breakdown.total));
    match breadth {
        Breadth::Wide => {
            let others = Bytes(u64::try_from(breakdown.others_bytes).unwrap_or(0));
            push!(
                line,
                ": anonymous {}, kernel {}, caches {}, others {}; available {available}",
                Size(breakdown.anonymous),
                Size(breakdown.kernel),
                Size(breakdown.caches.total()),
                Size(others)
            );
        }
        Breadth::Medium => {
            push!(line, ", caches {}", Size(breakdown.caches.total()));
        }
        Breadth::Narrow => {}
    }
    // A container's limit says more about it than the machine's memory does.
    if let Some(limit) = &memory.limit {
        match breadth {
            Breadth::Narrow => line = format!("memory {} of limit {}", Size(limit.used), Size(limit.limit)),
            _ => {
                push!(line, "   limit {}, {} left", Size(limit.limit), Size(limit.available));
            }
        }
    }
    match (&memory.swap, breadth) {
        (Some(swap), Breadth::Narrow) if swap.total.0 > 0 => {
            push!(line, " swap {}", Size(swap.used));
        }
        (Some(swap), _) if swap.total.0 > 0 => {
            push!(line, "   swap {} of {}", Size(swap.used), Size(swap.total));
        }
        (_, Breadth::Narrow) => {}
        _ => line.push_str("   no swap"),
    }
    line
}

/// Network, disks and pressure.
fn traffic_line(session: &Session, breadth: Breadth) -> String {
    let machine = &session.machine;
    let unit = if breadth == Breadth::Wide { "/s" } else { "" };
    let size = |rate: Option<f64>| or_absent(rate.map(|rate| format!("{}{unit}", Size(Bytes(rate as u64)))));
    let (network, disks) = (machine.network(), machine.disks());
    let (down, up) = (size(network.inwards), size(network.outwards));
    let (read, written) = (size(disks.inwards), size(disks.outwards));
    let mut line = match breadth {
        Breadth::Wide => format!("network ↓{down} ↑{up}   disks read {read}, written {written}"),
        Breadth::Medium => format!("net/s ↓{down} ↑{up}   disk/s r {read} w {written}"),
        Breadth::Narrow => return format!("/s ↓{down} ↑{up} r {read} w {written}"),
    };
    line.push_str("   pressure");
    let pressure = machine.pressure();
    if pressure == [None; 3] {
        line.push_str(" –");
    }
    let names = if breadth == Breadth::Wide { ["cpu", "io", "memory"] } else { ["cpu", "io", "mem"] };
    for (name, percent) in names.into_iter().zip(pressure) {
        if let Some(percent) = percent {
            let unit = if breadth == Breadth::Wide { " %" } else { "" };
            push!(line, " {name} {percent:.0}{unit}");
        }
    }
    if breadth == Breadth::Medium && pressure != [None; 3] {
        line.push('%');
    }
    line
}

/// A pressure below this is that of a machine that waits for nothing, in percent. The page has the same.
pub(super) const MIN_PRESSURE_PERCENT: f64 = 5.0;

/// For what tasks wait, by the kernel's pressure of the last ten seconds, and how much of the time. `None` if it measures none.
pub(super) fn verdict(session: &Session) -> Option<(String, Ratio)> {
    verdict_of(session.machine.pressure())
}

fn verdict_of(pressure: [Option<f64>; 3]) -> Option<(String, Ratio)> {
    let mut known: Vec<(&str, f64)> = ["a CPU", "disks", "memory"]
        .into_iter()
        .zip(pressure)
        .filter_map(|(what, percent)| Some((what, percent?)))
        .collect();
    known.sort_by(|one, other| other.1.total_cmp(&one.1));
    let worst = Ratio(known.first()?.1 / 100.0);
    let waits = known.iter().filter(|(_, percent)| *percent >= MIN_PRESSURE_PERCENT);
    let waits: Vec<String> = waits.map(|(what, percent)| format!("for {what} {percent:.0} %")).collect();
    Some((
        match waits.is_empty() {
            true => "Nothing waits.".to_owned(),
            false => format!("Tasks wait {} of the time.", waits.join(", ")),
        },
        worst,
    ))
}

/// A line for each disk and each interface: first what is busy, then what was since it is there.
pub(super) fn device_lines(session: &Session) -> Vec<String> {
    let (rates, now) = (session.machine.rates(), session.machine.now());
    let size = |rate: Option<f64>| or_absent(rate.map(|rate| format!("{}/s", Size(Bytes(rate as u64)))));
    let disk = |disk: &DiskRates| {
        let busy = or_absent(disk.busy.map(|busy| format!("{:.0} %", busy.percent())));
        let (read, written) = (disk.read_bytes_per_second, disk.written_bytes_per_second);
        let line = format!(
            "{:<15} read {:>11}   written {:>11}   busy {busy:>5}",
            disk.name.as_str(),
            size(read),
            size(written)
        );
        let counted = now.diskstats.get().ok().and_then(|all| {
            let mut disks = all.disks.iter();
            disks.find(|counted| counted.name == disk.name)
        });
        let since_boot = counted.map_or(0, |counted| (counted.read_sectors + counted.written_sectors) * 512);
        (traffic(read, written), since_boot, line)
    };
    let interface = |interface: &InterfaceRates| {
        let (down, up) = (interface.received_bytes_per_second, interface.sent_bytes_per_second);
        let counted = now.net_dev.get().ok().and_then(|all| {
            let mut interfaces = all.interfaces.iter();
            interfaces.find(|counted| counted.name == interface.name)
        });
        let since_boot = counted.map_or(0, |counted| counted.received_bytes + counted.sent_bytes);
        let line =
            format!("{:<15}    ↓ {:>11}         ↑ {:>11}", interface.name.as_str(), size(down), size(up));
        (traffic(down, up), since_boot, line)
    };
    let disks = rates.disks.iter().filter(|disk| disk.is_whole).map(disk);
    let mut lines: Vec<(f64, u64, String)> = disks.chain(rates.interfaces.iter().map(interface)).collect();
    // Stable: of equals the order of the kernel.
    lines.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    lines.into_iter().map(|(_, _, line)| line).collect()
}

/// Both directions together.
fn traffic(inwards: Option<f64>, outwards: Option<f64>) -> f64 {
    inwards.unwrap_or(0.0) + outwards.unwrap_or(0.0)
}

/// How many tasks, and what whit costs.
fn tasks_line(session: &Session, breadth: Breadth) -> String {
    let tasks = &session.tasks;
    let store = &tasks.store;
    // By taskstats alone states are known of what is on the screen.
    let are_states_known = match session.is_of_past {
        true => store.rows().any(|row| row.state.is_some()),
        false => tasks.source() != TaskSource::Taskstats,
    };
    let count = |state: u8| or_absent(are_states_known.then(|| store.count_of_state(state).to_string()));
    let mut line = format!("{} threads, {} running", store.len(), count(b'R'));
    if breadth > Breadth::Narrow {
        push!(line, ", {} waiting", count(b'D'));
        match tasks.exits_absence() {
            None => {
                push!(line, ", {} ended", store.ended().len());
            }
            Some(_) => line.push_str(", ended –"),
        }
    }
    if breadth == Breadth::Wide && tasks.exits_absence().is_none() {
        push!(line, " (on CPU {}", Span(tasks.ended_cpu));
        // Of whole lives a little, of a storm of short ones a tenth.
        if let Some(unrecorded) = tasks.unrecorded_cpu.filter(|unrecorded| unrecorded.0 > 0) {
            push!(line, " and {} unrecorded", Span(unrecorded));
        }
        line.push(')');
    }
    if tasks.lost_exits() > 0 {
        push!(line, ", {} exit records lost", tasks.lost_exits());
    }
    if session.is_captured || session.is_of_past {
        return line;
    }
    let share = or_absent(session.machine.own_share().map(|share| format!("{:.1} %", share * 100.0)));
    match breadth {
        Breadth::Wide => {
            push!(line, "   whit {share} of a CPU, by {}", tasks.source().name());
        }
        Breadth::Medium => {
            push!(line, "   whit {share}, by {}", tasks.source().name());
        }
        Breadth::Narrow => {
            push!(line, "  whit {share}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_pressure_is_first() {
        let words = |pressure| verdict_of(pressure).map(|(words, worst)| (words, worst.percent().round()));
        assert_eq!(words([None; 3]), None);
        assert_eq!(words([Some(2.0), Some(0.0), None]), Some(("Nothing waits.".to_owned(), 2.0)));
        let expected = "Tasks wait for disks 41 %, for a CPU 7 % of the time.".to_owned();
        assert_eq!(words([Some(7.1), Some(41.2), Some(4.9)]), Some((expected, 41.0)));
    }
}
