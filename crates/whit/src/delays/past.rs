//! The delays of tasks as they were recorded: up to an instant, or between two.

use std::process::ExitCode;

use super::interval::Intervals;
use super::printer::Printer;
use super::selection::{Group, groups_beside, of_ended, of_recorded};
use super::{Notes, Round};
use crate::delays::arguments::{DelaysArgs, PastTime};
use command::failure::Failure;
use command::past::PastView;

/// Prints what was asked for.
pub(crate) fn run(args: &DelaysArgs, time: &PastTime, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let view = PastView::open(&time.directory)?;
    let (store, clock) = view.tasks(time.until_ns)?;
    let Some(since_ns) = time.since_ns else {
        let groups = of_recorded(store.rows(), &args.selection)?;
        let round = Round { realtime: clock.realtime, elapsed: None };
        let rows = groups.iter().filter_map(Group::since_their_start).collect();
        printer.print_round(round, rows, &Notes::default())?;
        return Ok(ExitCode::SUCCESS);
    };
    let (before, since) = view.tasks(since_ns)?;
    let times_ns = [since, clock].map(|clock| clock.realtime.0.cast_signed());
    let ended =
        view.ended_processes([times_ns[0] + 1, times_ns[1]], |row| args.selection.takes_process(row))?;
    // What was asked for and is not there any more has ended in this time.
    let living = groups_beside(store.rows(), &args.selection, &ended)?;
    let mut intervals = Intervals::default();
    // Who was not there yet has no past.
    intervals.add(&of_recorded(before.rows(), &args.selection).unwrap_or_default(), since);
    let mut rows = intervals.add(&living, clock);
    for process in &ended {
        for group in of_ended(process, &args.selection) {
            let mut intervals = Intervals::default();
            let earlier = group.members.iter().filter_map(|row| {
                before.row(row.key.pid).filter(|known| known.key.is_same(&row.key)).copied()
            });
            let mut begun = group.clone();
            begun.members = earlier.collect();
            intervals.add(&[begun], since);
            rows.extend(intervals.add(&[group], process.clock));
        }
    }
    let elapsed = clock.boottime.saturating_sub(since.boottime);
    printer.print_round(
        Round { realtime: clock.realtime, elapsed: Some(elapsed) },
        rows,
        &Notes::default(),
    )?;
    Ok(ExitCode::SUCCESS)
}
