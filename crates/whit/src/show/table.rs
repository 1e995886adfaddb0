//! Tables: columns as wide as their widest cell.

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of cells under headings. A cell's width is its number of characters; none that whit prints is wider than one.
#[derive(Debug)]
pub(crate) struct Table {
    aligns: Vec<Align>,
    widths: Vec<usize>,
    text: String,
    /// Row by row.
    cells: Vec<Cell>,
    minimum_width: usize,
}

/// How much of the text a cell is, and of the screen.
#[derive(Debug)]
struct Cell {
    bytes: u32,
    width: u32,
}

impl Table {
    /// With these headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let mut table = Self {
            aligns: columns.iter().map(|(_, align)| *align).collect(),
            widths: vec![0; columns.len()],
            text: String::new(),
            cells: Vec::new(),
            minimum_width: 0,
        };
        for (heading, _) in columns {
            table.cell(|text| text.push_str(heading));
        }
        table
    }

    /// No right-aligned column narrower than this.
    pub(crate) fn with_minimum_width(mut self, characters: usize) -> Self {
        self.minimum_width = characters;
        self
    }

    /// Adds the next cell, row by row, from what `write` appends.
    pub(crate) fn cell(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let width = characters(&self.text[start..]);
        let column = self.cells.len() % self.aligns.len();
        self.widths[column] = self.widths[column].max(width);
        self.cells.push(Cell { bytes: (self.text.len() - start) as u32, width: width as u32 });
    }

    /// Adds the rest of a row; columns it does not fill stay empty.
    pub(crate) fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        for cell in cells {
            self.cell(|text| text.push_str(cell.as_ref()));
        }
        while !self.cells.len().is_multiple_of(self.aligns.len()) {
            self.cell(|_| {});
        }
    }

    /// Writes it, a line each, without blanks at line ends.
    pub(crate) fn write(&self, out: &mut String) {
        let mut start = 0;
        for row in self.cells.chunks(self.aligns.len()) {
            // Blanks are owed until something follows them.
            let mut blanks = 0;
            for (column, Cell { bytes, width }) in row.iter().enumerate() {
                let cell = &self.text[start..start + *bytes as usize];
                start += *bytes as usize;
                let padding = self.width(column).saturating_sub(*width as usize);
                let (before, after) = match self.aligns[column] {
                    Align::Left => (0, padding),
                    Align::Right => (padding, 0),
                };
                blanks += before;
                if !cell.is_empty() {
                    push_blanks(out, blanks);
                    out.push_str(cell);
                    blanks = 0;
                }
                blanks += after + 2;
            }
            out.push('\n');
        }
    }

    /// Writes it without its headings.
    pub(crate) fn write_rows(&self, out: &mut String) {
        let start = out.len();
        self.write(out);
        let heading = out[start..].find('\n').map_or(out.len(), |end| start + end + 1);
        out.replace_range(start..heading, "");
    }

    fn width(&self, column: usize) -> usize {
        let width = self.widths[column];
        if self.aligns[column] == Align::Right { width.max(self.minimum_width) } else { width }
    }
}

/// Appends blanks.
pub(crate) fn push_blanks(out: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while count > 0 {
        let now = count.min(BLANKS.len());
        out.push_str(&BLANKS[..now]);
        count -= now;
    }
}

/// Characters that take a place on the screen: escape sequences for colour take none.
pub(crate) fn characters(text: &str) -> usize {
    let mut count = 0;
    let mut in_escape = false;
    for byte in text.bytes() {
        match byte {
            b'\x1b' => in_escape = true,
            b'm' if in_escape => in_escape = false,
            _ if in_escape => {}
            // Every byte but those that continue a character.
            byte => count += usize::from((byte as i8) >= -0x40),
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_takes_no_place_and_lines_end_without_blanks() {
        let mut table = Table::new(&[("A", Align::Right), ("B", Align::Left), ("C", Align::Left)]);
        table.row(["1", "\x1b[31mred\x1b[0m", "x"]);
        table.row(["22"]);
        let mut out = String::new();
        table.write(&mut out);
        assert_eq!(out, " A  B    C\n 1  \x1b[31mred\x1b[0m  x\n22\n");
    }
}
