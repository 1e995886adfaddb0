//! What a Nagios plugin says: <https://nagios-plugins.org/doc/guidelines.html>, sections 2.1 to 2.6, and
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/pluginapi.html>.

use std::fmt;

/// What a plugin said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginOutput {
    /// The first line, without what stands behind a `|`.
    pub text: String,
    /// The lines after it, up to one with a `|`.
    pub long_text: String,
    /// Its performance data, as it was written.
    pub data: String,
    /// The same, as it was read.
    pub figures: Vec<PluginFigure>,
    /// What of them cannot be read, and why.
    pub faults: Vec<String>,
}

/// A figure of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginFigure {
    /// What it is.
    pub label: String,
    /// How much; `None` if the plugin does not know.
    pub value: Option<f64>,
    /// As it was written: `s`, `%`, `B`, `c`, none or any other.
    pub unit: String,
    /// What it warns of.
    pub warn: Option<PluginRange>,
    /// What is critical.
    pub crit: Option<PluginRange>,
    /// What it cannot be below.
    pub min: Option<f64>,
    /// What it cannot be above.
    pub max: Option<f64>,
}

/// Values that are fine: section 2.5 of the guidelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PluginRange {
    /// From this one on.
    pub start: f64,
    /// Up to this one.
    pub end: f64,
    /// It is the other way around: values in it are not fine.
    pub is_inverted: bool,
}

impl PluginRange {
    /// Reads `10`, `10:`, `~:10`, `10:20` or `@10:20`; `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_inverted, text) = match text.strip_prefix('@') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (start, end) = match text.split_once(':') {
            None => (0.0, number(text)?),
            Some((start, end)) => {
                let start = match start {
                    "~" => f64::NEG_INFINITY,
                    "" => 0.0,
                    start => number(start)?,
                };
                (start, if end.is_empty() { f64::INFINITY } else { number(end)? })
            }
        };
        (start <= end).then_some(Self { start, end, is_inverted })
    }

    /// Whether a value is not fine.
    pub fn alerts(&self, value: f64) -> bool {
        (self.start..=self.end).contains(&value) == self.is_inverted
    }
}

/// In the shortest form.
impl fmt::Display for PluginRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_inverted {
            f.write_str("@")?;
        }
        if self.start == f64::NEG_INFINITY {
            f.write_str("~:")?;
        } else if self.start != 0.0 || self.end == f64::INFINITY {
            write!(f, "{}:", self.start)?;
        }
        if self.end == f64::INFINITY { Ok(()) } else { write!(f, "{}", self.end) }
    }
}

impl PluginFigure {
    /// The base of the unit: what its values are multiplied by, and its name: seconds, bytes, a ratio, or the unit as it is.
    pub fn base_unit(&self) -> (f64, &str) {
        const KIBI: f64 = 1024.0;
        match self.unit.as_str() {
            "s" => (1.0, "seconds"),
            "ms" => (1e-3, "seconds"),
            "us" => (1e-6, "seconds"),
            "ns" => (1e-9, "seconds"),
            "%" => (1e-2, "ratio"),
            "B" => (1.0, "bytes"),
            "KB" | "kB" => (KIBI, "bytes"),
            "MB" => (KIBI * KIBI, "bytes"),
            "GB" => (KIBI * KIBI * KIBI, "bytes"),
            "TB" => (KIBI * KIBI * KIBI * KIBI, "bytes"),
            unit => (1.0, unit),
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

/// Reads performance data alone. What cannot be read is left out.
pub fn read_data(data: &str) -> Vec<PluginFigure> {
    let mut read = PluginOutput::default();
    read.push_figures(data);
    read.figures
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
                Ok(figure) => self.figures.push(figure),
                Err(fault) => self.faults.push(fault),
            }
            text = rest;
        }
    }
}

/// The first figure of a text, and what follows it.
fn next_figure(text: &str) -> (Result<PluginFigure, String>, &str) {
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

fn figure(label: &str, text: &str) -> Result<PluginFigure, String> {
    let mut parts = text.split(';');
    let (value, unit) = value(parts.next().unwrap_or_default())?;
    let mut range = |what: &str| match parts.next() {
        None | Some("") => Ok(None),
        Some(text) => {
            PluginRange::parse(text).map(Some).ok_or_else(|| format!("{what} {text:?} is no range"))
        }
    };
    let (warn, crit) = (range("warning")?, range("critical")?);
    let mut bound = |what: &str| match parts.next() {
        None | Some("" | "U") => Ok(None),
        Some(text) => number(text).map(Some).ok_or_else(|| format!("{what} {text:?} is no number")),
    };
    let (min, max) = (bound("minimum")?, bound("maximum")?);
    Ok(PluginFigure { label: label.to_owned(), value, unit: unit.to_owned(), warn, crit, min, max })
}

/// A number and its unit. `U` is one that the plugin does not know.
fn value(text: &str) -> Result<(Option<f64>, &str), String> {
    if let Some(unit) = text.strip_prefix('U') {
        return Ok((None, unit));
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
    number(value).map(|value| (Some(value), unit)).ok_or_else(|| format!("{text:?} is no number"))
}

/// With a decimal point, or the comma of plugins that were told another language.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.,".contains(letter));
    let value: f64 = is_plain.then(|| text.replace(',', ".").parse().ok())??;
    value.is_finite().then_some(value)
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
        assert_eq!((root.value, root.base_unit()), (Some(2643.0), (1_048_576.0, "bytes")));
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
        assert_eq!(labels, ["b", "f"]);
        assert!(read.faults.iter().any(|fault| fault.contains("\"2:1\" is no range")), "{:?}", read.faults);
        assert_eq!(super::read(b"").text, "");
        assert_eq!(super::read(b"\xff\xfe | \xff=1").text, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn ranges_are_those_of_the_guidelines() {
        let alerts = |range: &str, value: f64| PluginRange::parse(range).unwrap().alerts(value);
        for (range, fine, wrong) in [
            ("10", &[0.0, 10.0][..], &[-1.0, 10.1][..]),
            ("10:", &[10.0, 1e9], &[9.9]),
            ("~:10", &[-1e9, 10.0], &[10.1]),
            ("10:20", &[10.0, 20.0], &[9.9, 20.1]),
            ("@10:20", &[9.9, 20.1], &[10.0, 20.0]),
        ] {
            assert!(fine.iter().all(|value| !alerts(range, *value)), "{range}");
            assert!(wrong.iter().all(|value| alerts(range, *value)), "{range}");
            assert_eq!(PluginRange::parse(range).unwrap().to_string(), range);
        }
        for wrong in ["", ":", "a", "20:10", "1:2:3", "~", "@", "inf", "nan"] {
            assert!(wrong == ":" || PluginRange::parse(wrong).is_none(), "{wrong}");
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
