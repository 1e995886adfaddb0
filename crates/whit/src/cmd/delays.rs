//! `whit delays`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use facts::sample::Absence;
use facts::unit::Nanos;
use probe::exits::ExitRecords;
use probe::signals::Signals;
use probe::tasks::TaskReader;

use crate::args::{DelaysArgs, Selection, SortKey, View};
use crate::delays::child::{self, Account};
use crate::delays::{Kind, Notes, Row, interval, selection};
use crate::failure::Failure;
use crate::output::{DRAIN_BYTES, Output};
use crate::show::delays_json::TaskJson;
use crate::show::style::Style;
use crate::show::{delays, delays_classic};
use crate::ticker::Ticker;

/// Reads what was asked for and prints it.
pub(crate) fn run(args: &DelaysArgs) -> Result<ExitCode, Failure> {
    let mut reader = match args.procfs_only {
        true => TaskReader::open_procfs(&args.roots)?,
        false => TaskReader::open(&args.roots)?,
    };
    let mut printer =
        Printer { view: args.view, sort: args.sort, style: Style::for_stdout(), output: Output::stdout() };
    if args.enable {
        enable(&mut reader)?;
    }
    match (&args.selection, args.interval) {
        (Selection::Nothing, _) => Ok(ExitCode::SUCCESS),
        (Selection::Command(command), _) => run_command(&mut reader, command, &mut printer),
        (Selection::Exits(command), _) => stream_exits(&reader, command.as_deref(), &mut printer),
        (selection, Some(every)) => {
            run_intervals(&mut reader, selection, every, args.count, &mut printer)?;
            Ok(ExitCode::SUCCESS)
        }
        (selection, None) => {
            let rows = selection::read(&mut reader, selection)?;
            printer.print(rows, &reader, 0)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn enable(reader: &mut TaskReader) -> Result<(), Failure> {
    let was_on = reader.accounting_on() == Some(true);
    reader.enable_accounting().map_err(|absence| match absence {
        Absence::Denied => Failure::new("kernel.task_delayacct: only root may set it"),
        Absence::Unsupported => Failure::new(
            "kernel.task_delayacct: this kernel has no such switch (before 5.14 accounting is on unless it was booted with \
             nodelayacct)",
        ),
        absence => Failure::unreadable("/proc/sys/kernel/task_delayacct", absence),
    })?;
    eprintln!(
        "whit: kernel.task_delayacct {} 1: tasks made from now on are counted, older ones need a restart",
        if was_on { "was already" } else { "set to" }
    );
    Ok(())
}

fn run_intervals(
    reader: &mut TaskReader,
    selection: &Selection,
    every: Duration,
    count: Option<u64>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let mut ticker = Ticker::start(every);
    let mut before = selection::read(reader, selection)?;
    let mut since = probe::clock_now().monotonic;
    ticker.wait_full();
    let mut remaining = count;
    loop {
        let now = selection::read(reader, selection)?;
        let at = probe::clock_now().monotonic;
        let rows = interval::between(&before, &now, Nanos(at.0.saturating_sub(since.0)));
        printer.print(rows, reader, 0)?;
        remaining = remaining.map(|remaining| remaining - 1);
        if remaining == Some(0) {
            return Ok(());
        }
        (before, since) = (now, at);
        ticker.wait_full();
    }
}

fn run_command(
    reader: &mut TaskReader,
    command: &[OsString],
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let signals = Signals::open().map_err(Failure::internal)?;
    // Without the privilege the account is read from the ended child before it is reaped.
    let mut records = ExitRecords::open(reader.accounting_on()).ok();
    let mut child = child::start(command)?;
    let mut account = Account::of(&child);
    child::wait(&signals, Some(&child), &mut records, |stats| {
        account.add(&stats);
        Ok(())
    })?;
    let row = account.finish(reader);
    let status = child.wait().map_err(Failure::internal)?;
    printer.print(vec![row?], reader, 0)?;
    Ok(ExitCode::from(child::exit_code(status)))
}

fn stream_exits(
    reader: &TaskReader,
    command: Option<&[OsString]>,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let signals = Signals::open().map_err(Failure::internal)?;
    let opened = ExitRecords::open(reader.accounting_on()).map_err(|absence| match absence {
        Absence::Denied => Failure::new(
            "exit records: permission denied; they need CAP_NET_ADMIN in the initial namespaces (see whit doctor)",
        ),
        absence => Failure::new(format!("exit records: {absence}; see whit doctor")),
    })?;
    let mut records = Some(opened);
    let mut child = command.map(child::start).transpose()?;
    printer.heading_of_ended()?;
    let mut rows = Vec::new();
    let mut notes = Notes::new(&[], reader);
    child::wait(&signals, child.as_ref(), &mut records, |stats| {
        rows.clear();
        rows.push(Row { kind: Kind::Ended(stats.exit), task: stats.task, ended: None });
        let of_row = Notes::new(&rows, reader);
        notes.is_off |= of_row.is_off;
        notes.is_unsure |= of_row.is_unsure;
        notes.impossible_values += of_row.impossible_values;
        printer.ended(&rows[0])
    })?;
    notes.lost_records = records.map_or(0, |records| records.lost());
    printer.notes(&notes)?;
    match &mut child {
        Some(child) => Ok(ExitCode::from(child::exit_code(child.wait().map_err(Failure::internal)?))),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Rows to standard output, notes to standard error where the output is for programs.
struct Printer {
    view: View,
    sort: SortKey,
    style: Style,
    output: Output,
}

impl Printer {
    fn print(&mut self, mut rows: Vec<Row>, reader: &TaskReader, lost_records: u64) -> Result<(), Failure> {
        self.sort.apply(&mut rows);
        let notes = Notes { lost_records, ..Notes::new(&rows, reader) };
        let mut text = String::with_capacity(DRAIN_BYTES + 1024);
        match self.view {
            View::Table => {
                let output = &mut self.output;
                delays::write(&rows, self.style, &mut text, |text| output.drain(text))?;
            }
            View::Classic => rows.iter().for_each(|row| delays_classic::write(row, &mut text)),
            View::Json => rows.iter().try_for_each(|row| write_json(row, &mut text))?,
        }
        self.output.write(text.as_bytes())?;
        self.notes(&notes)
    }

    fn heading_of_ended(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        if self.view == View::Table {
            delays::write_ended_heading(&mut text);
        }
        self.output.write(text.as_bytes())
    }

    fn ended(&mut self, row: &Row) -> Result<(), Failure> {
        let mut text = String::with_capacity(256);
        match self.view {
            View::Table => delays::write_ended(row, self.style, &mut text),
            View::Classic => delays_classic::write(row, &mut text),
            View::Json => write_json(row, &mut text)?,
        }
        self.output.write(text.as_bytes())
    }

    fn notes(&mut self, notes: &Notes) -> Result<(), Failure> {
        let mut text = String::new();
        delays::write_notes(notes, &mut text);
        match self.view {
            View::Table => self.output.write(text.as_bytes()),
            View::Classic | View::Json => {
                eprint!("{text}");
                Ok(())
            }
        }
    }
}

fn write_json(row: &Row, text: &mut String) -> Result<(), Failure> {
    text.push_str(&serde_json::to_string(&TaskJson::new(row)).map_err(Failure::internal)?);
    text.push('\n');
    Ok(())
}
