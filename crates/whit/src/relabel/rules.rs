//! Rules of relabelling as TOML.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use formats::relabel::{Relabelling, Rule, RuleOptions, prometheus};
use probe::named;
use text::printable::Shown as _;

use command::failure::Failure;
use configuration::{Fault, Options, expected, parse, quoted, text};

/// The options of a rule.
const KNOWN: [&str; 8] =
    ["action", "source_labels", "separator", "regex", "target_label", "replacement", "modulus", "rename"];

/// The rules in the tables `[[relabel]]` of a configuration.
///
/// # Errors
/// The first fault.
pub(crate) fn read(root: &Options<'_, '_>) -> Result<Relabelling, Fault> {
    let rules = root.tables("relabel")?.iter().map(rule).collect::<Result<_, _>>()?;
    Ok(Relabelling::new(rules))
}

fn rule(table: &Options<'_, '_>) -> Result<Rule, Fault> {
    table.refuse_unknown(KNOWN.into_iter(), "a rule")?;
    let owned = |key: &str| table.text(key).map(|text| text.map(str::to_owned));
    let mut options = RuleOptions {
        action: owned("action")?,
        separator: owned("separator")?,
        regex: owned("regex")?,
        target_label: owned("target_label")?,
        replacement: owned("replacement")?,
        modulus: table.whole_number("modulus")?,
        ..RuleOptions::default()
    };
    if table.get("source_labels").is_some() {
        options.source_labels = Some(table.texts("source_labels")?);
    }
    if let Some(names) = table.get("rename") {
        let names = names.get_ref().as_table().ok_or_else(|| expected(names, "{ old = \"new\" }"))?;
        for (old, new) in names.iter() {
            options.rename.push((old.get_ref().to_string(), text(new)?.to_owned()));
        }
    }
    Rule::new(options).map_err(|error| match error.option {
        "" => table.fault(error.message),
        option => table.fault_of(option, error.message),
    })
}

/// The rules of a file: TOML, or YAML of Prometheus by its name.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read_file(path: &Path) -> Result<Relabelling, Failure> {
    let text = read_text(path)?;
    let is_yaml = matches!(path.extension().and_then(OsStr::to_str), Some("yml" | "yaml"));
    if is_yaml {
        let lists = parse_yaml(path, &text)?;
        return Ok(Relabelling::new(lists.into_iter().flat_map(|list| list.rules).collect()));
    }
    let rules = parse(&text).and_then(|document| {
        let root = Options::new(document.get_ref(), 0..0);
        if root.get("relabel").is_none() {
            return Err(root.fault("this needs [[relabel]], a table for each rule"));
        }
        read(&root)
    });
    rules.map_err(|fault| Failure::new(fault.in_text(&path.shown().to_string(), &text)))
}

/// The rules of a file of Prometheus, as TOML, and how many there are. One that cannot be carried over is an error.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn import(path: &Path) -> Result<(String, usize), Failure> {
    let lists = parse_yaml(path, &read_text(path)?)?;
    let mut toml = String::new();
    for list in &lists {
        if !list.path.is_empty() {
            let _ = writeln!(toml, "# {}", list.path);
        }
        list.rules.iter().for_each(|rule| push_toml(&mut toml, rule.options()));
    }
    let rules = lists.iter().map(|list| list.rules.len()).sum();
    Ok((toml, rules))
}

fn parse_yaml(path: &Path, text: &str) -> Result<Vec<prometheus::RuleList>, Failure> {
    let lists = prometheus::parse(text).map_err(|error| Failure::new(format!("{}:{error}", path.shown())))?;
    match lists.is_empty() {
        true => Err(Failure::new(format!(
            "{}: no rules: expected a list of them, or relabel_configs, metric_relabel_configs …",
            path.shown()
        ))),
        false => Ok(lists),
    }
}

fn read_text(path: &Path) -> Result<String, Failure> {
    named::read_text_or_pipe(path, named::CONFIGURATION_BYTES)
        .map_err(|error| Failure::new(format!("{}: {error}", path.shown())))
}

fn push_toml(toml: &mut String, rule: &RuleOptions) {
    toml.push_str("[[relabel]]\n");
    let texts =
        [("separator", &rule.separator), ("regex", &rule.regex), ("target_label", &rule.target_label)];
    // Prometheus takes an action in any case.
    if let Some(action) = &rule.action {
        let _ = writeln!(toml, "action = {}", quoted(&action.to_lowercase()));
    }
    if let Some(labels) = &rule.source_labels {
        let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
        let _ = writeln!(toml, "source_labels = [{}]", labels.join(", "));
    }
    for (key, value) in texts.into_iter().chain([("replacement", &rule.replacement)]) {
        if let Some(value) = value {
            let _ = writeln!(toml, "{key} = {}", quoted(value));
        }
    }
    if let Some(modulus) = rule.modulus {
        let _ = writeln!(toml, "modulus = {modulus}");
    }
    toml.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Relabelling, Fault> {
        read(&Options::new(parse(text)?.get_ref(), 0..0))
    }

    #[test]
    fn what_is_imported_is_the_same() {
        let yaml = "- { source_labels: [a, b], separator: '', regex: '(\\d+)\"''.*', target_label: c, replacement: \"x\\ty\" }\n\
            - { action: HashMod, source_labels: [a], modulus: 18446744073709551615, target_label: d }\n\
            - { action: labeldrop, regex: \"tmp_.*\" }\n";
        let lists = prometheus::parse(yaml).unwrap();
        let mut toml = String::new();
        lists[0].rules.iter().for_each(|rule| push_toml(&mut toml, rule.options()));
        let mut expected = lists[0].rules.clone();
        let hashmod = RuleOptions { action: Some("hashmod".to_owned()), ..expected[1].options().clone() };
        expected[1] = Rule::new(hashmod).unwrap();
        assert_eq!(of(&toml).unwrap().rules(), expected, "{toml}");
    }

    #[test]
    fn faults_have_their_place() {
        for (text, place, message) in [
            (
                "[[relabel]]\nregexp = \"x\"",
                (2, 1),
                "a rule has no option \"regexp\"; did you mean \"regex\"?",
            ),
            ("[[relabel]]\naction = \"drop\"\nregex = \"(\"", (3, 9), "unclosed group"),
            ("[[relabel]]\naction = \"replace\"", (1, 1), "replace needs target_label"),
            ("[[relabel]]\nrename = { a = \"b-c\" }", (2, 10), "\"b-c\" is no name of a label"),
            ("[[relabel]]\naction = \"hashmod\"\nmodulus = -1", (3, 11), "expected a whole number"),
        ] {
            let fault = of(text).unwrap_err();
            assert_eq!((fault.place(text), fault.message.as_str()), (place, message), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_quoted(value: String) {
            let text = format!("value = {}", quoted(&value));
            let document = parse(&text).unwrap();
            let options = Options::new(document.get_ref(), 0..0);
            prop_assert_eq!(options.text("value").unwrap(), Some(value.as_str()));
        }
    }
}
