//! The work at each tick for the pages that are open. As long as there are none it costs nothing.

mod recent;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts::task::groups::{GroupBy, TaskGroups};
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use probe::background_job::Notifier;
use query::Query;
use sampling::task_labels::TaskLabels;
use sampling::users::Users;

use super::replies::ActiveTasks;
use super::{answers, task_rows};
use history::past::Past;
use recent::{LONGEST_MS, Recent};

/// The longest that the expressions of all pages may take at a tick, if each page has others.
const LONGEST_EVALUATION: Duration = Duration::from_millis(100);
/// Pages that are open at a time.
const MOST_WATCHERS: usize = 64;

/// A tick that was just taken.
pub(crate) struct Tick<'r> {
    /// Its time, in milliseconds since 1970.
    pub(crate) at_ms: i64,
    /// Its series; none if no page watched when it was recorded.
    pub(crate) series: Box<dyn Iterator<Item = (&'r str, f64)> + 'r>,
    /// Its tasks, if they were read.
    pub(crate) tasks: Option<&'r TaskStore>,
    /// The names of their cgroups.
    pub(crate) labels: Option<&'r mut TaskLabels>,
}

/// Rows of tasks that a page watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    pub(super) scope: Scope,
    pub(super) by: GroupBy,
}

/// Expressions whose values a page watches, and what they are asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expressions {
    pub(super) texts: Arc<[String]>,
    pub(super) sees_all: bool,
}

/// The state that all watchers share.
#[derive(Debug)]
pub(super) struct Live {
    state: Mutex<State>,
    /// Notified when a page begins to watch.
    watched: Notifier,
}

#[derive(Debug, Default)]
struct State {
    watchers: Vec<Watched>,
    recent: Arc<Recent>,
    /// The time that evaluations took since the last tick.
    spent: Duration,
    /// The results of the last tick, so that pages that watch the same cost one: tasks, and the values of expressions.
    tasks: Vec<(Watched, Arc<str>)>,
    values: Vec<(Expressions, Arc<str>)>,
}

impl Live {
    pub(super) fn new(watched: Notifier) -> Self {
        Self { state: Mutex::default(), watched }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a watcher. Returns whether there is room for it.
    pub(super) fn add(&self, watched: Watched) -> bool {
        let mut state = self.lock();
        let has_room = state.watchers.len() < MOST_WATCHERS;
        state.watchers.extend(has_room.then_some(watched));
        drop(state);
        self.watched.notify();
        has_room
    }

    /// They do not any more.
    pub(super) fn remove(&self, watched: Watched) {
        let mut state = self.lock();
        if let Some(place) = state.watchers.iter().position(|known| *known == watched) {
            state.watchers.swap_remove(place);
        }
    }

    /// Returns whether no page watches.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().watchers.is_empty()
    }

    /// Takes over the last ticks of a history, so that the first rates are right.
    pub(super) fn begin(&self, past: &Past) {
        let Ok(ticks) = past.last_ticks(LONGEST_MS) else { return };
        let mut state = self.lock();
        if state.watchers.is_empty() {
            let mut recent = Recent::default();
            for tick in ticks {
                recent.push(tick.at_ms, tick.values.into_iter());
            }
            state.recent = Arc::new(recent);
        }
    }

    /// The tasks of the last tick, if they were read in it.
    pub(super) fn tasks(&self, watched: Watched) -> Option<Arc<str>> {
        let state = self.lock();
        let found = state.tasks.iter().find(|(known, _)| *known == watched);
        found.map(|(_, text)| Arc::clone(text))
    }

    /// The values of expressions at the last tick.
    pub(super) fn values(&self, expressions: &Expressions, queries: &[Query]) -> Option<Arc<str>> {
        let state = self.lock();
        if let Some((_, text)) = state.values.iter().find(|(known, _)| known == expressions) {
            return Some(Arc::clone(text));
        }
        if state.spent >= LONGEST_EVALUATION {
            return None;
        }
        let recent = Arc::clone(&state.recent);
        // The next tick does not wait for it.
        drop(state);
        let (at_ms, begun) = (recent.last_ms()?, Instant::now());
        let values = answers::of_instant(queries, &recent.seen_by(expressions.sees_all), at_ms);
        let text: Arc<str> = serde_json::to_string(&values).ok()?.into();
        let mut state = self.lock();
        state.spent += begun.elapsed();
        if state.recent.last_ms() == Some(at_ms) {
            state.values.push((expressions.clone(), Arc::clone(&text)));
        }
        Some(text)
    }
}

/// Makes of each tick what is watched. It belongs to the thread that takes the ticks.
#[derive(Debug)]
pub(super) struct Publisher {
    live: Arc<Live>,
    groups: Vec<(Watched, TaskGroups)>,
    users: Users,
}

impl Publisher {
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self { live, groups: Vec::new(), users: Users::default() }
    }

    /// A tick was taken.
    pub(super) fn publish(&mut self, mut tick: Tick<'_>) {
        let live = Arc::clone(&self.live);
        let mut state = live.lock();
        state.values.clear();
        state.spent = Duration::ZERO;
        state.tasks.clear();
        if state.watchers.is_empty() {
            state.recent = Arc::default();
            self.groups = Vec::new();
            return;
        }
        if self.groups.is_empty() {
            self.users = Users::read();
        }
        let mut series = std::mem::replace(&mut tick.series, Box::new(std::iter::empty())).peekable();
        // A tick that was sent before the series were subscribed to has none.
        if series.peek().is_some() {
            // It is copied if an evaluation of the last tick still uses it.
            Arc::make_mut(&mut state.recent).push(tick.at_ms, series);
        }
        let mut wanted: Vec<Watched> = Vec::new();
        for watched in &state.watchers {
            if !wanted.contains(watched) {
                wanted.push(*watched);
            }
        }
        self.groups.retain(|(watched, _)| wanted.contains(watched));
        let Some(tasks) = tick.tasks else { return };
        for watched in wanted {
            let text = self.tasks(watched, tasks, &mut tick);
            state.tasks.extend(text.map(|text| (watched, text.into())));
        }
    }

    /// The rows that did something, and which are gone.
    fn tasks(&mut self, watched: Watched, tasks: &TaskStore, tick: &mut Tick<'_>) -> Option<String> {
        if !self.groups.iter().any(|(known, _)| *known == watched) {
            self.groups.push((watched, TaskGroups::default()));
        }
        let (_, groups) = self.groups.iter_mut().find(|(known, _)| *known == watched)?;
        let gone: Vec<TaskKey> = tasks.gone().filter(|key| groups.row_of(key.pid).is_some()).collect();
        match watched.scope {
            Scope::All => groups.update(tasks, watched.by, None),
            Scope::User(uid) => {
                let mut is_theirs = |row: &TaskRow| row.uid == Some(uid);
                groups.update(tasks, watched.by, Some(&mut is_theirs));
            }
        }
        let mut rows = Vec::new();
        for id in groups.active_rows() {
            let row = groups.row(tasks, id);
            let cgroup = tick.labels.as_mut().and_then(|labels| match row.is_ended {
                // Its file is gone.
                true => labels.known_cgroup(row.cgroup()),
                false => labels.cgroup(row.key(), row.cgroup()),
            });
            rows.push(task_rows::entry(&row, cgroup.unwrap_or_default(), &self.users, watched.by));
        }
        let gone =
            gone.into_iter().filter(|key| groups.row_of(key.pid).is_none()).map(|key| key.pid).collect();
        serde_json::to_string(&ActiveTasks { at_ms: tick.at_ms, rows, gone }).ok()
    }
}
