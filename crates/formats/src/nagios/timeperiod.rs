//! Time periods: <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/timeperiods.html>.

use super::syntax::NagiosObject;

const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Directives that are no time.
const OTHERS: [&str; 6] = ["timeperiod_name", "alias", "name", "use", "register", "exclude"];
/// The whole day, and no time at all.
const WHOLE: &str = "00:00-24:00";
const NONE: &str = "00:00-00:00";

/// The times of a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NagiosTimes {
    /// Days or dates, each with a time of the day: `monday 09:00-17:00`, `july 4 00:00-00:00`. Days of the week come first.
    pub rules: Vec<String>,
    /// Each day of the week is in it as a whole, and no date is another.
    pub is_always: bool,
    /// Names of the periods that are taken out.
    pub excluded: Vec<String>,
}

/// Reads the times of a period.
pub fn times_of(period: &NagiosObject) -> NagiosTimes {
    let mut rules = Vec::new();
    let dates = period.values.keys().map(String::as_str);
    let dates: Vec<&str> = dates
        .filter(|name| !DAYS.contains(name) && !OTHERS.contains(name) && !name.starts_with('_'))
        .collect();
    for day in DAYS.iter().chain(&dates) {
        let is_date = !DAYS.contains(day);
        // A day of the week without a time is none anyway; a date without one is a holiday.
        let times = period.get(day).unwrap_or_default();
        // Blanks are where people write them, also instead of commas.
        let times = times.split('-').map(str::trim).collect::<Vec<_>>().join("-");
        let times = times.split(|letter: char| letter == ',' || letter.is_whitespace());
        for times in times.filter(|times| !times.is_empty() && (is_date || *times != NONE)) {
            rules.push(format!("{day} {times}"));
        }
    }
    NagiosTimes {
        is_always: dates.is_empty() && DAYS.iter().all(|day| period.get(day) == Some(WHOLE)),
        rules,
        excluded: period.list("exclude").into_iter().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::syntax::read_objects;
    use super::*;

    #[test]
    fn times_of_the_week_and_of_dates() {
        let text = "define timeperiod {\n timeperiod_name a\n monday 09:00 - 12:00 13:00-17:00\n july 4 00:00-00:00\n\
                    sunday 00:00-00:00\n exclude b, c\n 2026-01-01 - 2026-02-01 / 3 09:00-10:00\n}\n\
                    define timeperiod {\n timeperiod_name n\n}\n";
        let (objects, _) = read_objects(text, 0);
        let times = times_of(&objects[0]);
        let rules = [
            "monday 09:00-12:00",
            "monday 13:00-17:00",
            "2026-01-01 - 2026-02-01 / 3 09:00-10:00",
            "july 4 00:00-00:00",
        ];
        assert_eq!(times.rules, rules);
        assert_eq!(times.excluded, ["b", "c"]);
        assert_eq!(times_of(&objects[1]), NagiosTimes::default());
        let every: String = DAYS.iter().map(|day| format!("{day} 00:00-24:00\n")).collect();
        let (objects, _) = read_objects(&format!("define timeperiod {{\n{every}}}\n"), 0);
        assert!(times_of(&objects[0]).is_always);
    }
}
