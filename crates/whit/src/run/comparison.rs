//! Runs beside each other: what several have in common, and what changed since an earlier report.

use facts::task::Cause;
use facts::task::figure::Figure;
use facts::unit::{Bytes, Nanos};

use super::supervise::Supervised;
use text::table::{Align, Table};
use text::units::{Size, Span};

/// How a figure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Time,
    Bytes,
}

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) value: u64,
    /// A part of it is not known.
    pub(super) is_least: bool,
}

impl Amount {
    pub(super) fn exact(value: u64) -> Self {
        Self { value, is_least: false }
    }
}

/// The figures that runs are compared by, in the order of the rows.
const ROWS: [(&str, Unit); 10] = [
    ("wall", Unit::Time),
    ("on CPU", Unit::Time),
    ("user", Unit::Time),
    ("system", Unit::Time),
    ("run queue", Unit::Time),
    ("block I/O", Unit::Time),
    ("sleeping", Unit::Time),
    ("peak memory", Unit::Bytes),
    ("read", Unit::Bytes),
    ("written", Unit::Bytes),
];

/// One run's; what is not known is `None`.
pub(super) type RunFigures = [Option<Amount>; ROWS.len()];

/// Returns the figures of a run that has just ended.
pub(super) fn figures_of(run: &Supervised) -> RunFigures {
    let whole = (!run.tree.programs.is_empty()).then_some(&run.tree.whole);
    let exact = |value: u64| Some(Amount::exact(value));
    let waited = |cause| {
        whole.map(|whole| Amount { value: whole.waited(cause).0, is_least: whole.sum.unknown(cause) > 0 })
    };
    let bytes = |figure| whole.map(|whole| Amount::exact(whole.figure(figure)));
    [
        exact(run.wall.0),
        exact(run.cpu().0),
        exact(run.usage.user.0),
        exact(run.usage.system.0),
        waited(Cause::RunQueue),
        waited(Cause::BlockIo),
        whole.and_then(|whole| whole.breakdown().sleeping).map(|sleeping| Amount::exact(sleeping.0)),
        run.peak_resident().map(|peak| Amount::exact(peak.0)),
        bytes(Figure::READ_BYTES),
        bytes(Figure::WRITTEN_BYTES),
    ]
}

/// Several runs' values of one figure, the least first; `is_least` if that is so of one of them.
struct Sample {
    values: Vec<u64>,
    is_least: bool,
}

impl Sample {
    /// `None` if one of the runs lacks it.
    fn new(runs: &[RunFigures], place: usize) -> Option<Self> {
        let amounts: Vec<Amount> = runs.iter().map(|figures| figures[place]).collect::<Option<_>>()?;
        let mut values: Vec<u64> = amounts.iter().map(|amount| amount.value).collect();
        values.sort_unstable();
        let is_least = amounts.iter().any(|amount| amount.is_least);
        (!values.is_empty()).then_some(Self { values, is_least })
    }

    /// The value that so many quarters of them do not exceed.
    fn at(&self, quarter: usize) -> u64 {
        self.values[(self.values.len() - 1) * quarter / 4]
    }

    fn cell(&self, quarter: usize, unit: Unit) -> String {
        let least = if self.is_least { "≥" } else { "" };
        format!("{least}{}", written(self.at(quarter), unit))
    }

    /// Median, and of several the least and the most.
    fn with_range(&self, unit: Unit) -> String {
        match self.values.len() {
            1 => self.cell(2, unit),
            _ => format!(
                "{} ({}–{})",
                self.cell(2, unit),
                written(self.at(0), unit),
                written(self.at(4), unit)
            ),
        }
    }
}

fn written(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Time => Span(Nanos(value)).to_string(),
        Unit::Bytes => Size(Bytes(value)).to_string(),
    }
}

/// Appends median and spread of several runs.
pub(super) fn push_spread(runs: &[RunFigures], out: &mut String) {
    out.push_str(&format!("{} runs\n", runs.len()));
    let mut table = Table::new(&[
        ("", Align::Left),
        ("median", Align::Right),
        ("least", Align::Right),
        ("quartiles", Align::Right),
        ("most", Align::Right),
    ]);
    for (place, (name, unit)) in ROWS.into_iter().enumerate() {
        let absent = || text::ABSENT.to_owned();
        let cells = match Sample::new(runs, place) {
            None => [name.to_owned(), absent(), absent(), absent(), absent()],
            Some(sample) => [
                name.to_owned(),
                sample.cell(2, unit),
                sample.cell(0, unit),
                format!("{}–{}", sample.cell(1, unit), sample.cell(3, unit)),
                sample.cell(4, unit),
            ],
        };
        table.row(cells);
    }
    table.write(out);
}

/// An earlier report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Earlier {
    pub(super) command: Vec<String>,
    pub(super) runs: Vec<RunFigures>,
}

/// Appends medians of an earlier report and of these runs, and the change, as far as both are known.
pub(super) fn push_comparison(before: &Earlier, command: &[String], runs: &[RunFigures], out: &mut String) {
    if before.command != command {
        let words: String = before.command.join(" ").chars().take(200).collect();
        out.push_str("The earlier report is of another command: ");
        text::printable::push_printable(out, words.as_bytes());
        out.push('\n');
    }
    let of_runs = |name: &str, runs: &[RunFigures]| match runs.len() {
        1 => name.to_owned(),
        count => format!("{name}, {count} runs"),
    };
    let (of_before, of_now) = (of_runs("before", &before.runs), of_runs("now", runs));
    let mut table = Table::new(&[
        ("", Align::Left),
        (&of_before, Align::Right),
        (&of_now, Align::Right),
        ("change", Align::Right),
        ("", Align::Left),
    ]);
    for (place, (name, unit)) in ROWS.into_iter().enumerate() {
        let (old, new) = (Sample::new(&before.runs, place), Sample::new(runs, place));
        let cell = |sample: &Option<Sample>| {
            sample.as_ref().map_or(text::ABSENT.to_owned(), |sample| sample.with_range(unit))
        };
        let (mut change, mut remark) = (text::ABSENT.to_owned(), "");
        if let (Some(old), Some(new)) = (&old, &new)
            && !old.is_least
            && !new.is_least
            && old.at(2) > 0
        {
            change = format!("{:+.1} %", (new.at(2) as f64 / old.at(2) as f64 - 1.0) * 100.0);
            // Of runs that vary as much among themselves.
            let is_several = old.values.len() > 1 && new.values.len() > 1;
            if is_several && old.at(0) <= new.at(4) && new.at(0) <= old.at(4) {
                remark = "within the spread";
            }
        }
        table.row([name.to_owned(), cell(&old), cell(&new), change, remark.to_owned()]);
    }
    table.write(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wall_ms: u64, block_io: Option<Amount>) -> RunFigures {
        let mut figures = [Some(Amount::exact(1_000_000)); ROWS.len()];
        figures[0] = Some(Amount::exact(wall_ms * 1_000_000));
        figures[5] = block_io;
        figures
    }

    fn compared(before: Vec<RunFigures>, now: &[RunFigures]) -> String {
        let before = Earlier { command: vec!["x".to_owned()], runs: before };
        let mut text = String::new();
        push_comparison(&before, &["x".to_owned()], now, &mut text);
        text
    }

    fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
        text.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect()
    }

    #[test]
    fn what_is_not_known_is_not_compared() {
        let least = Some(Amount { value: 7_900_000, is_least: true });
        let text = compared(vec![run(100, Some(Amount::exact(24_100_000)))], &[run(80, least)]);
        assert_eq!(row(&text, "wall"), ["wall", "100", "ms", "80.0", "ms", "-20.0", "%"]);
        assert_eq!(row(&text, "block"), ["block", "I/O", "24.1", "ms", "≥7.90", "ms", "–"]);
        let text = compared(vec![run(100, None)], &[run(80, least)]);
        assert_eq!(row(&text, "block"), ["block", "I/O", "–", "≥7.90", "ms", "–"]);
    }

    #[test]
    fn a_change_within_the_spread_is_marked() {
        let runs = |walls: &[u64]| -> Vec<RunFigures> { walls.iter().map(|wall| run(*wall, None)).collect() };
        assert!(
            row(&compared(runs(&[100, 110, 120]), &runs(&[115, 130, 140])), "wall").ends_with(&["spread"])
        );
        assert!(row(&compared(runs(&[100, 110, 120]), &runs(&[125, 130, 140])), "wall").ends_with(&["%"]));
    }
}
