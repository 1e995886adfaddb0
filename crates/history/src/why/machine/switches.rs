//! Programs that give up the CPU all the time: to wait for something, or to look again and again.

use facts::task::wait::WaitReason;

use super::cpu;
use super::words::count;
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::sentence::Trouble;
use crate::why::target::{readings_asleep, seen_asleep};

/// Fewer waits of one program in each second are no trouble.
const MANY_SWITCHES: f64 = 20_000.0;
/// Fewer are no trouble if timers end them.
const MANY_TIMEOUTS: f64 = 1_000.0;
/// So much of its sleep must be until a point in time.
const MIN_TIMERS: f64 = 0.6;
/// It is looked for in the readings of so many seconds before the end of the window.
const COUNTED_S: i64 = 20;

/// Returns the program that gives up the CPU most often, if that is often enough.
fn who(examiner: &Examiner<'_>, least: f64) -> Result<Option<Share>, query::QueryError> {
    // Those of all tasks are a number of the machine's, while who does most takes a pass over its tasks.
    let all = examiner.number("rate(node_context_switches_total[W])")?;
    if all.is_some_and(|all| all.value < least) {
        return Ok(None);
    }
    let most = examiner.who(&["rate(whit_task_voluntary_switches_total[W])"])?;
    Ok(most.filter(|most| most.value >= least))
}

/// A program that often waits for something.
pub(super) fn often(examiner: &Examiner<'_>) -> Found {
    let Some(most) = who(examiner, MANY_SWITCHES)? else { return Ok(None) };
    // What it waits for is seen where reasons are recorded.
    let (reasons, seen) = match seen_asleep(examiner, &most.matchers())? {
        Some((reasons, seen)) => (format!("; asleep it waited {reasons}"), seen),
        None => (" to wait for something".to_owned(), Vec::new()),
    };
    let text =
        format!("{} gave up the CPU {} times in each second{reasons}.", most.label(), count(most.value));
    let cost = Cost::of([cpu::waits(examiner)?.map(|waits| waits.waited)]);
    let culprit = most.culprit();
    Ok(Some(sentence(Trouble::Locks, cost, text, culprit, [most.evidence].into_iter().chain(seen))))
}

/// A program that sleeps for moments, again and again: timers wake it, and not what it waits for.
pub(super) fn polling(examiner: &Examiner<'_>) -> Found {
    let Some(most) = who(examiner, MANY_TIMEOUTS)? else { return Ok(None) };
    if most.value >= MANY_SWITCHES {
        return Ok(None);
    }
    let matchers = most.matchers();
    let readings = readings_asleep(examiner, &matchers, COUNTED_S)?;
    let count_of = |is_meant: &dyn Fn(&Share) -> bool| -> f64 {
        readings.iter().filter(|reading| is_meant(reading)).map(|reading| reading.value).sum()
    };
    let timers = count_of(&|reading| reading.name.get("reason") == WaitReason::Timer.name());
    if timers == 0.0 || timers < MIN_TIMERS * count_of(&|_| true) {
        return Ok(None);
    }
    let used = examiner.number(&format!("sum(rate(whit_task_on_cpu_seconds_total{{{matchers}}}[W]))"))?;
    let used_cpus = used.as_ref().map_or(0.0, |used| used.value);
    let text = format!(
        "{} woke up {} times in each second by timers, and used {used_cpus:.2} CPUs: it looks again and again instead of waiting.",
        most.label(),
        count(most.value)
    );
    let culprit = most.culprit();
    let seen = readings.into_iter().map(|reading| reading.evidence);
    let evidence = [most.evidence].into_iter().chain(seen).chain(used);
    Ok(Some(sentence(Trouble::Polling, Cost::Lost(used_cpus), text, culprit, evidence)))
}
