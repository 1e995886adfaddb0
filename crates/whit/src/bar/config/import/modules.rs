//! i3status' modules, one by one: what each becomes, and what of it has no counterpart. i3status(1).

use formats::i3status::Section;

use super::super::defaults::quoted;
use super::format::{Placeholders, translate};
use super::segment::{General, Segment};

/// The segment for a section.
pub(super) fn convert(section: &Section, general: &General) -> Segment {
    match section.kind.as_str() {
        "ipv6" => ipv6(section, general),
        "wireless" => wireless(section, general),
        "ethernet" => ethernet(section, general),
        "battery" => battery(section),
        "cpu_temperature" => cpu_temperature(section),
        "cpu_usage" => cpu_usage(section),
        "load" => load(section),
        "disk" => disk(section),
        "memory" => memory(section),
        "run_watch" => run_watch(section, general),
        "path_exists" => path_exists(section, general),
        "read_file" => read_file(section),
        "time" | "tztime" => date(section),
        "volume" => unmatched("volume: use a command, see docs/recipes.md"),
        "ddate" => unmatched("ddate: use a command, [\"ddate\"]"),
        other => unmatched(&format!("{other}: there is no such segment")),
    }
}

fn unmatched(note: &str) -> Segment {
    let mut segment = Segment::default();
    segment.note(note);
    segment
}

impl Segment {
    /// The format of an option, or i3status' own.
    fn format(&mut self, section: &Section, option: &str, usual: &str, names: Placeholders<'_>) -> String {
        let (format, unknown) = translate(section.get(option).unwrap_or(usual), names);
        for placeholder in unknown {
            self.note(format!("{placeholder} in {option}"));
        }
        format
    }

    /// Notes options that nothing was made of.
    fn note_others(&mut self, section: &Section, known: &[&str]) {
        // Looks of i3bar's that i3status passes through.
        const LOOKS: [&str; 4] = ["separator", "separator_block_width", "min_width", "align"];
        for (name, value) in &section.options {
            if name == "align" && ["left", "center", "right"].contains(&value.as_str()) {
                self.text("align", value);
            } else if name == "min_width" && value.parse::<u32>().is_err() {
                self.text("min_width", value);
            } else if LOOKS.contains(&name.as_str()) || !known.contains(&name.as_str()) {
                self.note(format!("{name} = {value}"));
            }
        }
    }

    fn variant(&mut self, when: &str, format: &str) {
        self.raw("variants", format!("[{{ when = {}, format = {} }}]", quoted(when), quoted(format)));
    }

    /// Good and bad as i3status paints them, without the urgency that i3bar would show.
    fn paint(&mut self, general: &General, good: &str, bad: &str) {
        if let Some([good_color, _, bad_color]) = &general.colors {
            let row = |when: &str, color: &str| format!("{{ when = {}, color = \"{color}\" }}", quoted(when));
            self.raw("thresholds", format!("[{}, {}]", row(bad, bad_color), row(good, good_color)));
        }
    }
}

fn ipv6(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("net");
    segment.raw("first", "true");
    let up = segment.format(section, "format_up", "%ip", &[("ip", "{ipv6}"), ("iface", "{name}")]);
    let down = segment.format(section, "format_down", "no IPv6", &[]);
    segment.text("format", &up);
    segment.variant("not ipv6", &down);
    segment.text("none", &words(section.get("format_down").unwrap_or("no IPv6")));
    segment.paint(general, "ipv6", "not ipv6");
    segment.note_others(section, &["format_up", "format_down"]);
    segment
}

/// `_first_` is the first of a kind; a title may also be a name.
fn interface(segment: &mut Segment, section: &Section, kind: &str) {
    match section.title.as_str() {
        "_first_" => {
            segment.raw("kinds", format!("[{}]", quoted(kind)));
            segment.raw("first", "true");
        }
        name => segment.raw("interfaces", format!("[{}]", quoted(name))),
    }
}

fn wireless(section: &Section, general: &General) -> Segment {
    const NAMES: Placeholders<'_> = &[
        ("quality", "{quality:.0}"),
        ("signal", "{signal}"),
        ("essid", "{ssid}"),
        ("frequency", "{frequency}"),
        ("ip", "{address}"),
        ("bitrate", "{bitrate}"),
        ("interface", "{name}"),
    ];
    link(section, general, "wireless", NAMES, ["W: (%quality at %essid, %bitrate) %ip", "W: down"])
}

fn ethernet(section: &Section, general: &General) -> Segment {
    const NAMES: Placeholders<'_> = &[("ip", "{address}"), ("speed", "{speed}"), ("interface", "{name}")];
    link(section, general, "ethernet", NAMES, ["E: %ip (%speed)", "E: down"])
}

/// With the names of its placeholders, and i3status' own formats up and down.
fn link(
    section: &Section,
    general: &General,
    kind: &str,
    names: Placeholders<'_>,
    [usual_up, usual_down]: [&str; 2],
) -> Segment {
    let mut segment = Segment::new("net");
    interface(&mut segment, section, kind);
    let up = segment.format(section, "format_up", usual_up, names);
    let down = segment.format(section, "format_down", usual_down, &[("interface", "{name}")]);
    segment.text("format", &up);
    segment.variant("state == down", &down);
    segment.text("none", &words(section.get("format_down").unwrap_or(usual_down)));
    segment.paint(general, "state == up", "state == down");
    segment.note_others(section, &["format_up", "format_down"]);
    segment
}

fn battery(section: &Section) -> Segment {
    const NAMES: Placeholders<'_> = &[
        ("status", "{state}"),
        ("percentage", "{percent}"),
        ("remaining", "{remaining}"),
        ("consumption", "{watts}"),
    ];
    let mut segment = Segment::new("battery");
    if section.title != "all" {
        segment.raw("batteries", format!("[{}]", quoted(&format!("BAT{}", section.title))));
    }
    let format = segment.format(section, "format", "%status %percentage %remaining", NAMES);
    segment.text("format", &format);
    segment.text("none", &words(section.get("format_down").unwrap_or("No battery")));
    let low: f64 = section.get("low_threshold").and_then(|text| text.parse().ok()).unwrap_or(30.0);
    let condition = match section.get("threshold_type") {
        Some("percentage") => format!("state == discharging and percent < {low}"),
        // Minutes.
        _ => format!("state == discharging and remaining < {}", low * 60.0),
    };
    segment.text("urgent", &condition);
    segment.raw("warning", "false");
    segment.note_others(section, &["format", "format_down", "low_threshold", "threshold_type"]);
    segment
}

/// A format of which only the words are left: what is shown where there is nothing to fill in.
fn words(format: &str) -> String {
    let (template, _) = translate(format, &[]);
    ["{{", "}}", "[[", "]]"].iter().fold(template, |text, doubled| text.replace(doubled, &doubled[1..]))
}

/// Numbers as i3status reads them: what is none is the default.
fn number(section: &Section, name: &str, usual: f64) -> f64 {
    let number = section.get(name).and_then(|text| text.parse().ok());
    number.filter(|number: &f64| number.is_finite()).unwrap_or(usual)
}

fn cpu_temperature(section: &Section) -> Segment {
    let mut segment = Segment::new("temperature");
    // A laptop's first zone is mostly the board's; whit knows which sensors are the CPU's.
    if !["0", "all", ""].contains(&section.title.as_str()) {
        segment.raw("sensors", format!("[{}]", quoted(&format!("thermal_zone{}", section.title))));
    }
    let names: Placeholders<'_> = &[("degrees", "{temperature:.0,bare}")];
    let format = segment.format(section, "format", "%degrees °C", names);
    segment.text("format", &format);
    segment.text("urgent", &format!("temperature >= {}", number(section, "max_threshold", 75.0)));
    segment.raw("warning", "false");
    segment.note_others(section, &["format", "max_threshold"]);
    segment
}

fn cpu_usage(section: &Section) -> Segment {
    let mut segment = Segment::new("cpu");
    let format = segment.format(section, "format", "%usage", &[("usage", "{busy}")]);
    segment.text("format", &format);
    segment.text("urgent", &format!("busy >= {}", number(section, "max_threshold", 95.0)));
    segment.text("warning", &format!("busy >= {}", number(section, "degraded_threshold", 90.0)));
    segment.note_others(section, &["format", "max_threshold", "degraded_threshold"]);
    segment
}

fn load(section: &Section) -> Segment {
    const NAMES: Placeholders<'_> = &[("1min", "{load1}"), ("5min", "{load5}"), ("15min", "{load15}")];
    let mut segment = Segment::new("load");
    let format = segment.format(section, "format", "%1min %5min %15min", NAMES);
    let condition = format!("load1 >= {}", number(section, "max_threshold", 5.0));
    segment.text("format", &format);
    segment.text("urgent", &condition);
    segment.raw("warning", "false");
    if section.get("format_above_threshold").is_some() {
        let above = segment.format(section, "format_above_threshold", "", NAMES);
        segment.variant(&condition, &above);
    }
    segment.note_others(section, &["format", "max_threshold", "format_above_threshold"]);
    segment
}

fn disk(section: &Section) -> Segment {
    let scale = match section.get("prefix_type") {
        Some("decimal") => "si",
        _ => "bin",
    };
    let sized = |field: &str| format!("{{{field}:{scale},.1}}");
    let (free, available, used, total) = (sized("free"), sized("available"), sized("used"), sized("total"));
    let names: Placeholders<'_> = &[
        ("free", &free),
        ("avail", &available),
        ("used", &used),
        ("total", &total),
        ("percentage_used", "{used_percent}"),
        ("percentage_avail", "{available_percent}"),
        ("percentage_used_of_avail", "{used_percent}"),
    ];
    let mut segment = Segment::new("disk");
    segment.text("paths", if section.title.is_empty() { "/" } else { &section.title });
    let format = segment.format(section, "format", "%free", names);
    segment.text("format", &format);
    if section.get("threshold_type") == Some("percentage_free") {
        segment.note("threshold_type = percentage_free: what is free for everyone is looked at");
    }
    match low_space(section) {
        Some(condition) => {
            segment.text("urgent", &condition);
            if section.get("format_below_threshold").is_some() {
                let below = segment.format(section, "format_below_threshold", "", names);
                segment.variant(&condition, &below);
            }
        }
        None => segment.raw("urgent", "false"),
    }
    segment.raw("warning", "false");
    let known = ["format", "prefix_type", "low_threshold", "threshold_type", "format_below_threshold"];
    segment.note_others(section, &known);
    segment
}

/// `low_threshold = 5`, `threshold_type = gbytes_avail`.
fn low_space(section: &Section) -> Option<String> {
    let low = number(section, "low_threshold", 0.0);
    let kind = section.get("threshold_type").unwrap_or("percentage_avail");
    let (unit, field) = kind.rsplit_once('_')?;
    let field = match field {
        "avail" => "available",
        "free" => "free",
        _ => return None,
    };
    let condition = match unit {
        "percentage" => format!("available_percent < {low}"),
        "bytes" => format!("{field} < {low}"),
        "kbytes" => format!("{field} < {low}Ki"),
        "mbytes" => format!("{field} < {low}Mi"),
        "gbytes" => format!("{field} < {low}Gi"),
        "tbytes" => format!("{field} < {low}Ti"),
        _ => return None,
    };
    (low > 0.0).then_some(condition)
}

fn memory(section: &Section) -> Segment {
    let unit = match section.get("unit") {
        Some("KiB") => "Ki,",
        Some("MiB") => "Mi,",
        Some("GiB") => "Gi,",
        Some("TiB") => "Ti,",
        _ => "",
    };
    let decimals = number(section, "decimals", 1.0).clamp(0.0, 9.0);
    let sized = |field: &str| format!("{{{field}:{unit}.{decimals:.0}}}");
    let (used, free, available, total) = (sized("used"), sized("free"), sized("available"), sized("total"));
    let names: Placeholders<'_> = &[
        ("used", &used),
        ("free", &free),
        ("available", &available),
        ("total", &total),
        ("percentage_used", "{used_percent}"),
        ("percentage_available", "{available_percent}"),
    ];
    let mut segment = Segment::new("memory");
    let format = segment.format(section, "format", "%used %free %available", names);
    segment.text("format", &format);
    for (option, key) in [("threshold_critical", "urgent"), ("threshold_degraded", "warning")] {
        match section.get(option).and_then(low_memory) {
            Some(condition) => segment.text(key, &condition),
            None => segment.raw(key, "false"),
        }
    }
    if section.get("format_degraded").is_some()
        && let Some(condition) = section.get("threshold_degraded").and_then(low_memory)
    {
        let degraded = segment.format(section, "format_degraded", "", names);
        segment.variant(&condition, &degraded);
    }
    // The default of i3status, too.
    let shows_used = section.get("format").unwrap_or("%used").contains("used");
    if shows_used && section.get("memory_used_method") != Some("memavailable") {
        segment.note("memory_used_method = classical: here used is total − available");
    }
    let known = [
        "format",
        "format_degraded",
        "threshold_critical",
        "threshold_degraded",
        "unit",
        "decimals",
        "memory_used_method",
    ];
    segment.note_others(section, &known);
    segment
}

/// `10%` of the total, or `1G`: so much must be available.
fn low_memory(threshold: &str) -> Option<String> {
    let digits = threshold.trim_end_matches(|character: char| !character.is_ascii_digit());
    let number: f64 = digits.parse().ok()?;
    match threshold[digits.len()..].trim().to_ascii_uppercase().as_str() {
        "%" => Some(format!("available_percent < {number}")),
        "" | "B" => Some(format!("available < {number}")),
        "K" | "KB" | "KIB" => Some(format!("available < {number}Ki")),
        "M" | "MB" | "MIB" => Some(format!("available < {number}Mi")),
        "G" | "GB" | "GIB" => Some(format!("available < {number}Gi")),
        "T" | "TB" | "TIB" => Some(format!("available < {number}Ti")),
        _ => None,
    }
}

fn run_watch(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("process");
    segment.text("pid_file", section.get("pidfile").unwrap_or("/nonexistent"));
    segment.text("name", &section.title);
    yes_or_no(&mut segment, section, ("state == running", "state == stopped"), general);
    segment.note_others(section, &["pidfile", "format", "format_down"]);
    segment
}

fn path_exists(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("path");
    segment.text("path", section.get("path").unwrap_or("/nonexistent"));
    segment.text("name", &section.title);
    yes_or_no(&mut segment, section, ("state == found", "state == missing"), general);
    segment.note_others(section, &["path", "format", "format_down"]);
    segment
}

fn yes_or_no(segment: &mut Segment, section: &Section, states: (&str, &str), general: &General) {
    let names = |status: &'static str| [("title", "{name}"), ("status", status)];
    let up = segment.format(section, "format", "%title: %status", &names("yes"));
    let option = if section.get("format_down").is_some() { "format_down" } else { "format" };
    let down = segment.format(section, option, "%title: %status", &names("no"));
    segment.text("format", &up);
    segment.variant(states.1, &down);
    segment.paint(general, states.0, states.1);
}

fn read_file(section: &Section) -> Segment {
    let mut segment = Segment::new("file");
    segment.text("path", section.get("path").unwrap_or("/nonexistent"));
    let title = section.title.replace(['{', '}', '[', ']'], "");
    let longest = number(section, "Max_characters", 200.0).clamp(1.0, 200.0);
    let content = format!("{{text:max{longest:.0}}}");
    let names: &[(&str, &str)] = &[("content", &content), ("title", &title)];
    let good = segment.format(section, "format", "%content", names);
    let bad = segment.format(
        section,
        "format_bad",
        "%title - %errno: %error",
        &[("title", &title), ("errno: ", ""), ("error", "{state}")],
    );
    segment.text("format", &good);
    segment.variant("not text", &bad);
    segment.note_others(section, &["path", "format", "format_bad", "Max_characters"]);
    segment
}

fn date(section: &Section) -> Segment {
    let mut segment = Segment::new("date");
    let format = section.get("format").unwrap_or("%Y-%m-%d %H:%M:%S %Z");
    let time = section.get("format_time").unwrap_or("%H:%M");
    let format =
        if section.get("format_time").is_some() { format.replace("%time", time) } else { format.into() };
    match jiff::fmt::strtime::BrokenDownTime::from(&jiff::Zoned::default()).to_string(&format) {
        Ok(_) => segment.text("format", &format),
        Err(error) => segment.note(format!("format = {format}: {error}")),
    }
    match section.get("timezone").filter(|zone| !zone.is_empty()) {
        Some(zone) if crate::time_zone::named(zone).is_some() => segment.text("timezones", zone),
        Some(zone) => segment.note(format!("timezone = {zone}: not among this machine's")),
        None => {}
    }
    segment.note_others(section, &["format", "format_time", "timezone"]);
    segment
}
