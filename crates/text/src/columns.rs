//! A line of columns with fixed widths, written from left to right.

use super::table::{characters, push_blanks};

/// Columns are separated by two blanks. A cell that is wider than its column moves the rest of the line.
pub struct Columns<'a> {
    out: &'a mut String,
    /// Scratch space: the width of a right-aligned cell must be known before it is written.
    cell: &'a mut String,
    /// Blanks to write before the next text.
    blanks: usize,
}

impl<'a> Columns<'a> {
    /// Starts a line at the end of `out`. `cell` is scratch space; keep it from line to line to avoid allocations.
    pub fn new(out: &'a mut String, cell: &'a mut String) -> Self {
        Self { out, cell, blanks: 0 }
    }

    /// Appends the next column, right-aligned.
    pub fn right(&mut self, width: usize, write: impl FnOnce(&mut String)) {
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

    /// Appends the next column, left-aligned.
    pub fn left(&mut self, width: usize, write: impl FnOnce(&mut String)) {
        push_blanks(self.out, self.blanks);
        let start = self.out.len();
        write(self.out);
        self.blanks = width.saturating_sub(characters(&self.out[start..])) + 2;
    }

    /// Appends the next column, left-aligned, whose cell is known to be `taken` characters wide.
    pub fn left_of_width(&mut self, width: usize, taken: usize, write: impl FnOnce(&mut String)) {
        push_blanks(self.out, self.blanks);
        write(self.out);
        self.blanks = width.saturating_sub(taken) + 2;
    }

    /// Appends the last column and ends the line.
    pub fn last(self, write: impl FnOnce(&mut String)) {
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
