//! From a key or the mouse to what changes.

use facts::task::groups::GroupBy;
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::act::Act;
use super::detail::Detail;
use super::menu::Menu;
use super::outcome::Outcome;
use super::state::{State, Typing, row};
use super::target::Target;
use super::typing;
use crate::columns::Column;
use crate::past::{HOUR, MINUTE, Step};
use crate::session::Session;
use facts::task::Cause;

pub(super) fn handle(event: &Event, state: &mut State, session: &mut Session) -> Outcome {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            if key.modifiers.contains(KeyModifiers::CONTROL)
                && let KeyCode::Char(letter) = key.code
            {
                return control_key(letter, state, session);
            }
            state.message = None;
            if state.typing.is_some() {
                typing::key(key, state, session)
            } else if state.menu.is_some() {
                menu_key(key, state, session)
            } else if state.detail.is_some() {
                detail_key(key, state, session)
            } else {
                table_key(key, state, session)
            }
        }
        Event::Mouse(mouse) => {
            if state.menu.is_none() && state.detail.is_none() {
                mouse_event(mouse, state, session);
            }
            Outcome::Go
        }
        _ => Outcome::Go,
    }
}

/// Letters with Control are no letters.
fn control_key(letter: char, state: &mut State, session: &mut Session) -> Outcome {
    match letter {
        'c' => return Outcome::Quit,
        'z' => return Outcome::Suspend,
        'l' => return Outcome::Redraw,
        'u' | 'w' => typing::erase(letter == 'w', state, session),
        _ => {}
    }
    Outcome::Go
}

fn time_key(letter: char, state: &mut State, session: &mut Session) {
    let stepped = match letter {
        '[' | ']' => session.step(Step::Tick, letter == ']'),
        '{' | '}' => session.step(MINUTE, letter == '}'),
        '(' | ')' => session.step(HOUR, letter == ')'),
        ',' | '.' => session.step(Step::Spike, letter == '.'),
        _ => session.go_to_now(),
    };
    state.show_other_time(stepped);
}

fn menu_key(key: &KeyEvent, state: &mut State, session: &mut Session) -> Outcome {
    let Some(mut menu) = state.menu.take() else { return Outcome::Go };
    if let Some((selected, count)) = menu.selection() {
        match key.code {
            KeyCode::Up => *selected = selected.saturating_sub(1),
            KeyCode::Down => *selected = (*selected + 1).min(count.saturating_sub(1)),
            KeyCode::PageUp => *selected = selected.saturating_sub(10),
            KeyCode::PageDown => *selected = (*selected + 10).min(count.saturating_sub(1)),
            _ => {}
        }
    }
    if matches!(key.code, KeyCode::Esc | KeyCode::Char('q' | 'n')) {
        return Outcome::Go;
    }
    match (&mut menu, key.code) {
        (Menu::Help { .. }, KeyCode::Enter | KeyCode::Char('?' | 'h')) => return Outcome::Go,
        (Menu::Sort { selected }, KeyCode::Enter) => {
            let column = Column::all().nth(*selected).unwrap_or(Column::Cpu);
            sort_by(column, state, session);
            return Outcome::Go;
        }
        (Menu::Columns { selected, columns }, KeyCode::Char(' ')) => columns[*selected].1 ^= true,
        (Menu::Columns { selected, columns }, KeyCode::Char('<') | KeyCode::Left) if *selected > 0 => {
            columns.swap(*selected, *selected - 1);
            *selected -= 1;
        }
        (Menu::Columns { selected, columns }, KeyCode::Char('>') | KeyCode::Right)
            if *selected + 1 < columns.len() =>
        {
            columns.swap(*selected, *selected + 1);
            *selected += 1;
        }
        (Menu::Columns { columns, .. }, KeyCode::Enter) => {
            let chosen: Vec<Column> =
                columns.iter().filter(|(_, is_shown)| *is_shown).map(|(column, _)| *column).collect();
            if chosen.is_empty() {
                state.message = Some("a table without columns says nothing: kept as it was".to_owned());
            } else {
                session.settings.columns = chosen;
                state.keep(session);
            }
            return Outcome::Go;
        }
        (Menu::Users { selected, users }, KeyCode::Enter) => {
            session.select_user(users.get(*selected).and_then(|(uid, _)| *uid));
            state.is_stale = true;
            return Outcome::Go;
        }
        (Menu::Signal { selected, target }, KeyCode::Enter) => {
            menu = Menu::Question { act: Act::Signal(*selected), target: target.clone() };
        }
        (Menu::Question { act, target }, KeyCode::Char('y')) => {
            state.message = Some(act.carry_out(target));
            session.tasks.forget();
            return Outcome::Now;
        }
        (Menu::EnableAccounting, KeyCode::Char('y')) => {
            if let Err(failure) = session.enable_accounting() {
                state.message = Some(failure.to_string());
            }
            session.tasks.forget();
            return Outcome::Now;
        }
        _ => {}
    }
    state.menu = Some(menu);
    Outcome::Go
}

fn detail_key(key: &KeyEvent, state: &mut State, session: &Session) -> Outcome {
    let Some(detail) = &mut state.detail else { return Outcome::Go };
    match key.code {
        KeyCode::Esc | KeyCode::Enter | KeyCode::Backspace => state.detail = None,
        KeyCode::Char('q') | KeyCode::F(10) => return Outcome::Quit,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => state.menu = Some(Menu::help(session)),
        KeyCode::Up => detail.first = detail.first.saturating_sub(1),
        KeyCode::Down => detail.first += 1,
        KeyCode::PageUp => detail.first = detail.first.saturating_sub(20),
        KeyCode::PageDown => detail.first += 20,
        _ => {}
    }
    Outcome::Go
}

fn table_key(key: &KeyEvent, state: &mut State, session: &mut Session) -> Outcome {
    let page = state.page() as isize;
    match key.code {
        KeyCode::Char('q') | KeyCode::F(10) => return Outcome::Quit,
        KeyCode::Char(' ') => return Outcome::Now,
        KeyCode::Up => state.move_by(-1),
        KeyCode::Down => state.move_by(1),
        KeyCode::PageUp => state.move_by(-page),
        KeyCode::PageDown => state.move_by(page),
        KeyCode::Home => state.move_by(isize::MIN),
        KeyCode::End => state.move_by(isize::MAX),
        KeyCode::Left => state.shift = state.shift.saturating_sub(8),
        KeyCode::Right => state.shift = (state.shift + 8).min(4096),
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => state.menu = Some(Menu::help(session)),
        KeyCode::Char('/') | KeyCode::F(3) => {
            state.search.clear();
            state.typing = Some(Typing::Search);
        }
        KeyCode::Char('n') => state.find(session, state.selected + 1),
        KeyCode::Char('\\' | 'f') | KeyCode::F(4) => state.typing = Some(Typing::Filter),
        KeyCode::Char('d') => {
            state.search.clear();
            state.typing = Some(Typing::Interval);
        }
        KeyCode::Char('@') => {
            state.search.clear();
            state.typing = Some(Typing::Instant);
        }
        KeyCode::Char(letter @ ('[' | ']' | '{' | '}' | '(' | ')' | ',' | '.' | 'w')) => {
            time_key(letter, state, session);
        }
        KeyCode::Esc => {
            session.arrangement.filter.clear();
            session.widen();
            session.group();
            state.followed = None;
            state.is_stale = true;
        }
        KeyCode::Char('C') | KeyCode::F(2) => state.menu = Some(Menu::columns(&session.settings.columns)),
        KeyCode::Char('p' | 'Z') => state.is_paused ^= true,
        KeyCode::Char('A') => ask_for_accounting(state, session),
        KeyCode::Char('N') => session.settings.with_notes ^= true,
        KeyCode::Char('F') => follow(state, session),
        KeyCode::Char('c') => session.settings.with_commands ^= true,
        KeyCode::Char('D') => session.settings.with_each_device ^= true,
        KeyCode::Char('K') => {
            session.settings.with_kernel_threads ^= true;
            session.group();
            state.is_stale = true;
        }
        KeyCode::Char('u') => state.menu = Some(Menu::users(session)),
        KeyCode::Char('1') => session.settings.with_each_cpu ^= true,
        KeyCode::Enter => open_detail(state, session),
        KeyCode::Char('k') | KeyCode::F(9) => {
            state.menu = target(state, session).map(|target| Menu::Signal { selected: 0, target });
        }
        KeyCode::Char('+') | KeyCode::F(7) => renice(state, session, -1),
        KeyCode::Char('-') | KeyCode::F(8) => renice(state, session, 1),
        KeyCode::Char(letter) => arrange_key(letter, state, session),
        KeyCode::F(5) => arrange_key('t', state, session),
        KeyCode::F(6) => arrange_key('s', state, session),
        _ => {}
    }
    Outcome::Go
}

fn arrange_key(letter: char, state: &mut State, session: &mut Session) {
    match letter {
        's' => {
            let sort = session.arrangement.sort;
            let selected = Column::all().position(|column| column == sort).unwrap_or(0);
            state.menu = Some(Menu::Sort { selected });
        }
        '<' | '>' => {
            let columns = &session.settings.columns;
            let at = columns.iter().position(|column| *column == session.arrangement.sort).unwrap_or(0);
            let step = if letter == '<' { columns.len().saturating_sub(1) } else { 1 };
            if let Some(column) = columns.get((at + step) % columns.len().max(1)).copied() {
                sort_by(column, state, session);
            }
        }
        'P' => sort_by(Column::Cpu, state, session),
        'M' => sort_by(Column::Resident, state, session),
        'T' => sort_by(Column::Cause(Cause::RunQueue), state, session),
        'B' => sort_by(Column::Cause(Cause::BlockIo), state, session),
        'r' | 'I' => session.arrangement.is_reversed ^= true,
        't' => session.arrangement.is_tree ^= true,
        'H' => {
            let by = if session.settings.by == GroupBy::Thread { GroupBy::Process } else { GroupBy::Thread };
            group_by(by, session);
        }
        'g' => {
            let by = match session.settings.by {
                GroupBy::Process | GroupBy::Thread => GroupBy::User,
                GroupBy::User => GroupBy::Cgroup,
                GroupBy::Cgroup => GroupBy::Process,
            };
            group_by(by, session);
        }
        _ => return,
    }
    state.is_stale = true;
}

fn group_by(by: GroupBy, session: &mut Session) {
    session.settings.by = by;
    session.group();
}

fn sort_by(column: Column, state: &mut State, session: &mut Session) {
    session.arrangement.sort = column;
    session.arrangement.is_reversed = false;
    state.is_stale = true;
}

fn ask_for_accounting(state: &mut State, session: &Session) {
    if session.is_of_past {
        state.message = Some("this is the past: w goes back to now".to_owned());
        return;
    }
    match session.tasks.accounting_on() {
        Some(false) if session.tasks.may_enable_accounting() => state.menu = Some(Menu::EnableAccounting),
        Some(false) => state.message = Some("only root can enable delay accounting".to_owned()),
        Some(true) => state.message = Some("delay accounting is on; older tasks stay uncounted".to_owned()),
        None => state.message = Some("this kernel has no switch for delay accounting".to_owned()),
    }
}

/// The selected task; `None` if the row stands for several.
fn target(state: &mut State, session: &Session) -> Option<Target> {
    if session.is_of_past {
        state.message = Some("this is the past: w goes back to now".to_owned());
        return None;
    }
    let line = state.line(session)?;
    let row = row(session, &line);
    let is_one = matches!(session.settings.by, GroupBy::Process | GroupBy::Thread) && !row.is_ended;
    if !is_one {
        state.message = Some("this row is no single living task".to_owned());
        return None;
    }
    let comm = row.comm().map_or(String::new(), |comm| comm.to_lossy());
    Some(Target { key: row.key(), tgid: row.tgid(), comm, nice: row.nice().unwrap_or(0) })
}

fn follow(state: &mut State, session: &Session) {
    state.followed = match state.followed {
        Some(_) => None,
        None => target(state, session).map(|target| target.key),
    };
}

fn renice(state: &mut State, session: &Session, step: i8) {
    if let Some(target) = target(state, session) {
        let nice = (target.nice + step).clamp(-20, 19);
        state.menu = Some(Menu::Question { act: Act::Renice(nice), target });
    }
}

fn open_detail(state: &mut State, session: &mut Session) {
    if state.line(session).is_some_and(|line| session.open_group(line.id)) {
        (state.selected, state.is_stale) = (0, true);
        return;
    }
    if let Some(target) = target(state, session) {
        state.detail = Some(Box::new(Detail::new(target)));
    }
}

fn mouse_event(mouse: &MouseEvent, state: &mut State, session: &mut Session) {
    match mouse.kind {
        MouseEventKind::ScrollUp => state.move_by(-3),
        MouseEventKind::ScrollDown => state.move_by(3),
        MouseEventKind::Down(MouseButton::Left) if mouse.row == state.body.y => {
            let column = state.column_ends.iter().find(|(end, _)| mouse.column < *end);
            if let Some((_, column)) = column.copied() {
                if session.arrangement.sort == column {
                    session.arrangement.is_reversed ^= true;
                    state.is_stale = true;
                } else {
                    sort_by(column, state, session);
                }
            }
        }
        MouseEventKind::Down(MouseButton::Left)
            if mouse.row > state.body.y && mouse.row < state.body.bottom() =>
        {
            let clicked = state.first + usize::from(mouse.row - state.body.y - 1);
            if clicked < state.lines.len() {
                state.followed = None;
                match state.selected == clicked {
                    true => open_detail(state, session),
                    false => state.selected = clicked,
                }
            }
        }
        _ => {}
    }
}
