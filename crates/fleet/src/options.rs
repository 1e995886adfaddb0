//! Where a fleet is asked, as TOML.

use configuration::http_headers;
use configuration::http_target;
use configuration::http_tls;
use configuration::{Fault, Options};
use http_client::Tls;
use query::parse_selector;

/// The store that has the series of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetOptions {
    /// Its address before `/api/v1`.
    pub url: String,
    /// Headers of each request, credentials among them.
    pub headers: Vec<(String, String)>,
    /// Whom requests trust, and who they are.
    pub tls: Tls,
    /// Matchers of the machines that are meant, as they stand between braces; empty: all.
    pub matchers: String,
}

/// Reads `[fleet]`. `None`: there is none.
///
/// # Errors
/// The first fault.
pub fn read(root: &Options<'_, '_>) -> Result<Option<FleetOptions>, Fault> {
    let Some(value) = root.get("fleet") else { return Ok(None) };
    let table = Options::of(value)?;
    table.refuse_unknown(http_target::with_http_options(&["url", "match"]).iter().copied(), "[fleet]")?;
    let url = table.required_text("url", "\"http://store:8428\"")?;
    table.check_http_address("url", url)?;
    table.refuse_password("url", url)?;
    let matchers = match table.text("match")? {
        None => String::new(),
        Some(text) => matchers(text).map_err(|message| table.fault_of("match", message))?,
    };
    let headers = http_headers::read(&table, &[])?;
    let tls = http_tls::read(&table, Tls::new)?;
    Ok(Some(FleetOptions { url: url.to_owned(), headers, tls, matchers }))
}

/// Takes the matchers out of a selector such as `{env="prod"}`.
///
/// # Errors
/// If it is none, or names a metric.
pub fn matchers(text: &str) -> Result<String, String> {
    const WANTED: &str = "expected a selector of machines, such as {env=\"prod\"}";
    let inside = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or(WANTED)?;
    let selector = format!("up{{{inside}}}");
    let parsed = parse_selector(&selector).map_err(|error| format!("{text}: {error}"))?;
    match parsed.iter().filter(|matcher| matcher.label == formats::series_name::METRIC).count() {
        1 => Ok(inside.trim().trim_end_matches(',').to_owned()),
        _ => Err(WANTED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use configuration::parse;

    use super::*;

    #[test]
    fn matchers_stand_in_braces() {
        assert_eq!(
            matchers(" {env=\"prod\", rack=~\"a|b\",} "),
            Ok("env=\"prod\", rack=~\"a|b\"".to_owned())
        );
        assert_eq!(matchers("{}"), Ok(String::new()));
        assert!(matchers("env=\"prod\"").is_err());
        assert!(matchers("{env=}").is_err());
        assert!(matchers("{__name__=\"a\"}").is_err());
        assert!(matchers("{a=\"b\"} or up{c=\"d\"}").is_err());
    }

    #[test]
    fn faults_have_words() {
        let options = |text: &str| read(&Options::new(parse(text)?.get_ref(), 0..0));
        assert_eq!(options("").unwrap(), None);
        let read = options("[fleet]\nurl = \"http://s\"\ntoken = \"t\"").unwrap().unwrap();
        assert_eq!(read.headers, [("Authorization".to_owned(), "Bearer t".to_owned())]);
        for (text, message) in [
            ("[fleet]", "this needs url"),
            ("[fleet]\nurl = \"store\"", "expected an address"),
            ("[fleet]\nurl = \"http://a:b@s\"", "the address has no place for a password"),
            ("[fleet]\nurl = \"http://s\"\nmatch = \"up\"", "expected a selector of machines"),
            ("[fleet]\nurls = []", "[fleet] has no option \"urls\"; did you mean \"url\"?"),
        ] {
            assert!(options(text).unwrap_err().message.starts_with(message), "{text}");
        }
    }
}
