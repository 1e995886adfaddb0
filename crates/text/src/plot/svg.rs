//! Plots as SVG, for light and dark pages.

use std::fmt::Write as _;

use super::{Plot, letter};

/// Colours that people with colour blindness can also distinguish: Okabe and Ito's, without yellow and black, in the order of the page's.
pub const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#cc79a7", "#009e73", "#e69f00", "#56b4e9"];

const LEFT: f64 = 76.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BELOW: f64 = 24.0;
const LEGEND_LINE: f64 = 18.0;

/// Appends a plot of so many pixels across, whose lines have so many in height; the legend comes below.
pub fn push_svg(plot: &Plot<'_>, width: f64, height: f64, out: &mut String) {
    let axis = plot.value_axis(6);
    let whole = TOP + height + BELOW + LEGEND_LINE * (plot.lines.len() as f64 + 0.5);
    let x = |part: f64| LEFT + part * (width - LEFT - RIGHT);
    let y = |part: f64| TOP + (1.0 - part) * height;
    // A text takes whatever is written to it.
    let mut push = |line: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(line);
    };
    push(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" width=\"{width}\" height=\"{whole}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <style>svg{{color:#222;background:#fff}}@media(prefers-color-scheme:dark){{svg{{color:#ddd;background:#181818}}}}\
         text{{fill:currentColor}}.grid{{stroke:currentColor;stroke-opacity:.15}}.line{{fill:none;stroke-width:1.5}}</style>\n\
         <text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{title}</text>\n",
        title = escaped(plot.title)
    ));
    for (value, text) in &axis.ticks {
        let at = y(axis.part(*value));
        push(format_args!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            x(1.0),
            LEFT - 6.0,
            at + 4.0,
            escaped(text)
        ));
    }
    let ticks = plot.time_ticks((width / 90.0) as usize);
    for at_ms in &ticks.at_ms {
        let at = x(plot.part_of_time(*at_ms));
        push(format_args!(
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y(0.0),
            y(0.0) + 16.0,
            escaped(&(plot.write_time)(*at_ms, ticks.form))
        ));
    }
    for (place, line) in plot.lines.iter().enumerate().rev() {
        let color = COLORS[place % COLORS.len()];
        // From the seventh line on dashed, so that no two look the same.
        let dash = match place / COLORS.len() {
            0 => String::new(),
            round => format!(" stroke-dasharray=\"{} 3\"", round * 4),
        };
        for piece in plot.pieces(line, &axis) {
            let mut points = String::new();
            for (time, value) in &piece {
                let _ = write!(points, "{:.1},{:.1} ", x(*time), y(*value));
            }
            match piece.as_slice() {
                [(time, value)] => push(format_args!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\" fill=\"{color}\"/>\n",
                    x(*time),
                    y(*value)
                )),
                _ => push(format_args!(
                    "<polyline class=\"line\" stroke=\"{color}\"{dash} points=\"{}\"/>\n",
                    points.trim_end()
                )),
            }
        }
        let at = TOP + height + BELOW + LEGEND_LINE * (place as f64 + 0.8);
        let last = line.points.iter().rev().find(|(_, value)| value.is_finite());
        let last = last.map_or_else(|| crate::ABSENT.to_owned(), |(_, value)| plot.measure.write(*value));
        push(format_args!(
            "<line class=\"line\" stroke=\"{color}\"{dash} x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{at:.1}\">{} {}: {}</text>\n",
            LEFT + 24.0,
            at - 4.0,
            at - 4.0,
            LEFT + 30.0,
            letter(place),
            escaped(&line.name),
            escaped(&last)
        ));
    }
    push(format_args!("</svg>\n"));
}

/// As text of XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, PlotLine, TimeForm};
    use super::*;

    #[test]
    fn names_are_text() {
        let write = |at_ms: i64, _: TimeForm| at_ms.to_string();
        let line =
            PlotLine { name: "{a=\"<script>\"}".to_owned(), points: vec![(0, 1.0), (1, 2.0), (9, 3.0)] };
        let plot = Plot {
            title: "a < b & \u{1b}",
            lines: &[line],
            from_ms: 0,
            to_ms: 10,
            step_ms: 1,
            measure: Measure::Ratio,
            write_time: &write,
            offset_ms: 0,
        };
        let mut out = String::new();
        push_svg(&plot, 600.0, 200.0, &mut out);
        assert!(out.contains("a {a=&quot;&lt;script&gt;&quot;}: 300 %") && !out.contains("<script"), "{out}");
        assert!(out.contains("<title>a &lt; b &amp; \u{fffd}</title>"), "{out}");
        assert_eq!((out.matches("<polyline").count(), out.matches("<circle").count()), (1, 1));
    }
}
