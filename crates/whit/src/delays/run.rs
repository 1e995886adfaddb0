//! The ways to run: once, in intervals, beside a command, over all exits.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;

use facts::sample::Absence;
use facts::task::exit_record::ExitRecord;
use probe::exits::ExitRecords;
use probe::tasks::TaskReader;
use rustix::fd::BorrowedFd;

use super::asleep::Watch;
use super::interval::Intervals;
use super::printer::Printer;
use super::selection::{self, Missing};
use super::{Kind, Notes, Round, Row};
use crate::delays::arguments::{ExitFilter, Selection};
use crate::run;
use command::delay_accounting;
use command::failure::{Failure, write_stderr};
use sampling::ticker::Ticker;

/// Enables delay accounting, and prints that.
pub(crate) fn enable(reader: &mut TaskReader) -> Result<(), Failure> {
    let was_on = reader.accounting_on() == Some(true);
    reader.enable_accounting().map_err(delay_accounting::refused)?;
    write_stderr(&format!(
        "whit: kernel.task_delayacct {} 1: tasks made from now on are counted, older ones need a restart\n",
        if was_on { "was already" } else { "set to" }
    ));
    Ok(())
}

/// Reads and prints.
pub(crate) fn once(
    reader: &mut TaskReader,
    selection: &Selection,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let mut missing = Vec::new();
    let read = selection::read(reader, selection, &mut missing);
    let others = if read.is_err() { missing.len().saturating_sub(1) } else { missing.len() };
    for missing in &missing[..others] {
        missing.failure().report();
    }
    let rows = read?;
    let notes = Notes::new(&rows, reader);
    printer.print(rows, &notes)?;
    // The rest was worth printing, but it is not all that was asked for.
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads again and again, and prints the differences.
pub(crate) fn intervals(
    reader: &mut TaskReader,
    selection: &Selection,
    every: Duration,
    count: Option<u64>,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let mut ticker = Ticker::new(every);
    let mut intervals = Intervals::default();
    let mut reported: Vec<Missing> = Vec::new();
    // A task that ends is reported once, and the others go on.
    let mut read = |reader: &mut TaskReader| {
        let mut missing = Vec::new();
        let groups = selection::read_groups(reader, selection, &mut missing)?;
        for missing in missing {
            if !reported.contains(&missing) {
                missing.failure().report();
                reported.push(missing);
            }
        }
        Ok::<_, Failure>(groups)
    };
    let watch = Watch::start();
    let mut since = probe::clock_now();
    let groups = read(reader)?;
    intervals.add(&groups, since);
    if let Some(watch) = &watch {
        watch.follow_groups(&groups);
    }
    ticker.wait();
    let mut remaining = count;
    loop {
        let at = probe::clock_now();
        let mut rows = intervals.add(&read(reader)?, at);
        if let Some(watch) = &watch {
            watch.add(&mut rows);
        }
        let elapsed = at.monotonic.saturating_sub(since.monotonic);
        let notes = Notes::new(&rows, reader);
        printer.print_round(Round { realtime: at.realtime, elapsed: Some(elapsed) }, rows, &notes)?;
        remaining = remaining.map(|remaining| remaining - 1);
        if remaining == Some(0) {
            return Ok(ExitCode::SUCCESS);
        }
        since = at;
        ticker.wait();
    }
}

/// Runs a command and prints what its own process waited for: a view of what `whit run` knows. Its status is whit's,
/// whatever becomes of the printing.
pub(crate) fn command(
    reader: &mut TaskReader,
    command: &[OsString],
    procfs_only: bool,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let options = run::options::RunOptions {
        command: command.to_vec(),
        is_procfs_only: procfs_only,
        ..Default::default()
    };
    let supervised = run::supervise::supervise(&options, None)?;
    let ended = Kind::Ended(supervised.exit_info());
    let row = match (supervised.tree.own, supervised.own_from_proc) {
        (Some((task, _)), _) | (None, Some(task)) => Ok(Row::new(ended, task)),
        (None, None) => Err(Failure::new("the command's account could not be read")),
    };
    let reported = row.and_then(|row| {
        let rows = vec![row];
        let notes = Notes { lost_records: supervised.lost_records, ..Notes::new(&rows, reader) };
        printer.print(rows, &notes)
    });
    if let Err(failure) = reported {
        failure.report();
    }
    Ok(ExitCode::from(supervised.outcome.code()))
}

/// Prints each task as it ends, until ended, until there were `count` of them, or until a command ends.
pub(crate) fn exits(
    reader: &TaskReader,
    command: Option<&[OsString]>,
    filter: &ExitFilter,
    count: Option<u64>,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let opened = ExitRecords::open(reader.accounting_on()).map_err(|absence| match absence {
        Absence::Denied => Failure::new(
            "exit records: permission denied; they need CAP_NET_ADMIN in the initial namespaces (see whit doctor)",
        ),
        absence => Failure::new(format!("exit records: {absence}; see whit doctor")),
    })?;
    let mut notes = Notes::new(&[], reader);
    let heading = printer.heading_of_ended();
    // A command is run even if its output is not read.
    if let (None, Err(_)) = (command, &heading) {
        return heading.map(|()| ExitCode::SUCCESS);
    }
    let mut remaining = count;
    let each = |record: ExitRecord, end: BorrowedFd<'_>| {
        let row = Row::new(Kind::Ended(record.exit), record.account());
        if !filter.takes(&row.task) {
            return Ok(ControlFlow::Continue(()));
        }
        notes.add(&row);
        printer.ended(&row, end)?;
        remaining = remaining.map(|remaining| remaining - 1);
        Ok(if remaining == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let listened = run::listen(opened, command, each)?;
    notes.lost_records = listened.lost_records;
    let written = heading.and(listened.written).and_then(|()| printer.notes(&notes));
    match (listened.code, written) {
        (None, written) => written.map(|()| ExitCode::SUCCESS),
        (Some(code), written) => {
            if let Err(failure) = written {
                failure.report();
            }
            Ok(ExitCode::from(code))
        }
    }
}
