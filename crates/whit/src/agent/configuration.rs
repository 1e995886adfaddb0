//! The configuration of the agent: TOML in, options out, or a fault with its place.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::agent::{AgentOptions, HttpOptions, Listen, Privileged, Retention, Tier};
use facts::unit::{Nanos, Ratio};
use formats::redaction::{self, Redaction};
use probe::named;
use text::printable::Shown as _;
use text::quantity;

use crate::relabel::rules;
use command::agent_files::{self, MAX_CONFIGURATION_BYTES};
use command::failure::Failure;
use command::time_zone;
use configuration::{Fault, Options, expected, parse, text};

/// The output of `--print-defaults`.
pub(super) const DEFAULTS: &str = include_str!("defaults.toml");

/// The keys that a table may have.
const ROOT: [&str; 23] = [
    "interval",
    "slow_interval",
    "data",
    "tasks",
    "history",
    "budget",
    "now",
    "socket",
    "http",
    "relabel",
    "alerts",
    "alert",
    "receiver",
    "checks",
    "check",
    "host",
    "feeds",
    "remote_write",
    "recording",
    "record",
    "fleet",
    "scrape",
    "textfile",
];

/// Where the configuration comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    File(PathBuf),
    /// None was found.
    Defaults,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.shown()),
            Self::Defaults => f.write_str("the default configuration"),
        }
    }
}

impl Origin {
    /// Finds the configuration of an agent that is started, as [`agent_files::own_configuration`] does.
    pub(super) fn find(named: Option<&Path>) -> Self {
        agent_files::own_configuration(named).map_or(Self::Defaults, Self::File)
    }

    /// Returns the file.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Defaults => None,
        }
    }

    /// Reads it over the defaults.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(super) fn read(&self, defaults: AgentOptions) -> Result<AgentOptions, Failure> {
        let text = match self {
            Self::Defaults => return Ok(defaults),
            Self::File(path) => named::read_text(path, MAX_CONFIGURATION_BYTES)
                .map_err(|error| Failure::new(format!("{self}: {error}")))?,
        };
        read(&text, defaults).map_err(|fault| Failure::new(fault.in_text(&self.to_string(), &text)))
    }
}

/// Reads a configuration.
///
/// # Errors
/// The first fault.
fn read(text: &str, defaults: AgentOptions) -> Result<AgentOptions, Fault> {
    let document = parse(text)?;
    let root = Options::new(document.get_ref(), 0..0);
    root.refuse_unknown(ROOT.into_iter(), "the agent")?;
    let mut options = defaults;
    if let Some(interval) = root.duration("interval")? {
        if interval < MAX_OFTEN {
            return Err(root.fault_of("interval", "at most ten ticks a second: expected 100ms or more"));
        }
        options.recorder.interval = interval;
    }
    if let Some(interval) = root.duration("slow_interval")? {
        options.recorder.slow_interval = interval;
    }
    if root.get("data").is_some() {
        options.recorder.data = root.required_path("data", "\"/var/lib/whit\"")?;
    }
    if let Some(tasks) = table(&root, "tasks", &["record", "command_lines", "redact"])? {
        if tasks.get("record").is_some() {
            options.recorder.records_tasks = tasks.flag("record")?;
        }
        options.recorder.command_lines = read_command_lines(&tasks)?;
    }
    if let Some(history) = table(&root, "history", &["size", "keep"])? {
        read_history(&history, &mut options.recorder.retention)?;
    }
    if let Some(budget) = table(&root, "budget", &["cpu", "requests"])? {
        if let Some(limit) = read_ratio(&budget, "cpu")? {
            options.recorder.cpu_limit = Some(limit);
        }
        if let Some(limit) = read_ratio(&budget, "requests")? {
            options.requests_cpu_limit = limit;
        }
    }
    if let Some(now) = table(&root, "now", &["path", "metrics"])? {
        if now.get("path").is_some() {
            options.recorder.now = Some(now.required_path("path", "\"/run/whit/now\"")?);
        }
        options.recorder.now_metrics = now.texts("metrics")?;
    }
    if let Some(socket) = table(&root, "socket", &["path", "group"])? {
        if socket.get("path").is_some() {
            options.socket = Some(socket.required_path("path", "\"/run/whit/agent.sock\"")?);
        }
        if let Some(group) = socket.text("group")? {
            let found = sampling::users::group(group);
            let (gid, uids) =
                found.ok_or_else(|| socket.fault_of("group", format!("no group is called \"{group}\"")))?;
            options.privileged = Privileged { uids, gid: Some(gid) };
        }
    }
    if let Some(http) = table(&root, "http", &["listen", "token", "token_file"])? {
        options.http = read_http(&http, options.http)?;
    }
    options.recorder.relabelling = rules::read(&root)?;
    options.alerts = alerts::tables::read(&root)?;
    options.checks = checks::tables::read(&root, time_zone::system())?;
    options.exporters = exporters::tables::read(&root, rules::read, &options.recorder.retention.tiers)?;
    options.fleet = fleet::read(&root)?;
    options.remote_write = remote_write::tables::read(&root, rules::read, &probe::host_name())?;
    #[cfg(feature = "feeds")]
    {
        options.feeds = super::feeds::read(&root)?;
    }
    #[cfg(not(feature = "feeds"))]
    if root.get("feeds").is_some() {
        return Err(root.fault_of("feeds", "this whit was built without the feed reader"));
    }
    Ok(options)
}

/// Reads a part of a CPU.
fn read_ratio(budget: &Options<'_, '_>, name: &str) -> Result<Option<Ratio>, Fault> {
    let Some(text) = budget.text(name)? else { return Ok(None) };
    let percent = text.strip_suffix('%').and_then(|number| quantity::number(number.trim()).ok());
    match percent.filter(|percent| *percent > 0.0) {
        Some(percent) => Ok(Some(Ratio(percent / 100.0))),
        None => Err(budget.fault_of(name, "expected a part of a CPU, such as \"1%\"")),
    }
}

fn read_command_lines(tasks: &Options<'_, '_>) -> Result<Option<Redaction>, Fault> {
    let patterns = match tasks.get("redact") {
        Some(_) => tasks.texts("redact")?,
        None => redaction::USUAL.map(str::to_owned).to_vec(),
    };
    let redaction = Redaction::new(patterns.iter().map(String::as_str)).map_err(|(place, message)| {
        tasks.fault_of("redact", format!("\"{}\": {message}", patterns[place]))
    })?;
    Ok(tasks.flag("command_lines")?.then_some(redaction))
}

fn read_http(http: &Options<'_, '_>, usual: Option<HttpOptions>) -> Result<Option<HttpOptions>, Fault> {
    let listen = match http.text("listen")? {
        Some("") => return Ok(None),
        Some(address) => Some(address.parse().map_err(|message: String| http.fault_of("listen", message))?),
        None => usual.map(|usual| usual.listen),
    };
    let token = http.secret("token")?;
    if token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_BYTES) {
        return Err(
            http.fault_of("token", "expected 16 letters or more, such as those of: openssl rand -hex 16")
        );
    }
    let Some(listen): Option<Listen> = listen else { return Ok(None) };
    if !listen.is_local() && token.is_none() {
        return Err(http.fault_of("listen", NEEDS_TOKEN));
    }
    Ok(Some(HttpOptions { listen, token }))
}

pub(super) const NEEDS_TOKEN: &str = "an address that others can reach needs a token";

/// Fewer can be guessed.
const MIN_TOKEN_BYTES: usize = 16;

const MAX_OFTEN: Duration = Duration::from_millis(100);
/// Less would delete what was recorded a moment ago.
const MIN_HISTORY_BYTES: u64 = 1_000_000;
const MIN_KEPT: Nanos = Nanos(60 * Nanos::SECOND.0);

/// A table with these options, if it is there.
fn table<'t, 'i>(
    root: &Options<'t, 'i>,
    name: &str,
    known: &[&str],
) -> Result<Option<Options<'t, 'i>>, Fault> {
    let Some(value) = root.get(name) else { return Ok(None) };
    let options = Options::of(value)?;
    options.refuse_unknown(known.iter().copied(), &format!("[{name}]"))?;
    Ok(Some(options))
}

fn read_history(history: &Options<'_, '_>, retention: &mut Retention) -> Result<(), Fault> {
    if let Some(size) = history.text("size")? {
        let size =
            quantity::size(size).map_err(|wanted| history.fault_of("size", format!("expected {wanted}")))?;
        if size.0 < MIN_HISTORY_BYTES {
            return Err(history.fault_of("size", "expected 1MB or more, which holds some minutes"));
        }
        retention.most_bytes = size.0;
    }
    let Some(keep) = history.get("keep") else { return Ok(()) };
    let keep = Options::of(keep)?;
    let mut tiers = Vec::new();
    for (step, age) in keep.iter() {
        let step_s = match step.get_ref().as_ref() {
            "all" => 0,
            step_text => {
                let is_whole = |step: &Nanos| step.0.is_multiple_of(Nanos::SECOND.0);
                let step_s =
                    quantity::duration(step_text).ok().filter(is_whole).map(|step| step.0 / Nanos::SECOND.0);
                let step_s = step_s.filter(|step_s| (2..=86_400).contains(step_s));
                let wanted = "expected \"all\" or a step of whole seconds, 2s to 1d";
                step_s.ok_or_else(|| Fault::new(step.span(), wanted))?
            }
        };
        let keep = quantity::age(text(age)?).map_err(|wanted| expected(age, &wanted))?;
        if keep < MIN_KEPT {
            return Err(Fault::new(age.span(), "expected 1m or more"));
        }
        tiers.push((
            Tier { step_s: step_s.cast_signed(), keep_s: (keep.0 / 1_000_000_000).cast_signed() },
            step.span(),
        ));
    }
    tiers.sort_by_key(|(tier, _)| tier.step_s);
    for pair in tiers.windows(2) {
        let ((fine, _), (coarse, span)) = (&pair[0], &pair[1]);
        if coarse.keep_s <= fine.keep_s {
            return Err(Fault::new(span.clone(), "a longer step must be kept for longer than a shorter one"));
        }
        if fine.step_s > 0 && coarse.step_s % fine.step_s != 0 {
            return Err(Fault::new(span.clone(), "a step must be a multiple of the shorter one"));
        }
    }
    if tiers.first().is_none_or(|(tier, _)| tier.step_s > 0) {
        return Err(keep.fault("this needs all = \"1d\": for how long every tick is kept"));
    }
    retention.tiers = tiers.into_iter().map(|(tier, _)| tier).collect();
    Ok(())
}

#[cfg(test)]
mod tests {
    use recorder::RecorderOptions;

    use super::super::arguments::usual;
    use super::*;

    fn defaults() -> AgentOptions {
        let usual = usual();
        let recorder =
            RecorderOptions { data: PathBuf::from("/data"), fallback: None, now: None, ..usual.recorder };
        AgentOptions { recorder, socket: None, ..usual }
    }

    #[test]
    fn the_printed_defaults_are_the_defaults() {
        assert_eq!(read(DEFAULTS, defaults()).unwrap(), defaults());
        assert_eq!(read("", defaults()).unwrap(), defaults());
    }

    #[test]
    fn what_the_printed_defaults_suggest_is_valid() {
        let is_option = |line: &str| {
            let key = line.split(" = ").next().unwrap_or_default();
            let is_key = key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
            line.starts_with('[') || line.contains(" = ") && is_key
        };
        // Files that are not on every machine.
        const ELSEWHERE: [&str; 6] =
            ["token", "group = \"adm\"", "hosts = [\"/", "ca_file", "certificate_file", "key_file"];
        let is_elsewhere = |line: &str| ELSEWHERE.iter().any(|one| line.starts_with(one));
        let without_mark = |line: &str| match line.strip_prefix("# ").filter(|option| is_option(option)) {
            Some(option) if !is_elsewhere(option) => format!("{option}\n"),
            _ => format!("{line}\n"),
        };
        let text: String = DEFAULTS.lines().map(without_mark).collect();
        let options =
            read(&text, defaults()).unwrap_or_else(|fault| panic!("{}", fault.in_text("defaults", &text)));
        let checks = options.checks.unwrap();
        assert_eq!(
            checks.checks.iter().map(|check| check.name.to_string()).collect::<Vec<_>>(),
            ["router", "load", "web1/http", "backup"]
        );
        for key in ROOT {
            let is_there = text.lines().any(|line| {
                line.starts_with(&format!("{key} ="))
                    || line.trim_matches(['[', ' ']).starts_with(&format!("{key}]"))
            });
            assert!(is_there, "{key}");
        }
    }

    #[test]
    fn everything_can_be_set() {
        let text = "interval = \"5s\"\nslow_interval = \"1m\"\ndata = \"/d\"\n[tasks]\nrecord = false\n[history]\nsize = \"10MB\"\n\
            keep = { all = \"1h\", \"30s\" = \"1d\" }\n[budget]\ncpu = \"0.5%\"\nrequests = \"150%\"\n[now]\npath = \"/n\"\nmetrics = [\"a\", \"b*\"]\n\
            [socket]\npath = \"/s\"\ngroup = \"root\"\n";
        let tier = |step_s, keep_s| Tier { step_s, keep_s };
        let recorder = RecorderOptions {
            data: PathBuf::from("/d"),
            now: Some(PathBuf::from("/n")),
            now_metrics: vec!["a".to_owned(), "b*".to_owned()],
            interval: Duration::from_secs(5),
            slow_interval: Duration::from_secs(60),
            records_tasks: false,
            retention: Retention { tiers: vec![tier(0, 3600), tier(30, 86_400)], most_bytes: 10_000_000 },
            cpu_limit: Some(Ratio(0.005)),
            ..defaults().recorder
        };
        let expected = AgentOptions {
            recorder,
            socket: Some(PathBuf::from("/s")),
            privileged: Privileged { uids: Vec::new(), gid: Some(0) },
            requests_cpu_limit: Ratio(1.5),
            ..defaults()
        };
        assert_eq!(read(text, defaults()).unwrap(), expected);
    }

    #[test]
    fn faults_have_their_place() {
        for (text, place, message) in [
            (
                "interval = 1\nintervall = 2",
                (2, 1),
                "the agent has no option \"intervall\"; did you mean \"interval\"?",
            ),
            ("interval = \"60ms\"", (1, 12), "at most ten ticks a second: expected 100ms or more"),
            ("[tasks]\nrecord = 1", (2, 10), "expected true or false"),
            ("[budget]\nrequests = \"0%\"", (2, 12), "expected a part of a CPU, such as \"1%\""),
            ("[budget]\ncpu = \"1\"", (2, 7), "expected a part of a CPU, such as \"1%\""),
            (
                "[history.keep]\nall = \"1d\"\n\"10s\" = \"1h\"",
                (3, 1),
                "a longer step must be kept for longer than a shorter one",
            ),
            (
                "[history.keep]\nall = \"1d\"\n\"10s\" = \"2d\"\n\"25s\" = \"9d\"",
                (4, 1),
                "a step must be a multiple of the shorter one",
            ),
            (
                "[history.keep]\n\"10s\" = \"1h\"",
                (1, 1),
                "this needs all = \"1d\": for how long every tick is kept",
            ),
            (
                "[history.keep]\nevery = \"1h\"",
                (2, 1),
                "expected \"all\" or a step of whole seconds, 2s to 1d",
            ),
            ("[now\n", (1, 5), "unclosed table, expected `]`"),
        ] {
            let fault = read(text, defaults()).unwrap_err();
            assert_eq!((fault.place(text), fault.message.as_str()), (place, message), "{text}");
        }
    }
}
