//! Rules as Prometheus' own YAML has them.
//!
//! <https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config>

use saphyr::{MarkedYaml, YamlData, YamlLoader};
use saphyr_parser::{BufferedInput, Event, Parser, ScalarStyle};

use super::rule::{Rule, RuleOptions};
use crate::placed_error::PlacedError;

/// The rules of one place in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleList {
    /// Where they stand, such as `scrape_configs[0].metric_relabel_configs`; empty if the file is nothing but a list of rules.
    pub path: String,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// The keys below which there are rules.
const LISTS: [&str; 4] =
    ["relabel_configs", "metric_relabel_configs", "write_relabel_configs", "alert_relabel_configs"];
/// A plain text that is none.
const NULLS: [&str; 4] = ["~", "null", "Null", "NULL"];
/// The deepest nesting that a file may have.
const DEEPEST: usize = 32;

type Node<'y> = MarkedYaml<'y>;

/// All rules of a file: a configuration of Prometheus, a part of one, or a list of rules.
///
/// # Errors
/// Returns an error for the YAML or for the first rule that is not valid.
pub fn parse(text: &str) -> Result<Vec<RuleList>, PlacedError> {
    check_depth(text)?;
    let mut loader = YamlLoader::<Node<'_>>::default();
    // As they are written: `regex: 5` and `regex: on` are texts.
    loader.early_parse(false);
    let mut parser = Parser::new(BufferedInput::new(text.chars()));
    let loaded = parser.load(&mut loader, true);
    let fault = loaded.err().or_else(|| loader.error().cloned());
    if let Some(fault) = fault {
        let at = fault.marker();
        return Err(PlacedError { line: at.line(), column: at.col() + 1, message: fault.info().to_owned() });
    }
    let mut lists = Vec::new();
    for document in loader.into_documents() {
        match &document.data {
            YamlData::Sequence(rules) => push_list(String::new(), rules, &mut lists)?,
            _ => find(&document, "", 0, &mut lists)?,
        }
    }
    Ok(lists)
}

/// The loader calls itself for each level of lists and tables; reading events does not.
fn check_depth(text: &str) -> Result<(), PlacedError> {
    let mut depth = 0_usize;
    let mut parser = Parser::new(BufferedInput::new(text.chars()));
    // What is wrong with the text itself is found again when it is loaded.
    while let Some(Ok((event, span))) = parser.next_event() {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST * 2 {
            let (line, column) = (span.start.line(), span.start.col() + 1);
            return Err(PlacedError { line, column, message: "nested too deeply".to_owned() });
        }
    }
    Ok(())
}

fn find(node: &Node<'_>, path: &str, depth: usize, lists: &mut Vec<RuleList>) -> Result<(), PlacedError> {
    if depth > DEEPEST {
        return Err(error(node, "nested too deeply"));
    }
    match &node.data {
        YamlData::Mapping(mapping) => {
            for (key, value) in mapping {
                let Some(name) = scalar(key) else { continue };
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                match &value.data {
                    YamlData::Sequence(rules) if LISTS.contains(&name) => push_list(path, rules, lists)?,
                    _ => find(value, &path, depth + 1, lists)?,
                }
            }
        }
        YamlData::Sequence(entries) => {
            for (place, entry) in entries.iter().enumerate() {
                find(entry, &format!("{path}[{place}]"), depth + 1, lists)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn push_list(path: String, rules: &[Node<'_>], lists: &mut Vec<RuleList>) -> Result<(), PlacedError> {
    let rules = rules.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    if !rules.is_empty() {
        lists.push(RuleList { path, rules });
    }
    Ok(())
}

fn rule(node: &Node<'_>) -> Result<Rule, PlacedError> {
    let YamlData::Mapping(mapping) = &node.data else {
        return Err(error(node, "expected a rule, such as { source_labels: [device], action: drop }"));
    };
    let mut options = RuleOptions::default();
    for (key, value) in mapping {
        let text = || scalar(value).map(str::to_owned).ok_or_else(|| error(value, "expected a text"));
        match scalar(key).unwrap_or_default() {
            "source_labels" => {
                let YamlData::Sequence(labels) = &value.data else {
                    return Err(error(value, "expected a list of labels, such as [job, instance]"));
                };
                let labels = labels.iter().map(|label| {
                    scalar(label).map(str::to_owned).ok_or_else(|| error(label, "expected a label"))
                });
                options.source_labels = Some(labels.collect::<Result<_, _>>()?);
            }
            "separator" => options.separator = Some(text()?),
            "target_label" => options.target_label = Some(text()?),
            "regex" => options.regex = Some(text()?),
            "replacement" => options.replacement = Some(text()?),
            "action" => options.action = Some(text()?),
            "modulus" => {
                let modulus = text()?.parse().map_err(|_| error(value, "expected a whole number"))?;
                options.modulus = Some(modulus);
            }
            other => return Err(error(key, &format!("a rule has no option \"{other}\""))),
        }
    }
    let is_of_whit = options.action.as_deref().is_some_and(|action| action.eq_ignore_ascii_case("rename"));
    if is_of_whit {
        return Err(error(node, "Prometheus has no action \"rename\""));
    }
    Rule::new(options).map_err(|fault| {
        let value = mapping.iter().find(|(key, _)| scalar(key) == Some(fault.option)).map(|(_, value)| value);
        error(value.unwrap_or(node), &fault.to_string())
    })
}

fn scalar<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.data {
        YamlData::Representation(text, ScalarStyle::Plain, None) if NULLS.contains(&text.as_ref()) => {
            Some("")
        }
        YamlData::Representation(text, _, _) => Some(text),
        YamlData::Tagged(_, inner) => scalar(inner),
        _ => None,
    }
}

fn error(node: &Node<'_>, message: &str) -> PlacedError {
    let at = node.span.start;
    PlacedError { line: at.line(), column: at.col() + 1, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rules_are_found_wherever_they_stand() {
        let text = "
global: { scrape_interval: 15s }
scrape_configs:
  - job_name: node
    relabel_configs:
      - source_labels: [__address__]
        regex: '(.*):\\d+'
        target_label: instance
    metric_relabel_configs:
      - { source_labels: [mode], regex: 5, action: Drop }
      - action: hashmod
        source_labels: [a, b]
        separator: ''
        modulus: 8
        target_label: shard
remote_write:
  - url: http://localhost
    write_relabel_configs: []
";
        let lists = parse(text).unwrap();
        let paths: Vec<(&str, usize)> =
            lists.iter().map(|list| (list.path.as_str(), list.rules.len())).collect();
        assert_eq!(
            paths,
            [("scrape_configs[0].relabel_configs", 1), ("scrape_configs[0].metric_relabel_configs", 2)]
        );
        let hash = lists[1].rules[1].options();
        assert_eq!((hash.separator.as_deref(), hash.modulus), (Some(""), Some(8)));
        assert_eq!(lists[1].rules[0].options().regex.as_deref(), Some("5"));
        let alone = parse("- action: labeldrop\n  regex: a.*\n").unwrap();
        assert_eq!((alone[0].path.as_str(), alone[0].rules[0].action()), ("", "labeldrop"));
    }

    #[test]
    fn faults_have_their_place() {
        for (text, line, column, message) in [
            ("- action: [drop]", 1, 11, "expected a text"),
            ("- action: replace\n  target: x", 2, 3, "a rule has no option \"target\""),
            ("- regex: (\n  target_label: x", 1, 10, "regex: unclosed group"),
            ("- action: replace", 1, 3, "replace needs target_label"),
            (
                "relabel_configs:\n  - drop",
                2,
                5,
                "expected a rule, such as { source_labels: [device], action: drop }",
            ),
            ("- action: rename", 1, 3, "Prometheus has no action \"rename\""),
        ] {
            let fault = parse(text).unwrap_err();
            assert_eq!((fault.line, fault.column, fault.message.as_str()), (line, column, message), "{text}");
        }
        assert_eq!(parse("a: [b").unwrap_err().line, 2);
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse(&"- ".repeat(20_000)).unwrap_err().message, "nested too deeply");
        let null = parse("- { target_label: a, replacement: ~ }").unwrap();
        assert_eq!(null[0].rules[0].options().replacement.as_deref(), Some(""));
    }

    proptest! {
        #[test]
        fn nothing_panics(text: String) {
            let _ = parse(&text);
        }
    }
}
