//! docs/metrics.md, made from the rows.

use std::fmt::Write as _;

use super::{AGENT_METRICS, METRICS, TASK_METRICS, TASK_WAITING};

/// The whole page.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Metrics\n\nMade from the catalogue by `cargo xtask docs`; a test compares the two. `whit doctor --metrics` prints the values \
         of a machine.\nNames that start with `node_` are those of node_exporter, which measures the same; the others are \
         whit's own. What a kernel does\nnot have is absent, never zero. A counter is meant to be subtracted.\n\n\
         | series | labels | unit | kind | source | since Linux | |\n|---|---|---|---|---|---|---|\n",
    );
    for metric in METRICS {
        let kind = metric.kind.name();
        // A String takes whatever is written to it.
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {kind} | `{}` | {} | {} |",
            metric.name,
            metric.labels.join(", "),
            metric.unit.description(),
            metric.source.path(),
            metric.since,
            metric.help
        );
    }
    page.push_str(
        "\n## Tasks\n\nFigures of a task, and of any sum of tasks. `bpf`, `taskstats` and `procfs` are the sources that contain a \
         figure on Linux (`whit top --tasks`),\n`sysctl` is FreeBSD's. The figures of a cause are fields of an object of the cause's \
         name (`delays.block_io.total_ns`).\n\n\
         | series | field | unit | kind | sources | since Linux | |\n|---|---|---|---|---|---|---|\n",
    );
    for metric in TASK_METRICS {
        let cause = metric.figure.cause().map_or(String::new(), |cause| format!("delays.{}.", cause.name()));
        let sources: Vec<&str> = metric.sources.iter().map(|source| source.name()).collect();
        let _ = writeln!(
            page,
            "| `{}` | `{cause}{}` | {} | {} | {} | {} | {} |",
            metric.exported,
            metric.field,
            metric.unit.description(),
            metric.kind.name(),
            sources.join(", "),
            metric.since,
            metric.help
        );
    }
    let _ = writeln!(
        page,
        "| `{}` | `waits` | count | gauge | bpf | 5.15 | {} |",
        TASK_WAITING.0, TASK_WAITING.1
    );
    page.push_str(
        "\n## The agent\n\nSeries that `whit agent` makes itself: sums over all tasks, its own cost, alerts, checks, exporters and feeds. An alert has \
         the labels\nof its rule, too.\n\n| series | labels | unit | kind | |\n|---|---|---|---|---|\n",
    );
    for metric in AGENT_METRICS {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            metric.name,
            metric.labels.join(", "),
            metric.unit.description(),
            metric.kind.name(),
            metric.help
        );
    }
    page
}
