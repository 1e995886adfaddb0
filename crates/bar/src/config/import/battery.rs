//! i3status' batteries, whose states have words of their own.

use formats::i3status::Section;

use super::format::{Placeholders, translate, words};
use super::segment::{General, Segment, Tone, is_true, number};
use crate::config::defaults::quoted;

const DIRECTORY: &str = "/sys/class/power_supply/";
const USUAL_PATH: &str = "/sys/class/power_supply/BAT%d/uevent";

/// The battery that a path names: `%d` in it is the number in the section's title.
fn name_in(path: &str, number: &str) -> Option<String> {
    let name = path.strip_suffix("/uevent")?.rsplit('/').next()?;
    (!name.is_empty()).then(|| name.replace("%d", number))
}

pub(super) fn battery(section: &Section, general: &General) -> Segment {
    /// States as whit names them, the option with i3status' word, and its usual word.
    const STATES: [(&str, &str, &str); 5] = [
        ("charging", "status_chr", "CHR"),
        ("discharging", "status_bat", "BAT"),
        ("full", "status_full", "FULL"),
        ("idle", "status_idle", "IDLE"),
        ("unknown", "status_unk", "UNK"),
    ];
    let is_set = |option: &str| is_true(section, option);
    let mut segment = Segment::new("battery");
    let path = section.get("path").unwrap_or(USUAL_PATH);
    if !path.starts_with(DIRECTORY) {
        segment.note(format!("path = {path}: batteries are found below {DIRECTORY}"));
    }
    // Of all batteries those of every name.
    if section.title != "all" || !path.contains("%d") {
        let name = name_in(path, &section.title).unwrap_or_else(|| format!("BAT{}", section.title));
        segment.raw("batteries", format!("[{}]", quoted(&name)));
    }
    let decimals = if is_set("integer_battery_capacity") { 0 } else { 2 };
    let percentage = format!("{{percent:.{decimals},bare}}%");
    let format_with = |segment: &mut Segment, word: &str| {
        let (status, _) = translate(word, &[]);
        let names: Placeholders<'_> = &[
            ("status", &status),
            ("percentage", &percentage),
            ("remaining", "[{remaining:05}]"),
            ("consumption", "{watts:.2,bare}W"),
        ];
        segment.format(section, "format", "%status %percentage %remaining", names)
    };
    let word = |option: &str, usual: &str| section.get(option).unwrap_or(usual).to_owned();
    let usual = format_with(&mut segment, &word("status_unk", "UNK"));
    segment.text("format", &usual);
    if section.get("format").unwrap_or("%status").contains("%status") {
        let variants = STATES.map(|(state, option, usual)| {
            let format = format_with(&mut Segment::default(), &word(option, usual));
            let when = format!("state == {}", quoted(state).replace('"', "'"));
            format!("{{ when = {}, format = {} }}", quoted(&when), quoted(&format))
        });
        segment.raw("variants", format!("[{}]", variants.join(", ")));
    }
    segment.text("none", &words(section.get("format_down").unwrap_or("No battery")));
    let low: f64 = number(section, "low_threshold", 30.0);
    let condition = match section.get("threshold_type") {
        Some("percentage") => format!("state == discharging and percent < {low}"),
        _ => format!("state == discharging and remaining < {low}m"),
    };
    segment.paint(section, general, &[(Tone::Bad, &condition)]);
    let shows_percentage = section.get("format").is_none_or(|format| format.contains("%percentage"));
    if shows_percentage && !is_set("last_full_capacity") {
        segment.differs(
            "%percentage: here of what the battery still holds, there of its design (last_full_capacity)",
        );
    }
    if section.get("hide_seconds").is_some() && !is_set("hide_seconds") {
        segment.note("hide_seconds = false");
    }
    let known = [
        "format",
        "format_down",
        "low_threshold",
        "threshold_type",
        "status_chr",
        "status_bat",
        "status_full",
        "status_idle",
        "status_unk",
        "integer_battery_capacity",
        "last_full_capacity",
        "hide_seconds",
        "path",
    ];
    segment.note_others(section, &known);
    segment
}
