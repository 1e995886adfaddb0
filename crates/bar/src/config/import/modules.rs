//! i3status' modules, one by one: what each becomes, and what of it has no counterpart. i3status(1).

use formats::i3status::Section;

use super::super::defaults::quoted;
use super::battery::battery;
use super::format::{Placeholders, words};
use super::segment::{General, Segment, Tone, number, threshold, unmatched};
use super::space::{disk, memory};

/// The segment for a section.
pub(super) fn convert(section: &Section, general: &General) -> Segment {
    match section.kind.as_str() {
        "ipv6" => ipv6(section, general),
        "wireless" => wireless(section, general),
        "ethernet" => ethernet(section, general),
        "battery" => battery(section, general),
        "cpu_temperature" => cpu_temperature(section, general),
        "cpu_usage" => cpu_usage(section, general),
        "load" => load(section, general),
        "disk" => disk(section, general),
        "memory" => memory(section, general),
        "run_watch" => run_watch(section, general),
        "path_exists" => path_exists(section, general),
        "read_file" => read_file(section, general),
        "time" | "tztime" => date(section),
        "volume" => unmatched("volume: use a command, see whit-recipes(7)"),
        "ddate" => unmatched("ddate: use a command, [\"ddate\"]"),
        other => unmatched(&format!("{other}: there is no such segment")),
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
    segment.paint(section, general, &[(Tone::Bad, "not ipv6"), (Tone::Good, "ipv6")]);
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
    let conditions = [(Tone::Bad, "state == down"), (Tone::Bad, "not state"), (Tone::Good, "state == up")];
    segment.paint(section, general, &conditions);
    if section.get("format_up").unwrap_or(usual_up).contains("%speed") {
        segment.differs(
            "%speed: here – where the link has none, there 0 Mbit/s; and 1.0 Gbit/s for 1000 Mbit/s",
        );
    }
    if section.get("format_up").unwrap_or(usual_up).contains("%bitrate") {
        segment.differs("%bitrate: in three digits");
    }
    segment.note_others(section, &["format_up", "format_down"]);
    segment
}

/// The device of a sensor's file, as whit names devices, or the chip's driver; `None` if the path has neither.
fn sensor_of(path: &str) -> Option<String> {
    let parts = || path.split('/');
    let is_numbered = |part: &str, begin: &str| {
        part.strip_prefix(begin)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let device = parts().find(|part| is_numbered(part, "hwmon") || is_numbered(part, "thermal_zone"));
    // /sys/devices/platform/coretemp.0/hwmon/hwmon*/temp1_input
    let driver =
        || parts().skip_while(|part| *part != "platform").nth(1)?.split_once('.').map(|(driver, _)| driver);
    device.or_else(driver).map(str::to_owned)
}

fn cpu_temperature(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("temperature");
    // A laptop's first zone is mostly the board's; whit knows which sensors are the CPU's.
    let device = match (section.get("path"), section.title.as_str()) {
        (Some(path), title) => {
            let device = sensor_of(&path.replace("%d", title));
            match &device {
                Some(_) => segment.differs("path: here the warmest sensor of its device"),
                None => segment.note(format!("path = {path}")),
            }
            device
        }
        (None, "0" | "all" | "") => None,
        (None, title) => Some(format!("thermal_zone{title}")),
    };
    if let Some(device) = device {
        segment.raw("sensors", format!("[{}]", quoted(&device)));
    }
    let names: Placeholders<'_> = &[("degrees", "{temperature:.0,bare}")];
    let format = segment.format(section, "format", "%degrees °C", names);
    segment.text("format", &format);
    let hot = format!("temperature >= {}", threshold(&mut segment, section, "max_threshold", 75.0));
    segment.paint(section, general, &[(Tone::Bad, &hot)]);
    segment.note_others(section, &["format", "max_threshold", "path"]);
    segment
}

fn cpu_usage(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("cpu");
    let format = segment.format(section, "format", "%usage", &[("usage", "{busy:.0,bare,02}%")]);
    segment.text("format", &format);
    let bad = format!("busy >= {}", threshold(&mut segment, section, "max_threshold", 95.0));
    let degraded = format!("busy >= {}", threshold(&mut segment, section, "degraded_threshold", 90.0));
    segment.paint(section, general, &[(Tone::Bad, &bad), (Tone::Degraded, &degraded)]);
    segment.differs("%usage: here interrupts and stolen time count as busy, there they are left out");
    segment.note_others(section, &["format", "max_threshold", "degraded_threshold"]);
    segment
}

fn load(section: &Section, general: &General) -> Segment {
    const NAMES: Placeholders<'_> = &[("1min", "{load1}"), ("5min", "{load5}"), ("15min", "{load15}")];
    let mut segment = Segment::new("load");
    let format = segment.format(section, "format", "%1min %5min %15min", NAMES);
    let condition = format!("load1 >= {}", threshold(&mut segment, section, "max_threshold", 5.0));
    segment.text("format", &format);
    segment.paint(section, general, &[(Tone::Bad, &condition)]);
    if section.get("format_above_threshold").is_some() {
        let above = segment.format(section, "format_above_threshold", "", NAMES);
        segment.variant(&condition, &above);
    }
    segment.note_others(section, &["format", "max_threshold", "format_above_threshold"]);
    segment
}

fn run_watch(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("process");
    segment
        .text("pid_file", section.get("pidfile").filter(|path| !path.is_empty()).unwrap_or("/nonexistent"));
    segment.text("name", &section.title);
    yes_or_no(&mut segment, section, ("state == running", "state == stopped"), general);
    segment.note_others(section, &["pidfile", "format", "format_down"]);
    segment
}

fn path_exists(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("path");
    segment.text("path", section.get("path").filter(|path| !path.is_empty()).unwrap_or("/nonexistent"));
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
    segment.paint(section, general, &[(Tone::Bad, states.1), (Tone::Good, states.0)]);
}

fn read_file(section: &Section, general: &General) -> Segment {
    let mut segment = Segment::new("file");
    segment.text("path", section.get("path").filter(|path| !path.is_empty()).unwrap_or("/nonexistent"));
    let title = section.title.replace(['{', '}', '[', ']'], "");
    let longest = number(section, "max_characters", 200.0).clamp(1.0, 200.0);
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
    segment.paint(section, general, &[(Tone::Bad, "not text"), (Tone::Good, "text")]);
    if section.get("format_bad").unwrap_or("%error").contains("%err") {
        segment.differs("%errno and %error: here the file's state in words");
    }
    segment.differs("%content: here the first line of the file");
    segment.note_others(section, &["path", "format", "format_bad", "max_characters"]);
    segment
}

fn date(section: &Section) -> Segment {
    let mut segment = Segment::new("date");
    let usual = if section.kind == "time" { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M:%S %Z" };
    let format = section.get("format").unwrap_or(usual);
    let time = section.get("format_time").unwrap_or("%H:%M");
    let format =
        if section.get("format_time").is_some() { format.replace("%time", time) } else { format.into() };
    match jiff::fmt::strtime::BrokenDownTime::from(&jiff::Zoned::default()).to_string(&format) {
        Ok(_) => segment.text("format", &format),
        Err(error) => segment.note(format!("format = {format}: {error}")),
    }
    match section.get("timezone").filter(|zone| !zone.is_empty()) {
        Some(zone) if command::time_zone::named(zone).is_some() => segment.text("timezones", zone),
        Some(zone) => segment.note(format!("timezone = {zone}: not among this machine's")),
        None => {}
    }
    segment.note_others(section, &["format", "format_time", "timezone"]);
    segment
}
