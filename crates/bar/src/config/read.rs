//! From the text to the segments.

use std::time::Duration;

use super::{BarConfig, Member};
use crate::actions::{Actions, BUTTONS};
use crate::appearance::{Appearance, Extras, Threshold, Variant};
use crate::arguments::BarOutput;
use crate::kind::Kind;
use crate::kinds::KINDS;
use crate::options::SegmentOptions as _;
use crate::theme::THEMES;
use crate::{LineStyle, Theme, Tone};
use configuration::{Fault, Options, parse};
use text::nearest::did_you_mean;
use text::template::{Condition, Template};

/// More do not fit on a screen, and each costs.
const MAX_SEGMENTS: usize = 64;

/// The options of the bar itself.
pub(crate) const BAR_OPTIONS: [(&str, &str); 5] = [
    ("interval", "how often segments are drawn that say nothing else: seconds, or \"500ms\", \"1m30s\"; 1"),
    ("for", "the program that reads the bar: i3bar, plain, waybar, tmux, xmobar, lemonbar, polybar, dwm"),
    ("separator", "between segments, where the reader has none of its own; \" | \""),
    ("theme", "a theme's name, or a table: base, foreground, background, good, warning, urgent"),
    ("segment", "the segments, from left to right, each a [[segment]]"),
];

/// The options that all segments have.
pub(crate) const SEGMENT_OPTIONS: [(&str, &str); 20] = [
    ("type", "the kind of segment"),
    ("name", "distinguishes segments of a kind, for clicks"),
    ("format", "what is shown; see below"),
    ("short", "what is shown where the room does not suffice"),
    ("variants", "other formats: [{ when = CONDITION, format = …, short = … }]; the first that holds"),
    ("interval", "how often it is drawn: seconds, or \"500ms\", \"1m30s\""),
    ("hide_when", "a condition"),
    ("good", "a condition; false for none"),
    ("warning", "a condition; false for none"),
    ("urgent", "a condition; false for none"),
    ("thresholds", "colours: [{ when = CONDITION, color = \"#rrggbb\", background = …, urgent = true }]"),
    ("color", "\"#rrggbb\" or \"#rrggbbaa\""),
    ("background", "as above"),
    ("icons", "for {field:icon}, from the lowest value to the highest"),
    ("separator", "between one thing and the next, where a segment shows several"),
    ("markup", "true: the format is Pango's markup"),
    ("min_width", "a text whose width the segment has at least"),
    ("align", "within that width: left, center, right"),
    ("click", "a command, [\"program\", \"argument\"], for the left button"),
    ("on", "commands for buttons: { left, middle, right, scroll_up, scroll_down, back, forward }"),
];

/// Reads a configuration; `interval` takes the place of the bar's own.
///
/// # Errors
/// The first fault.
pub(crate) fn read(text: &str, interval: Option<Duration>) -> Result<BarConfig, Fault> {
    let document = parse(text)?;
    let bar = Options::new(document.get_ref(), 0..0);
    bar.refuse_unknown(BAR_OPTIONS.iter().map(|(name, _)| *name), "the bar")?;
    let outputs: Vec<(&str, BarOutput)> =
        BarOutput::NAMED.iter().map(|(name, output, _)| (*name, *output)).collect();
    let own_interval = bar.duration("interval")?;
    let interval = interval.or(own_interval).unwrap_or(Duration::from_secs(1));
    let mut members: Vec<Member> = Vec::new();
    for options in bar.tables("segment")? {
        if members.len() == MAX_SEGMENTS {
            return Err(options.fault(format!("more than {MAX_SEGMENTS} segments")));
        }
        let member = member(&options, interval)?;
        let is_taken =
            |other: &Member| other.kind.name == member.kind.name && other.instance == member.instance;
        if !member.instance.is_empty() && members.iter().any(is_taken) {
            let message = format!("another segment {} is called so", member.kind.name);
            return Err(options.fault_of("name", message));
        }
        members.push(member);
    }
    number_the_nameless(&mut members);
    if members.is_empty() {
        return Err(bar.fault("a bar needs at least one [[segment]]"));
    }
    Ok(BarConfig {
        output: bar.choice("for", &outputs)?,
        style: LineStyle {
            theme: theme(&bar)?,
            separator: bar.text("separator")?.unwrap_or(" | ").to_owned(),
        },
        members,
    })
}

/// Clicks need a name: those that have none are numbered among their kind, past the names that are taken.
fn number_the_nameless(members: &mut [Member]) {
    for index in 0..members.len() {
        if !members[index].instance.is_empty() {
            continue;
        }
        let kind = members[index].kind.name;
        let is_free =
            |name: &String| members.iter().all(|other| other.kind.name != kind || other.instance != *name);
        members[index].instance =
            (1..).map(|number: usize| number.to_string()).find(is_free).unwrap_or_default();
    }
}

fn theme(bar: &Options<'_, '_>) -> Result<Theme, Fault> {
    let Some(value) = bar.get("theme") else { return Ok(Theme::default()) };
    if value.get_ref().as_str().is_some() {
        return Ok(bar.choice("theme", &THEMES)?.unwrap_or_default());
    }
    let own = Options::of(value)?;
    let known = ["base", "foreground", "background", "good", "warning", "urgent"];
    own.refuse_unknown(known.into_iter(), "a theme")?;
    let base = own.choice("base", &THEMES)?.unwrap_or_default();
    Ok(Theme {
        foreground: own.color("foreground")?.or(base.foreground),
        background: own.color("background")?.or(base.background),
        good: own.color("good")?.or(base.good),
        warning: own.color("warning")?.or(base.warning),
        urgent: own.color("urgent")?.or(base.urgent),
    })
}

fn member(options: &Options<'_, '_>, bar_interval: Duration) -> Result<Member, Fault> {
    let name = options.required_text("type", "a kind of segment, for instance \"memory\"")?;
    let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let hint = did_you_mean(name, KINDS.iter().map(|kind| kind.name));
        options.fault_of("type", format!("there is no segment \"{name}\"{hint}"))
    })?;
    let own = kind.options.iter().map(|(name, _)| *name);
    let known = SEGMENT_OPTIONS.iter().map(|(name, _)| *name).chain(own);
    options.refuse_unknown(known, &format!("the segment {name}"))?;
    let interval = options.duration("interval")?;
    let segment = (kind.make)(options)?;
    let usual = segment.usual_interval().or(kind.interval).unwrap_or_default().max(bar_interval);
    Ok(Member {
        kind,
        instance: options.text("name")?.unwrap_or_default().to_owned(),
        segment,
        interval: interval.unwrap_or(usual),
        appearance: appearance(options, kind)?,
        min_width: options.text("min_width")?.unwrap_or_default().to_owned(),
        align: options.choice("align", &ALIGNMENTS)?,
        actions: actions(options)?,
    })
}

/// By their names for i3bar.
const ALIGNMENTS: [(&str, &str); 3] = [("left", "left"), ("center", "center"), ("right", "right")];

fn appearance(options: &Options<'_, '_>, kind: &'static Kind) -> Result<Appearance, Fault> {
    let built_in = |text: &str| {
        // Those of the table are good, which a test holds.
        Template::new(text, kind.fields).map_err(|fault| options.fault(fault.message))
    };
    // The date's format is parsed by the segment.
    let is_date = kind.name == "date";
    let format = if is_date { None } else { options.template("format", kind.fields)? };
    let short = if is_date { None } else { options.plain_template("short", kind.fields)? };
    let mut variants = Vec::new();
    for variant in options.tables("variants")? {
        variant.refuse_unknown(["when", "format", "short"].into_iter(), "a variant")?;
        let missing = |what: &str| variant.fault(format!("a variant needs {what} = …"));
        variants.push(Variant {
            when: variant.condition("when", kind.fields)?.ok_or_else(|| missing("when"))?,
            format: variant.plain_template("format", kind.fields)?.ok_or_else(|| missing("format"))?,
            short: variant.plain_template("short", kind.fields)?,
        });
    }
    // A style without a condition is that of all cases that are not named.
    if format.is_none() && options.get("variants").is_none() {
        for (when, format) in kind.variants {
            let when = Condition::new(when, kind.fields).map_err(|fault| options.fault(fault.message))?;
            variants.push(Variant { when, format: built_in(format)?, short: None });
        }
    }
    let default_format = if is_date { "{text}" } else { kind.format };
    let extras = Extras {
        short: if is_date && options.get("short").is_some() { Some(built_in("{short}")?) } else { short },
        hide_when: options.condition("hide_when", kind.fields)?,
        icons: options.texts("icons")?,
    };
    Ok(Appearance {
        format: format.map_or_else(|| built_in(default_format), Ok)?,
        variants: variants.into(),
        thresholds: thresholds(options, kind)?.into(),
        separator: options.text("separator")?.unwrap_or("  ").into(),
        extras: (extras != Extras::default()).then(|| Box::new(extras)),
        color: options.color("color")?,
        background: options.color("background")?,
        is_markup: options.flag("markup")?,
        histories: Default::default(),
    })
}

/// Reads thresholds: those that were asked for come first, then the three tones, the most urgent before the others.
fn thresholds(options: &Options<'_, '_>, kind: &'static Kind) -> Result<Vec<Threshold>, Fault> {
    let mut thresholds = Vec::new();
    for own in options.tables("thresholds")? {
        own.refuse_unknown(["when", "color", "background", "urgent"].into_iter(), "a threshold")?;
        let when = own.condition("when", kind.fields)?;
        thresholds.push(Threshold {
            when: when.ok_or_else(|| own.fault("a threshold needs when = a condition"))?,
            tone: if own.flag("urgent")? { Tone::Urgent } else { Tone::Normal },
            color: own.color("color")?,
            background: own.color("background")?,
        });
    }
    for (key, tone) in [("urgent", Tone::Urgent), ("warning", Tone::Warning), ("good", Tone::Good)] {
        let is_off = options.get(key).is_some_and(|value| value.get_ref().as_bool() == Some(false));
        let when = match (is_off, options.get(key)) {
            (true, _) => None,
            (false, Some(_)) => options.condition(key, kind.fields)?,
            (false, None) => {
                let built_in = kind.thresholds.iter().find(|(known, _)| *known == tone);
                let condition = built_in.map(|(_, when)| Condition::new(when, kind.fields)).transpose();
                condition.map_err(|fault| options.fault(fault.message))?
            }
        };
        thresholds.extend(when.map(|when| Threshold { when, tone, color: None, background: None }));
    }
    Ok(thresholds)
}

fn actions(options: &Options<'_, '_>) -> Result<Actions, Fault> {
    let mut actions = Actions::default();
    if let Some(command) = options.words("click")? {
        actions.add(BUTTONS[0], command);
    }
    if let Some(value) = options.get("on") {
        let on = Options::of(value)?;
        on.refuse_unknown(BUTTONS.iter().map(|button| button.name), "\"on\"")?;
        for button in BUTTONS {
            if let Some(command) = on.words(button.name)? {
                actions.add(button, command);
            }
        }
    }
    Ok(actions)
}
