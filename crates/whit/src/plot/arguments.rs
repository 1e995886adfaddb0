//! Options of `whit plot`.

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use remote_store::Asked;

use crate::query::arguments::{SERVER, expression, origin, times, with_origin};
use command::failure::Failure;
use command::kind::Kind;
use command::options::{instant_option, option, paragraphs};
use command::output::line_width;
use command::past_origin::PastOrigin;

/// `whit plot`, validated.
#[derive(Debug)]
pub(crate) struct PlotArgs {
    pub(super) expression: String,
    /// The first and the last instant, and the step, in milliseconds.
    pub(super) times: [i64; 3],
    pub(super) origin: PastOrigin,
    pub(super) canvas: Canvas,
}

/// The canvas of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Canvas {
    /// Standard output, with so many characters across and so many rows of dots.
    Terminal {
        width: usize,
        rows: usize,
    },
    Svg(PathBuf),
    Png(PathBuf),
}

const USUAL_ROWS: usize = 16;
const MAX_ROWS: u64 = 200;
/// Values of a file: about two for each three pixels.
const FILE_STEPS: i64 = 540;
const USUAL_TIME_MS: i64 = 3_600_000;

pub(crate) fn command() -> Command {
    Command::new("plot").about("Draw an expression over time").defer(|command| {
        with_origin(
            command
                .arg(expression())
                .arg(instant_option("since", "From this instant on [default: -1h]"))
                .arg(instant_option("until", "Up to this instant [default: now]"))
                .arg(option("step", Kind::Duration, "From one value to the next [default: a value a column]"))
                .arg(option("rows", Kind::Count, "Rows of the plot [default: 16]"))
                .arg(
                    option("svg", Kind::File, "Write an SVG image; - is standard output")
                        .conflicts_with("rows"),
                )
                .arg(
                    option("png", Kind::File, "Write a PNG image; - is standard output")
                        .conflicts_with_all(["svg", "rows"]),
                ),
            SERVER,
        )
        .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Each series has a letter at its end and a line below the plot; at most 26 are drawn. The unit follows
from the names of the series. The language is that of whit query.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<PlotArgs, Failure> {
    let canvas = match (matches.get_one::<PathBuf>("svg"), matches.get_one::<PathBuf>("png")) {
        (Some(path), _) => Canvas::Svg(path.clone()),
        (_, Some(path)) => Canvas::Png(path.clone()),
        (None, None) => {
            let rows = matches.get_one::<u64>("rows").copied();
            if rows.is_some_and(|rows| !(3..=MAX_ROWS).contains(&rows)) {
                return Err(Failure::usage(format!("--rows: expected 3 to {MAX_ROWS}")));
            }
            let rows = rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(USUAL_ROWS);
            Canvas::Terminal { width: line_width(), rows }
        }
    };
    let steps = match canvas {
        // Two dots a character.
        Canvas::Terminal { width, .. } => width as i64 * 2,
        Canvas::Svg(_) | Canvas::Png(_) => FILE_STEPS,
    };
    let times = times(matches, steps, USUAL_TIME_MS)?;
    let expression = matches.get_one::<String>("expression").cloned().unwrap_or_default();
    Ok(PlotArgs { expression, times, origin: origin(matches)?, canvas })
}

impl PlotArgs {
    /// Returns the question that is asked.
    pub(super) fn asked(&self) -> Asked {
        let [from_ms, to_ms, step_ms] = self.times;
        Asked::Between { from_ms, to_ms, step_ms }
    }
}
