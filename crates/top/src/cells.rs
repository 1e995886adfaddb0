//! What stands in the columns of a line.

use crate::columns::Column;
use crate::lines::Line;
use crate::session::Session;
use crate::waits;

/// Appends what stands in a column, but for the bar of its time.
pub(crate) fn push(session: &mut Session, column: Column, line: &Line, out: &mut String) {
    match column {
        Column::Wait => waits::push(&waits::of_row(session, line.id), out),
        Column::Cgroup => session.push_cgroup(line.id, out),
        Column::Command => {
            out.push_str(&line.branches);
            session.push_command(line.id, out);
        }
        column => session.push_cell(column, line.id, out),
    }
}
