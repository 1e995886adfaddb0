//! The table that getdelays prints, for eyes and scripts that know it.

use facts::task::figure::Figure;
use facts::task::{Cause, Delay, TaskAccount};
use facts::unit::Nanos;

use super::render::absent;
use crate::delays::{Kind, Row};
use text::ABSENT;
use text::printable::push_printable;

/// getdelays' words for the causes.
const NAMES: [(Cause, &str); 7] = [
    (Cause::BlockIo, "IO"),
    (Cause::SwapIn, "SWAP"),
    (Cause::Reclaim, "RECLAIM"),
    (Cause::Thrashing, "THRASHING"),
    (Cause::Compaction, "COMPACT"),
    (Cause::Copy, "WPCOPY"),
    (Cause::Irq, "IRQ"),
];

/// Writes one task: count, total and average of each cause in nanoseconds and milliseconds.
pub(crate) fn write(row: &Row, out: &mut String) {
    let task = &row.task;
    let (word, id) = match row.kind {
        Kind::Process => ("TGID", task.key.pid.to_string()),
        Kind::Thread | Kind::Ended(_) => ("PID", task.key.pid.to_string()),
        Kind::Cgroup => {
            let mut name = String::new();
            push_printable(&mut name, row.name());
            ("CGROUP", name)
        }
    };
    let nanos = |value: Option<Nanos>| value.map_or(ABSENT.to_owned(), |value| value.0.to_string());
    let cpu = task.sum.delay(Cause::RunQueue);
    out.push_str(&format!("{word}\t{id}\n\n"));
    out.push_str(&format!(
        "{:<10}{:>15}{:>16}{:>16}{:>16}{:>16}\n",
        "CPU", "count", "real total", "virtual total", "delay total", "delay average"
    ));
    out.push_str(&format!(
        "{:<10}{:>15}{:>16}{:>16}{:>16}{:>16}\n",
        "",
        count(task, cpu),
        nanos(task.sum.get(Figure::CPU_TICKS).map(Nanos)),
        nanos(task.sum.on_cpu()),
        nanos(cpu.total()),
        average(task, cpu)
    ));
    for (cause, name) in NAMES {
        let delay = task.sum.delay(cause);
        let total = delay.total().map_or(absent(task).to_owned(), |total| total.0.to_string());
        out.push_str(&format!("{name:<10}{:>15}{:>16}{:>16}\n", "count", "delay total", "delay average"));
        out.push_str(&format!(
            "{:<10}{:>15}{total:>16}{:>16}\n",
            "",
            count(task, delay),
            average(task, delay)
        ));
    }
    out.push('\n');
}

fn count(task: &TaskAccount, delay: Delay) -> String {
    delay.count().map_or(absent(task).to_owned(), |count| count.to_string())
}

/// getdelays prints 0 where there was no delay; what is absent stays absent.
fn average(task: &TaskAccount, delay: Delay) -> String {
    match (delay.count(), delay.total()) {
        (Some(0), Some(_)) => "0.000ms".to_owned(),
        (Some(_), Some(_)) => {
            delay.average().map_or(ABSENT.to_owned(), |average| format!("{:.3}ms", average.0 as f64 / 1e6))
        }
        _ => absent(task).to_owned(),
    }
}
