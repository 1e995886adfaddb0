//! The output of a Nagios plugin: <https://nagios-plugins.org/doc/guidelines.html>, sections 2.1 to 2.6, and
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/pluginapi.html>.

mod range;

pub use range::PluginRange;

use self::range::{number, number_in};

/// The output of a plugin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginOutput {
    /// The first line, without what stands behind a `|`.
    pub text: String,
    /// The lines after it, up to one with a `|`.
    pub long_text: String,
    /// Its performance data, as it was written.
    pub data: String,
    /// Its performance data, as it was read.
    pub figures: Vec<PluginFigure>,
    /// The parts of its performance data that cannot be read, and why.
    pub faults: Vec<String>,
}

/// A figure of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginFigure {
    /// The name of the figure.
    pub label: String,
    /// How much; `None` if the plugin does not know.
    pub value: Option<f64>,
    /// As it was written: `s`, `%`, `B`, `c`, none or any other.
    pub unit: String,
    /// The range that decides whether it warns.
    pub warn: Option<PluginRange>,
    /// The range that decides whether it is critical.
    pub crit: Option<PluginRange>,
    /// The least value that is possible.
    pub min: Option<f64>,
    /// The largest value that is possible.
    pub max: Option<f64>,
}

impl PluginFigure {
    /// Returns the base unit, seconds, bytes, a ratio or the unit as it is, and how values come to be in it.
    pub fn base_unit(&self) -> (&str, UnitScale) {
        use UnitScale::{Divide, Multiply};
        const KIBI: f64 = 1024.0;
        match self.unit.as_str() {
            "s" => ("seconds", Multiply(1.0)),
            "ms" => ("seconds", Divide(1e3)),
            "us" | "µs" => ("seconds", Divide(1e6)),
            "ns" => ("seconds", Divide(1e9)),
            "%" => ("ratio", Divide(1e2)),
            "B" => ("bytes", Multiply(1.0)),
            "KB" | "kB" => ("bytes", Multiply(KIBI)),
            "MB" => ("bytes", Multiply(KIBI * KIBI)),
            "GB" => ("bytes", Multiply(KIBI * KIBI * KIBI)),
            "TB" => ("bytes", Multiply(KIBI * KIBI * KIBI * KIBI)),
            unit => (unit, Multiply(1.0)),
        }
    }
}

/// How a value comes to be in its base unit. Division is exact where a multiplication by 0.01 is not: 94 % are 0.94.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnitScale {
    /// A unit that is larger than the base, or the base itself.
    Multiply(f64),
    /// A smaller one.
    Divide(f64),
}

impl UnitScale {
    /// Returns a value in the base unit.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::Multiply(factor) => value * factor,
            Self::Divide(divisor) => value / divisor,
        }
    }
}

/// Reads what a plugin wrote. Bytes that are no text are replaced.
pub fn read(output: &[u8]) -> PluginOutput {
    let output = String::from_utf8_lossy(output);
    let mut read = PluginOutput::default();
    let mut lines = output.lines();
    let (text, mut data) = split(lines.next().unwrap_or_default());
    text.trim().clone_into(&mut read.text);
    read.push_figures(data);
    // After the first | of the long text everything is performance data.
    let mut is_data = false;
    for line in lines {
        if is_data {
            read.push_figures(line);
            continue;
        }
        let text;
        (text, data) = split(line);
        is_data = line.contains('|');
        if !is_data || !text.trim().is_empty() {
            read.long_text.push_str(text.trim_end());
            read.long_text.push('\n');
        }
        read.push_figures(data);
    }
    read.long_text.truncate(read.long_text.trim_end().len());
    read
}

/// Reads performance data alone: figures, and what of them cannot be read.
pub fn read_data(data: &str) -> (Vec<PluginFigure>, Vec<String>) {
    let mut read = PluginOutput::default();
    read.push_figures(data);
    (read.figures, read.faults)
}

fn split(line: &str) -> (&str, &str) {
    line.split_once('|').unwrap_or((line, ""))
}

impl PluginOutput {
    fn push_figures(&mut self, text: &str) {
        let mut text = text.trim();
        if !text.is_empty() {
            let space = if self.data.is_empty() { "" } else { " " };
            self.data.extend([space, text]);
        }
        loop {
            text = text.trim_start();
            if text.is_empty() {
                return;
            }
            let (figure, rest) = next_figure(text);
            match figure {
                Ok((figure, faults)) => {
                    self.faults
                        .extend(faults.into_iter().map(|fault| format!("{:?}: {fault}", figure.label)));
                    self.figures.push(figure);
                }
                Err(fault) => self.faults.push(fault),
            }
            text = rest;
        }
    }
}

/// A figure, and what of its bounds cannot be read.
type ReadFigure = (PluginFigure, Vec<String>);

/// The first figure of a text, and what follows it.
fn next_figure(text: &str) -> (Result<ReadFigure, String>, &str) {
    let Some((label, rest)) = label(text) else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (wrong, rest) = text.split_at(end);
        return (Err(format!("{wrong:?}: expected 'label'=value")), rest);
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (figure, rest) = rest.split_at(end);
    (self::figure(&label, figure).map_err(|fault| format!("{label:?}: {fault}")), rest)
}

/// A label with or without quotation marks, and what follows its `=`. Two marks within are one that is meant.
fn label(text: &str) -> Option<(String, &str)> {
    let Some(mut quoted) = text.strip_prefix('\'') else {
        let (label, rest) = text.split_once('=')?;
        let is_one_word = !label.is_empty() && !label.contains(char::is_whitespace);
        return is_one_word.then(|| (label.to_owned(), rest));
    };
    let mut label = String::new();
    loop {
        let (piece, rest) = quoted.split_once('\'')?;
        label.push_str(piece);
        if let Some(rest) = rest.strip_prefix('=') {
            return (!label.is_empty()).then_some((label, rest));
        }
        label.push('\'');
        quoted = rest.strip_prefix('\'')?;
    }
}

/// A bound that cannot be read is left out: the value is none the worse for it.
fn figure(label: &str, text: &str) -> Result<ReadFigure, String> {
    let mut parts = text.split(';');
    let (value, unit) = value(parts.next().unwrap_or_default())?;
    let mut faults = Vec::new();
    let mut range = |what: &str, text: Option<&str>| {
        let text = text.filter(|text| !text.is_empty())?;
        let range = PluginRange::parse_in(text, unit);
        faults.extend(range.is_none().then(|| format!("{what} {text:?} is no range")));
        range
    };
    let (warn, crit) = (range("warning", parts.next()), range("critical", parts.next()));
    let mut bound = |what: &str, text: Option<&str>| {
        let text = text.filter(|text| !matches!(*text, "" | "U"))?;
        let bound = number_in(text, unit);
        faults.extend(bound.is_none().then(|| format!("{what} {text:?} is no number")));
        bound
    };
    let (min, max) = (bound("minimum", parts.next()), bound("maximum", parts.next()));
    let rest: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    faults.extend((!rest.is_empty()).then(|| format!("{:?} is no part of a figure", rest.join(";"))));
    Ok((PluginFigure { label: label.to_owned(), value, unit: unit.to_owned(), warn, crit, min, max }, faults))
}

/// A number and its unit. `U` is one that the plugin does not know.
fn value(text: &str) -> Result<(Option<f64>, &str), String> {
    if text == "U" {
        return Ok((None, ""));
    }
    let is_of_number = |letter: char| letter.is_ascii_digit() || "+-.,".contains(letter);
    let mut end = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
    // 1e-3, but 5eur.
    let exponent = text[end..].strip_prefix(['e', 'E']).map(|rest| rest.trim_start_matches(['+', '-']));
    if let Some(rest) = exponent
        && rest.starts_with(|letter: char| letter.is_ascii_digit())
    {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        end = text.len() - rest.len() + digits;
    }
    let (value, unit) = text.split_at(end);
    // Section 2.6 of the guidelines. 12:34:56, 10/20 and 1_000 are no number with a unit.
    let is_unit =
        !unit.contains(|letter: char| letter.is_ascii_digit() || matches!(letter, ';' | '"' | '\'' | '…'));
    let value = number(value).filter(|_| is_unit);
    value.map(|value| (Some(value), unit)).ok_or_else(|| format!("{text:?} is no number"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::perfdata::{self, Perfdata};

    fn figures(text: &str) -> Vec<PluginFigure> {
        let read = read(format!("|{text}").as_bytes());
        assert_eq!(read.faults, Vec::<String>::new(), "{text}");
        read.figures
    }

    #[test]
    fn the_interface_s_own_examples() {
        let disk = read(
            b"DISK OK - free space: / 3326 MB (56%); | /=2643MB;5948;5958;0;5968\n\
              / 15272 MB (77%);\n/boot 68 MB (69%);\n/var/log 819 MB (84%); | /boot=68MB;88;93;0;98\n\
              /home=69357MB;253404;253409;0;253414\n/var/log=818MB;970;975;0;980\n",
        );
        assert_eq!(disk.text, "DISK OK - free space: / 3326 MB (56%);");
        assert_eq!(disk.long_text, "/ 15272 MB (77%);\n/boot 68 MB (69%);\n/var/log 819 MB (84%);");
        let labels: Vec<&str> = disk.figures.iter().map(|figure| figure.label.as_str()).collect();
        assert_eq!(labels, ["/", "/boot", "/home", "/var/log"]);
        let root = &disk.figures[0];
        assert_eq!((root.value, root.unit.as_str(), root.max), (Some(2643.0), "MB", Some(5968.0)));
        assert_eq!(root.base_unit(), ("bytes", UnitScale::Multiply(1_048_576.0)));
        assert!(root.warn.is_some_and(|warn| warn.alerts(5949.0) && !warn.alerts(5948.0)));
        let ping = read(b"PING ok - Packet loss = 0%, RTA = 0.80 ms | percent_packet_loss=0, rta=0.80\n");
        assert_eq!(ping.figures[1].label, "rta");
        // The comma is of the example.
        assert_eq!(ping.faults.len() + ping.figures.len(), 2);
    }

    #[test]
    fn labels_values_and_units() {
        let all = figures("'it''s a'=1 a=U b=-1.5e-3s;;;; c=12c d=0,8 'e=f'=5% g=5eur;~:10;@1:2;0;U");
        let values: Vec<_> =
            all.iter().map(|figure| (figure.label.as_str(), figure.value, figure.unit.as_str())).collect();
        let wanted = [
            ("it's a", Some(1.0), ""),
            ("a", None, ""),
            ("b", Some(-0.0015), "s"),
            ("c", Some(12.0), "c"),
            ("d", Some(0.8), ""),
            ("e=f", Some(5.0), "%"),
            ("g", Some(5.0), "eur"),
        ];
        assert_eq!(values, wanted);
        let crit = all[6].crit.unwrap();
        assert!(crit.alerts(1.0) && crit.alerts(2.0) && !crit.alerts(0.9) && !crit.alerts(2.1));
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_read() {
        let read = read(b"ok | a 'b b=1 c=x d=1;2:1 e=1;;;x f=2");
        let labels: Vec<&str> = read.figures.iter().map(|figure| figure.label.as_str()).collect();
        assert_eq!(labels, ["b", "d", "e", "f"]);
        assert_eq!((read.figures[1].value, read.figures[1].warn), (Some(1.0), None));
        assert!(read.faults.iter().any(|fault| fault.contains("\"2:1\" is no range")), "{:?}", read.faults);
        assert_eq!(super::read(b"").text, "");
        assert_eq!(super::read(b"\xff\xfe | \xff=1").text, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn what_is_no_number_with_a_unit_is_named() {
        for text in
            ["up=12:34:56", "frac=10/20", "j=1_000", "a=1,b=2", "state=UP", "a=Unknown", "h=0x1f", "a=1…"]
        {
            let read = read(format!("|{text}").as_bytes());
            assert_eq!((read.figures.len(), read.faults.len()), (0, 1), "{text}: {read:?}");
        }
    }

    /// Texts that plugins in use write, and how they are read: value, warning, critical, how many bounds are left out.
    #[test]
    fn a_bound_that_cannot_be_read_takes_nothing_else_with_it() {
        for (text, value, warn, crit, left_out) in [
            // The unit again, as several HTTP plugins have it.
            ("time=0.05s;1s;2s", 0.05, Some("1"), Some("2"), 0),
            ("used=80%;85%;90%", 80.0, Some("85"), Some("90"), 0),
            ("size=10MB;@5MB:20MB;~:30MB;0MB;100MB", 10.0, Some("@5:20"), Some("~:30"), 0),
            // Another unit than the value's is not guessed at.
            ("time=5ms;1s;10ms", 5.0, None, Some("10"), 1),
            // A placeholder for none.
            ("t=21;-;-", 21.0, None, None, 2),
            ("a=1;nan;inf", 1.0, None, None, 2),
            ("a=5;>10;<2", 5.0, None, None, 2),
            // Two thresholds of a ping in one.
            ("rta=0.8ms;100.0,20%;500.0,60%;0", 0.8, None, None, 2),
            ("a=1;2;x;;", 1.0, Some("2"), None, 1),
            ("a=1;;;-;U", 1.0, None, None, 1),
            // Two figures without a blank.
            ("a=1;2;3;0;10;b=2;;;0;10", 1.0, Some("2"), Some("3"), 1),
        ] {
            let read = read(format!("|{text}").as_bytes());
            let [figure] = &read.figures[..] else { panic!("{text}: {read:?}") };
            let shown = |range: Option<PluginRange>| range.map(|range| range.to_string());
            assert_eq!(figure.value, Some(value), "{text}");
            assert_eq!(
                (shown(figure.warn).as_deref(), shown(figure.crit).as_deref()),
                (warn, crit),
                "{text}"
            );
            assert_eq!(read.faults.len(), left_out, "{text}: {:?}", read.faults);
        }
    }

    #[test]
    fn values_in_base_units_are_the_nearest_numbers() {
        for (text, value, unit) in [
            ("a=94%", 0.94, "ratio"),
            ("a=7%", 0.07, "ratio"),
            ("a=0.3ms", 0.0003, "seconds"),
            ("a=29us", 0.000_029, "seconds"),
            ("a=1.5KB", 1536.0, "bytes"),
            ("a=3c", 3.0, "c"),
        ] {
            let figure = &figures(text)[0];
            let (base, scale) = figure.base_unit();
            assert_eq!((scale.apply(figure.value.unwrap()), base), (value, unit), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(output in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&output);
        }

        #[test]
        fn what_whit_writes_comes_back(label in "[a-z=' ]{1,12}", value in -1e9..1e9_f64, crit in proptest::option::of(0.0..1e9_f64)) {
            prop_assume!(!label.trim().is_empty());
            let mut text = "|".to_owned();
            perfdata::push(&mut text, &Perfdata { label: &label, value, unit: "s", warn: None, crit, min: Some(0.0) });
            let read = read(text.as_bytes());
            prop_assert_eq!(read.faults, Vec::<String>::new());
            prop_assert_eq!(&read.figures[0].label, &label);
            prop_assert_eq!(read.figures[0].value, Some(value));
            prop_assert_eq!(read.figures[0].crit.map(|crit| crit.end), crit);
        }
    }
}
