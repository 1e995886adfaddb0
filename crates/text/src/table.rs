//! Tables whose columns are as wide as their widest cell.

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Padded on the right.
    Left,
    /// Padded on the left.
    Right,
}

/// Rows of cells under headings. The width of a cell is its number of characters: all characters that whit prints are one column
/// wide.
#[derive(Debug)]
pub struct Table {
    aligns: Vec<Align>,
    widths: Vec<usize>,
    text: String,
    /// Row by row.
    cells: Vec<Cell>,
    minimum_width: usize,
}

/// The length of a cell's text, and its width on the screen.
#[derive(Debug)]
struct Cell {
    bytes: u32,
    width: u32,
}

impl Table {
    /// Creates a table with these headings.
    pub fn new(columns: &[(&str, Align)]) -> Self {
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

    /// Makes all right-aligned columns at least this wide.
    pub fn with_minimum_width(mut self, characters: usize) -> Self {
        self.minimum_width = characters;
        self
    }

    /// Adds the next cell, row by row. Its text is what `write` appends.
    pub fn cell(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        let width = characters(&self.text[start..]);
        let column = self.cells.len() % self.aligns.len();
        self.widths[column] = self.widths[column].max(width);
        self.cells.push(Cell { bytes: (self.text.len() - start) as u32, width: width as u32 });
    }

    /// Adds the rest of a row. Columns without a cell stay empty.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        for cell in cells {
            self.cell(|text| text.push_str(cell.as_ref()));
        }
        while !self.cells.len().is_multiple_of(self.aligns.len()) {
            self.cell(|_| {});
        }
    }

    /// Appends the table, one line per row, without trailing blanks.
    pub fn write(&self, out: &mut String) {
        let mut start = 0;
        for row in self.cells.chunks(self.aligns.len()) {
            // Blanks are written only if text follows, so that lines have no trailing blanks.
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

    /// Appends the table without its headings.
    pub fn write_rows(&self, out: &mut String) {
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
pub fn push_blanks(out: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while count > 0 {
        let now = count.min(BLANKS.len());
        out.push_str(&BLANKS[..now]);
        count -= now;
    }
}

/// The number of characters on the screen. Colour escape sequences take no room.
pub fn characters(text: &str) -> usize {
    let mut count = 0;
    let mut in_escape = false;
    for byte in text.bytes() {
        match byte {
            b'\x1b' => in_escape = true,
            b'm' if in_escape => in_escape = false,
            _ if in_escape => {}
            // Counts the first byte of each UTF-8 character.
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
