//! Tasks as series: evaluated from the chunks of the history, so that it costs nothing that there are many.

use facts::task::figure::FigureSet;
use facts::task::rounds::Scope;
use query::{Limits, Selection, Series};
use store::StoreError;

use super::labelling::Labelling;
use super::lines::Lines;
use super::parts::{Part, parts};
use super::past_sums::PastSums;
use super::round::Round;
use super::task_selection::{TaskSelection, VisibleTasks};
use super::watched::Watched;
use crate::task_sums::{Span, SpanGroups};

/// The most series of tasks in an answer, where that many samples are allowed, and how many samples each counts as.
const MAX_SERIES: usize = 1_000_000;
const POINTS_A_SERIES: usize = 16;
/// Times before an instant in which its round is looked for, in milliseconds, the likeliest first.
const NEWEST_WITHIN_MS: [i64; 3] = [3_000, 75_000, i64::MAX];

/// Returns the series of a selection.
pub(super) fn select(tasks: VisibleTasks<'_>, selected: &TaskSelection<'_>) -> Result<Vec<Series>, String> {
    let Selection { from_ms, to_ms, is_newest, limits, .. } = *selected.selection;
    if !is_newest {
        let found = read_all(tasks, [from_ms, to_ms], std::slice::from_ref(selected), None, limits)?;
        return Ok(found.into_iter().next().unwrap_or_default());
    }
    let length_ms = to_ms.saturating_sub(from_ms);
    let mut found = Vec::new();
    for within_ms in NEWEST_WITHIN_MS {
        let part = Part::Replay([to_ms.saturating_sub(within_ms.min(length_ms)), to_ms]);
        let Answered { series, rounds } =
            read(tasks, &Parts { parts: &[part], sums: None }, &[selected], None, limits)?;
        found = series.into_iter().next().flatten().unwrap_or_default();
        // A task that is not in the newest round has ended.
        if rounds > 0 || within_ms >= length_ms {
            break;
        }
    }
    Ok(found)
}

/// Returns the series of each selection between two times, and what is watched beside them. All of that is read in one pass: from
/// sums as far as there are some, otherwise by a replay.
///
/// # Errors
/// If the history cannot be read, it takes too long, or there are too many series.
pub(super) fn read_all(
    tasks: VisibleTasks<'_>,
    range: [i64; 2],
    selections: &[TaskSelection<'_>],
    mut watched: Option<&mut Watched>,
    limits: &Limits<'_>,
) -> Result<Vec<Vec<Series>>, String> {
    let mut found: Vec<Option<Vec<Series>>> = selections.iter().map(|_| None).collect();
    let summed: Vec<usize> =
        (0..selections.len()).filter(|place| selections[*place].is_summable(tasks)).collect();
    let mut watched_in_sums = watched.is_some().then(Watched::default).filter(|_| tasks.scope == Scope::All);
    let has_hours = summed.iter().all(|place| selections[*place].is_summable_by_hours(tasks));
    if (!summed.is_empty() || watched_in_sums.is_some())
        && let Some((sums, parts)) =
            tasks.sums.and_then(|sums| Some((sums, parts(&sums.file, sums.exact_ms, range, has_hours)?)))
    {
        let chosen: Vec<&TaskSelection<'_>> = summed.iter().map(|place| &selections[*place]).collect();
        let parts = Parts { parts: &parts, sums: Some(sums) };
        let series = read(tasks, &parts, &chosen, watched_in_sums.as_mut(), limits)?.series;
        summed.iter().zip(series).for_each(|(place, series)| found[*place] = series);
        if let (Some(watched), Some(sums)) = (watched.take_if(|_| watched_in_sums.is_some()), watched_in_sums)
        {
            *watched = sums;
        }
    }
    let left: Vec<usize> = (0..found.len()).filter(|place| found[*place].is_none()).collect();
    if !left.is_empty() || watched.is_some() {
        let chosen: Vec<&TaskSelection<'_>> = left.iter().map(|place| &selections[*place]).collect();
        let parts = Parts { parts: &[Part::Replay(range)], sums: None };
        let series = read(tasks, &parts, &chosen, watched, limits)?.series;
        left.iter().zip(series).for_each(|(place, series)| found[*place] = series);
    }
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

struct Parts<'p> {
    parts: &'p [Part],
    /// Where those that are sums are read.
    sums: Option<&'p PastSums>,
}

/// What parts of a time say.
struct Answered {
    /// The series of each selection; `None` where sums leave them open.
    series: Vec<Option<Vec<Series>>>,
    /// How many rounds were replayed.
    rounds: usize,
}

/// Reads parts of a time.
fn read(
    tasks: VisibleTasks<'_>,
    parts: &Parts<'_>,
    selections: &[&TaskSelection<'_>],
    watched: Option<&mut Watched>,
    limits: &Limits<'_>,
) -> Result<Answered, String> {
    let groups = alike(tasks, selections).into_iter().map(|group| group.into_lines(selections));
    let (lines, places): (Vec<_>, Vec<_>) = groups.unzip();
    let mut reader = Reader::new(tasks, lines, watched, limits);
    let is_needed = reader.watched.is_some() || !reader.lines.is_empty();
    for part in parts.parts.iter().filter(|_| is_needed) {
        match *part {
            Part::Sums(span) => reader.read_sums(parts.sums, span)?,
            Part::Replay(range) => reader.replay(range)?,
        }
    }
    let rounds = reader.rounds;
    // A selection that no task can meet has no series.
    let mut series: Vec<Option<Vec<Series>>> = selections.iter().map(|_| Some(Vec::new())).collect();
    for (lines, places) in reader.lines.into_iter().zip(places) {
        let chosen: Vec<&Selection<'_>> = places.iter().map(|place| selections[*place].selection).collect();
        places.into_iter().zip(lines.into_series(&chosen)).for_each(|(place, found)| series[place] = found);
    }
    Ok(Answered { series, rounds })
}

/// Selections that differ in their metrics alone, by their places.
struct Group<'s> {
    labelling: Labelling<'s>,
    selections: Vec<usize>,
}

impl<'s> Group<'s> {
    fn into_lines(self, selections: &[&TaskSelection<'_>]) -> (Lines<'s>, Vec<usize>) {
        let metrics = self.selections.iter().map(|place| selections[*place].metric).collect();
        (Lines::new(selections[self.selections[0]], metrics, self.labelling), self.selections)
    }
}

/// Groups selections. Those that no task can meet are left out.
fn alike<'s>(tasks: VisibleTasks<'s>, selections: &[&TaskSelection<'s>]) -> Vec<Group<'s>> {
    let mut groups: Vec<Group<'s>> = Vec::new();
    for (place, one) in selections.iter().enumerate() {
        let Some(labelling) = one.labelling(tasks) else { continue };
        let is_alike = |group: &&mut Group<'s>| {
            let other = selections[group.selections[0]];
            // Gauges come and go each by itself.
            one.adds_up()
                && other.adds_up()
                && one.has_one_window() == other.has_one_window()
                && one.brief == other.brief
                && labelling.is_like(&group.labelling)
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.selections.push(place),
            None => groups.push(Group { labelling, selections: vec![place] }),
        }
    }
    groups
}

/// A reader of a history, part by part.
struct Reader<'r, 's> {
    tasks: VisibleTasks<'r>,
    lines: Vec<Lines<'s>>,
    watched: Option<&'r mut Watched>,
    /// The figures that the lines need of the sums of a span.
    figures: FigureSet,
    is_by_process: bool,
    /// How many rounds were replayed.
    rounds: usize,
    limits: &'r Limits<'r>,
}

impl<'r, 's> Reader<'r, 's> {
    fn new(
        tasks: VisibleTasks<'r>,
        lines: Vec<Lines<'s>>,
        watched: Option<&'r mut Watched>,
        limits: &'r Limits<'r>,
    ) -> Self {
        let is_by_process = lines.iter().any(Lines::is_by_process);
        let mut figures = FigureSet::default();
        lines.iter().flat_map(Lines::figures).for_each(|figure| figures.insert(figure));
        Self { tasks, lines, watched, figures, is_by_process, rounds: 0, limits }
    }

    /// Reads a span: its sums if they can be used; otherwise the minutes of an hour, and the rounds of a shorter one.
    fn read_sums(&mut self, sums: Option<&PastSums>, span: Span) -> Result<(), String> {
        let found = sums.and_then(|sums| sums.sums(span, self.figures, self.is_by_process));
        // What tasks had done before is in the first round, which no sums have.
        let is_usable =
            |groups: &SpanGroups| self.rounds > 0 || groups.times_ms.is_empty() && groups.sums.is_empty();
        let Some((groups, processes)) = found.filter(|(groups, _)| is_usable(groups)) else {
            return match span {
                Span::TenSeconds(_) | Span::Minute(_) => self.replay(span.range_ms()),
                Span::Hour(_) => {
                    span.minutes().try_for_each(|minute| self.read_sums(sums, Span::Minute(minute)))
                }
            };
        };
        if let Some(watched) = &mut self.watched {
            watched.add_sums(&groups);
        }
        for lines in &mut self.lines {
            match &processes {
                Some(processes) if lines.is_by_process() => lines.take_processes(&groups, processes)?,
                _ => lines.take_groups(&groups)?,
            }
        }
        self.check()
    }

    /// Reads the rounds between two times.
    fn replay(&mut self, [from_ms, to_ms]: [i64; 2]) -> Result<(), String> {
        let failed = |error: StoreError| error.to_string();
        let to_ns = nanoseconds(to_ms).saturating_add(999_999);
        let mut replay = self.tasks.history.tasks(nanoseconds(from_ms), to_ns).map_err(failed)?;
        while replay.advance().map_err(failed)? {
            self.rounds += 1;
            let at_ms = replay.round().clock.realtime.0.cast_signed() / 1_000_000;
            let (store, mut names) = replay.store_and_names();
            let round = Round::new(store, self.rounds == 1);
            if let Some(watched) = &mut self.watched {
                watched.add(at_ms, &round, self.tasks.scope);
            }
            for lines in &mut self.lines {
                lines.take(at_ms, &round, &mut names)?;
            }
            self.check()?;
        }
        // Also where there were no rounds.
        self.check()
    }

    /// Returns an error if it may not go on.
    fn check(&self) -> Result<(), String> {
        if (self.limits.is_interrupted)() {
            return Err("it takes too long".to_owned());
        }
        let most = MAX_SERIES.min(self.limits.most_points / POINTS_A_SERIES);
        if self.lines.iter().map(Lines::len).sum::<usize>() > most {
            return Err(format!("there are more than {most} series of tasks: take fewer, or sum by (comm)"));
        }
        Ok(())
    }
}

fn nanoseconds(milliseconds: i64) -> i64 {
    milliseconds.saturating_mul(1_000_000)
}
