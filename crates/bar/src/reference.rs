//! The reference of the configuration, from the tables that it is read by.

use std::fmt::Write as _;
use std::time::Duration;

use super::Tone;
use super::config::{BAR_OPTIONS, SEGMENT_OPTIONS};
use super::kind::Kind;
use super::kinds::KINDS;
use super::theme::THEMES;
use text::template::OPTIONS_HELP;

/// All segments, fields and options, as Markdown.
pub(crate) fn reference() -> String {
    let mut out = String::from(
        "# The bar's configuration\n\nMade by `whit bar --reference` from the tables that the configuration is read by.\n",
    );
    section(&mut out, "The bar", BAR_OPTIONS);
    let themes: Vec<_> = THEMES.iter().map(|(name, _)| *name).collect();
    push(&mut out, format_args!("\nThemes: {}.\n", themes.join(", ")));
    section(&mut out, "Every segment", SEGMENT_OPTIONS);
    out.push_str(FORMATS);
    table(&mut out, OPTIONS_HELP);
    out.push_str(CONDITIONS);
    KINDS.iter().for_each(|kind| describe(&mut out, kind));
    out
}

const FORMATS: &str = "\n## Formats\n\n`{field}` stands for a value, `{field:option,option}` for one drawn in some way. \
    `[` and `]` enclose what is left out where a field in it is absent. `{{`, `}}`, `[[`, `]]` stand for themselves.\n\n";

const CONDITIONS: &str = "\n## Conditions\n\n`FIELD < NUMBER` (also `<=` `==` `!=` `>=` `>`; behind the number may stand `%` `k` `M` `G` `T` \
    `Ki` `Mi` `Gi` `Ti`), `FIELD == WORD` or `FIELD != \"several words\"`, `FIELD` (it has a value), `not FIELD`; several with \
    `and` between them. Of what is absent nothing is true but that it is.\n\n## Segments\n";

fn section<'a>(out: &mut String, heading: &str, rows: impl IntoIterator<Item = (&'a str, &'a str)>) {
    push(out, format_args!("\n## {heading}\n\n"));
    let rows: Vec<_> = rows.into_iter().collect();
    table(out, &rows);
}

fn table(out: &mut String, rows: &[(&str, &str)]) {
    out.push_str("| | |\n|---|---|\n");
    for (name, help) in rows {
        push(out, format_args!("| `{name}` | {} |\n", help.replace('|', "\\|")));
    }
}

fn describe(out: &mut String, kind: &Kind) {
    push(out, format_args!("\n### {}\n\n{}\n\n", kind.name, kind.about));
    if !kind.format.is_empty() {
        push(out, format_args!("- format: `{}`\n", kind.format));
    }
    for (when, format) in kind.variants {
        push(out, format_args!("- where `{when}`: `{format}`\n"));
    }
    for (tone, when) in kind.thresholds {
        let tone = match tone {
            Tone::Urgent => "urgent",
            Tone::Warning => "warning",
            Tone::Good => "good",
            Tone::Normal => "normal",
        };
        push(out, format_args!("- {tone}: `{when}`\n"));
    }
    if let Some(interval) = kind.interval {
        let seconds = Duration::as_secs(&interval);
        push(out, format_args!("- interval: {seconds} s, or the bar's where that is longer\n"));
    }
    if !kind.options.is_empty() {
        out.push_str("\nOptions:\n\n");
        table(out, kind.options);
    }
    if !kind.fields.is_empty() {
        out.push_str("\nFields:\n\n");
        let fields: Vec<_> = kind.fields.iter().map(|field| (field.name, field.help)).collect();
        table(out, &fields);
    }
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // A String takes whatever is written to it.
    let _ = out.write_fmt(arguments);
}
