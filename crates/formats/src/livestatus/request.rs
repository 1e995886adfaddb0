//! Requests: a line `GET TABLE`, and lines with headers.

use super::condition::{Condition, Test};

/// Why there is no answer: the status of the protocol's fixed header, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// 400 for a request that is wrong, 404 for an unknown table, 450 for an unknown column.
    pub status: u16,
    /// The description of the error.
    pub message: String,
}

impl Fault {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    Json,
    /// JSON in an object, as Naemon has it.
    WrappedJson,
    Python,
}

/// A number over rows.
#[derive(Clone, Debug)]
pub(super) enum Statistic {
    /// How many rows meet a condition.
    Count(Condition),
    /// The sum of the values of a column, by its place in the request's list.
    Sum(usize),
    Mean(usize),
    Least(usize),
    Most(usize),
    Deviation(usize),
}

/// A request for rows of a table.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name of the table.
    pub table: String,
    /// The connection stays open for another request.
    pub keeps_alive: bool,
    /// The answer begins with its status and length, in 16 bytes.
    pub has_fixed_header: bool,
    /// Columns that are returned.
    pub(super) columns: Vec<String>,
    pub(super) conditions: Vec<Condition>,
    pub(super) statistics: Vec<Statistic>,
    pub(super) most_rows: Option<usize>,
    pub(super) form: Form,
    pub(super) names_columns: Option<bool>,
    /// Between rows, fields, and the elements of lists.
    pub(super) separators: [char; 3],
    /// Names of the columns that conditions and statistics use, by their places there.
    pub(super) used: Vec<String>,
}

/// Filters of one request: more are no dashboard's.
const MAX_CONDITIONS: usize = 10_000;

impl Request {
    /// Returns whether an answer needs a column, which may have the prefix of another table; all are needed where none is named.
    pub fn needs_column(&self, name: &str) -> bool {
        let is_whole = self.columns.is_empty() && self.statistics.is_empty();
        is_whole || self.columns.iter().chain(&self.used).any(|column| column.ends_with(name))
    }

    /// Reads a request without the empty line at its end.
    ///
    /// # Errors
    /// Returns an error if the request is malformed.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().trim_end();
        let table = first.strip_prefix("GET ").map(str::trim).filter(|table| !table.is_empty());
        let table = table.ok_or_else(|| Fault::new(400, "a request begins with GET TABLE"))?;
        let mut request = Self {
            table: table.to_owned(),
            keeps_alive: false,
            has_fixed_header: false,
            columns: Vec::new(),
            conditions: Vec::new(),
            statistics: Vec::new(),
            most_rows: None,
            form: Form::Csv,
            names_columns: None,
            separators: ['\n', ';', ','],
            used: Vec::new(),
        };
        for line in lines {
            let line = line.trim_end();
            let (name, value) =
                line.split_once(':').ok_or_else(|| Fault::new(400, format!("\"{line}\" is no header")))?;
            request.take_header(name.trim(), value.trim())?;
            if request.conditions.len() + request.statistics.len() > MAX_CONDITIONS {
                return Err(Fault::new(413, "there are too many filters"));
            }
        }
        Ok(request)
    }

    fn take_header(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        let wrong = || Fault::new(400, format!("invalid value of {name}: \"{value}\""));
        match name {
            "Columns" => self.columns.extend(value.split_whitespace().map(str::to_owned)),
            "Filter" => {
                let condition = self.condition(value)?;
                self.conditions.push(condition);
            }
            "And" | "Or" => combine(&mut self.conditions, value, name == "And").ok_or_else(wrong)?,
            "Negate" => negate(&mut self.conditions).ok_or_else(wrong)?,
            "Stats" => {
                let statistic = self.statistic(value)?;
                self.statistics.push(statistic);
            }
            "StatsAnd" | "StatsOr" | "StatsNegate" => {
                self.combine_statistics(name, value).ok_or_else(wrong)?
            }
            "Limit" => self.most_rows = Some(value.parse().map_err(|_| wrong())?),
            "OutputFormat" => {
                self.form = match value {
                    "csv" | "CSV" => Form::Csv,
                    "json" => Form::Json,
                    "wrapped_json" => Form::WrappedJson,
                    "python" | "python3" => Form::Python,
                    _ => return Err(wrong()),
                }
            }
            "ResponseHeader" => self.has_fixed_header = value == "fixed16",
            "ColumnHeaders" => self.names_columns = Some(value == "on"),
            "KeepAlive" => self.keeps_alive = value == "on",
            "Separators" => {
                let codes: Vec<u8> = value.split_whitespace().filter_map(|code| code.parse().ok()).collect();
                let [row, field, element, ..] = codes.as_slice() else { return Err(wrong()) };
                self.separators = [*row, *field, *element].map(char::from);
            }
            // The rights of a user of the dashboard, waiting for changes, time zones: what the socket's user sees is answered at once.
            _ => {}
        }
        Ok(())
    }

    /// The place of a column among those that are used.
    fn place(&mut self, column: &str) -> usize {
        self.used.iter().position(|known| known == column).unwrap_or_else(|| {
            self.used.push(column.to_owned());
            self.used.len() - 1
        })
    }

    /// `COLUMN OPERATOR VALUE`; the value may be empty.
    fn condition(&mut self, text: &str) -> Result<Condition, Fault> {
        let mut words = text.splitn(3, ' ');
        let (Some(column), Some(operator)) = (words.next(), words.next()) else {
            return Err(Fault::new(400, format!("\"{text}\" is no filter: write COLUMN OPERATOR VALUE")));
        };
        let test = Test::parse(operator, words.next().unwrap_or_default().trim())
            .map_err(|message| Fault::new(400, message))?;
        Ok(Condition::Column(self.place(column), test))
    }

    fn statistic(&mut self, text: &str) -> Result<Statistic, Fault> {
        type Make = fn(usize) -> Statistic;
        let make: Option<(Make, &str)> = match text.split_once(' ') {
            Some(("sum", column)) => Some((Statistic::Sum, column)),
            Some(("avg", column)) => Some((Statistic::Mean, column)),
            Some(("min", column)) => Some((Statistic::Least, column)),
            Some(("max", column)) => Some((Statistic::Most, column)),
            Some(("std", column)) => Some((Statistic::Deviation, column)),
            _ => None,
        };
        match make {
            Some((make, column)) => Ok(make(self.place(column.trim()))),
            None => self.condition(text).map(Statistic::Count),
        }
    }

    /// Counts of the last statistics become one.
    fn combine_statistics(&mut self, name: &str, value: &str) -> Option<()> {
        let count = if name == "StatsNegate" { 1 } else { value.parse().ok()? };
        let from = self.statistics.len().checked_sub(count)?;
        let mut conditions: Vec<Condition> = Vec::new();
        for statistic in self.statistics.drain(from..) {
            let Statistic::Count(condition) = statistic else { return None };
            conditions.push(condition);
        }
        match name {
            "StatsNegate" => negate(&mut conditions)?,
            _ => combine(&mut conditions, value, name == "StatsAnd")?,
        }
        self.statistics.push(Statistic::Count(conditions.pop()?));
        Some(())
    }
}

/// The last so many conditions become one.
fn combine(conditions: &mut Vec<Condition>, count: &str, is_and: bool) -> Option<()> {
    let from = conditions.len().checked_sub(count.parse().ok()?)?;
    let together = conditions.split_off(from);
    conditions.push(if is_and { Condition::And(together) } else { Condition::Or(together) });
    Some(())
}

fn negate(conditions: &mut Vec<Condition>) -> Option<()> {
    let last = conditions.pop()?;
    conditions.push(Condition::Not(Box::new(last)));
    Some(())
}
