//! Exporters and the directory of files as TOML.

use std::time::Duration;

use configuration::http_headers;
use configuration::http_target::{self, HttpTarget};
use configuration::http_tls;
use configuration::{Fault, Options};
use formats::relabel::Relabelling;
use formats::series_name::is_label;
use http_client::Tls;
use store::{Retention, Tier};
use text::quantity;

use crate::options::{ExporterOptions, Place, TargetOptions};
use crate::recording::MAX_SERIES;

/// Beside those of [`http_headers`] and [`http_tls`].
const KNOWN: [&str; 10] =
    ["url", "name", "interval", "timeout", "samples", "size", "labels", "honor_labels", "relabel", "enabled"];
const KNOWN_OF_DIRECTORY: [&str; 5] = ["directory", "interval", "samples", "size", "relabel"];
/// Targets at most: each has a thread.
const MAX_TARGETS: usize = 32;
/// The name of the target that reads files.
const TEXT_FILES: &str = "textfile";
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const USUAL_INTERVAL: Duration = Duration::from_secs(15);
const MAX_TIMEOUT: Duration = Duration::from_secs(60);
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
const USUAL_SAMPLES: usize = 5_000;
const MAX_SAMPLES: u64 = MAX_SERIES as u64;
const USUAL_BYTES: u64 = 8_000_000;
const MAX_BYTES: u64 = 64_000_000;
/// The size of the history of exporters.
const HISTORY_BYTES: u64 = 500_000_000;
/// Headers that requests have already.
const OWN_HEADERS: [&str; 2] = ["accept", "x-prometheus-scrape-timeout-seconds"];

/// Reads `[[scrape]]` and `[textfile]`; `None` if there is neither. `rules` reads the tables `relabel` of a target, `tiers` say how long a
/// history is kept.
///
/// # Errors
/// The first fault.
pub fn read(
    root: &Options<'_, '_>,
    rules: impl Fn(&Options<'_, '_>) -> Result<Relabelling, Fault>,
    tiers: &[Tier],
) -> Result<Option<ExporterOptions>, Fault> {
    let mut targets: Vec<TargetOptions> = Vec::new();
    for table in root.tables("scrape")? {
        table.refuse_unknown(http_target::with_http_options(&KNOWN).iter().copied(), "[[scrape]]")?;
        let target = scraped(&table, rules(&table)?)?;
        if target.name == TEXT_FILES || targets.iter().any(|other| other.name == target.name) {
            return Err(http_target::name_is_taken(&table, "target", &target.name));
        }
        if table.flag_or("enabled", true)? {
            targets.push(target);
        }
        if targets.len() > MAX_TARGETS {
            return Err(table.fault(format!("at most {MAX_TARGETS} exporters")));
        }
    }
    if let Some(value) = root.get("textfile") {
        let table = Options::of(value)?;
        table.refuse_unknown(KNOWN_OF_DIRECTORY.into_iter(), "[textfile]")?;
        targets.push(of_files(&table, rules(&table)?)?);
    }
    let retention = Retention { tiers: tiers.to_vec(), most_bytes: HISTORY_BYTES };
    Ok((!targets.is_empty()).then_some(ExporterOptions { targets, retention }))
}

fn scraped(table: &Options<'_, '_>, relabelling: Relabelling) -> Result<TargetOptions, Fault> {
    let HttpTarget { url, name } = http_target::read(table, "\"http://localhost:9187/metrics\"")?;
    let usual = vec![("job".to_owned(), name.clone())];
    let is_label = |name: &str| is_label(name) && !name.starts_with("__");
    let labels = table.pairs_over("labels", "{ cluster = \"main\" }", is_label, usual)?;
    let interval = interval(table)?;
    let timeout = table.duration_within("timeout", SECOND..=MAX_TIMEOUT, "1s to 1m")?;
    let timeout = timeout.unwrap_or(USUAL_TIMEOUT.min(interval));
    if timeout > interval {
        return Err(table.fault_of("timeout", "expected no longer than the interval"));
    }
    let headers = http_headers::read(table, &OWN_HEADERS)?;
    let tls = http_tls::read(table, Tls::new)?;
    Ok(TargetOptions {
        name,
        place: Place::Http { url, headers, tls, timeout },
        labels,
        keeps_labels: table.flag_or("honor_labels", false)?,
        relabelling,
        interval,
        most_samples: most_samples(table)?,
        most_bytes: most_bytes(table)?,
    })
}

fn of_files(table: &Options<'_, '_>, relabelling: Relabelling) -> Result<TargetOptions, Fault> {
    Ok(TargetOptions {
        name: TEXT_FILES.to_owned(),
        place: Place::Directory(table.required_path("directory", "\"/var/lib/prometheus/node-exporter\"")?),
        labels: Vec::new(),
        keeps_labels: false,
        relabelling,
        interval: interval(table)?,
        most_samples: most_samples(table)?,
        most_bytes: most_bytes(table)?,
    })
}

fn interval(table: &Options<'_, '_>) -> Result<Duration, Fault> {
    Ok(table.duration_within("interval", SECOND..=HOUR, "1s to 1h")?.unwrap_or(USUAL_INTERVAL))
}

fn most_samples(table: &Options<'_, '_>) -> Result<usize, Fault> {
    match table.whole_number("samples")? {
        None => Ok(USUAL_SAMPLES),
        Some(count @ 1..=MAX_SAMPLES) => Ok(count as usize),
        Some(_) => Err(table.fault_of("samples", format!("expected 1 to {MAX_SAMPLES}"))),
    }
}

fn most_bytes(table: &Options<'_, '_>) -> Result<u64, Fault> {
    let Some(size) = table.text("size")? else { return Ok(USUAL_BYTES) };
    let bytes = quantity::size(size).ok().filter(|bytes| (1..=MAX_BYTES).contains(&bytes.0));
    bytes.map(|bytes| bytes.0).ok_or_else(|| table.fault_of("size", "expected a size up to 64MB"))
}

#[cfg(test)]
mod tests {
    use configuration::parse;

    use super::*;

    fn options(text: &str) -> Result<Option<ExporterOptions>, Fault> {
        let document = parse(text)?;
        read(&Options::new(document.get_ref(), 0..0), |_| Ok(Relabelling::default()), &[])
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        assert_eq!(options("").unwrap(), None);
        let options = options(
            "[[scrape]]\nurl = \"http://localhost:9187/metrics\"\n\
             [[scrape]]\nurl = \"https://h/m\"\nname = \"h\"\nenabled = false\n\
             [[scrape]]\nurl = \"http://[::1]:9\"\nlabels = { job = \"\", rack = \"3\" }\ninterval = \"5s\"\nsize = \"1MB\"\nsamples = 5\n\
             honor_labels = true\ntoken = \"t\"\n[textfile]\ndirectory = \"/d\"",
        )
        .unwrap()
        .unwrap();
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let [one, other, files] = &options.targets[..] else { panic!("{options:?}") };
        assert_eq!((one.name.as_str(), one.interval), ("localhost-9187", USUAL_INTERVAL));
        assert_eq!(one.labels, [label("job", "localhost-9187")]);
        assert_eq!((one.most_samples, one.most_bytes, one.keeps_labels), (5_000, 8_000_000, false));
        let Place::Http { url, headers, timeout, .. } = &other.place else { panic!("{other:?}") };
        assert_eq!((other.name.as_str(), url.as_str(), timeout.as_secs()), ("--1-9", "http://[::1]:9", 5));
        assert_eq!(*headers, [label("Authorization", "Bearer t")]);
        assert_eq!(other.labels, [label("rack", "3")]);
        assert_eq!((other.most_samples, other.most_bytes, other.keeps_labels), (5, 1_000_000, true));
        assert_eq!(files.place, Place::Directory("/d".into()));
    }

    #[test]
    fn faults_have_words() {
        for (text, message) in [
            ("[[scrape]]", "this needs url"),
            ("[[scrape]]\nurl = \"ftp://s\"", "expected an address"),
            ("[[scrape]]\nurl = \"http://a:b@s/\"", "the address has no place for a password"),
            ("[[scrape]]\nurl = \"http://s\"\ntimeout = \"20s\"", "expected no longer than the interval"),
            ("[[scrape]]\nurl = \"http://s\"\nsamples = 0", "expected 1 to 9600"),
            ("[[scrape]]\nurl = \"http://s\"\nsize = \"1TB\"", "expected a size up to 64MB"),
            ("[[scrape]]\nurl = \"http://s\"\nlabels = { a-b = \"c\" }", "\"a-b\" cannot stand in labels"),
            ("[[scrape]]\nurl = \"http://s\"\nlabel = 1", "[[scrape]] has no option \"label\"; did you mean"),
            (
                "[[scrape]]\nurl = \"http://s\"\n[[scrape]]\nurl = \"http://s/x\"",
                "there is a target \"s\" already",
            ),
            ("[[scrape]]\nurl = \"http://s\"\nname = \"textfile\"", "there is a target \"textfile\" already"),
            ("[[scrape]]\nurl = \"http://s:port/\"", "expected a port"),
            ("[[scrape]]\nurl = \"http://s:99999\"", "expected a port"),
            ("[[scrape]]\nurl = \"http://h[/x\"", "\"http://h[/x\" is not an address"),
            ("[[scrape]]\nurl = \"http://%zz/x\"", "\"http://%zz/x\" is not an address"),
            ("[textfile]", "this needs directory"),
            ("[textfile]\ndirectory = \"/d\"\nlabels = {}", "[textfile] has no option"),
        ] {
            let fault = options(text).unwrap_err();
            assert!(fault.message.starts_with(message), "{text}: {}", fault.message);
        }
    }
}
