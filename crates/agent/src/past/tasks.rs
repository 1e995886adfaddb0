//! Tasks as series: evaluated from the chunks of the history, so that it costs nothing that there are many.

use std::collections::HashMap;

use facts::catalog::{Kind, TaskMetric, Unit};
use facts::task::TaskRow;
use facts::task::rounds::Scope;
use facts::unit::Nanos;
use query::{Selection, Series};
use sampling::users::Users;
use store::{History, TaskReplay};

use super::labelling::{Labelling, TaskLabels};
use super::task_lines::TaskLines;

/// The most series of tasks in an answer.
const MOST_SERIES: usize = 1_000_000;
/// Times before an instant in which its round is looked for, in milliseconds, the likeliest first.
const NEWEST_WITHIN_MS: [i64; 3] = [3_000, 75_000, i64::MAX];

/// The series of a metric.
pub(super) fn select(
    history: &History,
    (users, scope): (&Users, Scope),
    metric: &'static TaskMetric,
    selection: &Selection<'_>,
) -> Result<Vec<Series>, String> {
    let sums = selection.sums.filter(|_| selection.is_range && metric.kind == Kind::Counter);
    let Some(labelling) = Labelling::new((users, scope), selection.matchers, sums, metric.exported) else {
        return Ok(Vec::new());
    };
    if !selection.is_newest {
        return replay(history, &labelling, metric, selection, selection.from_ms);
    }
    let length_ms = selection.to_ms.saturating_sub(selection.from_ms);
    for within_ms in NEWEST_WITHIN_MS {
        let from_ms = selection.to_ms.saturating_sub(within_ms.min(length_ms));
        let series = replay(history, &labelling, metric, selection, from_ms)?;
        if !series.is_empty() || within_ms >= length_ms {
            return Ok(series);
        }
    }
    Ok(Vec::new())
}

fn replay(
    history: &History,
    labelling: &Labelling<'_>,
    metric: &TaskMetric,
    selection: &Selection<'_>,
    from_ms: i64,
) -> Result<Vec<Series>, String> {
    let nanoseconds = |milliseconds: i64| milliseconds.saturating_mul(1_000_000);
    let to_ns = nanoseconds(selection.to_ms).saturating_add(999_999);
    let mut replay = history.tasks(nanoseconds(from_ms), to_ns).map_err(|error| error.to_string())?;
    let mut lines = TaskLines::new();
    let adds_up = selection.is_range && metric.kind == Kind::Counter;
    let mut living = HashMap::new();
    while replay.advance().map_err(|error| error.to_string())? {
        lines.begin(replay.round().clock.realtime.0.cast_signed() / 1_000_000);
        if adds_up {
            add_round(&mut replay, labelling, metric, &mut lines)?;
        } else {
            set_round(&mut replay, labelling, metric, &mut lines, &mut living)?;
        }
        if (selection.limits.is_interrupted)() {
            return Err("it takes too long".to_owned());
        }
        if lines.len() > MOST_SERIES {
            return Err(format!(
                "there are more than {MOST_SERIES} series of tasks: take fewer, or sum by (comm)"
            ));
        }
    }
    Ok(lines.into_series())
}

/// A figure of a row in the metric's unit; `None` if it is not known, or another thread of the process has it.
fn value(row: &TaskRow, metric: &TaskMetric) -> Option<f64> {
    let is_main = row.tgid.is_none_or(|tgid| tgid == row.key.pid);
    let figure = row.figures.get(metric.figure).filter(|_| is_main || !metric.figure.is_of_process());
    figure.map(|figure| in_unit(figure, metric))
}

fn in_unit(figure: u64, metric: &TaskMetric) -> f64 {
    match metric.unit {
        Unit::Nanoseconds => figure as f64 / Nanos::SECOND.0 as f64,
        _ => figure as f64,
    }
}

/// Adds to each series what its tasks did, those that ended among them. In the first round: what they have done before.
fn add_round(
    replay: &mut TaskReplay<'_>,
    labelling: &Labelling<'_>,
    metric: &TaskMetric,
    lines: &mut TaskLines<TaskLabels>,
) -> Result<(), String> {
    let is_first = lines.rounds() == 1;
    let store = replay.store();
    let mut grown: Vec<(TaskRow, f64)> = Vec::new();
    if is_first {
        grown.extend(store.rows().filter_map(|row| Some((*row, value(row, metric)?))));
    } else {
        for row in store.changed_rows() {
            // Also one that has done nothing: it is there.
            if value(row, metric).is_some() {
                let growth = store.delta(row.key.pid, metric.figure).unwrap_or(0);
                grown.push((*row, in_unit(growth, metric)));
            }
        }
        for ended in store.ended() {
            if value(ended.row(), metric).is_some() {
                let growth = ended.delta.get(metric.figure).unwrap_or(0);
                grown.push((*ended.row(), in_unit(growth, metric)));
            }
        }
    }
    for (row, growth) in grown {
        if labelling.accepts(replay, &row)? {
            let key = labelling.key(&row);
            let cgroup = labelling.cgroup(replay, key.cgroup)?;
            let line = lines.line(key, !is_first, || labelling.name(&key, cgroup));
            lines.add(line, growth);
        }
    }
    Ok(())
}

/// Sets the series of living tasks to what they are, and ends those of tasks that are gone.
fn set_round(
    replay: &mut TaskReplay<'_>,
    labelling: &Labelling<'_>,
    metric: &TaskMetric,
    lines: &mut TaskLines<TaskLabels>,
    living: &mut HashMap<u32, usize>,
) -> Result<(), String> {
    let store = replay.store();
    let is_first = lines.rounds() == 1 || store.interval().is_none();
    let rows: Vec<TaskRow> = match is_first {
        true => store.rows().copied().collect(),
        false => store.changed_rows().into_iter().copied().collect(),
    };
    let gone: Vec<u32> = match is_first {
        true => living.keys().copied().collect(),
        false => store.gone().map(|key| key.pid).collect(),
    };
    for pid in gone {
        if let Some(line) = living.remove(&pid) {
            lines.end(line);
        }
    }
    for row in rows {
        let Some(value) = value(&row, metric) else { continue };
        if !labelling.accepts(replay, &row)? {
            continue;
        }
        let key = labelling.key(&row);
        let cgroup = labelling.cgroup(replay, key.cgroup)?;
        let line = lines.line(key, false, || labelling.name(&key, cgroup));
        // By execve(2) it may have another name now.
        if let Some(other) = living.insert(row.key.pid, line).filter(|other| *other != line) {
            lines.end(other);
        }
        lines.set(line, value);
    }
    Ok(())
}
