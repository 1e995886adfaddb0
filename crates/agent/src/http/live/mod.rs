//! The work at each tick for the pages that are open. As long as there are none it costs nothing.

mod recent;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use facts::task::groups::{GroupBy, TaskGroups};
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use probe::background_job::Notifier;
use query::Query;
use sampling::task_labels::TaskLabels;
use sampling::users::Users;

use super::clients::{ClientKey, Requester};
use super::replies::ActiveTasks;
use super::{answers, task_rows};
use history::past::Past;
use recent::{LONGEST_MS, Recent};

/// The part of a CPU that the expressions of all pages may take if each page has others, and the CPU time that they may take at once.
const MOST_CPU_RATIO: f64 = 0.1;
const BURST: Duration = Duration::from_millis(100);
/// The most pages that watch at a time, how many of them are reserved for root and the agent's user, and the most of another client.
const MOST_WATCHERS: usize = 64;
const RESERVED: usize = 16;
const MOST_OF_ONE: usize = 32;
/// The most bytes of the values of one page. A browser that reads slowly keeps them in memory.
const MOST_BYTES: usize = 1 << 20;

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
    /// Held during an evaluation: pages have their turns, and those that watch the same find its result.
    turn: tokio::sync::Mutex<()>,
    /// Notified when a page begins to watch.
    watched: Notifier,
}

#[derive(Debug, Default)]
struct State {
    watchers: Vec<(ClientKey, Watched)>,
    recent: Arc<Recent>,
    /// The CPU time of evaluations beyond their part of a CPU.
    spent: Duration,
    /// The time of the last tick in milliseconds since 1970.
    last_ms: Option<i64>,
    /// The results of the last tick, so that pages that watch the same cost one: tasks, and the values of expressions.
    tasks: Vec<(Watched, Arc<str>)>,
    values: Vec<(Expressions, Arc<str>)>,
}

impl Live {
    pub(super) fn new(watched: Notifier) -> Self {
        Self { state: Mutex::default(), turn: tokio::sync::Mutex::default(), watched }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a watcher. Returns whether there is room for it.
    pub(super) fn add(&self, requester: &Requester, watched: Watched) -> bool {
        let mut state = self.lock();
        let (key, open) = (requester.key, state.watchers.len());
        let of_client = state.watchers.iter().filter(|(known, _)| *known == key).count();
        let has_room = match requester.is_owner {
            true => open < MOST_WATCHERS,
            false => open < MOST_WATCHERS - RESERVED && of_client < MOST_OF_ONE,
        };
        state.watchers.extend(has_room.then_some((key, watched)));
        drop(state);
        self.watched.notify();
        has_room
    }

    /// Removes a watcher.
    pub(super) fn remove(&self, key: ClientKey, watched: Watched) {
        let mut state = self.lock();
        if let Some(place) = state.watchers.iter().position(|known| *known == (key, watched)) {
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

    /// Returns the values of expressions at the last tick; `None` if they would take more CPU time than there is for pages. Root and the
    /// agent's user get theirs.
    pub(super) async fn values(
        &self,
        expressions: &Expressions,
        queries: &Arc<[Query]>,
        is_owner: bool,
    ) -> Option<Arc<str>> {
        let _turn = self.turn.lock().await;
        let recent = {
            let state = self.lock();
            if let Some((_, text)) = state.values.iter().find(|(known, _)| known == expressions) {
                return Some(Arc::clone(text));
            }
            if state.spent >= BURST && !is_owner {
                return None;
            }
            Arc::clone(&state.recent)
        };
        let (at_ms, queries, sees_all) = (recent.last_ms()?, Arc::clone(queries), expressions.sees_all);
        // Neither the next tick nor another client waits for it.
        let evaluation = tokio::task::spawn_blocking(move || {
            let before = probe::own_thread_cpu_time();
            let values = answers::of_instant(&queries, &recent.seen_by(sees_all), at_ms);
            let text = serde_json::to_string(&values).ok().filter(|text| text.len() <= MOST_BYTES);
            let text = text.or_else(|| serde_json::to_string(&answers::too_large(queries.len(), at_ms)).ok());
            (text, probe::own_thread_cpu_time().saturating_sub(before))
        });
        let (text, cpu) = evaluation.await.ok()?;
        let text: Arc<str> = text?.into();
        let mut state = self.lock();
        state.spent += Duration::from_nanos(cpu.0);
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
        state.tasks.clear();
        let passed_ms =
            state.last_ms.map_or(0, |last_ms| tick.at_ms.saturating_sub(last_ms).clamp(0, 60_000));
        state.last_ms = Some(tick.at_ms);
        state.spent = state
            .spent
            .saturating_sub(Duration::from_millis(passed_ms.unsigned_abs()).mul_f64(MOST_CPU_RATIO));
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
        for (_, watched) in &state.watchers {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn requester(uid: u32) -> Requester {
        let key = ClientKey::User(uid);
        Requester { key, scope: Scope::All, is_owner: uid == 0, is_cheap: false }
    }

    fn tick(live: &Arc<Live>, at_ms: i64) {
        let series = Box::new(std::iter::once(("a", 1.0)));
        Publisher::new(Arc::clone(live)).publish(Tick { at_ms, series, tasks: None, labels: None });
    }

    #[test]
    fn no_client_takes_all_pages() {
        let live = Live::new(Notifier::new().unwrap());
        let watched = Watched { scope: Scope::All, by: GroupBy::Process };
        let open = |uid| (0..100).filter(|_| live.add(&requester(uid), watched)).count();
        assert_eq!(open(1), MOST_OF_ONE);
        assert_eq!(open(2), MOST_WATCHERS - RESERVED - MOST_OF_ONE);
        assert_eq!(open(0), RESERVED);
        live.remove(ClientKey::User(1), watched);
        assert_eq!(open(0), 1);
    }

    #[test]
    fn pages_have_a_part_of_a_cpu() {
        let live = Arc::new(Live::new(Notifier::new().unwrap()));
        live.add(&requester(1), Watched { scope: Scope::All, by: GroupBy::Process });
        let queries: Arc<[Query]> = vec![Query::parse("a").unwrap()].into();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let values = |text: &str, is_owner| {
            let expressions = Expressions { texts: vec![text.to_owned()].into(), sees_all: true };
            runtime.block_on(live.values(&expressions, &queries, is_owner))
        };
        tick(&live, 1000);
        assert!(values("first", false).unwrap().contains("[1.0]"));
        live.lock().spent = BURST + Duration::from_millis(150);
        // What is known costs nothing, and owners get theirs.
        assert!(values("first", false).is_some());
        assert_eq!(values("second", false), None);
        assert!(values("second", true).is_some());
        tick(&live, 2000);
        assert_eq!(values("first", false), None);
        tick(&live, 3000);
        assert!(values("first", false).is_some());
    }

    #[test]
    fn values_that_are_too_many_are_refused() {
        let live = Arc::new(Live::new(Notifier::new().unwrap()));
        live.add(&requester(1), Watched { scope: Scope::All, by: GroupBy::Process });
        tick(&live, 1000);
        let long = format!("label_replace(vector(1),\"a\",\"{}\",\"\",\"\")", "x".repeat(7000));
        let queries: Vec<Query> = (0..200).map(|_| Query::parse(&long).unwrap()).collect();
        let expressions = Expressions { texts: Arc::default(), sees_all: true };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let text = runtime.block_on(live.values(&expressions, &queries.into(), false)).unwrap();
        assert_eq!(text.matches("too many").count(), 200);
    }
}
