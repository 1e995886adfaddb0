//! conky's variables: the segment and the field that each becomes.

use super::segment::Segment;
use crate::config::defaults::quoted;

/// The source of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) kind: &'static str,
    /// Options that say of what, as TOML writes them.
    pub(super) options: Vec<(&'static str, String)>,
}

impl Source {
    fn new(kind: &'static str) -> Self {
        Self { kind, options: Vec::new() }
    }

    fn of(kind: &'static str, option: &'static str, value: &str) -> Self {
        Self { kind, options: vec![(option, format!("[{}]", quoted(value)))] }
    }
}

/// The translation of a variable.
pub(super) enum Translated {
    Field(Source, String),
    /// Its format is not made of fields.
    Alone(Segment),
    /// A variable for colours, fonts or places.
    Look,
    /// With a hint.
    Unknown(String),
}

/// Translates a variable with its arguments.
pub(super) fn translate(name: &str, arguments: &str) -> Translated {
    let first = arguments.split_whitespace().next().unwrap_or("");
    let field = |source: Source, field: &str| Translated::Field(source, field.to_owned());
    let of = |kind: &'static str, text: &str| field(Source::new(kind), text);
    let unknown = |hint: &str| Translated::Unknown(hint.to_owned());
    let path = if first.is_empty() { "/" } else { first };
    if arguments.contains('$') && !name.starts_with("exec") && !name.starts_with("texec") {
        return unknown(": its argument is another variable");
    }
    match name {
        "time" | "tztime" | "utime" => date(name, arguments),
        "cpu" | "cpubar" | "cpugraph" if !matches!(first, "" | "cpu0") && first.starts_with("cpu") => {
            unknown(": a single CPU; see the cpu segment's {heights} and each = true")
        }
        "cpu" => of("cpu", "{busy:.0,bare}"),
        "cpubar" => of("cpu", "{busy:bar10}"),
        "cpugraph" => of("cpu", "{busy:spark20}"),
        "loadavg" => match first {
            "1" => of("load", "{load1}"),
            "2" => of("load", "{load5}"),
            "3" => of("load", "{load15}"),
            _ => of("load", "{load1} {load5} {load15}"),
        },
        "mem" => of("memory", "{used}"),
        "memmax" => of("memory", "{total}"),
        "memfree" => of("memory", "{free}"),
        "memeasyfree" => of("memory", "{available}"),
        "memperc" => of("memory", "{used_percent:.0,bare}"),
        "membar" => of("memory", "{used_percent:bar10}"),
        "memgraph" => of("memory", "{used_percent:spark20}"),
        "cached" => of("memory", "{caches}"),
        "buffers" => of("memory", "{buffers}"),
        "swap" => of("swap", "{used}"),
        "swapmax" => of("swap", "{total}"),
        "swapfree" => of("swap", "{free}"),
        "swapperc" => of("swap", "{used_percent:.0,bare}"),
        "swapbar" => of("swap", "{used_percent:bar10}"),
        _ if name.starts_with("fs_") && !path.starts_with('/') && name != "fs_bar" => {
            unknown(": its path is to be absolute")
        }
        "fs_used" => field(Source::of("disk", "paths", path), "{used}"),
        "fs_free" => field(Source::of("disk", "paths", path), "{available}"),
        "fs_size" => field(Source::of("disk", "paths", path), "{total}"),
        "fs_type" => field(Source::of("disk", "paths", path), "{filesystem}"),
        "fs_used_perc" => field(Source::of("disk", "paths", path), "{size_used_percent:.0,bare}"),
        "fs_free_perc" => field(Source::of("disk", "paths", path), "{available_percent:.0,bare}"),
        // Its argument is a size of the bar, and then the path.
        "fs_bar" => {
            let path = arguments.split_whitespace().find(|word| word.starts_with('/')).unwrap_or("/");
            field(Source::of("disk", "paths", path), "{size_used_percent:bar10}")
        }
        "upspeed"
        | "upspeedf"
        | "downspeed"
        | "downspeedf"
        | "totalup"
        | "totaldown"
        | "addr"
        | "wireless_essid"
        | "wireless_link_qual_perc"
        | "wireless_bitrate"
        | "wireless_freq" => {
            let source =
                if first.is_empty() { Source::new("net") } else { Source::of("net", "interfaces", first) };
            let text = match name {
                "upspeed" | "upspeedf" => "{sent}",
                "downspeed" | "downspeedf" => "{received}",
                "totalup" => "{sent_total}",
                "totaldown" => "{received_total}",
                "addr" => "{address}",
                "wireless_essid" => "{ssid}",
                "wireless_bitrate" => "{bitrate}",
                "wireless_freq" => "{frequency}",
                _ => "{quality:.0,bare}",
            };
            field(source, text)
        }
        "battery" | "battery_short" | "battery_percent" | "battery_time" | "battery_bar"
        | "battery_status" => {
            let source = if first.starts_with("BAT") {
                Source::of("battery", "batteries", first)
            } else {
                Source::new("battery")
            };
            let text = match name {
                "battery_percent" => "{percent:.0,bare}",
                "battery_time" => "{remaining}",
                "battery_bar" => "{percent:bar10}",
                "battery_status" => "{state}",
                _ => "{state} {percent}",
            };
            field(source, text)
        }
        "diskio" | "diskio_read" | "diskio_write" => {
            let device = first.trim_start_matches("/dev/");
            let source = if device.is_empty() {
                Source::new("disk_io")
            } else {
                Source::of("disk_io", "devices", device)
            };
            let text = match name {
                "diskio_read" => "{read}",
                "diskio_write" => "{written}",
                _ => "{read} {written}",
            };
            field(source, text)
        }
        "uptime" | "uptime_short" => of("uptime", "{uptime}"),
        "freq" => field(frequency(first), "{average}"),
        "freq_g" => field(frequency(first), "{average:bare}"),
        "acpitemp" => of("temperature", "{temperature:.0,bare}"),
        "processes" | "running_processes" | "running_threads" | "threads" => match name {
            "running_processes" | "running_threads" => of("load", "{runnable}"),
            _ => of("load", "{tasks}"),
        },
        "new_mails" | "mails" | "unseen_mails" if !first.is_empty() => {
            field(Source::of("mail", "paths", first), if name == "mails" { "{total}" } else { "{unread}" })
        }
        "kernel" => program(&["uname", "-r"]),
        "sysname" => program(&["uname", "-s"]),
        "machine" => program(&["uname", "-m"]),
        "nodename" => program(&["uname", "-n"]),
        "nodename_short" => program(&["hostname", "-s"]),
        "exec" | "execp" | "texecp" => exec(arguments, None),
        "execi" | "execpi" | "texeci" | "texecpi" => match arguments.split_once(char::is_whitespace) {
            Some((interval, command)) => exec(command, interval.parse().ok()),
            None => unknown(": an interval and a command are expected"),
        },
        "top" | "top_mem" | "top_io" | "top_time" => unknown(": see whit top"),
        _ if is_look(name) => Translated::Look,
        _ => unknown(""),
    }
}

/// Returns the source for the frequency of one CPU, which conky counts from 1, or of all.
fn frequency(number: &str) -> Source {
    let mut source = Source::new("frequency");
    if let Some(number) = number.parse::<u32>().ok().and_then(|number| number.checked_sub(1)) {
        source.options.push(("cpu", number.to_string()));
    }
    source
}

/// In what whit's field differs from the variable.
pub(super) fn difference(name: &str) -> Option<&'static str> {
    match name {
        "cached" => Some("here with buffers, and what else can be given back"),
        "freq" => Some("here in the unit that suits, not in MHz"),
        "upspeedf" | "downspeedf" => Some("here with the unit that suits, not in KiB"),
        "upspeed" | "downspeed" | "diskio_read" | "diskio_write" => {
            Some("here in the units of rates: kB/s, MB/s")
        }
        "diskio" => Some("here what was read and what was written, in kB/s, MB/s"),
        "exec" | "execp" | "execi" | "execpi" | "texeci" | "texecpi" | "texecp" => {
            Some("here the first line of its output, and that it failed")
        }
        "processes" => Some("here with threads"),
        "uptime" => Some("here without seconds"),
        "battery" | "battery_short" | "battery_status" => Some("the state in whit's words"),
        "swap" | "swapmax" | "swapfree" | "swapperc" => Some("here nothing is shown if there is no swap"),
        "cpubar" | "membar" | "swapbar" | "fs_bar" | "battery_bar" | "cpugraph" | "memgraph" => {
            Some("here of ten or twenty letters: bars and graphs have no size")
        }
        _ => None,
    }
}

/// Returns true if a variable is shown as if it had no argument. Sizes of bars and graphs are looks.
pub(super) fn ignores(name: &str, arguments: &str) -> bool {
    const WITHOUT: [&str; 24] = [
        "mem",
        "memmax",
        "memfree",
        "memeasyfree",
        "memperc",
        "cached",
        "buffers",
        "swap",
        "swapmax",
        "swapfree",
        "swapperc",
        "uptime",
        "uptime_short",
        "acpitemp",
        "processes",
        "running_processes",
        "running_threads",
        "threads",
        "kernel",
        "sysname",
        "machine",
        "nodename",
        "nodename_short",
        "battery_status",
    ];
    !arguments.is_empty()
        && WITHOUT.contains(&name)
        && !(name == "battery_status" && arguments.starts_with("BAT"))
}

fn date(name: &str, arguments: &str) -> Translated {
    let (zone, format) = match name {
        "tztime" => arguments.split_once(char::is_whitespace).unwrap_or((arguments, "")),
        "utime" => ("UTC", arguments),
        _ => ("", arguments),
    };
    let format = if format.trim().is_empty() { "%F %T" } else { format.trim() };
    let mut segment = Segment::new("date");
    segment.text("format", format);
    if !zone.is_empty() {
        if command::time_zone::named(zone).is_none() {
            return Translated::Unknown(": that time zone is not among this machine's".to_owned());
        }
        segment.text("timezones", zone);
    }
    match jiff::fmt::strtime::BrokenDownTime::from(&jiff::Zoned::default()).to_string(format) {
        Ok(_) => Translated::Alone(segment),
        Err(error) => Translated::Unknown(format!(": {error}")),
    }
}

/// A program that is run as it is, now and then.
fn program(words: &[&str]) -> Translated {
    let mut segment = Segment::new("command");
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    segment.raw("command", format!("[{}]", words.join(", ")));
    segment.raw("interval", "3600");
    segment.text("format", "{text}");
    Translated::Alone(segment)
}

/// Words that a shell does not look for on the path, or that it has in a version of its own.
const SHELLS: [&str; 23] = [
    "!", ".", ":", "alias", "bg", "cd", "command", "eval", "exec", "exit", "export", "hash", "jobs", "read",
    "set", "shift", "times", "trap", "type", "ulimit", "umask", "unset", "wait",
];

/// A command without anything that only a shell understands.
fn exec(command: &str, interval: Option<f64>) -> Translated {
    let needs_shell = |letter: char| "|&;<>()$`\\\"'*?[]#~={}".contains(letter);
    let is_shells = command.split_whitespace().next().is_none_or(|word| SHELLS.contains(&word));
    if command.contains(needs_shell) || is_shells {
        return Translated::Unknown(
            ": a shell would be needed; write a command segment, [\"sh\", \"-c\", …]".to_owned(),
        );
    }
    let mut segment = Segment::new("command");
    let words: Vec<String> = command.split_whitespace().map(quoted).collect();
    segment.raw("command", format!("[{}]", words.join(", ")));
    if let Some(interval) = interval.filter(|interval| (0.05..=86_400.0).contains(interval)) {
        segment.raw("interval", format!("{interval:?}"));
    }
    segment.text("format", "{text}");
    Translated::Alone(segment)
}

/// Colours, fonts, places: of a window, not of a bar.
fn is_look(name: &str) -> bool {
    const LOOKS: [&str; 13] = [
        "font",
        "alignr",
        "alignc",
        "goto",
        "voffset",
        "offset",
        "hr",
        "stippled_hr",
        "tab",
        "outlinecolor",
        "shadecolor",
        "scroll",
        "image",
    ];
    let is_numbered = |begin: &str| {
        name.strip_prefix(begin).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    LOOKS.contains(&name) || is_numbered("color") || is_numbered("font")
}
