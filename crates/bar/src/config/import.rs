//! From i3status' and conky's configurations to whit's own.

mod battery;
mod conky_text;
mod conky_variables;
mod format;
mod modules;
mod segment;
mod space;

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use formats::PlacedError;
use formats::conky;
use formats::i3status::{Configuration, Section};

use super::defaults::quoted;
use modules::convert;
use segment::{General, Segment, is_true, unmatched};

/// Why nothing was made of a configuration.
#[derive(Debug)]
pub(crate) enum ImportError {
    Syntax(PlacedError),
    /// It has nothing that a bar shows; what there was instead.
    Empty(Vec<String>),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Empty(notes) if notes.is_empty() => f.write_str(
                " nothing in it can be shown in a bar: is it a configuration of i3status (order += …) or conky (conky.text, TEXT)?",
            ),
            Self::Empty(notes) => write!(f, " nothing in it can be shown in a bar: {}", notes.join("; ")),
        }
    }
}

/// The text of an equivalent configuration, of i3status or conky; what could not be carried over stands in comments that begin with `# not
/// carried over`, and what is shown in another way in those that begin with `# differs`.
///
/// # Errors
/// If the text is no such configuration, or there is nothing in it to be shown.
pub(crate) fn import(text: &str) -> Result<String, ImportError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let imported = match conky::Configuration::is_one(text) {
        true => import_conky(text),
        false => import_i3status(text).map_err(ImportError::Syntax)?,
    };
    if imported.contains("[[segment]]") {
        return Ok(imported);
    }
    let notes = imported.lines().filter_map(|line| line.strip_prefix("# not carried over: "));
    Err(ImportError::Empty(notes.take(3).map(str::to_owned).collect()))
}

fn import_conky(text: &str) -> String {
    let configuration = conky::Configuration::parse(text).unwrap_or_default();
    let mut out =
        String::from("# From a configuration of conky: its lines as segments, from left to right.\n");
    push_interval(configuration.update_interval.as_deref(), "update_interval", &mut out);
    for (name, value) in &configuration.settings {
        const OFF: [&str; 4] = ["no", "false", "0", "celsius"];
        // Two of them are on if they are not set.
        let is_usual =
            OFF.contains(&value.as_str()) != matches!(*name, "no_buffers" | "format_human_readable");
        if !is_usual {
            push(&mut out, format_args!("# not carried over: {name} = {}\n", comment(value)));
        }
    }
    let carried = conky_text::import(&configuration);
    for note in &carried.notes {
        push(&mut out, format_args!("# not carried over: {}\n", comment(note)));
    }
    for difference in &carried.differences {
        push(&mut out, format_args!("# differs: {}\n", comment(difference)));
    }
    for segment in carried.segments {
        out.push('\n');
        push_segment(&segment, &mut out);
    }
    out
}

fn import_i3status(text: &str) -> Result<String, PlacedError> {
    let configuration = Configuration::parse(text, &|name| std::env::var(name).ok())?;
    let empty = Section::default();
    let general = configuration.section("general").unwrap_or(&empty);
    let mut out = String::from("# From a configuration of i3status.\n");
    let head = head(general, &mut out);
    for name in &configuration.variables {
        push(
            &mut out,
            format_args!("# differs: ${{{}}} is what it was when this was imported\n", comment(name)),
        );
    }
    let mut names = BTreeSet::new();
    for entry in &configuration.order {
        let section = configuration.section(entry).cloned().unwrap_or_else(|| {
            // A section that is not written has its defaults.
            let (kind, title) = Configuration::kind_of(entry);
            Section { kind, title, ..Section::default() }
        });
        out.push('\n');
        let mut segment = convert(&section, &head);
        let has_section = section.title.is_empty() || configuration.section(entry).is_some();
        if !segment.kind.is_empty() && !has_section {
            segment = unmatched(&format!("{entry}, which has no section, so that nothing is shown"));
        }
        // Of a kind each name is there once.
        let name = segment.options.iter().find(|(option, _)| *option == "name").map(|(_, name)| name.clone());
        if let Some(name) = name
            && !names.insert((segment.kind, name))
        {
            segment = unmatched(&format!("{entry}, a second time"));
        }
        write_segment(segment, entry, &head, &mut out);
    }
    for section in configuration.sections.iter().filter(|section| section.kind != "general") {
        let is_used = configuration.order.iter().any(|entry| configuration.section(entry) == Some(section));
        if !is_used {
            let name = format!("{} {}", section.kind, section.title);
            let is_named = |entry: &String| {
                Configuration::kind_of(entry) == (section.kind.clone(), section.title.clone())
            };
            let why = match configuration.order.iter().any(is_named) {
                true => "of which there is another one below",
                false => "which is not in order",
            };
            push(&mut out, format_args!("\n# not carried over: {}, {why}\n", comment(name.trim())));
        }
    }
    Ok(out)
}

fn head(general: &Section, out: &mut String) -> General {
    push_interval(general.get("interval"), "interval", out);
    match general.get("output_format") {
        None | Some("auto") => {}
        Some("i3bar") => out.push_str("for = \"i3bar\"\n"),
        Some("xmobar") => out.push_str("for = \"xmobar\"\n"),
        Some("lemonbar") => out.push_str("for = \"lemonbar\"\n"),
        Some("term" | "none") => out.push_str("for = \"plain\"\n"),
        Some(other) => push(out, format_args!("# not carried over: output_format = {}\n", comment(other))),
    }
    if let Some(separator) = general.get("separator") {
        push(out, format_args!("separator = {}\n", quoted(separator)));
    }
    let is_colored = general.get("colors").is_none() || is_true(general, "colors");
    let color = |name: &str, usual: &str| {
        let value = general.get(name).filter(|value| value.parse::<crate::Color>().is_ok());
        value.unwrap_or(usual).to_owned()
    };
    let colors =
        [color("color_good", "#00FF00"), color("color_degraded", "#FFFF00"), color("color_bad", "#FF0000")];
    if is_colored {
        let [good, degraded, bad] = &colors;
        push(
            out,
            format_args!(
                "theme = {{ base = \"mono\", good = \"{good}\", warning = \"{degraded}\", urgent = \"{bad}\" }}\n"
            ),
        );
    } else {
        out.push_str("theme = \"mono\"\n");
    }
    for (name, _) in &general.options {
        const KNOWN: [&str; 8] = [
            "interval",
            "output_format",
            "separator",
            "colors",
            "color_good",
            "color_degraded",
            "color_bad",
            "markup",
        ];
        if !KNOWN.contains(&name.as_str()) {
            push(out, format_args!("# not carried over: {}\n", comment(name)));
        }
    }
    General { colors: is_colored.then_some(colors), is_markup: general.get("markup") == Some("pango") }
}

fn write_segment(segment: Segment, entry: &str, general: &General, out: &mut String) {
    push(out, format_args!("# {}\n", comment(entry)));
    for note in &segment.notes {
        push(out, format_args!("# not carried over: {}\n", comment(note)));
    }
    for difference in &segment.differences {
        push(out, format_args!("# differs: {}\n", comment(difference)));
    }
    if segment.kind.is_empty() {
        return;
    }
    push_segment(&segment, out);
    if general.is_markup {
        out.push_str("markup = true\n");
    }
}

fn push_segment(segment: &Segment, out: &mut String) {
    push(out, format_args!("[[segment]]\ntype = \"{}\"\n", segment.kind));
    for (name, value) in &segment.options {
        push(out, format_args!("{name} = {value}\n"));
    }
}

/// Seconds between two lines, and a note where the value was none.
fn push_interval(text: Option<&str>, option: &str, out: &mut String) {
    const POSSIBLE: std::ops::RangeInclusive<f64> = 0.05..=86_400.0;
    let seconds = text.and_then(|text| text.parse::<f64>().ok()).filter(|seconds| POSSIBLE.contains(seconds));
    push(out, format_args!("interval = {}\n", seconds.unwrap_or(1.0)));
    if let (Some(text), None) = (text, seconds) {
        push(out, format_args!("# not carried over: {option} = {}\n", comment(text)));
    }
}

/// Words that stay in one line of comment.
fn comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // A String takes whatever is written to it.
    let _ = out.write_fmt(arguments);
}

#[cfg(test)]
mod tests;
