//! One rule.

use std::fmt;

use crate::re2::{WholeRegex, expand, group};
use crate::series_name::{SeriesName, is_label};

/// A rule as it is written: what is absent has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOptions {
    /// One of [`ACTIONS`] in any case; absent: replace, or rename if `rename` has entries.
    pub action: Option<String>,
    /// Labels whose values, joined by the separator, are the text that is matched.
    pub source_labels: Option<Vec<String>>,
    /// Absent: a semicolon.
    pub separator: Option<String>,
    /// Absent: `(.*)`.
    pub regex: Option<String>,
    /// The label that is set.
    pub target_label: Option<String>,
    /// Absent: `$1`.
    pub replacement: Option<String>,
    /// The modulus of hashmod.
    pub modulus: Option<u64>,
    /// Labels and their new names. This is whit's own.
    pub rename: Vec<(String, String)>,
}

/// The actions.
pub const ACTIONS: [&str; 12] = [
    "replace",
    "keep",
    "drop",
    "keepequal",
    "dropequal",
    "hashmod",
    "labelmap",
    "labeldrop",
    "labelkeep",
    "lowercase",
    "uppercase",
    "rename",
];

/// An error in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The option; empty for the rule as a whole.
    pub option: &'static str,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.option {
            "" => f.write_str(&self.message),
            option => write!(f, "{option}: {}", self.message),
        }
    }
}

impl std::error::Error for RuleError {}

/// A rule that is valid.
#[derive(Clone, Debug)]
pub struct Rule {
    options: RuleOptions,
    action: Action,
}

impl PartialEq for Rule {
    /// The action follows from the options.
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

#[derive(Clone, Debug)]
enum Action {
    Replace {
        source: Source,
        regex: WholeRegex,
        target: String,
        replacement: String,
    },
    /// Keeps what matches, or drops it.
    Filter {
        source: Source,
        regex: WholeRegex,
        is_kept: bool,
    },
    /// Keeps what is equal to the target, or drops it.
    FilterEqual {
        source: Source,
        target: String,
        is_kept: bool,
    },
    HashMod {
        source: Source,
        target: String,
        modulus: u64,
    },
    LabelMap {
        regex: WholeRegex,
        replacement: String,
    },
    /// Keeps the labels that match, or drops them.
    FilterLabels {
        regex: WholeRegex,
        is_kept: bool,
    },
    ChangeCase {
        source: Source,
        target: String,
        is_upper: bool,
    },
    Rename(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
struct Source {
    labels: Vec<String>,
    separator: String,
}

impl Source {
    fn text(&self, series: &SeriesName) -> String {
        let values: Vec<&str> = self.labels.iter().map(|label| series.get(label)).collect();
        values.join(&self.separator)
    }
}

impl Rule {
    /// From what is written.
    ///
    /// # Errors
    /// Returns an error if an option is not valid.
    pub fn new(options: RuleOptions) -> Result<Self, RuleError> {
        let action = action(&options)?;
        Ok(Self { options, action })
    }

    /// As it is written.
    pub fn options(&self) -> &RuleOptions {
        &self.options
    }

    /// The name of the action.
    pub fn action(&self) -> &'static str {
        match &self.action {
            Action::Replace { .. } => "replace",
            Action::Filter { is_kept: true, .. } => "keep",
            Action::Filter { .. } => "drop",
            Action::FilterEqual { is_kept: true, .. } => "keepequal",
            Action::FilterEqual { .. } => "dropequal",
            Action::HashMod { .. } => "hashmod",
            Action::LabelMap { .. } => "labelmap",
            Action::FilterLabels { is_kept: false, .. } => "labeldrop",
            Action::FilterLabels { .. } => "labelkeep",
            Action::ChangeCase { is_upper: false, .. } => "lowercase",
            Action::ChangeCase { .. } => "uppercase",
            Action::Rename(_) => "rename",
        }
    }

    /// Changes a series. Returns `false` if it is dropped.
    pub fn apply(&self, series: &mut SeriesName) -> bool {
        match &self.action {
            Action::Replace { source, regex, target, replacement } => {
                let text = source.text(series);
                if let Some(captures) = regex.captures(&text) {
                    let (label, value) = (expand(&captures, target), expand(&captures, replacement));
                    // As Prometheus 2 does it: what is not valid removes the label of that very name.
                    match is_label(&label) && !value.is_empty() {
                        true => series.set(&label, &value),
                        false => series.set(target, ""),
                    }
                }
            }
            Action::Filter { source, regex, is_kept } => {
                return regex.is_match(&source.text(series)) == *is_kept;
            }
            Action::FilterEqual { source, target, is_kept } => {
                return (series.get(target) == source.text(series)) == *is_kept;
            }
            Action::HashMod { source, target, modulus } => {
                let hash = md5::compute(source.text(series)).0;
                let low = u64::from_be_bytes(hash[8..].try_into().unwrap_or_default());
                series.set(target, &(low % modulus).to_string());
            }
            Action::LabelMap { regex, replacement } => {
                let before = series.clone();
                for (label, value) in before.labels() {
                    if let Some(captures) = regex.captures(label) {
                        series.set(&expand(&captures, replacement), value);
                    }
                }
            }
            Action::FilterLabels { regex, is_kept } => {
                series.retain(|label| regex.is_match(label) == *is_kept)
            }
            Action::ChangeCase { source, target, is_upper } => {
                let text = source.text(series);
                let change = if *is_upper { upper } else { lower };
                series.set(target, &text.chars().map(change).collect::<String>());
            }
            Action::Rename(names) => {
                // All at once, so that two can change places.
                let values: Vec<String> = names.iter().map(|(old, _)| series.take(old)).collect();
                for ((_, new), value) in names.iter().zip(&values).filter(|(_, value)| !value.is_empty()) {
                    series.set(new, value);
                }
            }
        }
        true
    }
}

/// Letter by letter, as Go does it: ß has no upper case of one letter.
fn upper(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    if upper.len() == 1 { upper.next().unwrap_or(letter) } else { letter }
}

fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

fn error<T>(option: &'static str, message: impl Into<String>) -> Result<T, RuleError> {
    Err(RuleError { option, message: message.into() })
}

fn not_a_label<T>(option: &'static str, text: &str) -> Result<T, RuleError> {
    error(option, format!("\"{text}\" is no name of a label"))
}

fn action(options: &RuleOptions) -> Result<Action, RuleError> {
    let usual = if options.rename.is_empty() { "replace" } else { "rename" };
    let name = options.action.as_deref().unwrap_or(usual).to_lowercase();
    let Some(name) = ACTIONS.into_iter().find(|action| *action == name) else {
        return error("action", format!("no such action: one of {}", ACTIONS.join(", ")));
    };
    refuse_others(name, options)?;
    let regex = || {
        let pattern = options.regex.as_deref().unwrap_or("(.*)");
        WholeRegex::new(pattern).map_err(|message| RuleError { option: "regex", message })
    };
    let source = Source {
        labels: options.source_labels.clone().unwrap_or_default(),
        separator: options.separator.clone().unwrap_or_else(|| ";".to_owned()),
    };
    if let Some(label) = source.labels.iter().find(|label| !is_label(label)) {
        return not_a_label("source_labels", label);
    }
    let replacement = options.replacement.clone().unwrap_or_else(|| "$1".to_owned());
    let is_replace = name == "replace";
    let target = || match options.target_label.as_deref().unwrap_or_default() {
        "" => error("", format!("{name} needs target_label")),
        target if is_label(target) || is_replace && is_label_template(target) => Ok(target.to_owned()),
        target => not_a_label("target_label", target),
    };
    Ok(match name {
        "replace" => Action::Replace { source, regex: regex()?, target: target()?, replacement },
        "keep" | "drop" => Action::Filter { source, regex: regex()?, is_kept: name == "keep" },
        "keepequal" | "dropequal" => {
            Action::FilterEqual { source, target: target()?, is_kept: name == "keepequal" }
        }
        "hashmod" => match options.modulus {
            Some(modulus) if modulus > 0 => Action::HashMod { source, target: target()?, modulus },
            _ => return error("modulus", "hashmod needs a modulus of 1 or more"),
        },
        "labelmap" if !is_label_template(&replacement) => {
            return error("replacement", format!("\"{replacement}\" cannot become the name of a label"));
        }
        "labelmap" => Action::LabelMap { regex: regex()?, replacement },
        "labeldrop" | "labelkeep" => Action::FilterLabels { regex: regex()?, is_kept: name == "labelkeep" },
        "lowercase" | "uppercase" => {
            Action::ChangeCase { source, target: target()?, is_upper: name == "uppercase" }
        }
        _ => {
            if options.rename.is_empty() {
                return error("rename", "expected labels and their new names, { old = \"new\" }");
            }
            let names = options.rename.iter().flat_map(|(old, new)| [old, new]);
            if let Some(name) = names.into_iter().find(|name| !is_label(name)) {
                return not_a_label("rename", name);
            }
            Action::Rename(options.rename.clone())
        }
    })
}

/// Options that mean nothing to an action: Prometheus refuses those of some actions, and ignores others.
fn refuse_others(action: &str, options: &RuleOptions) -> Result<(), RuleError> {
    // A default that is written out does no harm.
    let is_other = |value: &Option<String>, usual: &str| value.as_deref().is_some_and(|value| value != usual);
    let written = [
        ("source_labels", options.source_labels.is_some()),
        ("separator", is_other(&options.separator, ";")),
        ("regex", is_other(&options.regex, "(.*)")),
        ("target_label", is_other(&options.target_label, "")),
        ("replacement", is_other(&options.replacement, "$1")),
        ("modulus", options.modulus.is_some_and(|modulus| modulus != 0)),
        ("rename", !options.rename.is_empty()),
    ];
    let refused: &[&str] = match action {
        "labeldrop" | "labelkeep" => {
            &["source_labels", "separator", "target_label", "replacement", "modulus", "rename"]
        }
        "keepequal" | "dropequal" => &["separator", "regex", "replacement", "modulus", "rename"],
        "lowercase" | "uppercase" => &["replacement", "rename"],
        "rename" => &["source_labels", "separator", "regex", "target_label", "replacement", "modulus"],
        _ => &["rename"],
    };
    match written.into_iter().find(|(option, is_written)| *is_written && refused.contains(option)) {
        Some((option, _)) => error(option, format!("{action} has no such option")),
        None => Ok(()),
    }
}

/// Returns whether a text can become the name of a label when `$1` or `${name}` in it are replaced.
fn is_label_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let is_first = rest.len() == text.len();
        rest = match (letter, group(&rest[letter.len_utf8()..])) {
            ('$', Some((name, after))) if name.is_ascii() => after,
            ('_', _) => &rest[1..],
            (letter, _) if letter.is_ascii_alphabetic() || letter.is_ascii_digit() && !is_first => &rest[1..],
            _ => return false,
        };
    }
    !text.is_empty()
}
