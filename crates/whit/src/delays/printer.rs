//! Where rows and notes go.

use std::cmp::Reverse;

use super::{Notes, Row};
use crate::args::{SortKey, View};
use crate::failure::{Failure, say};
use crate::output::{DRAIN_BYTES, Output};
use crate::show::delays_json::TaskJson;
use crate::show::style::Style;
use crate::show::{delays, delays_classic};

/// Rows to standard output, notes to standard error where the output is for programs.
pub(crate) struct Printer {
    view: View,
    sort: SortKey,
    style: Style,
    output: Output,
}

impl Printer {
    pub(crate) fn new(view: View, sort: SortKey) -> Self {
        Self { view, sort, style: Style::for_stdout(), output: Output::stdout() }
    }

    /// A whole table.
    pub(crate) fn print(&mut self, mut rows: Vec<Row>, notes: &Notes) -> Result<(), Failure> {
        sort(&mut rows, self.sort);
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
        self.notes(notes)
    }

    /// What stands over a stream of tasks that end.
    pub(crate) fn heading_of_ended(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        if self.view == View::Table {
            delays::write_heading(&mut text, true);
        }
        self.output.write(text.as_bytes())
    }

    /// One of them.
    pub(crate) fn ended(&mut self, row: &Row) -> Result<(), Failure> {
        let mut text = String::with_capacity(256);
        match self.view {
            View::Table => delays::write_row(row, self.style, &mut text, &mut String::new()),
            View::Classic => delays_classic::write(row, &mut text),
            View::Json => write_json(row, &mut text)?,
        }
        self.output.write(text.as_bytes())
    }

    /// What must be said once.
    pub(crate) fn notes(&mut self, notes: &Notes) -> Result<(), Failure> {
        let mut text = String::new();
        delays::write_notes(notes, &mut text);
        match self.view {
            View::Table => self.output.write(text.as_bytes()),
            View::Classic | View::Json => {
                say(&text);
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

/// Orders rows, the largest first; absent values come last.
fn sort(rows: &mut [Row], key: SortKey) {
    match key {
        SortKey::AsRead => {}
        SortKey::Pid => rows.sort_by_key(|row| row.task.key.pid),
        SortKey::Wall => rows.sort_by_key(|row| Reverse(row.task.wall)),
        SortKey::OnCpu => rows.sort_by_key(|row| Reverse(row.task.on_cpu)),
        SortKey::Cause(cause) => rows.sort_by_key(|row| Reverse(row.task.known(cause).total())),
    }
}
