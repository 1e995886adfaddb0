//! Plots as pixels.
//!
//! The letters are those of font8x8: a font renderer would be the largest dependency of all.

use font8x8::{BASIC_FONTS, LATIN_FONTS, UnicodeFonts as _};
use png::{BitDepth, ColorType, Encoder, EncodingError};
use text::plot::{COLORS, Plot, TimeForm, letter};

type Color = [u8; 3];

const PAPER: Color = [255, 255, 255];
const INK: Color = [34, 34, 34];
const GRID: Color = [222, 222, 222];
const LEFT: u32 = 92;
const RIGHT: u32 = 16;
const TOP: u32 = 32;
const BELOW: u32 = 28;
const LEGEND_LINE: u32 = 14;
/// Strokes of a dash.
const DASH: usize = 4;
/// The size of a letter, in pixels.
const LETTER: u32 = 8;

/// Pixels, row by row.
pub(super) struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Image {
    fn new(width: u32, height: u32) -> Self {
        Self { width, height, pixels: PAPER.repeat((width * height) as usize) }
    }

    /// As a PNG file.
    pub(super) fn encode(&self) -> Result<Vec<u8>, EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(bytes)
    }

    /// Lays a colour over a pixel: `cover` 1 hides what was there.
    fn mix(&mut self, x: i64, y: i64, color: Color, cover: f64) {
        if !(0..i64::from(self.width)).contains(&x) || !(0..i64::from(self.height)).contains(&y) {
            return;
        }
        let at = (y * i64::from(self.width) + x) as usize * 3;
        for (pixel, wanted) in self.pixels[at..at + 3].iter_mut().zip(color) {
            *pixel = (f64::from(*pixel) * (1.0 - cover) + f64::from(wanted) * cover).round() as u8;
        }
    }

    /// A straight line, so many pixels wide, with soft edges.
    fn stroke(&mut self, from: (f64, f64), to: (f64, f64), width: f64, color: Color) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx * dx + dy * dy;
        let reach = width / 2.0 + 1.0;
        let ends = |a: f64, b: f64| ((a.min(b) - reach).floor() as i64, (a.max(b) + reach).ceil() as i64);
        let ((left, right), (top, bottom)) = (ends(from.0, to.0), ends(from.1, to.1));
        for y in top..=bottom {
            for x in left..=right {
                let (px, py) = (x as f64 - from.0, y as f64 - from.1);
                let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - along * dx).hypot(py - along * dy);
                let cover = (width / 2.0 + 0.5 - distance).clamp(0.0, 1.0);
                if cover > 0.0 {
                    self.mix(x, y, color, cover);
                }
            }
        }
    }

    fn write(&mut self, x: i64, y: i64, text: &str, color: Color) {
        for (place, letter) in text.chars().enumerate() {
            // The font has these alone.
            let glyph = BASIC_FONTS.get(letter).or_else(|| LATIN_FONTS.get(letter));
            let glyph = glyph.or_else(|| BASIC_FONTS.get('?')).unwrap_or_default();
            let left = x + place as i64 * i64::from(LETTER);
            for (row, bits) in glyph.iter().enumerate() {
                for column in (0..8).filter(|column| bits >> column & 1 == 1) {
                    self.mix(left + column, y + row as i64, color, 1.0);
                }
            }
        }
    }
}

fn width_of(text: &str) -> i64 {
    text.chars().count() as i64 * i64::from(LETTER)
}

fn color(place: usize) -> Color {
    let digits = u32::from_str_radix(&COLORS[place % COLORS.len()][1..], 16).unwrap_or(0);
    let [_, red, green, blue] = digits.to_be_bytes();
    [red, green, blue]
}

/// Draws a plot of so many pixels across, whose lines have so many in height.
pub(super) fn draw(plot: &Plot<'_>, width: u32, height: u32) -> Image {
    let whole = TOP + height + BELOW + LEGEND_LINE * (plot.lines.len() as u32 + 1);
    let mut image = Image::new(width, whole);
    let axis = plot.value_axis(6);
    let x = |part: f64| f64::from(LEFT) + part * f64::from(width - LEFT - RIGHT);
    let y = |part: f64| f64::from(TOP) + (1.0 - part) * f64::from(height);
    image.write(LEFT.into(), 12, plot.title, INK);
    for (value, text) in &axis.ticks {
        let at = y(axis.part(*value));
        image.stroke((x(0.0), at), (x(1.0), at), 1.0, GRID);
        image.write(i64::from(LEFT) - 8 - width_of(text), at as i64 - 4, text, INK);
    }
    let ticks = plot.time_ticks((width / 100) as usize);
    for at_ms in &ticks.at_ms {
        let at = x(plot.part_of_time(*at_ms));
        image.stroke((at, y(1.0)), (at, y(0.0)), 1.0, GRID);
        let text = (plot.write_time)(*at_ms, ticks.form);
        let left = (at as i64 - width_of(&text) / 2).min(i64::from(width) - width_of(&text));
        image.write(left, y(0.0) as i64 + 8, &text, INK);
    }
    for (place, line) in plot.lines.iter().enumerate().rev() {
        for piece in plot.pieces(line, &axis) {
            let points: Vec<(f64, f64)> = piece.iter().map(|(time, value)| (x(*time), y(*value))).collect();
            match points.as_slice() {
                [alone] => image.stroke(*alone, *alone, 2.5, color(place)),
                several => {
                    // From the seventh line on dashed, so that no two look the same.
                    let is_drawn = |at: usize| place < COLORS.len() || (at / DASH).is_multiple_of(2);
                    let strokes = several.windows(2).enumerate().filter(|(at, _)| is_drawn(*at));
                    strokes.for_each(|(_, pair)| image.stroke(pair[0], pair[1], 1.5, color(place)));
                }
            }
        }
        let at = i64::from(TOP + height + BELOW + LEGEND_LINE * place as u32 + 4);
        let middle = at as f64 + 3.5;
        image.stroke((LEFT.into(), middle), (f64::from(LEFT) + 20.0, middle), 2.5, color(place));
        let last = line.points.iter().rev().find(|(_, value)| value.is_finite());
        let last = last.map_or_else(|| "-".to_owned(), |(_, value)| plot.measure.write(*value));
        let text = format!("{} {}: {}", letter(place), line.name, last);
        image.write(i64::from(LEFT) + 28, at, &text, INK);
    }
    if ticks.at_ms.is_empty() {
        let text = (plot.write_time)(plot.from_ms, TimeForm::Whole);
        image.write(LEFT.into(), y(0.0) as i64 + 8, &text, INK);
    }
    image
}
