//! Records of sysstat, as `sadf -j` prints them: <https://sysstat.github.io/>.
//!
//! sar has rates over its intervals where whit has counters. What both measure gets whit's name: a rate becomes the counter that it was
//! made of, from 0 on, because whit's expressions begin with counters. After a gap of the records a counter goes on where it was. All other
//! figures are gauges, by the names of their section and their field: `sar_disk_tps{disk_device="sda"}`.

mod mapping;
mod totals;

use std::collections::HashMap;
use std::fmt;

use jiff::civil::DateTime;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::{Map, Value};

use self::mapping::{Form, find};
use crate::placed_error::PlacedError;
use crate::samples::{SampleRefused, SampleSet};
use crate::series_name::SeriesName;

/// Reads the figures of all hosts and days in a document.
///
/// # Errors
/// Where it is not what sadf writes.
pub fn read(text: &str) -> Result<SampleSet, PlacedError> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        PlacedError { line: error.line().max(1), column: error.column(), message: message.to_owned() }
    })?;
    match <[Host; 1]>::try_from(document.sysstat.hosts) {
        Ok([host]) => Ok(host.statistics.0),
        Err(hosts) => {
            let message = format!("it is of {} machines; expected one", hosts.len());
            Err(PlacedError { line: 1, column: 0, message })
        }
    }
}

#[derive(Deserialize)]
struct Document {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    statistics: Statistics,
}

/// The samples of a host: each entry is taken apart when it is read, since a month of them is large.
struct Statistics(SampleSet);

impl<'de> Deserialize<'de> for Statistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Statistics;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of statistics")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Statistics, A::Error> {
                let mut collector = Collector::default();
                while let Some(entry) = entries.next_element::<Map<String, Value>>()? {
                    collector.add(&entry).map_err(A::Error::custom)?;
                }
                Ok(Statistics(collector.samples))
            }
        }
        deserializer.deserialize_seq(Entries)
    }
}

/// A counter that is made of rates.
#[derive(Clone, Copy, Debug)]
struct Counter {
    value: f64,
    /// Up to when.
    until_ns: i64,
}

#[derive(Default)]
struct Collector {
    samples: SampleSet,
    counters: HashMap<String, Counter>,
    /// The time of the entry that is read.
    realtime_ns: i64,
    interval_ns: i64,
    refused: Option<SampleRefused>,
}

/// How much two intervals that follow one another may be apart: sar counts in whole seconds.
const SLACK_NS: i64 = 1_500_000_000;

impl Collector {
    fn add(&mut self, entry: &Map<String, Value>) -> Result<(), String> {
        let time = entry.get("timestamp").and_then(Value::as_object).ok_or("an entry without a timestamp")?;
        let text = |key: &str| time.get(key).and_then(Value::as_str).unwrap_or_default();
        if time.get("utc").and_then(Value::as_i64) != Some(1) {
            return Err("its times are local ones: use sadf -j without -t and -T".to_owned());
        }
        let at: DateTime = format!("{}T{}", text("date"), text("time"))
            .parse()
            .map_err(|_| format!("no time: {} {}", text("date"), text("time")))?;
        let at = at.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
        self.realtime_ns =
            i64::try_from(at.timestamp().as_nanosecond()).map_err(|error| error.to_string())?;
        self.interval_ns =
            time.get("interval").and_then(Value::as_i64).unwrap_or(0).clamp(0, 1 << 32) * 1_000_000_000;
        for (section, value) in entry.iter().filter(|(section, _)| *section != "timestamp") {
            self.add_section(section, section, value);
        }
        self.refused.map_or(Ok(()), |refused| Err(refused.to_string()))
    }

    /// `path` is the section with those that it is in.
    fn add_section(&mut self, path: &str, section: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.add_fields(path, section, None, fields);
                if section == "memory" {
                    self.add_totals(fields);
                }
            }
            Value::Array(entries) => {
                let entries: Vec<_> = entries.iter().filter_map(Value::as_object).collect();
                // Of all CPUs together, if there is more.
                let is_sum = |entry: &Map<String, Value>| {
                    entry.iter().next().is_some_and(|(_, id)| id.as_str() == Some("all"))
                };
                let has_parts = entries.iter().any(|entry| !is_sum(entry));
                for entry in entries.iter().filter(|entry| !(has_parts && is_sum(entry))) {
                    let id = entry.iter().next();
                    self.add_fields(path, section, id, entry);
                }
            }
            _ => {}
        }
    }

    fn add_totals(&mut self, fields: &Map<String, Value>) {
        let totals = [
            ("node_memory_MemTotal_bytes", totals::memory_kib(fields)),
            ("node_memory_SwapTotal_bytes", totals::swap_kib(fields)),
        ];
        for (name, kib) in totals {
            if let Some(kib) = kib {
                self.push(name, false, self.realtime_ns, kib * 1024.0);
            }
        }
    }

    fn add_fields(
        &mut self,
        path: &str,
        section: &str,
        id: Option<(&String, &Value)>,
        fields: &Map<String, Value>,
    ) {
        for (field, value) in fields.iter().filter(|(field, _)| Some(*field) != id.map(|(key, _)| key)) {
            match value {
                Value::Number(number) => {
                    if let Some(number) = number.as_f64() {
                        self.add_figure(path, section, id, field, number);
                    }
                }
                Value::Object(_) | Value::Array(_) => {
                    self.add_section(&format!("{path}_{field}"), field, value)
                }
                _ => {}
            }
        }
    }

    fn add_figure(
        &mut self,
        path: &str,
        section: &str,
        id: Option<(&String, &Value)>,
        field: &str,
        number: f64,
    ) {
        let id =
            id.map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        let Some(mapping) = find(section, field) else {
            let mut name = SeriesName::new(&word(&format!("sar_{path}_{field}")));
            if let Some((key, value)) = &id {
                name.set(&word(key), value);
            }
            return self.push(&name.to_string(), false, self.realtime_ns, number);
        };
        let mut name = SeriesName::new(mapping.metric);
        if let (Some(label), Some((_, value))) = (mapping.id, &id) {
            name.set(label, value);
        }
        if let Some((label, value)) = mapping.label {
            name.set(label, value);
        }
        let (name, number) = (name.to_string(), number * mapping.factor);
        match mapping.form {
            Form::Gauge => self.push(&name, false, self.realtime_ns, number),
            Form::Rate => self.add_rate(name, number),
        }
    }

    fn add_rate(&mut self, name: String, rate: f64) {
        let began_ns = self.realtime_ns - self.interval_ns;
        let increase = rate * self.interval_ns as f64 / 1e9;
        let before = self.counters.get(&name).copied();
        // Several figures can be parts of one counter.
        let is_same = before.is_some_and(|before| before.until_ns == self.realtime_ns);
        let value = before.map_or(0.0, |before| before.value);
        if !is_same
            && before.is_none_or(|before| began_ns.abs_diff(before.until_ns) > SLACK_NS.unsigned_abs())
        {
            // It begins, or goes on after a gap.
            self.push(&name, true, began_ns, value);
        }
        let counter = Counter { value: value + increase, until_ns: self.realtime_ns };
        match is_same {
            true => self.samples.replace_last(&name, counter.value),
            false => self.push(&name, true, self.realtime_ns, counter.value),
        }
        self.counters.insert(name, counter);
    }

    fn push(&mut self, name: &str, is_counter: bool, realtime_ns: i64, value: f64) {
        let pushed = self.samples.push(name, is_counter, realtime_ns, value);
        self.refused = self.refused.or(pushed.err());
    }
}

/// As the name of a metric or label.
fn word(text: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(entries: &str) -> String {
        format!("{{\"sysstat\":{{\"hosts\":[{{\"nodename\":\"a\",\"statistics\":[{entries}]}}]}}}}")
    }

    fn at(time: &str, rest: &str) -> String {
        format!(
            "{{\"timestamp\":{{\"date\":\"2026-11-22\",\"time\":\"{time}\",\"utc\":1,\"interval\":600}},{rest}}}"
        )
    }

    #[test]
    fn rates_become_counters() {
        let load = |usr: f64, guest: f64| {
            format!(
                "\"cpu-load\":[{{\"cpu\":\"all\",\"usr\":99}},{{\"cpu\":\"0\",\"usr\":{usr},\"guest\":{guest}}}]"
            )
        };
        let entries = [
            at("00:10:01", &load(10.0, 1.0)),
            at("00:20:01", &load(20.0, 0.0)),
            // After a gap.
            at("02:00:01", &load(50.0, 0.0)),
        ];
        let samples = read(&document(&entries.join(","))).unwrap();
        let user = &samples.series()["node_cpu_seconds_total{cpu=\"0\",mode=\"user\"}"];
        assert!(user.is_counter);
        let midnight = 1_795_305_600;
        let values: Vec<(i64, f64)> =
            user.samples.iter().map(|(at, value)| (at / 1_000_000_000 - midnight, *value)).collect();
        assert_eq!(values, [(1, 0.0), (601, 66.0), (1201, 186.0), (6601, 186.0), (7201, 486.0)]);
        assert_eq!(samples.series().len(), 1);
    }

    #[test]
    fn nothing_is_left_out() {
        let entry = at(
            "00:10:01",
            "\"memory\":{\"memfree\":100,\"memused-percent\":1.5},\"io\":{\"tps\":3,\"io-reads\":{\"rtps\":2}},\
             \"network\":{\"net-dev\":[{\"iface\":\"eth0\",\"rxkB\":2,\"rxmcst\":7}]},\"serial\":[{\"line\":0,\"brk\":1}]",
        );
        let samples = read(&document(&entry)).unwrap();
        let last: Vec<(&str, f64)> = samples
            .series()
            .iter()
            .map(|(name, series)| (name.as_str(), series.samples.last().unwrap().1))
            .collect();
        assert_eq!(
            last,
            [
                ("node_memory_MemFree_bytes", 102_400.0),
                ("node_network_receive_bytes_total{device=\"eth0\"}", 1_228_800.0),
                ("sar_io_io_reads_rtps", 2.0),
                ("sar_io_tps", 3.0),
                ("sar_memory_memused_percent", 1.5),
                ("sar_network_net_dev_rxmcst{iface=\"eth0\"}", 7.0),
                ("sar_serial_brk{line=\"0\"}", 1.0),
            ]
        );
    }

    #[test]
    fn faults_have_their_place() {
        let local = at("00:10:01", "\"io\":{}").replace("\"utc\":1", "\"utc\":0");
        for (text, message) in [
            (document(&local), "its times are local ones: use sadf -j without -t and -T"),
            (document(&at("25:00:00", "\"io\":{}")), "no time: 2026-11-22 25:00:00"),
            (document("1"), "invalid type: integer `1`, expected a map"),
            ("{\"sysstat\":{\"hosts\":[]}}".to_owned(), "it is of 0 machines; expected one"),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (1, message));
        }
    }
}
