//! Performance data of a Nagios plugin: <https://nagios-plugins.org/doc/guidelines.html>, section 2.6.

use std::fmt::Write;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Perfdata<'a> {
    /// The name of the figure.
    pub label: &'a str,
    /// How much.
    pub value: f64,
    /// `s`, `%`, `B`, `c`, or none.
    pub unit: &'a str,
    /// Above which it warns.
    pub warn: Option<f64>,
    /// Above which it is critical.
    pub crit: Option<f64>,
    /// The least value that is possible.
    pub min: Option<f64>,
}

/// Appends it; a label that needs quotes gets them.
pub fn push(out: &mut String, figure: &Perfdata<'_>) {
    let Perfdata { label, value, unit, warn, crit, min } = figure;
    let needs_quotes = label.contains(|letter: char| letter.is_whitespace() || "='".contains(letter));
    if needs_quotes {
        out.push('\'');
        out.push_str(&label.replace('\'', "''"));
        out.push('\'');
    } else {
        out.push_str(label);
    }
    // A String takes whatever is written to it.
    let _ = write!(out, "={value}{unit}");
    for bound in [warn, crit, min] {
        out.push(';');
        if let Some(bound) = bound {
            let _ = write!(out, "{bound}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_bounds_keep_their_places() {
        let mut out = String::new();
        let figure =
            Perfdata { label: "age", value: 1.5, unit: "s", warn: None, crit: Some(60.0), min: Some(0.0) };
        push(&mut out, &figure);
        assert_eq!(out, "age=1.5s;;60;0");
        out.clear();
        push(&mut out, &Perfdata { label: "it's a", unit: "", crit: None, min: None, ..figure });
        assert_eq!(out, "'it''s a'=1.5;;;");
    }
}
