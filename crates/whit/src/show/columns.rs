//! One line of columns of fixed widths, written as it comes.

use super::table::{characters, push_blanks};

/// Two blanks stand between columns, none at the end of the line. What is wider than its column moves the rest.
pub(crate) struct Columns<'a> {
    out: &'a mut String,
    /// A right-aligned cell is written here first, for its width.
    cell: &'a mut String,
    /// Blanks owed before the next text.
    blanks: usize,
}

impl<'a> Columns<'a> {
    /// A line at the end of `out`; `cell` is room to write in, and best kept from line to line.
    pub(crate) fn new(out: &'a mut String, cell: &'a mut String) -> Self {
        Self { out, cell, blanks: 0 }
    }

    /// The next column, to the right of its width.
    pub(crate) fn right(&mut self, width: usize, write: impl FnOnce(&mut String)) {
        self.cell.clear();
        write(self.cell);
        self.blanks += width.saturating_sub(characters(self.cell));
        if !self.cell.is_empty() {
            push_blanks(self.out, self.blanks);
            self.out.push_str(self.cell);
            self.blanks = 0;
        }
        self.blanks += 2;
    }

    /// The next column, to the left.
    pub(crate) fn left(&mut self, width: usize, write: impl FnOnce(&mut String)) {
        push_blanks(self.out, self.blanks);
        let start = self.out.len();
        write(self.out);
        self.blanks = width.saturating_sub(characters(&self.out[start..])) + 2;
    }

    /// The same, where it is known how wide the cell is.
    pub(crate) fn left_of_width(&mut self, width: usize, taken: usize, write: impl FnOnce(&mut String)) {
        push_blanks(self.out, self.blanks);
        write(self.out);
        self.blanks = width.saturating_sub(taken) + 2;
    }

    /// The last column, and the end of the line.
    pub(crate) fn last(self, write: impl FnOnce(&mut String)) {
        let line = self.out.len();
        push_blanks(self.out, self.blanks);
        let start = self.out.len();
        write(self.out);
        if self.out.len() == start {
            self.out.truncate(line);
        }
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_their_text_ends() {
        let (mut out, mut cell) = (String::new(), String::new());
        let mut columns = Columns::new(&mut out, &mut cell);
        columns.right(3, |out| out.push('1'));
        columns.left(4, |out| out.push_str("ab"));
        columns.right(5, |out| out.push_str("7 µs"));
        columns.last(|_| {});
        let mut columns = Columns::new(&mut out, &mut cell);
        columns.right(3, |_| {});
        columns.left(4, |out| out.push_str("longer"));
        columns.last(|out| out.push('x'));
        assert_eq!(out, "  1  ab     7 µs\n     longer  x\n");
    }
}
