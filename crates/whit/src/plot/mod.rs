//! `whit plot`: an expression over time.

pub(crate) mod arguments;
mod measure;
mod raster;

use std::path::Path;
use std::process::ExitCode;

use ::query::{Answer, Point};
use formats::series_name::SeriesName;
use jiff::Timestamp;
use text::plot::{MOST_LINES, Plot, PlotLine, TimeForm, push_braille, push_svg};
use text::printable::Shown as _;

use self::arguments::{Canvas, PlotArgs};
use crate::failure::{Failure, write_stderr};
use crate::new_file::NewFile;
use crate::output::{Output, stdout_style};
use crate::query::ask;
use crate::time_zone;

/// Of a file, in pixels.
const FILE_WIDTH: u32 = 900;
const FILE_HEIGHT: u32 = 300;

/// Asks, and draws the answer.
pub(crate) fn run(args: &PlotArgs) -> Result<ExitCode, Failure> {
    let answer = ask(&args.origin, &args.expression, args.asked())?;
    let mut lines = lines(answer)?;
    if lines.is_empty() {
        return Err(Failure::new("no series has a value in this time"));
    }
    let beyond = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let zone = time_zone::system();
    let write_time = |at_ms: i64, form: TimeForm| {
        let format = match form {
            TimeForm::Seconds => "%H:%M:%S",
            TimeForm::Minutes => "%H:%M",
            TimeForm::Days => "%m-%d",
            TimeForm::Whole => time_zone::WRITTEN,
        };
        timestamp(at_ms).to_zoned(zone.clone()).strftime(format).to_string()
    };
    let [from_ms, to_ms, step_ms] = args.times;
    let span = [from_ms, to_ms].map(|at_ms| write_time(at_ms, TimeForm::Whole)).join(" to ");
    let title = format!("{}   {span}", args.expression.shown());
    let plot = Plot {
        title: &title,
        lines: &lines,
        from_ms,
        to_ms,
        step_ms,
        measure: measure::of(&args.expression),
        write_time: &write_time,
        offset_ms: i64::from(zone.to_offset(timestamp(to_ms)).seconds()) * 1000,
    };
    match &args.canvas {
        Canvas::Terminal { width, rows } => {
            let mut text = String::new();
            push_braille(&plot, *width, *rows, stdout_style(), &mut text);
            Output::stdout().write(text.as_bytes())?;
        }
        Canvas::Svg(path) => {
            let mut text = String::new();
            push_svg(&plot, FILE_WIDTH.into(), FILE_HEIGHT.into(), &mut text);
            write(path, text.as_bytes())?;
        }
        Canvas::Png(path) => {
            let image = raster::draw(&plot, FILE_WIDTH, FILE_HEIGHT);
            write(path, &image.encode().map_err(Failure::internal)?)?;
        }
    }
    if beyond > 0 {
        write_stderr(&format!("{beyond} more series are not drawn: topk({MOST_LINES}, …) chooses\n"));
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut file = NewFile::create(path)?;
    file.write(content)?;
    file.finish()
}

fn timestamp(at_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(at_ms).unwrap_or_default()
}

/// The series of an answer, those with the highest means first.
fn lines(answer: Answer) -> Result<Vec<PlotLine>, Failure> {
    let Answer::Matrix(series) = answer else {
        return Err(Failure::usage("this is no number over time"));
    };
    let line = |(name, points): (SeriesName, Vec<Point>)| {
        let name = name.to_string();
        PlotLine {
            name: if name.is_empty() { "{}".to_owned() } else { name.shown().to_string() },
            points: points.iter().map(|point| (point.at_ms, point.value)).collect(),
        }
    };
    let mut lines: Vec<PlotLine> = series.into_iter().map(line).collect();
    let mean = |line: &PlotLine| {
        let values = line.points.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        values.sum::<f64>() / line.points.len().max(1) as f64
    };
    lines.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    Ok(lines)
}
