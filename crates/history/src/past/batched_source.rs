//! Reads what several expressions need of tasks in one replay.
//!
//! Tasks are stored as rounds, and a replay takes as long for one series as for all. [`BatchedSource::evaluate`] therefore evaluates
//! expressions repeatedly. A selection of tasks that is not cached returns no series and is noted; then all noted selections are read
//! in one replay, and the expressions are evaluated again, until nothing is missing. With [`BriefProcesses::Exact`] the last evaluation equals one over
//! [`Past`].

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use facts::catalog::Kind;
use formats::series_name::METRIC;
use query::{
    Answer, Condition, Limits, Matcher, OwnedSelection, Query, QueryError, Samples, Selection, Series, Source,
};

use super::Past;
use super::task_selection::{BriefProcesses, TaskSelection};
use super::task_series::TaskSeries;
use super::tasks::read_all;
use super::watched::{Watched, WatchedSummary};

/// The most evaluations with missing selections. After them each selection is read by its own replay.
const MAX_EVALUATIONS: usize = 8;
/// The most cached samples, each series counted as some more. Beyond it selections are read when they are needed.
const MAX_CACHED: usize = 4_000_000;
const SAMPLES_A_SERIES: usize = 20;

/// A history with a cache of selections.
#[derive(Debug)]
pub struct BatchedSource<'p> {
    past: &'p Past,
    /// Series by the key of their selection.
    cached: RefCell<HashMap<String, Vec<Series>>>,
    cached_samples: RefCell<usize>,
    missing: RefCell<Missing>,
    /// Answers to expressions at instants in milliseconds since 1970, of those that missed nothing.
    answers: RefCell<HashMap<(String, i64), Answer>>,
    /// Selections that had no series yet, so far.
    gaps: Cell<u64>,
    /// The summaries of what is watched beside them, by the time range.
    watched: RefCell<HashMap<[i64; 2], WatchedSummary>>,
    is_batching: bool,
    brief: BriefProcesses,
}

/// The selections that are to be read, by their time range.
#[derive(Debug, Default)]
struct Missing(HashMap<[i64; 2], MissingOfRange>);

#[derive(Debug, Default)]
struct MissingOfRange {
    /// Selections by their keys.
    selections: HashMap<String, OwnedSelection>,
    is_watched: bool,
}

impl<'p> BatchedSource<'p> {
    /// Evaluates expressions over a history. `evaluate` is called until all selections are cached; the last result is returned.
    ///
    /// # Errors
    /// The error of the last evaluation, or of reading tasks.
    pub fn evaluate<T>(
        past: &'p Past,
        limits: &Limits<'_>,
        evaluate: impl Fn(&Self) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        Self::evaluate_with(past, BriefProcesses::Exact, limits, evaluate)
    }

    /// Evaluates as [`Self::evaluate`] does, with a choice of how sums by process treat the brief ones.
    ///
    /// # Errors
    /// The error of the last evaluation, or of reading tasks.
    pub fn evaluate_with<T>(
        past: &'p Past,
        brief: BriefProcesses,
        limits: &Limits<'_>,
        evaluate: impl Fn(&Self) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let mut source = Self {
            past,
            cached: RefCell::default(),
            cached_samples: RefCell::default(),
            missing: RefCell::default(),
            answers: RefCell::default(),
            gaps: Cell::default(),
            watched: RefCell::default(),
            is_batching: true,
            brief,
        };
        for _ in 0..MAX_EVALUATIONS {
            let evaluated = evaluate(&source);
            let missing = std::mem::take(&mut *source.missing.borrow_mut());
            if missing.0.is_empty() {
                return evaluated;
            }
            source.read(missing, limits)?;
        }
        source.is_batching = false;
        evaluate(&source)
    }

    /// Returns whether an expression may be about tasks. Others are evaluated once in any case.
    pub fn is_of_use(query: &Query) -> bool {
        let is_of_tasks = |metric: &String| TaskSeries::all().any(|known| *metric == known.name());
        query.metrics().is_none_or(|metrics| metrics.iter().any(is_of_tasks))
    }

    /// Returns the history.
    pub fn past(&self) -> &'p Past {
        self.past
    }

    /// Returns the answer to an expression at an instant in milliseconds since 1970. What is asked again, as each evaluation does, is answered
    /// once.
    ///
    /// # Errors
    /// If the expression is wrong, or its answer exceeds the limits.
    pub fn answer(&self, expression: &str, at_ms: i64, limits: &Limits<'_>) -> Result<Answer, QueryError> {
        let key = (expression.to_owned(), at_ms);
        if let Some(known) = self.answers.borrow().get(&key) {
            return Ok(known.clone());
        }
        let gaps = self.gaps.get();
        let answer = Query::parse(expression)?.at(self, at_ms, limits)?;
        if self.gaps.get() == gaps {
            self.answers.borrow_mut().insert(key, answer.clone());
        }
        Ok(answer)
    }

    /// Returns what is watched beside the figures of tasks, between two times in milliseconds since 1970.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn watched(&self, range: [i64; 2], limits: &Limits<'_>) -> Result<WatchedSummary, QueryError> {
        if let Some(cached) = self.watched.borrow().get(&range) {
            return Ok(cached.clone());
        }
        if self.is_batching {
            self.missing.borrow_mut().0.entry(range).or_default().is_watched = true;
            return Ok(WatchedSummary::default());
        }
        let missing = MissingOfRange { is_watched: true, ..MissingOfRange::default() };
        self.read_range(range, missing, limits)?;
        Ok(self.watched.borrow().get(&range).cloned().unwrap_or_default())
    }

    /// Reads what is missing into the cache, that of the same time range in one replay.
    fn read(&self, missing: Missing, limits: &Limits<'_>) -> Result<(), QueryError> {
        for (range, mut missing) in missing.0 {
            if *self.cached_samples.borrow() >= MAX_CACHED {
                // The next evaluation reads them one at a time.
                missing.selections.clear();
            }
            if missing.is_watched || !missing.selections.is_empty() {
                self.read_range(range, missing, limits)?;
            }
        }
        Ok(())
    }

    fn read_range(
        &self,
        range: [i64; 2],
        missing: MissingOfRange,
        limits: &Limits<'_>,
    ) -> Result<(), QueryError> {
        let batch: Vec<(String, OwnedSelection)> = missing.selections.into_iter().collect();
        let selections: Vec<Selection<'_>> =
            batch.iter().map(|(_, selection)| selection.within(limits)).collect();
        let of_tasks: Vec<TaskSelection<'_>> = selections
            .iter()
            .filter_map(|selection| {
                Some(TaskSelection { metric: task_counter(selection)?, selection, brief: self.brief })
            })
            .collect();
        let mut watched = missing.is_watched.then(Watched::default);
        let read = read_all(self.past.visible_tasks(), range, &of_tasks, watched.as_mut(), limits);
        let read = read.map_err(|error| match (limits.is_interrupted)() {
            true => QueryError::Interrupted,
            false => QueryError::Unreadable(error),
        })?;
        for ((key, _), series) in batch.into_iter().zip(read) {
            self.cache(key, series);
        }
        if let Some(watched) = watched {
            self.watched.borrow_mut().insert(range, watched.summary(range));
        }
        Ok(())
    }

    fn cache(&self, key: String, series: Vec<Series>) {
        *self.cached_samples.borrow_mut() += samples(&series);
        self.cached.borrow_mut().insert(key, series);
    }
}

/// Returns the size of series in samples.
fn samples(series: &[Series]) -> usize {
    let of_one = |series: &Series| match &series.samples {
        Samples::Points(points) => points.len(),
        Samples::Held { changes, .. } => changes.len(),
    };
    series.iter().map(|series| SAMPLES_A_SERIES + of_one(series)).sum()
}

/// Returns the metric of a selection that can be batched: a range of one counter of tasks, which is selected by its name.
fn task_counter(selection: &Selection<'_>) -> Option<TaskSeries> {
    let of_name = || selection.matchers.iter().filter(|matcher| matcher.label == METRIC);
    let metric = TaskSeries::all().find(|metric| {
        let is_equal =
            |matcher: &Matcher| matches!(&matcher.condition, Condition::Equal(name) if name == metric.name());
        of_name().any(is_equal) && of_name().all(|matcher| matcher.accepts(metric.name()))
    });
    metric.filter(|metric| metric.kind() == Kind::Counter && selection.is_range && !selection.is_newest)
}

impl Source for BatchedSource<'_> {
    fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
        let key = selection.key();
        if let Some(series) = self.cached.borrow().get(&key) {
            return Ok(series.clone());
        }
        let has_room = *self.cached_samples.borrow() < MAX_CACHED;
        // Imported series may have the names of tasks' metrics.
        let is_of_tasks_alone = || !self.past.has_series(|series| selection.is_met_by(series));
        if self.is_batching && has_room && task_counter(selection).is_some() && is_of_tasks_alone() {
            let range = [selection.from_ms, selection.to_ms];
            self.gaps.set(self.gaps.get() + 1);
            self.missing.borrow_mut().0.entry(range).or_default().selections.insert(key, selection.owned());
            return Ok(Vec::new());
        }
        let series = self.past.select(selection)?;
        if *self.cached_samples.borrow() + samples(&series) < MAX_CACHED {
            self.cache(key, series.clone());
        }
        Ok(series)
    }
}
