//! Boxes over the screen: help, columns, signals, questions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::act::{Act, SIGNALS};
use super::head::put;
use super::palette::Palette;
use super::target::Target;
use crate::columns::Column;
use crate::options::OutputKind;
use crate::session::Session;
use text::wrap::wrapped;

/// A box, by its purpose.
#[derive(Clone, Debug)]
pub(super) enum Menu {
    Help {
        first: usize,
        /// Notes on what limits the view.
        notes: Vec<String>,
    },
    /// The columns to sort by.
    Sort {
        selected: usize,
    },
    /// Which columns in which order; the shown ones first.
    Columns {
        selected: usize,
        columns: Vec<(Column, bool)>,
    },
    Signal {
        selected: usize,
        target: Target,
    },
    /// Whose tasks to show; none: all.
    Users {
        selected: usize,
        users: Vec<(Option<u32>, String)>,
    },
    /// Yes or no, before anything is done to a task.
    Question {
        act: Act,
        target: Target,
    },
    /// Yes or no, before delay accounting is enabled.
    EnableAccounting,
}

impl Menu {
    /// The keys, and what limits the view.
    pub(super) fn help(session: &Session) -> Self {
        let notes = session.notes(OutputKind::Screen).into_iter().map(|note| note.text);
        let heading = "What limits this view".to_owned();
        let notes: Vec<String> = [String::new(), heading].into_iter().chain(notes).collect();
        Self::Help { first: 0, notes: if notes.len() > 2 { notes } else { Vec::new() } }
    }

    /// All users who have tasks.
    pub(super) fn users(session: &Session) -> Self {
        let users = session.users_with_tasks();
        let selected = users.iter().position(|(uid, _)| *uid == session.selected_user()).unwrap_or(0);
        Self::Users { selected, users }
    }

    /// A list of all columns with those that are shown first.
    pub(super) fn columns(shown: &[Column]) -> Self {
        let others = Column::all().filter(|column| !shown.contains(column));
        let columns = shown.iter().map(|column| (*column, true)).chain(others.map(|column| (column, false)));
        Self::Columns { selected: 0, columns: columns.collect() }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Help { .. } => " keys ",
            Self::Sort { .. } => " sort by ",
            Self::Columns { .. } => " columns: space on/off, < > moves, enter keeps ",
            Self::Signal { .. } => " signal ",
            Self::Users { .. } => " whose tasks ",
            Self::Question { .. } | Self::EnableAccounting => " sure? ",
        }
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Self::Help { notes, .. } => {
                let notes = notes.iter().flat_map(|note| wrapped(note, HELP_WIDTH));
                HELP.lines().chain(notes).map(str::to_owned).collect()
            }
            Self::Sort { .. } => {
                Column::all().map(|column| format!("{:<11} {}", column.name(), column.help())).collect()
            }
            Self::Columns { columns, .. } => columns
                .iter()
                .map(|(column, is_shown)| {
                    let mark = if *is_shown { "[x]" } else { "[ ]" };
                    format!("{mark} {:<11} {}", column.name(), column.help())
                })
                .collect(),
            Self::Signal { .. } => {
                SIGNALS.iter().map(|(name, _, what)| format!("{name:<5} {what}")).collect()
            }
            Self::Users { users, .. } => users.iter().map(|(_, name)| name.clone()).collect(),
            Self::Question { act, target } => {
                let Target { key, tgid, comm, .. } = target;
                let question = match act {
                    Act::Signal(_) if *tgid != key.pid => {
                        format!("{} {tgid}, the process of thread {} ({comm})?", act.words(target), key.pid)
                    }
                    _ => format!("{} {} ({comm})?", act.words(target), key.pid),
                };
                vec![question, YES_OR_NO.to_owned()]
            }
            Self::EnableAccounting => vec![
                "Enable delay accounting for the whole machine".to_owned(),
                "(sysctl kernel.task_delayacct=1, until it is".to_owned(),
                "started again)? It counts tasks that start from".to_owned(),
                "now on, and costs two clock reads a wait.".to_owned(),
                YES_OR_NO.to_owned(),
            ],
        }
    }

    /// The line that is selected, and how far it can go.
    pub(super) fn selection(&mut self) -> Option<(&mut usize, usize)> {
        let count = self.lines().len();
        match self {
            // On a narrow screen a line is two.
            Self::Help { first, .. } => Some((first, count * 2)),
            Self::Sort { selected }
            | Self::Columns { selected, .. }
            | Self::Users { selected, .. }
            | Self::Signal { selected, .. } => Some((selected, count)),
            Self::Question { .. } | Self::EnableAccounting => None,
        }
    }
}

/// As wide as the list of keys.
const HELP_WIDTH: usize = 72;
const YES_OR_NO: &str = "y yes   n no";

const HELP: &str = "\
arrows PgUp PgDn Home End   move; left and right move the command
Enter   one task: its delays over time, limits, files, threads; of a user
        or cgroup its tasks (Esc: all again)
/  n    search, next match          \\ f F4  filter by name, user, pid
s F6    sort by a column            < >     sort by the next column
P M T   by CPU, memory, run queue   B       by block I/O
r I     the other way round         t F5    tree
H       threads                     g       process, user, cgroup
u       one user's tasks            K       kernel threads, each or as one
c       command lines               1  D    each CPU, each disk and interface
C F2    columns: which, what order (all kept)
F       follow the selected task    p Z     pause
k F9    send a signal (asks first)  - F8  + F7  nicer, less nice (asks first)
d       time between readings       Space   read now
[ ]     a tick back and on, where   { } ( ) a minute, an hour
        whit agent records          @       a time
,  .    to where what rows are      w       back to now
        ordered by stands out
A       enable delay accounting     N       notes above this line, or none
Ctrl-Z  stop for a while            Ctrl-L  draw all of it anew
q F10   quit
mouse   click a row or a heading, turn the wheel

A row's time:  █ on CPU  ▓ run queue  ▒ block I/O  · sleeping
  ─ off CPU: delay accounting did not count it, so that disk and sleep are one
overlapping:  s swap-in  t thrashing  r reclaim  c compaction
  w copying write-protected pages  i interrupts
X ended in the interval; its time is known from its exit record
– absent: not counted for this task, or not in this way (whit doctor)";

/// Where the second column of the keys begins.
const SECOND_COLUMN: usize = 36;

/// The list of keys for a screen on which two columns have no room: one below the other, and what is longer wrapped.
fn narrow(lines: &[String], width: usize) -> Vec<String> {
    let mut narrow = Vec::new();
    for line in lines {
        let split = line.char_indices().nth(SECOND_COLUMN).map(|(at, _)| line.split_at(at));
        match split.filter(|(first, _)| first.ends_with("  ") && !first.trim().is_empty()) {
            Some((first, second)) => narrow.extend([first.trim_end().to_owned(), second.to_owned()]),
            None => narrow.push(line.clone()),
        }
    }
    narrow.iter().flat_map(|line| wrapped(line, width)).map(str::to_owned).collect()
}

pub(super) fn draw(menu: &mut Menu, palette: Palette, buffer: &mut Buffer, area: Rect) {
    let mut lines = menu.lines();
    if matches!(menu, Menu::Help { .. }) && usize::from(area.width) < HELP_WIDTH + 2 {
        lines = narrow(&lines, usize::from(area.width).saturating_sub(2));
    }
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(menu.title().len());
    let width = (widest as u16 + 2).min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    Clear.render(place, buffer);
    Block::bordered().title(menu.title()).render(place, buffer);
    let page = usize::from(height.saturating_sub(2));
    let is_scrolled_only = matches!(menu, Menu::Help { .. });
    let selected = menu.selection().map(|(selected, _)| {
        // Behind the last page there is nothing.
        let last = if is_scrolled_only { lines.len().saturating_sub(page) } else { usize::MAX };
        *selected = (*selected).min(last);
        *selected
    });
    let first = match selected {
        Some(selected) if is_scrolled_only => selected,
        Some(selected) => (selected + 1).saturating_sub(page),
        None => 0,
    };
    for (at, y) in (first..lines.len()).zip(place.y + 1..place.bottom().saturating_sub(1)) {
        let is_selected = selected == Some(at) && !is_scrolled_only;
        let style = if is_selected { palette.selected() } else { Style::new() };
        put(buffer, place.x + 1, y, &lines[at], width.saturating_sub(2), style);
    }
}
