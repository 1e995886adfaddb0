//! The delays of tasks as they were recorded: up to an instant, or between two.

use std::process::ExitCode;

use super::interval::Intervals;
use super::printer::Printer;
use super::selection::{Group, of_recorded};
use super::{Notes, Round};
use crate::delays::arguments::{DelaysArgs, PastTime};
use crate::failure::Failure;
use crate::past::PastView;

/// Prints what was asked for.
pub(crate) fn run(args: &DelaysArgs, time: &PastTime, printer: &mut Printer) -> Result<ExitCode, Failure> {
    let view = PastView::open(&time.directory)?;
    let (store, clock) = view.tasks(time.until_ns)?;
    let groups = of_recorded(store.rows(), &args.selection)?;
    let Some(since_ns) = time.since_ns else {
        let round = Round { realtime: clock.realtime, elapsed: None };
        let rows = groups.iter().filter_map(Group::since_their_start).collect();
        printer.print_round(round, rows, &Notes::default())?;
        return Ok(ExitCode::SUCCESS);
    };
    let (store, since) = view.tasks(since_ns)?;
    let mut intervals = Intervals::default();
    // Who was not there yet has no past.
    intervals.add(&of_recorded(store.rows(), &args.selection).unwrap_or_default(), since);
    let rows = intervals.add(&groups, clock);
    let elapsed = clock.boottime.saturating_sub(since.boottime);
    printer.print_round(
        Round { realtime: clock.realtime, elapsed: Some(elapsed) },
        rows,
        &Notes::default(),
    )?;
    Ok(ExitCode::SUCCESS)
}
