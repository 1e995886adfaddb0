//! The work at each tick for the pages that are open. As long as there are none it costs nothing.

mod recent;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts::container::ContainerNames;
use facts::task::groups::{GroupBy, TaskGroups};
use facts::task::rounds::Scope;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use history::past::Names;
use probe::background_job::Notifier;
use query::Query;
use sampling::task_labels::TaskLabels;
use sampling::users::Users;

use super::cancellation::Cancellation;
use super::clients::{ClientKey, RecallFlag, Requester};
use super::replies::Answers;
use super::task_replies::ActiveTasks;
use super::{answers, task_rows};
use history::past::Past;
use recent::{MAX_MS, Recent};

/// The part of a CPU that evaluations for all pages may take, but those of root and the agent's user.
const MAX_CPU_RATIO: f64 = 0.1;
/// The CPU time that they may take at once.
const BURST: Duration = Duration::from_millis(100);
/// The most that is counted of what they have taken: four seconds later there are values again, whatever was sent.
const MAX_SPENT: Duration = Duration::from_millis(500);
/// The most CPU time that the evaluation of a page's expressions at a tick may take: any client may send expressions. By the
/// clock, a page would have no values on a busy machine, where the evaluation waits for a CPU.
const MAX_CPU_AT_A_TICK: Duration = Duration::from_millis(50);
/// The longest that it may take: other pages wait for it.
const MAX_AT_A_TICK: Duration = Duration::from_millis(500);
/// The most pages that watch at a time, how many of them are reserved for root and the agent's user, and the most of another client.
const MAX_WATCHERS: usize = 64;
const RESERVED: usize = 16;
const MAX_OF_ONE: usize = 32;
/// The most bytes of the values of one page. They stay in memory while a browser reads slowly.
const MAX_BYTES: usize = 1 << 20;
/// The longest that ticks are kept which no page watches, in milliseconds. A page takes them over from the history before it watches: on a
/// busy machine ticks come between.
const MAX_UNWATCHED_MS: i64 = 10_000;

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
    /// Held during an evaluation: one page after the other, so that one with the same expressions finds the result.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Notified when a page begins to watch.
    watched: Notifier,
}

#[derive(Debug, Default)]
struct State {
    watchers: Vec<(ClientKey, Watched)>,
    recent: Arc<Recent>,
    /// The CPU time that evaluations have taken beyond [`MAX_CPU_RATIO`].
    spent: Duration,
    /// The time of the last tick in milliseconds since 1970.
    last_ms: Option<i64>,
    /// The results of the last tick, so that pages that watch the same cost one: tasks, and the values of expressions.
    tasks: Vec<(Watched, Arc<str>)>,
    values: Vec<(Expressions, Arc<str>)>,
}

impl Live {
    pub(super) fn new(watched: Notifier) -> Self {
        Self { state: Mutex::default(), turn: Arc::default(), watched }
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
            true => open < MAX_WATCHERS,
            false => open < MAX_WATCHERS - RESERVED && of_client < MAX_OF_ONE,
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
        let Ok(ticks) = past.last_ticks(MAX_MS) else { return };
        let mut state = self.lock();
        if state.watchers.is_empty() {
            let mut recent = Recent::default();
            for tick in ticks {
                recent.push(tick.at_ms, tick.values.into_iter());
            }
            state.recent = Arc::new(recent);
        }
    }

    /// Returns the tasks of the last tick, if they were read in it.
    pub(super) fn tasks(&self, watched: Watched) -> Option<Arc<str>> {
        let state = self.lock();
        let found = state.tasks.iter().find(|(known, _)| *known == watched);
        found.map(|(_, text)| Arc::clone(text))
    }

    /// Returns the values of expressions at the last tick; `None` if they would take more CPU time than there is for pages. Root and the
    /// agent's user get theirs.
    pub(super) async fn values(
        self: &Arc<Self>,
        expressions: &Expressions,
        queries: &Arc<[Query]>,
        is_owner: bool,
    ) -> Option<Arc<str>> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
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
        let (live, expressions, queries) = (Arc::clone(self), expressions.clone(), Arc::clone(queries));
        let cancellation = Cancellation::after(MAX_AT_A_TICK, RecallFlag::default());
        let _guard = cancellation.cancel_on_drop();
        // In a thread of its own: ticks and other requests go on. If the page is gone meanwhile, the turn ends with the evaluation.
        let evaluation = tokio::task::spawn_blocking(move || {
            let text = live.evaluate(&recent, &expressions, &queries, &cancellation, is_owner);
            drop(turn);
            text
        });
        evaluation.await.ok()?
    }

    /// Evaluates expressions at the last of some ticks, and keeps the result and what it took.
    fn evaluate(
        &self,
        recent: &Recent,
        expressions: &Expressions,
        queries: &[Query],
        cancellation: &Cancellation,
        is_owner: bool,
    ) -> Option<Arc<str>> {
        let (at_ms, begun, before) = (recent.last_ms()?, Instant::now(), probe::own_thread_cpu_time());
        let source = recent.seen_by(expressions.sees_all);
        let used = || Duration::from_nanos(probe::own_thread_cpu_time().saturating_sub(before).0);
        // It is asked a thousand times. A thread's CPU time costs a system call, and is never more than the time that has passed.
        let is_over = || {
            cancellation.is_cancelled()
                || (begun.elapsed() >= MAX_CPU_AT_A_TICK && used() >= MAX_CPU_AT_A_TICK)
        };
        let values = answers::of_instant(queries, &source, at_ms, &is_over);
        let text = bounded(&values, MAX_BYTES).map(Arc::<str>::from);
        let cpu = used();
        let mut state = self.lock();
        if !is_owner {
            state.spent = (state.spent + cpu).min(MAX_SPENT);
        }
        // If the page is gone, the result has the errors of that, which are no other page's. Those of a timeout are.
        let is_kept = state.recent.last_ms() == Some(at_ms) && !cancellation.is_disconnected();
        if let Some(text) = text.as_ref().filter(|_| is_kept) {
            state.values.push((expressions.clone(), Arc::clone(text)));
        }
        text
    }
}

/// Returns values as JSON; errors in their place if it has more bytes.
fn bounded(values: &Answers, most_bytes: usize) -> Option<String> {
    let text = serde_json::to_string(values).ok().filter(|text| text.len() <= most_bytes);
    let too_large = || answers::too_large(values.answers.len(), values.from_ms);
    text.or_else(|| serde_json::to_string(&too_large()).ok())
}

/// Turns each tick into what pages watch. It belongs to the thread that takes the ticks.
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

    /// Publishes a tick to the pages that watch.
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
            .saturating_sub(Duration::from_millis(passed_ms.unsigned_abs()).mul_f64(MAX_CPU_RATIO));
        if state.watchers.is_empty() {
            if state.recent.last_ms().is_none_or(|last_ms| tick.at_ms - last_ms > MAX_UNWATCHED_MS) {
                state.recent = Arc::default();
            }
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
        let containers = state.recent.container_names().clone();
        for watched in wanted {
            let text = self.tasks(watched, tasks, &containers, &mut tick);
            state.tasks.extend(text.map(|text| (watched, text.into())));
        }
    }

    /// Returns the rows that did something and the pids that are gone, as JSON.
    fn tasks(
        &mut self,
        watched: Watched,
        tasks: &TaskStore,
        containers: &ContainerNames,
        tick: &mut Tick<'_>,
    ) -> Option<String> {
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
            let waits_for = task_rows::reason(groups, tasks, id);
            let names = (Names { users: &self.users, containers }, tasks.clock());
            rows.push(task_rows::entry(&row, waits_for, cgroup.unwrap_or_default(), names, watched.by));
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
        assert_eq!(open(1), MAX_OF_ONE);
        assert_eq!(open(2), MAX_WATCHERS - RESERVED - MAX_OF_ONE);
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
    fn what_a_page_begins_with_outlasts_the_ticks_until_it_watches() {
        let live = Arc::new(Live::new(Notifier::new().unwrap()));
        let watched = Watched { scope: Scope::All, by: GroupBy::Process };
        live.add(&requester(1), watched);
        tick(&live, 1000);
        live.remove(ClientKey::User(1), watched);
        tick(&live, 2000);
        assert_eq!(live.lock().recent.last_ms(), Some(1000));
        tick(&live, 1001 + MAX_UNWATCHED_MS);
        assert_eq!(live.lock().recent.last_ms(), None);
    }

    #[test]
    fn values_that_are_too_many_are_refused() {
        let values = answers::too_large(3, 1000);
        let whole = bounded(&values, 10_000).unwrap();
        assert_eq!(whole, serde_json::to_string(&values).unwrap());
        assert_eq!(bounded(&Answers { count: 7, ..values }, 10).unwrap(), whole);
    }

    #[test]
    fn a_page_that_is_gone_pays_and_gives_up_its_turn() {
        let live = Arc::new(Live::new(Notifier::new().unwrap()));
        live.add(&requester(1), Watched { scope: Scope::All, by: GroupBy::Process });
        tick(&live, 1000);
        let queries: Arc<[Query]> = vec![Query::parse("a").unwrap()].into();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let expressions = Expressions { texts: vec!["a".to_owned()].into(), sees_all: true };
        runtime.block_on(async {
            let page = {
                let (live, expressions, queries) =
                    (Arc::clone(&live), expressions.clone(), Arc::clone(&queries));
                tokio::spawn(async move { live.values(&expressions, &queries, false).await })
            };
            tokio::task::yield_now().await;
            page.abort();
            let other = Expressions { texts: Arc::default(), ..expressions };
            assert!(live.values(&other, &queries, false).await.is_some());
        });
        assert!(live.lock().spent > Duration::ZERO && live.turn.try_lock().is_ok());
    }
}
