//! Plots for terminals: a character has two by four dots.

use super::axis::Axis;
use super::{Plot, PlotLine, TimeForm, letter};
use crate::style::Style;

/// Colours of lines: the terminal's own.
const COLORS: [&str; 6] = ["\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[34m", "\x1b[31m"];
/// The bits of the dots of a character, by column and row: Unicode's braille patterns.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
/// The fewest columns and rows of dots' characters.
const MIN_COLUMNS: usize = 10;
const MIN_ROWS: usize = 3;

/// Characters of dots, and whose they are.
struct Canvas {
    columns: usize,
    rows: usize,
    dots: Vec<u8>,
    /// The place of the line that drew last.
    owner: Vec<usize>,
    /// At its end a line has its letter.
    letters: Vec<Option<usize>>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        let cells = columns * rows;
        Self { columns, rows, dots: vec![0; cells], owner: vec![0; cells], letters: vec![None; cells] }
    }

    fn dot(&mut self, x: usize, y: usize, line: usize) {
        let cell = y / 4 * self.columns + x / 2;
        if x / 2 < self.columns && y / 4 < self.rows {
            self.dots[cell] |= DOTS[x % 2][y % 4];
            self.owner[cell] = line;
        }
    }

    /// The dot of parts of the time and of the axis.
    fn place(&self, (time, value): (f64, f64)) -> (i64, i64) {
        let (width, height) = (self.columns * 2 - 1, self.rows * 4 - 1);
        let x = (time.clamp(0.0, 1.0) * width as f64).round() as i64;
        let y = ((1.0 - value.clamp(0.0, 1.0)) * height as f64).round() as i64;
        (x, y)
    }

    /// A straight line from dot to dot.
    fn stroke(&mut self, from: (i64, i64), to: (i64, i64), line: usize) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs());
        for step in 0..=steps {
            let along = |from: i64, to: i64| {
                let part = if steps == 0 { 0.0 } else { step as f64 / steps as f64 };
                (from as f64 + (to - from) as f64 * part).round() as usize
            };
            self.dot(along(from.0, to.0), along(from.1, to.1), line);
        }
    }

    fn draw(&mut self, plot: &Plot<'_>, axis: &Axis, line: &PlotLine, place: usize) {
        let mut end = None;
        for piece in plot.pieces(line, axis) {
            let dots: Vec<(i64, i64)> = piece.into_iter().map(|point| self.place(point)).collect();
            end = dots.last().copied();
            match dots.as_slice() {
                [alone] => self.stroke(*alone, *alone, place),
                several => several.windows(2).for_each(|pair| self.stroke(pair[0], pair[1], place)),
            }
        }
        if let Some((x, y)) = end.filter(|_| plot.lines.len() > 1) {
            let column = (x as usize / 2 + 1).min(self.columns - 1);
            self.letters[y as usize / 4 * self.columns + column] = Some(place);
        }
    }

    fn push_row(&self, row: usize, style: Style, out: &mut String) {
        for column in 0..self.columns {
            let cell = row * self.columns + column;
            let (shown, owner) = match self.letters[cell] {
                Some(line) => (letter(line), line),
                // The first of these is the empty pattern, which not all fonts draw as wide as others.
                None if self.dots[cell] == 0 => {
                    out.push(' ');
                    continue;
                }
                None => {
                    (char::from_u32(0x2800 + u32::from(self.dots[cell])).unwrap_or(' '), self.owner[cell])
                }
            };
            paint(style, owner, out, |out| out.push(shown));
        }
    }
}

fn paint(style: Style, line: usize, out: &mut String, write: impl FnOnce(&mut String)) {
    if !style.is_colored {
        return write(out);
    }
    out.push_str(COLORS[line % COLORS.len()]);
    write(out);
    out.push_str("\x1b[0m");
}

/// Appends a plot of so many characters across, and so many rows of dots; below it a line for each series.
pub fn push_braille(plot: &Plot<'_>, width: usize, rows: usize, style: Style, out: &mut String) {
    let rows = rows.max(MIN_ROWS);
    let axis = plot.value_axis((rows / 3).clamp(2, 8));
    let margin = axis.ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let columns = width.saturating_sub(margin + 3).max(MIN_COLUMNS);
    let mut canvas = Canvas::new(columns, rows);
    // The first series is the one that is seen best.
    for (place, line) in plot.lines.iter().enumerate().rev() {
        canvas.draw(plot, &axis, line, place);
    }
    push_title(plot, out);
    let row_of = |value: f64| canvas.place((0.0, axis.part(value))).1 as usize / 4;
    for row in 0..rows {
        let tick = axis.ticks.iter().rev().find(|(value, _)| row_of(*value) == row);
        let (text, mark) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
        out.push_str(&format!("{text:>margin$} {mark}"));
        canvas.push_row(row, style, out);
        trim_row(out);
    }
    push_time_axis(plot, margin, columns, out);
    push_legend(plot, style, out);
}

/// Ends a row without blanks at its end.
fn trim_row(out: &mut String) {
    let kept = out.trim_end_matches(' ').len();
    out.truncate(kept);
    out.push('\n');
}

fn push_title(plot: &Plot<'_>, out: &mut String) {
    if !plot.title.is_empty() {
        out.push_str(plot.title);
        out.push('\n');
    }
}

fn push_time_axis(plot: &Plot<'_>, margin: usize, columns: usize, out: &mut String) {
    // A label has up to eight characters, and room around it.
    let ticks = plot.time_ticks((columns / 12).max(1));
    let mut rule: Vec<char> = vec!['─'; columns];
    let mut labels: Vec<char> = vec![' '; margin + 2 + columns];
    let mut free_from = 0;
    for at_ms in &ticks.at_ms {
        let column =
            ((plot.part_of_time(*at_ms) * (columns * 2 - 1) as f64).round() as usize / 2).min(columns - 1);
        rule[column] = '┬';
        let text: Vec<char> = (plot.write_time)(*at_ms, ticks.form).chars().collect();
        let start = (margin + 2 + column).saturating_sub(text.len() / 2);
        if start >= free_from && start + text.len() <= labels.len() {
            labels[start..start + text.len()].copy_from_slice(&text);
            free_from = start + text.len() + 1;
        }
    }
    out.push_str(&" ".repeat(margin + 1));
    out.push('└');
    out.extend(rule);
    out.push('\n');
    out.extend(labels);
    trim_row(out);
    if ticks.at_ms.is_empty() {
        out.push_str(&(plot.write_time)(plot.from_ms, TimeForm::Whole));
        out.push('\n');
    }
}

/// The letter of each line, its least, mean, most and last value, and its name.
fn push_legend(plot: &Plot<'_>, style: Style, out: &mut String) {
    let rows: Vec<[String; 4]> = plot.lines.iter().map(|line| figures(plot, line)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let names = ["LEAST", "MEAN", "MOST", "LAST"];
    let widths: [usize; 4] = std::array::from_fn(|column| width(column).max(names[column].len()));
    out.push(' ');
    for (name, width) in names.into_iter().zip(widths) {
        out.push_str(&format!("  {name:>width$}"));
    }
    out.push_str("  SERIES\n");
    for (place, (line, row)) in plot.lines.iter().zip(&rows).enumerate() {
        paint(style, place, out, |out| out.push(letter(place)));
        for (figure, width) in row.iter().zip(widths) {
            out.push_str(&format!("  {figure:>width$}"));
        }
        out.push_str("  ");
        out.push_str(&line.name);
        out.push('\n');
    }
}

fn figures(plot: &Plot<'_>, line: &PlotLine) -> [String; 4] {
    let values: Vec<f64> =
        line.points.iter().map(|(_, value)| *value).filter(|value| value.is_finite()).collect();
    let Some(last) = values.last() else { return std::array::from_fn(|_| crate::ABSENT.to_owned()) };
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    [least, mean, most, *last].map(|value| plot.measure.write(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Measure;

    #[test]
    fn a_plot_has_axes_a_line_with_a_gap_and_a_legend() {
        let minute = |at_ms: i64, _: TimeForm| format!("{:02}:{:02}", at_ms / 3_600_000, at_ms / 60_000 % 60);
        let points = |times: &[i64], value: fn(i64) -> f64| {
            times.iter().map(|minute| (minute * 60_000, value(*minute))).collect::<Vec<_>>()
        };
        let lines = [
            PlotLine { name: "up".to_owned(), points: points(&[0, 10, 20, 30, 40], |minute| minute as f64) },
            PlotLine { name: "gap".to_owned(), points: points(&[0, 10, 30, 40], |_| 20.0) },
        ];
        let plot = Plot {
            title: "a title",
            lines: &lines,
            from_ms: 0,
            to_ms: 2_400_000,
            step_ms: 600_000,
            measure: Measure::Number,
            write_time: &minute,
            offset_ms: 0,
        };
        let mut out = String::new();
        push_braille(&plot, 45, 6, Style { is_colored: false }, &mut out);
        let expected = "\
a title
50 ┤
   │                                 ⢀⣀⣀⠤⠤⠔a
   │                         ⣀⣀⠤⠤⠒⠒⠉⠉⠁
   │⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠄     ⢀⣀⣀⠤⠤⠒⠒⠉⠉    ⠠⠤⠤⠤⠤⠤⠤⠤⠤⠤b
   │       ⢀⣀⡠⠤⠔⠒⠒⠉⠉⠁
 0 ┤⣀⡠⠤⠔⠒⠊⠉⠁
   └┬──────────────┬─────────────┬──────────
  00:00          00:15         00:30
   LEAST  MEAN  MOST  LAST  SERIES
a      0    20    40    40  up
b     20    20    20    20  gap
";
        if out != expected {
            panic!("\n{out}");
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let write = |_: i64, _: TimeForm| String::new();
        let plot = Plot {
            title: "",
            lines: &[PlotLine { name: "x".to_owned(), points: vec![(0, f64::NAN)] }],
            from_ms: 0,
            to_ms: 0,
            step_ms: 1,
            measure: Measure::Bytes,
            write_time: &write,
            offset_ms: 0,
        };
        let mut out = String::new();
        push_braille(&plot, 1, 0, Style { is_colored: true }, &mut out);
        assert!(out.contains('–'));
    }
}
