//! Where rows and notes go.

use std::cmp::Reverse;

use facts::unit::Nanos;
use probe::Roots;
use rustix::fd::BorrowedFd;

use super::{Notes, Round, Row};
use crate::delays::arguments::{SortKey, View};
use crate::delays::json::TaskJson;
use crate::delays::render::Ends;
use crate::delays::{classic, render};
use command::document::{DocumentKind, Documents, realtime};
use command::failure::{Failure, write_stderr};
use command::output::stdout_style;
use command::output::{DRAIN_BYTES, Output};
use text::style::Style;

/// Rows to standard output, notes to standard error where the output is for programs.
pub(crate) struct Printer {
    view: View,
    sort: SortKey,
    style: Style,
    output: Output,
    /// A table stands above the next one.
    is_under_way: bool,
    /// The notes that have been printed.
    printed: Notes,
    documents: Documents,
    roots: Roots,
    ends: Ends,
}

impl Printer {
    pub(crate) fn new(roots: &Roots, view: View, sort: SortKey) -> Self {
        Self {
            view,
            sort,
            style: stdout_style(),
            output: Output::stdout(),
            is_under_way: false,
            printed: Notes::default(),
            documents: Documents::of(roots),
            roots: roots.clone(),
            ends: Ends::default(),
        }
    }

    /// A whole table.
    pub(crate) fn print(&mut self, rows: Vec<Row>, notes: &Notes) -> Result<(), Failure> {
        self.print_table(None, rows, notes)
    }

    /// One of several tables, with its time.
    pub(crate) fn print_round(&mut self, round: Round, rows: Vec<Row>, notes: &Notes) -> Result<(), Failure> {
        self.print_table(Some(round), rows, notes)
    }

    fn print_table(
        &mut self,
        round: Option<Round>,
        mut rows: Vec<Row>,
        notes: &Notes,
    ) -> Result<(), Failure> {
        sort(&mut rows, self.sort);
        let mut text = String::with_capacity(DRAIN_BYTES + 1024);
        if let Some(round) = round.filter(|_| self.view != View::Json) {
            if std::mem::replace(&mut self.is_under_way, true) {
                text.push('\n');
            }
            render::write_round(round, &mut text);
        }
        match self.view {
            View::Table => {
                let output = &mut self.output;
                render::write(&rows, self.style, &mut text, &self.ends, |text| output.drain(text))?;
            }
            View::Classic => rows.iter().for_each(|row| classic::write(row, &mut text)),
            View::Json => {
                let realtime = match round {
                    Some(round) => round.realtime,
                    None => realtime(&self.roots)?,
                };
                rows.iter().try_for_each(|row| self.push_json(row, round, realtime, &mut text))?;
            }
        }
        self.output.write(text.as_bytes())?;
        self.notes(notes)
    }

    /// Writes the heading of a stream of tasks that end.
    pub(crate) fn heading_of_ended(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        if self.view == View::Table {
            render::write_heading(&mut text, true);
        }
        self.output.write(text.as_bytes())
    }

    /// One of them; gives up if the reader does not read and `end` becomes readable.
    pub(crate) fn ended(&mut self, row: &Row, end: BorrowedFd<'_>) -> Result<(), Failure> {
        let mut text = String::with_capacity(256);
        match self.view {
            View::Table => render::write_row(row, self.style, &self.ends, &mut text, &mut String::new()),
            View::Classic => classic::write(row, &mut text),
            View::Json => self.push_json(row, None, probe::clock_now().realtime, &mut text)?,
        }
        self.output.write_until(text.as_bytes(), end)
    }

    fn push_json(
        &self,
        row: &Row,
        round: Option<Round>,
        realtime: Nanos,
        text: &mut String,
    ) -> Result<(), Failure> {
        self.documents.push(DocumentKind::Delays, realtime, &TaskJson::new(row, round), text)
    }

    /// Says what has not been said before.
    pub(crate) fn notes(&mut self, notes: &Notes) -> Result<(), Failure> {
        let mut text = String::new();
        render::write_notes(&self.printed.add_new(notes), &mut text);
        match self.view {
            View::Table => self.output.write(text.as_bytes()),
            View::Classic | View::Json => {
                write_stderr(&text);
                Ok(())
            }
        }
    }
}

/// Orders rows, the largest first; absent values come last.
fn sort(rows: &mut [Row], key: SortKey) {
    match key {
        SortKey::AsRead => {}
        SortKey::Pid => rows.sort_by_key(|row| row.task.key.pid),
        SortKey::Wall => rows.sort_by_key(|row| Reverse(row.task.wall)),
        SortKey::OnCpu => rows.sort_by_key(|row| Reverse(row.task.sum.on_cpu())),
        SortKey::Cause(cause) => rows.sort_by_key(|row| Reverse(row.task.sum.delay(cause).total())),
    }
}
