//! Walking through what was recorded, with the same view as of the present.

use facts::task::Cause;
use facts::unit::Nanos;
use sampling::containers::MetContainers;

use super::columns::Column;
use super::machine::Machine;
use super::past_place::PastPlace;
use super::session::Session;
use command::failure::Failure;
use command::past::PastView;

/// A step through time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A tick.
    Tick,
    /// So much time.
    Time(Nanos),
    /// To where what rows are ordered by stands out.
    Spike,
}

/// A whole one of each.
pub(super) const MINUTE: Step = Step::Time(Nanos(60 * Nanos::SECOND.0));
pub(super) const HOUR: Step = Step::Time(Nanos(3600 * Nanos::SECOND.0));

impl Session {
    /// Where the view is in the past; `None`: it shows the present.
    pub(super) fn past(&self) -> Option<&PastPlace> {
        self.past.as_ref()
    }

    /// Shows the last tick before a time in nanoseconds since 1970.
    ///
    /// # Errors
    /// If nothing was recorded then. The view stays as it was.
    pub(super) fn go_to(&mut self, at_ns: i64) -> Result<(), Failure> {
        let view = match self.past.take() {
            Some(place) => place.view,
            None => PastView::open(&self.options.data_directory()?)?,
        };
        self.go_in(view, at_ns)
    }

    fn go_in(&mut self, view: PastView, at_ns: i64) -> Result<(), Failure> {
        let shown = self.show(&view, at_ns);
        let before = self.machine.now().clock.realtime.0.cast_signed();
        match shown {
            Ok(at_ns) => {
                self.past = Some(PastPlace { view, at_ns });
                self.select_in_past();
                self.group();
                Ok(())
            }
            Err(failure) => {
                // What was shown stays.
                if self.is_of_past {
                    self.past = Some(PastPlace { view, at_ns: before });
                }
                Err(failure)
            }
        }
    }

    /// Returns the tick's time.
    fn show(&mut self, view: &PastView, at_ns: i64) -> Result<i64, Failure> {
        let machine = view.machine_at(at_ns)?;
        let now = machine.now().clock.realtime.0.cast_signed();
        let interval = machine.rates().interval.map_or(Nanos::SECOND, |interval| interval.elapsed());
        // Tasks are read after the machine, within the same tick. The one before may be far away, where nothing was recorded.
        let interval_ns = i64::try_from(interval.0).unwrap_or(i64::MAX);
        let next_ns = view.tick_after(now)?.map_or(i64::MAX, |next| next - now);
        let tasks_ns = now.saturating_add(interval_ns.min(next_ns) / 2);
        view.show_tasks(tasks_ns, &mut self.tasks, &mut self.commands)?;
        self.containers = MetContainers::of_past(view.container_names());
        self.machine.show_past(machine);
        self.is_of_past = true;
        Ok(now)
    }

    /// Takes a step, from the present into the past if need be.
    ///
    /// # Errors
    /// If there is nothing in that direction.
    pub(super) fn step(&mut self, step: Step, is_forward: bool) -> Result<(), Failure> {
        let Some(place) = self.past.take() else {
            if is_forward {
                return Err(Failure::new("this is now: [ { ( , go back"));
            }
            let view = PastView::open(&self.options.data_directory()?)?;
            let (_, last) = view.extent_ns();
            let at_ns = match step {
                Step::Tick => last,
                Step::Time(Nanos(time)) => last.saturating_sub_unsigned(time),
                Step::Spike => self.spike(&view, last, false)?,
            };
            return self.go_in(view, at_ns);
        };
        let target = self.target(&place, step, is_forward);
        let PastPlace { mut view, at_ns } = place;
        match target {
            Ok(target) => self.go_in(view, target),
            Err(failure) => {
                // Something may have been recorded meanwhile.
                let known = view.extent_ns();
                let reopened = view.reopen();
                let is_longer = reopened.is_ok() && view.extent_ns() != known;
                let place = PastPlace { view, at_ns };
                match is_longer && is_forward {
                    true => {
                        let target = self.target(&place, step, is_forward);
                        let view = place.view;
                        self.go_in(view, target.unwrap_or(at_ns))
                    }
                    false => {
                        self.past = Some(place);
                        Err(failure)
                    }
                }
            }
        }
    }

    fn target(&self, place: &PastPlace, step: Step, is_forward: bool) -> Result<i64, Failure> {
        let (_, newest) = place.view.extent_ns();
        let (at_ns, oldest) = (place.at_ns, place.view.oldest_ns()?);
        let no_more = || {
            let end = if is_forward { "the newest tick: w goes to now" } else { "the oldest tick" };
            Failure::new(format!("this is {end}"))
        };
        match (step, is_forward) {
            (Step::Tick, true) => place.view.machine_after(at_ns)?.ok_or_else(no_more),
            (_, false) if at_ns <= oldest => Err(no_more()),
            (Step::Tick, false) => before_gap(&place.view, at_ns - 1),
            (Step::Time(Nanos(time)), true) if at_ns < newest => {
                let target = before_gap(&place.view, at_ns.saturating_add_unsigned(time).min(newest))?;
                // Behind the last tick before a gap comes the first one after it.
                match target > at_ns {
                    true => Ok(target),
                    false => place.view.machine_after(at_ns)?.ok_or_else(no_more),
                }
            }
            (Step::Time(Nanos(time)), false) => {
                before_gap(&place.view, at_ns.saturating_sub_unsigned(time).max(oldest))
            }
            (Step::Spike, _) => self.spike(&place.view, at_ns, is_forward),
            (_, _) => Err(no_more()),
        }
    }

    fn spike(&self, view: &PastView, at_ns: i64, is_forward: bool) -> Result<i64, Failure> {
        let sort = self.arrangement.sort;
        view.next_spike(|range| expression(sort, range), at_ns, is_forward)?.ok_or_else(|| {
            let where_to = if is_forward { "next" } else { "last" };
            Failure::new(format!("{} does not stand out in the {where_to} hour", sort.name()))
        })
    }

    /// Shows the present again.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn go_to_now(&mut self) -> Result<(), Failure> {
        if self.past.take().is_some() {
            let options = self.options.clone();
            self.machine = Machine::open(&options.roots)?;
            self.open_present(&options)?;
            self.is_of_past = false;
            self.widen();
            self.tick()?;
        }
        Ok(())
    }
}

/// Returns the last tick up to a time, or that time if there is none.
fn before_gap(view: &PastView, at_ns: i64) -> Result<i64, Failure> {
    Ok(view.tick_until(at_ns)?.unwrap_or(at_ns))
}

/// Returns the expression that the rows are ordered by, for the whole machine, with this range for its rates.
fn expression(sort: Column, range: &str) -> String {
    let of_tasks = |name: &str| format!("sum(rate(whit_task_{name}_total[{range}]))");
    match sort {
        Column::Cause(Cause::RunQueue) => of_tasks("run_queue_seconds"),
        Column::Cause(Cause::BlockIo) => of_tasks("block_io_seconds"),
        Column::Cause(Cause::SwapIn) => of_tasks("swap_in_seconds"),
        Column::Cause(Cause::Reclaim) => of_tasks("reclaim_seconds"),
        Column::Cause(Cause::Thrashing) => of_tasks("thrashing_seconds"),
        Column::Cause(Cause::Compaction) => of_tasks("compaction_seconds"),
        Column::Cause(Cause::Copy) => of_tasks("copy_seconds"),
        Column::Cause(Cause::Irq) => of_tasks("irq_seconds"),
        Column::Read => of_tasks("read_bytes"),
        Column::Written => of_tasks("written_bytes"),
        Column::Resident => "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes".to_owned(),
        _ => format!("sum(rate(node_cpu_seconds_total{{mode!~\"idle|iowait|steal\"}}[{range}]))"),
    }
}
