//! `whit plot`: an expression over time.

pub(crate) mod arguments;
mod raster;

use std::path::Path;
use std::process::ExitCode;

use ::history::drawing::Drawing;
use clap::ArgMatches;
use text::plot::{MAX_LINES, push_braille, push_svg};

use self::arguments::Canvas;
use crate::query::ask;
use command::failure::{Failure, write_stderr};
use command::new_file::NewFile;
use command::output::{Output, stdout_style};
use command::time_zone;

/// The width of an image file, in pixels.
const FILE_WIDTH: u32 = 900;
const FILE_HEIGHT: u32 = 300;

/// Asks, and draws the answer.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let answer = ask(&args.origin, &args.expression, args.asked())?;
    let drawing = Drawing::new(&args.expression, answer, args.times, time_zone::system())
        .ok_or_else(|| Failure::usage("this is no number over time"))?;
    if drawing.is_empty() {
        return Err(Failure::new("no series has a value in this time"));
    }
    match &args.canvas {
        Canvas::Terminal { width, rows } => {
            let mut text = String::new();
            drawing.draw(|plot| push_braille(plot, *width, *rows, stdout_style(), &mut text));
            Output::stdout().write(text.as_bytes())?;
        }
        Canvas::Svg(path) => {
            let mut text = String::new();
            drawing.draw(|plot| push_svg(plot, FILE_WIDTH.into(), FILE_HEIGHT.into(), &mut text));
            write(path, text.as_bytes())?;
        }
        Canvas::Png(path) => {
            let image = drawing.draw(|plot| raster::draw(plot, FILE_WIDTH, FILE_HEIGHT));
            write(path, &image.encode().map_err(Failure::internal)?)?;
        }
    }
    if drawing.beyond > 0 {
        let beyond = drawing.beyond;
        write_stderr(&format!("{beyond} more series are not drawn: topk({MAX_LINES}, …) chooses\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes an image into a new file; `-` is standard output.
fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        return Output::stdout().write(content);
    }
    let mut file = NewFile::create(path)?;
    file.write(content)?;
    file.finish()
}
