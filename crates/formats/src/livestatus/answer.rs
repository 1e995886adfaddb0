//! Answers: rows or statistics of a table, as CSV, JSON or Python's literals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::condition::Value;
use super::request::{Fault, Form, Request, Statistic};

/// A column of a table whose rows are `R`.
pub struct Column<R> {
    /// Its name.
    pub name: String,
    /// Its value in a row.
    pub get: Box<dyn Fn(&R) -> Value>,
}

impl<R> std::fmt::Debug for Column<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Answers a request from the rows of a table.
pub fn answer<R>(request: &Request, columns: &[Column<R>], rows: impl IntoIterator<Item = R>) -> Vec<u8> {
    match body(request, columns, rows) {
        Ok(body) => with_header(request.has_fixed_header, 200, &body),
        Err(fault) => refuse(request.has_fixed_header, &fault),
    }
}

/// Answers a request for a table that has no rows here, whatever columns it asks for.
pub fn answer_without_rows(request: &Request) -> Vec<u8> {
    let asked = request.columns.iter().chain(&request.used).map(String::as_str);
    let names: BTreeSet<&str> = asked.chain(["name", "alias"]).collect();
    let column =
        |name: &str| Column { name: name.to_owned(), get: Box::new(|(): &()| Value::Text(String::new())) };
    let columns: Vec<_> = names.into_iter().map(column).collect();
    answer(request, &columns, [])
}

/// A refusal, which has a text only with a fixed header.
pub fn refuse(has_fixed_header: bool, fault: &Fault) -> Vec<u8> {
    with_header(has_fixed_header, fault.status, &format!("{}\n", fault.message))
}

fn with_header(has_fixed_header: bool, status: u16, body: &str) -> Vec<u8> {
    match (has_fixed_header, status) {
        (true, _) => format!("{status:3} {:11}\n{body}", body.len()).into_bytes(),
        (false, 200) => body.as_bytes().to_vec(),
        (false, _) => Vec::new(),
    }
}

fn body<R>(
    request: &Request,
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = R>,
) -> Result<String, Fault> {
    let find = |name: &String| {
        let found = columns.iter().find(|column| column.name == *name);
        found.ok_or_else(|| Fault::new(450, format!("table '{}' has no column '{name}'", request.table)))
    };
    let used = request.used.iter().map(find).collect::<Result<Vec<_>, Fault>>()?;
    let mut shown = request.columns.iter().map(find).collect::<Result<Vec<_>, Fault>>()?;
    if request.columns.is_empty() && request.statistics.is_empty() {
        shown.extend(columns);
    }
    let mut lines: Vec<Vec<Value>> = Vec::new();
    // Without columns of its own everything is one group, which is there even if no row is.
    let mut groups: BTreeMap<String, (Vec<Value>, Vec<Tally>)> = BTreeMap::new();
    let no_tallies = || vec![Tally::default(); request.statistics.len()];
    if !request.statistics.is_empty() && shown.is_empty() {
        groups.insert(String::new(), (Vec::new(), no_tallies()));
    }
    for row in rows {
        let value = |place: usize| (used[place].get)(&row);
        if !request.conditions.iter().all(|condition| condition.holds(&value)) {
            continue;
        }
        let values: Vec<Value> = shown.iter().map(|column| (column.get)(&row)).collect();
        if request.statistics.is_empty() {
            if request.most_rows.is_some_and(|most| lines.len() >= most) {
                break;
            }
            lines.push(values);
            continue;
        }
        let key = if values.is_empty() { String::new() } else { format!("{values:?}") };
        let (_, tallies) = groups.entry(key).or_insert_with(|| (values, no_tallies()));
        for (tally, statistic) in tallies.iter_mut().zip(&request.statistics) {
            tally.add(statistic, &value);
        }
    }
    for (mut values, tallies) in groups.into_values() {
        values
            .extend(tallies.iter().zip(&request.statistics).map(|(tally, statistic)| tally.value(statistic)));
        lines.push(values);
    }
    let names_columns =
        request.names_columns.unwrap_or(request.columns.is_empty() && request.statistics.is_empty());
    if names_columns {
        let statistics = (1..=request.statistics.len()).map(|number| Value::Text(format!("stats_{number}")));
        let names = shown.iter().map(|column| Value::Text(column.name.clone()));
        lines.insert(0, names.chain(statistics).collect());
    }
    Ok(write(request, &lines))
}

/// The state of a statistic over the rows so far.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    count: u64,
    sum: f64,
    sum_of_squares: f64,
    least: f64,
    most: f64,
}

impl Tally {
    fn add(&mut self, statistic: &Statistic, value: &dyn Fn(usize) -> Value) {
        let number = match statistic {
            Statistic::Count(condition) => {
                self.count += u64::from(condition.holds(value));
                return;
            }
            Statistic::Sum(place)
            | Statistic::Mean(place)
            | Statistic::Least(place)
            | Statistic::Most(place)
            | Statistic::Deviation(place) => value(*place).number(),
        };
        (self.least, self.most) =
            if self.count == 0 { (number, number) } else { (self.least.min(number), self.most.max(number)) };
        self.count += 1;
        self.sum += number;
        self.sum_of_squares += number * number;
    }

    fn value(&self, statistic: &Statistic) -> Value {
        let mean = self.sum / self.count.max(1) as f64;
        match statistic {
            Statistic::Count(_) => Value::Integer(self.count as i64),
            Statistic::Sum(_) => Value::Float(self.sum),
            Statistic::Mean(_) => Value::Float(mean),
            Statistic::Least(_) => Value::Float(self.least),
            Statistic::Most(_) => Value::Float(self.most),
            Statistic::Deviation(_) => {
                Value::Float((self.sum_of_squares / self.count.max(1) as f64 - mean * mean).max(0.0).sqrt())
            }
        }
    }
}

fn write(request: &Request, lines: &[Vec<Value>]) -> String {
    match request.form {
        Form::Csv => {
            let [row, field, element] = request.separators;
            let mut out = String::new();
            for line in lines {
                for (place, value) in line.iter().enumerate() {
                    if place > 0 {
                        out.push(field);
                    }
                    match value {
                        Value::Integer(number) => out.push_str(&number.to_string()),
                        Value::Float(number) => out.push_str(&number.to_string()),
                        Value::Text(text) => out.push_str(text),
                        Value::List(list) => out.push_str(&list.join(element.encode_utf8(&mut [0; 4]))),
                    }
                }
                out.push(row);
            }
            out
        }
        // Numbers, texts and lists of JSON are Python's literals, too.
        Form::Json | Form::WrappedJson | Form::Python => {
            let written = |value: &Value| match value {
                Value::Integer(number) => json!(number),
                Value::Float(number) => json!(number),
                Value::Text(text) => json!(text),
                Value::List(list) => json!(list),
            };
            let rows: Vec<Vec<serde_json::Value>> =
                lines.iter().map(|line| line.iter().map(written).collect()).collect();
            match request.form {
                Form::WrappedJson => {
                    format!("{}\n", json!({ "data": rows, "total_count": rows.len(), "failed": {} }))
                }
                _ => format!("{}\n", json!(rows)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = (&'static str, i64, Vec<String>);

    fn columns() -> Vec<Column<Row>> {
        let column =
            |name: &str, get: fn(&Row) -> Value| Column { name: name.to_owned(), get: Box::new(get) };
        vec![
            column("name", |row| row.0.into()),
            column("state", |row| Value::Integer(row.1)),
            column("groups", |row| Value::List(row.2.clone())),
        ]
    }

    fn rows() -> Vec<Row> {
        let groups = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        vec![("web1", 0, groups(&["web"])), ("web2", 2, groups(&["web", "new"])), ("Mail", 1, Vec::new())]
    }

    fn ask(text: &str) -> String {
        let request = Request::parse(text);
        let bytes = match request {
            Ok(request) => answer(&request, &columns(), rows()),
            Err(fault) => refuse(true, &fault),
        };
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn filters_select_rows() {
        for (filters, expected) in [
            ("Filter: state > 0", "web2\nMail\n"),
            ("Filter: state >= 1\nFilter: name ~ ^web", "web2\n"),
            ("Filter: name =~ MAIL", "Mail\n"),
            ("Filter: name ~~ ^m", "Mail\n"),
            ("Filter: name !~ web", "Mail\n"),
            ("Filter: groups >= new", "web2\n"),
            ("Filter: groups < web", "Mail\n"),
            ("Filter: groups =", "Mail\n"),
            ("Filter: state = 0\nFilter: state = 1\nOr: 2", "web1\nMail\n"),
            ("Filter: state = 0\nFilter: state = 1\nOr: 2\nNegate:", "web2\n"),
            ("Limit: 1", "web1\n"),
        ] {
            assert_eq!(ask(&format!("GET hosts\nColumns: name\n{filters}")), expected, "{filters}");
        }
    }

    #[test]
    fn answers_have_several_forms() {
        assert_eq!(ask("GET hosts\nLimit: 1"), "name;state;groups\nweb1;0;web\n");
        assert_eq!(
            ask("GET hosts\nColumns: name groups\nOutputFormat: json\nFilter: state = 2\nColumnHeaders: on"),
            "[[\"name\",\"groups\"],[\"web2\",[\"web\",\"new\"]]]\n"
        );
        assert_eq!(
            ask("GET hosts\nColumns: name groups\nFilter: state = 2\nSeparators: 10 124 43 0"),
            "web2|web+new\n"
        );
        assert_eq!(
            ask("GET hosts\nColumns: name\nLimit: 1\nResponseHeader: fixed16"),
            "200           5\nweb1\n"
        );
    }

    #[test]
    fn statistics_count_rows() {
        let counts = "Stats: state = 0\nStats: state > 0\nStats: name ~ web\nStatsAnd: 2\nStats: max state\nStats: avg state";
        assert_eq!(ask(&format!("GET hosts\n{counts}")), "1;1;2;1\n");
        assert_eq!(ask("GET hosts\nStats: state = 0\nFilter: state = 7"), "0\n");
        assert_eq!(
            ask("GET hosts\nColumns: groups\nStats: state >= 0\nStatsNegate:"),
            "web,new;0\nweb;0\n;0\n"
        );
    }

    #[test]
    fn faults_have_a_status() {
        for (text, expected) in [
            ("PUT hosts", "400          33\na request begins with GET TABLE\n"),
            ("GET hosts\nFilter: name", "400"),
            ("GET hosts\nFilter: name ~ (", "400"),
            ("GET hosts\nAnd: 2", "400"),
            (
                "GET hosts\nResponseHeader: fixed16\nColumns: color",
                "450          34\ntable 'hosts' has no column 'color'\n",
            ),
        ] {
            let answer = ask(text);
            assert!(answer.starts_with(&expected[..3]), "{text}: {answer}");
        }
        assert_eq!(ask("GET hosts\nColumns: color"), "");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(lines in proptest::collection::vec("(Filter|Stats|And|Or|Negate|StatsAnd|Columns|Limit|Separators): [a-z0-9 =~!<>.*]{0,20}", 0..8)) {
            let _ = ask(&format!("GET hosts\n{}", lines.join("\n")));
        }
    }
}
