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
    rows: Vec<Vec<String>>,
    minimum_width: usize,
}

impl Table {
    /// With these headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let headings = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
        Self {
            aligns: columns.iter().map(|(_, align)| *align).collect(),
            rows: vec![headings],
            minimum_width: 0,
        }
    }

    /// No right-aligned column narrower than this.
    pub(crate) fn with_minimum_width(mut self, characters: usize) -> Self {
        self.minimum_width = characters;
        self
    }

    /// Adds a row; columns it does not fill stay empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes it, a line each, without blanks at line ends.
    pub(crate) fn write(&self, out: &mut String) {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| characters(cell)).max().unwrap_or(0);
            if self.aligns[column] == Align::Right { widest.max(self.minimum_width) } else { widest }
        };
        let widths: Vec<_> = (0..self.aligns.len()).map(width).collect();
        for row in &self.rows {
            let start = out.len();
            for (column, cell) in row.iter().enumerate() {
                let blanks = widths[column].saturating_sub(characters(cell));
                if column > 0 {
                    out.push_str("  ");
                }
                match self.aligns[column] {
                    Align::Left => out.extend(cell.chars().chain(std::iter::repeat_n(' ', blanks))),
                    Align::Right => out.extend(std::iter::repeat_n(' ', blanks).chain(cell.chars())),
                }
            }
            out.truncate(start + out[start..].trim_end().len());
            out.push('\n');
        }
    }
}

/// Characters that take a place on the screen: escape sequences for colour take none.
pub(crate) fn characters(text: &str) -> usize {
    let mut count = 0;
    let mut in_escape = false;
    for character in text.chars() {
        match character {
            '\x1b' => in_escape = true,
            'm' if in_escape => in_escape = false,
            _ if in_escape => {}
            _ => count += 1,
        }
    }
    count
}
