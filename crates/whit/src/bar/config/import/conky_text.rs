//! From conky's text to segments: each variable is a segment with the words around it, those of one source together.

use formats::conky::{Configuration, Piece};

use super::segment::Segment;
use crate::bar::config::defaults::quoted;

/// The configuration, and what could not be carried over as comments.
pub(super) fn import(configuration: &Configuration) -> (Vec<Segment>, Vec<String>) {
    let mut import = Import::default();
    for piece in &configuration.pieces {
        match piece {
            Piece::Text(text) => import.text(text),
            Piece::Variable { name, arguments } => import.variable(name, arguments),
            Piece::LineEnd => import.end_line(),
        }
    }
    let mut notes = import.notes;
    import.looks.sort_unstable();
    import.looks.dedup();
    if configuration.is_for_i3bar {
        notes.push("what i3bar's blocks have beside their text: colours, separators".to_owned());
    }
    if !import.looks.is_empty() {
        notes.push(format!("looks: {}", import.looks.join(", ")));
    }
    (import.segments, notes)
}

/// What a variable is of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    kind: &'static str,
    /// Options that say of what, as TOML writes them.
    options: Vec<(&'static str, String)>,
}

impl Source {
    fn new(kind: &'static str) -> Self {
        Self { kind, options: Vec::new() }
    }

    fn of(kind: &'static str, option: &'static str, value: &str) -> Self {
        Self { kind, options: vec![(option, format!("[{}]", quoted(value)))] }
    }
}

#[derive(Debug, Default)]
struct Import {
    segments: Vec<Segment>,
    notes: Vec<String>,
    /// Variables of colours, fonts and places, of which a line of text has none.
    looks: Vec<String>,
    /// The segment that is being put together.
    current: Option<(Source, String)>,
    /// Conditions that are open.
    conditions: usize,
    /// Words since the last variable.
    words: String,
}

impl Import {
    fn text(&mut self, text: &str) {
        if self.conditions > 0 {
            return;
        }
        for letter in text.chars() {
            match letter {
                '{' | '}' | '[' | ']' => self.words.extend([letter, letter]),
                _ => self.words.push(letter),
            }
        }
    }

    fn variable(&mut self, name: &str, arguments: &str) {
        // What stands under a condition would be shown in any case: all of it is left out, and named.
        if name.starts_with("if_") {
            self.conditions += 1;
            self.notes.push(format!(
                "${{{name} {arguments}}} and what stands under it: see variants and hide_when"
            ));
        }
        if self.conditions > 0 {
            self.conditions -= usize::from(name == "endif");
            return;
        }
        if name == "cached" {
            self.notes.push("$cached: here with buffers, and what else can be given back".to_owned());
        }
        if name == "freq" {
            self.notes.push("$freq in MHz: here in the unit that suits".to_owned());
        }
        match translate(name, arguments) {
            Translated::Field(source, field) => self.field(source, &field),
            Translated::Alone(segment) => {
                let label = self.end_with_words();
                if !label.is_empty() {
                    self.segments.push(words_segment(label.trim_end()));
                }
                self.segments.push(segment);
            }
            Translated::Look => self.looks.push(name.to_owned()),
            Translated::Unknown(hint) => {
                let all = format!("${{{name} {arguments}}}").replace(" }", "}");
                self.notes.push(format!("{all}{hint}"));
            }
        }
    }

    fn field(&mut self, source: Source, field: &str) {
        // What is of one source is one segment, with the words between.
        if let Some((current, format)) = &mut self.current
            && *current == source
        {
            format.push_str(&std::mem::take(&mut self.words));
            return format.push_str(field);
        }
        let label = self.end_with_words();
        self.current = Some((source, label + field));
    }

    /// Ends the segment that is being put together with the words close behind it; the others are the label of the next.
    fn end_with_words(&mut self) -> String {
        let words = std::mem::take(&mut self.words);
        let Some((_, format)) = &mut self.current else { return label(&words) };
        let (behind, before) = divide(&words);
        format.push_str(behind);
        self.end();
        label(before)
    }

    fn end_line(&mut self) {
        let words = std::mem::take(&mut self.words);
        match &mut self.current {
            Some((_, format)) => format.push_str(words.trim_end()),
            None if !words.trim().is_empty() => self.segments.push(words_segment(words.trim())),
            None => {}
        }
        self.end();
    }

    fn end(&mut self) {
        let Some((source, format)) = self.current.take() else { return };
        let mut segment = Segment::new(source.kind);
        for (name, value) in source.options {
            segment.raw(name, value);
        }
        segment.text("format", format.trim());
        self.segments.push(segment);
    }
}

fn words_segment(words: &str) -> Segment {
    let mut segment = Segment::new("text");
    segment.text("format", words);
    segment
}

/// Words between two variables: what stands close behind the first, and the rest, which is the label of the second.
fn divide(words: &str) -> (&str, &str) {
    let end = words.find(|letter: char| letter.is_whitespace() || letter == '|').unwrap_or(words.len());
    words.split_at(end)
}

/// A label without what separates it from the one before: the bar has separators of its own.
fn label(words: &str) -> String {
    let is_separator = |letter: char| letter.is_whitespace() || matches!(letter, '|' | '·' | '•' | '/' | ',');
    let label = words.trim_start_matches(is_separator);
    let label = label.strip_prefix("- ").unwrap_or(label);
    if label.trim().is_empty() { String::new() } else { label.to_owned() }
}

enum Translated {
    Field(Source, String),
    /// Its format is not made of fields.
    Alone(Segment),
    /// Of colours, fonts and places.
    Look,
    /// With a hint.
    Unknown(String),
}

fn translate(name: &str, arguments: &str) -> Translated {
    let first = arguments.split_whitespace().next().unwrap_or("");
    let field = |source: Source, field: &str| Translated::Field(source, field.to_owned());
    let of = |kind: &'static str, text: &str| field(Source::new(kind), text);
    let unknown = |hint: &str| Translated::Unknown(hint.to_owned());
    let path = if first.is_empty() { "/" } else { first };
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
        "fs_used_perc" => field(Source::of("disk", "paths", path), "{unavailable_percent:.0,bare}"),
        "fs_free_perc" => field(Source::of("disk", "paths", path), "{available_percent:.0,bare}"),
        // Its argument is a size of the bar, and then the path.
        "fs_bar" => {
            let path = arguments.split_whitespace().find(|word| word.starts_with('/')).unwrap_or("/");
            field(Source::of("disk", "paths", path), "{unavailable_percent:bar10}")
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
        "freq" => of("frequency", "{average}"),
        "freq_g" => of("frequency", "{average:bare}"),
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
        "nodename" | "nodename_short" => program(&["uname", "-n"]),
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

fn date(name: &str, arguments: &str) -> Translated {
    let (zone, format) = match name {
        "tztime" => arguments.split_once(char::is_whitespace).unwrap_or((arguments, "")),
        "utime" => ("UTC", arguments),
        _ => ("", arguments),
    };
    let format = if format.trim().is_empty() { "%x %X" } else { format.trim() };
    let mut segment = Segment::new("date");
    segment.text("format", format);
    if !zone.is_empty() {
        if crate::time_zone::named(zone).is_none() {
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

/// A command without anything that only a shell understands.
fn exec(command: &str, interval: Option<f64>) -> Translated {
    let needs_shell = |letter: char| "|&;<>()$`\\\"'*?[]#~={}".contains(letter);
    if command.contains(needs_shell) || command.trim().is_empty() {
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
