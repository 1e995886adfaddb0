//! A store elsewhere that understands Prometheus' remote write and its queries.

use std::time::Duration;

use formats::remote_write;
use formats::series_name::SeriesName;
use serde_json::Value;
use ureq::Agent;

/// The longest that an answer may take.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The most of an answer that is read.
const MOST_BYTES: u64 = 1 << 30;

/// A store, by the address before `/api/v1`.
#[derive(Clone, Debug)]
pub struct RemoteStore {
    client: Agent,
    url: String,
}

impl RemoteStore {
    /// Connects with the first request. Only `http://` addresses are understood.
    pub fn new(url: &str) -> Self {
        let client = Agent::config_builder().timeout_global(Some(LONGEST_WAIT)).build().new_agent();
        Self { client, url: url.trim_end_matches('/').to_owned() }
    }

    /// Appends samples, in milliseconds since 1970.
    ///
    /// # Errors
    /// If the store does not take them, and what it says.
    pub fn append<'s>(
        &self,
        series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>,
    ) -> Result<(), String> {
        let body = remote_write::encode(series).ok_or("too many samples at once")?;
        let url = format!("{}/api/v1/write", self.url);
        let mut request = self.client.post(&url);
        for (header, value) in remote_write::HEADERS {
            request = request.header(header, value);
        }
        request.send(&body[..]).map(drop).map_err(|error| format!("{url}: {error}"))
    }

    /// The samples that a selector with a range selects up to a time in seconds since 1970: a list for each series, of seconds and value.
    ///
    /// # Errors
    /// If the store cannot be asked, or does not answer as Prometheus does.
    pub fn select(&self, selector: &str, at_s: f64) -> Result<Vec<Vec<(f64, f64)>>, String> {
        let url = format!("{}/api/v1/query", self.url);
        let form = [("query", selector.to_owned()), ("time", at_s.to_string())];
        let failed = |error: ureq::Error| format!("{url}: {error}");
        let mut response = self.client.post(&url).send_form(form).map_err(failed)?;
        let text = response.body_mut().with_config().limit(MOST_BYTES).read_to_string().map_err(failed)?;
        let reply: Value = serde_json::from_str(&text).map_err(|error| format!("{url}: {error}"))?;
        let unexpected = || format!("{url}: an answer that is not Prometheus'");
        let series = reply["data"]["result"].as_array().ok_or_else(unexpected)?;
        let point = |point: &Value| Some((point[0].as_f64()?, point[1].as_str()?.parse().ok()?));
        series
            .iter()
            .map(|series| series["values"].as_array()?.iter().map(point).collect::<Option<Vec<_>>>())
            .collect::<Option<_>>()
            .ok_or_else(unexpected)
    }
}
