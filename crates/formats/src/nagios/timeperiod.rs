//! Time periods: <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/objectdefinitions.html#timeperiod>.

use super::syntax::NagiosObject;

const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// What is no time.
const OTHERS: [&str; 6] = ["timeperiod_name", "alias", "name", "use", "register", "exclude"];

/// A part of a time period that is no time of the week.
pub type OddTime = String;

/// The times of the week, as `monday 09:00-17:00, …`, and what else it says. `None` as times: always; empty: never.
pub fn weekly(period: &NagiosObject) -> (Option<String>, Vec<OddTime>) {
    let mut parts = Vec::new();
    for day in DAYS {
        for times in period.list(day).into_iter().filter(|times| *times != "00:00-00:00") {
            parts.push(format!("{day} {times}"));
        }
    }
    let is_always = DAYS.iter().all(|day| period.get(day) == Some("00:00-24:00"));
    let odd = period
        .values
        .iter()
        .filter(|(name, _)| !DAYS.contains(&name.as_str()) && !OTHERS.contains(&name.as_str()));
    let mut odd: Vec<OddTime> = odd.map(|(name, times)| format!("{name} {times}")).collect();
    odd.extend(period.get("exclude").map(|names| format!("exclude {names}")));
    (if is_always { None } else { Some(parts.join(", ")) }, odd)
}

#[cfg(test)]
mod tests {
    use super::super::syntax::read_objects;
    use super::*;

    #[test]
    fn times_of_the_week_and_others() {
        let text = "define timeperiod {\n timeperiod_name a\n monday 09:00-12:00,13:00-17:00\n july 4 00:00-00:00\n}\n\
                    define timeperiod {\n timeperiod_name n\n}\n";
        let (objects, _) = read_objects(text, 0);
        let (times, odd) = weekly(&objects[0]);
        assert_eq!(times.as_deref(), Some("monday 09:00-12:00, monday 13:00-17:00"));
        assert_eq!(odd, ["july 4 00:00-00:00"]);
        assert_eq!(weekly(&objects[1]), (Some(String::new()), vec![]));
    }
}
