//! The choices of the person at the screen.

use facts::task::TaskKey;
use facts::task::groups::{GroupBy, GroupRow};
use ratatui::layout::Rect;

use super::detail::Detail;
use super::menu::Menu;
use super::palette::Palette;
use crate::columns::Column;
use crate::lines::{Line, Lines};
use crate::session::Session;
use command::failure::Failure;
use command::past::Part;
use text::printable::Shown as _;

/// The state of the screen.
pub(super) struct State {
    pub(super) palette: Palette,
    pub(super) lines: Lines,
    /// The place of the selected line.
    pub(super) selected: usize,
    /// The first line on the screen.
    pub(super) first: usize,
    /// Columns to the right by which the last column is moved.
    pub(super) shift: usize,
    /// The selection stays with this task.
    pub(super) followed: Option<TaskKey>,
    pub(super) is_paused: bool,
    /// The purpose of the text that is being typed at the foot.
    pub(super) typing: Option<Typing>,
    pub(super) search: String,
    pub(super) menu: Option<Menu>,
    pub(super) detail: Option<Box<Detail>>,
    /// Said at the foot until the next key.
    pub(super) message: Option<String>,
    /// The parts of the history, for the time line: one a character, as drawn last.
    pub(super) parts: Vec<Part>,
    /// The lines have to be arranged anew.
    pub(super) is_stale: bool,
    /// Where the table was drawn last: for the mouse.
    pub(super) body: Rect,
    /// The ends of the columns there.
    pub(super) column_ends: Vec<(u16, Column)>,
    /// What a row stands for, and the columns that have said something since it does. They stay, so that none comes and goes.
    pub(super) filled: Option<(GroupBy, Vec<Column>)>,
}

/// The purpose of typed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    Search,
    Filter,
    Interval,
    Instant,
}

impl State {
    /// Remembers how the screen was set up.
    pub(super) fn keep(&mut self, session: &mut Session) {
        session.settings.sort = session.arrangement.sort;
        session.settings.is_reversed = session.arrangement.is_reversed;
        session.settings.is_tree = session.arrangement.is_tree;
        self.message = Some(match session.settings.write() {
            Ok(path) => format!("kept in {}", path.shown()),
            Err(failure) => format!("not kept: {failure}"),
        });
    }

    pub(super) fn new() -> Self {
        Self {
            palette: Palette::new(),
            lines: Lines::default(),
            selected: 0,
            first: 0,
            shift: 0,
            followed: None,
            is_paused: false,
            typing: None,
            search: String::new(),
            menu: None,
            detail: None,
            message: None,
            parts: Vec::new(),
            is_stale: true,
            body: Rect::ZERO,
            column_ends: Vec::new(),
            filled: None,
        }
    }

    /// Chooses and orders the lines; the selection stays with a followed task, else at its place.
    pub(super) fn arrange(&mut self, session: &mut Session) {
        self.lines = session.lines();
        self.is_stale = false;
        if let Some(followed) = self.followed {
            let place = self.lines.from(0, &session.tasks).position(|line| {
                let row = session.tasks.row(line.id);
                row.key().is_same(&followed) && !row.is_ended
            });
            match place {
                Some(place) => self.selected = place,
                None => {
                    self.followed = None;
                    self.message = Some(format!("{} has ended", followed.pid));
                }
            }
        }
        self.selected = self.selected.min(self.lines.len().saturating_sub(1));
    }

    /// After a step through time: the lines are others, or there is a reason why not.
    pub(super) fn show_other_time(&mut self, step: Result<(), Failure>) {
        self.is_stale = true;
        self.parts.clear();
        if let Err(failure) = step {
            self.message = Some(failure.message().to_owned());
        }
    }

    /// The selected row's line.
    pub(super) fn line(&self, session: &Session) -> Option<Line> {
        self.lines.get(self.selected, &session.tasks)
    }

    /// Moves the selection; a followed task is let go.
    pub(super) fn move_by(&mut self, lines: isize) {
        self.followed = None;
        let last = self.lines.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(lines).min(last);
    }

    /// Rows that fit.
    pub(super) fn page(&self) -> usize {
        usize::from(self.body.height.saturating_sub(1)).max(1)
    }

    /// Goes to the next line that matches the search, from `from` on and around.
    pub(super) fn find(&mut self, session: &mut Session, from: usize) {
        if self.search.is_empty() {
            return;
        }
        let from = if from < self.lines.len() { from } else { 0 };
        let lines: Vec<(usize, Line)> = (0..).zip(self.lines.from(0, &session.tasks)).collect();
        let around = lines[from..].iter().chain(&lines[..from]);
        let found = around.into_iter().find(|(_, line)| session.matches(line.id, &self.search));
        match found {
            Some((at, line)) => {
                // Whom one looked for is who is meant by the next key.
                let row = row(session, line);
                self.followed = (!row.is_ended && !row.is_several()).then(|| row.key());
                self.selected = *at;
                self.message = None;
            }
            None => self.message = Some(format!("nothing matches \"{}\"", self.search)),
        }
    }
}

/// A line's row.
pub(super) fn row<'a>(session: &'a Session, line: &Line) -> GroupRow<'a> {
    session.tasks.row(line.id)
}
