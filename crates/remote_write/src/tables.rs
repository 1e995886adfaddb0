//! Receivers as TOML.

use std::time::Duration;

use configuration::http_headers;
use configuration::http_target::{self, HttpTarget};
use configuration::http_tls;
use configuration::{Fault, Options};
use formats::relabel::Relabelling;
use formats::remote_write::Version;
use formats::series_name::is_label;
use http_client::Tls;
use query::parse_selector;

use crate::options::ReceiverOptions;
use crate::rule_tables::read_rules;

/// Beside those of [`http_headers`] and [`http_tls`].
const KNOWN: [&str; 11] = [
    "url", "version", "name", "match", "labels", "relabel", "interval", "timeout", "first", "again",
    "enabled",
];
const USUAL_INTERVAL: Duration = Duration::from_secs(5);
const USUAL_TIMEOUT: Duration = Duration::from_secs(30);
const WEEK: Duration = Duration::from_secs(7 * 86_400);
/// Headers that requests have already.
const OWN_HEADERS: [&str; 3] = ["content-type", "content-encoding", "x-prometheus-remote-write-version"];

/// Reads `[[remote_write]]`, `[recording]` and `[[record]]`. `rules` reads the tables `relabel` of a receiver, `host` is the usual label `instance`.
///
/// # Errors
/// The first fault.
pub fn read(
    root: &Options<'_, '_>,
    rules: impl Fn(&Options<'_, '_>) -> Result<Relabelling, Fault>,
    host: &str,
) -> Result<Vec<ReceiverOptions>, Fault> {
    let recording_rules = read_rules(root)?;
    let mut receivers: Vec<ReceiverOptions> = Vec::new();
    for table in root.tables("remote_write")? {
        table.refuse_unknown(http_target::with_http_options(&KNOWN).iter().copied(), "[[remote_write]]")?;
        let mut receiver = receiver(&table, rules(&table)?, host)?;
        receiver.rules.clone_from(&recording_rules);
        if receivers.iter().any(|other| other.name == receiver.name) {
            return Err(http_target::name_is_taken(&table, "receiver", &receiver.name));
        }
        if table.flag_or("enabled", true)? {
            receivers.push(receiver);
        }
    }
    Ok(receivers)
}

fn receiver(table: &Options<'_, '_>, relabelling: Relabelling, host: &str) -> Result<ReceiverOptions, Fault> {
    let HttpTarget { url, name } = http_target::read(table, "\"http://store:8428/api/v1/write\"")?;
    let selectors = table.texts("match")?;
    for selector in &selectors {
        parse_selector(selector)
            .map_err(|error| table.fault_of("match", format!("\"{selector}\": {error}")))?;
    }
    let usual = vec![("instance".to_owned(), host.to_owned()), ("job".to_owned(), "whit".to_owned())];
    let is_label = |name: &str| is_label(name) && !name.starts_with("__");
    let labels = table.pairs_over("labels", "{ instance = \"web1\" }", is_label, usual)?;
    let headers = http_headers::read(table, &OWN_HEADERS)?;
    let within =
        |key, least_s, most, wanted| table.duration_within(key, Duration::from_secs(least_s)..=most, wanted);
    let version = |text: &str| {
        let expected = "expected \"1.0\" or \"2.0\"; without it, 2.0 where the receiver takes it";
        Version::of_name(text).ok_or_else(|| table.fault_of("version", format!("\"{text}\": {expected}")))
    };
    let version = table.text("version")?.map(version).transpose()?;
    Ok(ReceiverOptions {
        name,
        url,
        version,
        headers,
        tls: http_tls::read(table, Tls::new)?,
        selectors,
        relabelling,
        labels,
        rules: Vec::new(),
        interval: within("interval", 1, Duration::from_secs(3600), "1s to 1h")?.unwrap_or(USUAL_INTERVAL),
        timeout: within("timeout", 1, Duration::from_secs(300), "1s to 5m")?.unwrap_or(USUAL_TIMEOUT),
        first: within("first", 0, 52 * WEEK, "0s to 52w")?.unwrap_or(Duration::ZERO),
        again: within("again", 0, Duration::from_secs(3600), "0s to 1h")?.unwrap_or(Duration::ZERO),
    })
}

#[cfg(test)]
mod tests {
    use configuration::parse;

    use super::*;

    fn options(text: &str) -> Result<Vec<ReceiverOptions>, Fault> {
        let document = parse(text)?;
        read(&Options::new(document.get_ref(), 0..0), |_| Ok(Relabelling::default()), "web1")
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        let own = options("[[remote_write]]\nurl = \"https://store:8428/api/v1/write\"").unwrap();
        assert_eq!((own.len(), own[0].name.as_str(), own[0].interval), (1, "store-8428", USUAL_INTERVAL));
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(own[0].labels, [label("instance", "web1"), label("job", "whit")]);
        let own = options(
            "[[remote_write]]\nurl = \"http://s\"\nname = \"a\"\ntoken = \"t\"\nlabels = { job = \"\", rack = \"3\" }\nfirst = \"1d\"\n\
             headers = { X-Scope-OrgID = \"a\" }\n[[remote_write]]\nurl = \"http://s\"\nenabled = false",
        )
        .unwrap();
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].labels, [label("instance", "web1"), label("rack", "3")]);
        assert_eq!(own[0].headers, [label("X-Scope-OrgID", "a"), label("Authorization", "Bearer t")]);
        assert_eq!(own[0].first, Duration::from_secs(86_400));
        let basic =
            options("[[remote_write]]\nurl = \"http://s\"\nuser = \"a@b\"\npassword = \"c d\"").unwrap();
        assert_eq!(basic[0].headers, [label("Authorization", "Basic YUBiOmMgZA==")]);
    }

    #[test]
    fn faults_have_words() {
        for (more, message) in [
            ("", "this needs url"),
            ("url = \"ftp://s\"", "expected an address"),
            ("url = \"http://\"", ""),
            ("url = \"http://bad host/\"", "\"http://bad host/\" is not an address"),
            ("url = \"http://a:b@s/\"", "the address has no place for a password"),
            ("url = \"http://s\"\ntoken = \"ü\"", "a token is one line"),
            (
                "url = \"http://s\"\ntoken = \"t\"\nheaders = { authorization = \"c\" }",
                "either Authorization here or token",
            ),
            ("url = \"http://s\"\nlabels = { __name__ = \"c\" }", "\"__name__\" cannot stand in labels"),
            ("url = \"http://s\"\nname = \"../x\"", "expected letters"),
            ("url = \"http://s\"\nmatch = [\"{\"]", "\"{\": "),
            ("url = \"http://s\"\nlabels = { a-b = \"c\" }", "\"a-b\" cannot stand in labels"),
            ("url = \"http://s\"\nheaders = { Host = \"c\" }", "\"Host\" cannot stand in headers"),
            ("url = \"http://s\"\nversion = \"3\"", "\"3\": expected \"1.0\" or"),
            ("url = \"http://s\"\nuser = \"c\"", "user and password"),
            ("url = \"http://s\"\nuser = \"c\"\ntoken = \"d\"", "either a token"),
            ("url = \"http://s\"\ninterval = \"10ms\"", "expected 1s to 1h"),
            (
                "url = \"http://s\"\nname = \"a\"\n[[remote_write]]\nname = \"a\"\nurl = \"http://t\"",
                "there is a receiver",
            ),
            (
                "url = \"http://s\"\nmatchers = []",
                "[[remote_write]] has no option \"matchers\"; did you mean \"match\"?",
            ),
        ] {
            let fault = options(&format!("[[remote_write]]\n{more}")).unwrap_err();
            assert!(fault.message.starts_with(message), "{more}: {}", fault.message);
        }
    }
}
