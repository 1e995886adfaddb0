//! A store elsewhere that understands Prometheus' remote write and its queries.

#![forbid(unsafe_code)]

mod agent;

use std::time::Duration;

use formats::remote_write::{self, Version};
use formats::series_name::SeriesName;
use http_client::{Body, Client, RequestBuilder, Response, Tls, client_with, redirects_with};
use query::{Answer, Point};
use serde_json::Value;

use history::answer;

/// The longest that an answer may take.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Whose answers are read.
const PROMETHEUS: &str = "Prometheus'";
/// The most of an answer that is read, unless less is wanted.
const MAX_BYTES: u64 = 1 << 30;

/// When an expression is evaluated, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// At an instant.
    At {
        /// The instant.
        at_ms: i64,
    },
    /// At each step of a time.
    Between {
        /// The first step.
        from_ms: i64,
        /// After the last one.
        to_ms: i64,
        /// From one to the next.
        step_ms: i64,
    },
}

/// A store, by the address before `/api/v1`.
#[derive(Clone, Debug)]
pub struct RemoteStore {
    client: Client,
    url: String,
    /// Headers of each request, credentials among them.
    headers: Vec<(String, String)>,
    /// The most of an answer that is read.
    most_bytes: u64,
}

impl RemoteStore {
    /// Connects with the first request.
    pub fn new(url: &str) -> Self {
        Self::with(url, Vec::new(), &Tls::default(), MAX_WAIT, MAX_BYTES)
    }

    /// Sends these headers with each request, waits for an answer so long at most, and reads so much of it. Redirects are
    /// followed as [`redirects_with`] says.
    pub fn with(
        url: &str,
        headers: Vec<(String, String)>,
        tls: &Tls,
        longest: Duration,
        most_bytes: u64,
    ) -> Self {
        let redirects = redirects_with(&headers);
        let url = url.trim_end_matches('/').to_owned();
        Self { client: client_with(longest, redirects, tls), url, headers, most_bytes }
    }

    /// Appends samples, in milliseconds since 1970. Returns how many bytes they took on the wire, without headers.
    ///
    /// # Errors
    /// If the store does not take them, and what it says.
    pub fn append<'s>(
        &self,
        series: impl Iterator<Item = (&'s SeriesName, &'s [(i64, f64)])>,
    ) -> Result<usize, String> {
        let body = remote_write::encode(Version::One, series, |_| None).ok_or("too many samples at once")?;
        let url = format!("{}/api/v1/write", self.url);
        let mut request = self.with_headers(self.client.post(&url));
        for (header, value) in Version::One.headers() {
            request = request.header(header, value);
        }
        let response = request.send(&body[..]).map_err(|error| format!("{url}: {error}"))?;
        match response.status() {
            status if status.is_success() => Ok(body.len()),
            status => Err(format!("{url}: http status: {status}")),
        }
    }

    /// The samples that a selector with a range selects up to a time in seconds since 1970: a list for each series, of seconds and value.
    ///
    /// # Errors
    /// If the store cannot be asked, or does not answer as Prometheus does.
    pub fn select(&self, selector: &str, at_s: f64) -> Result<Vec<Vec<(f64, f64)>>, String> {
        match self.ask(selector, Asked::At { at_ms: (at_s * 1000.0) as i64 })? {
            Answer::Matrix(series) => {
                let point = |point: &Point| (point.at_ms as f64 / 1000.0, point.value);
                Ok(series.iter().map(|(_, points)| points.iter().map(point).collect()).collect())
            }
            _ => Err(format!("{}: expected a matrix", self.url)),
        }
    }

    /// The answer to an expression.
    ///
    /// # Errors
    /// If the store cannot be asked, refuses it, or does not answer as Prometheus does.
    pub fn ask(&self, expression: &str, asked: Asked) -> Result<Answer, String> {
        let seconds = |milliseconds: i64| (milliseconds as f64 / 1000.0).to_string();
        let (path, times) = match asked {
            Asked::At { at_ms } => ("query", vec![("time", seconds(at_ms))]),
            Asked::Between { from_ms, to_ms, step_ms } => {
                let times = [("start", from_ms), ("end", to_ms), ("step", step_ms)];
                ("query_range", times.map(|(name, time)| (name, seconds(time))).to_vec())
            }
        };
        let url = format!("{}/api/v1/{path}", self.url);
        let form = times.into_iter().chain([("query", expression.to_owned())]);
        let data =
            self.data_of(&url, self.with_headers(self.client.post(&url)).send_form(form), PROMETHEUS)?;
        answer::from_json(&data).ok_or_else(|| format!("{url}: an answer that is not {PROMETHEUS}"))
    }

    /// Returns the values that a label has in the series of a selector, between two instants in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn label_values(
        &self,
        label: &str,
        selector: &str,
        [from_ms, to_ms]: [i64; 2],
    ) -> Result<Vec<String>, String> {
        let url = format!("{}/api/v1/label/{label}/values", self.url);
        let [start, end] = [from_ms, to_ms].map(|time_ms| (time_ms as f64 / 1000.0).to_string());
        let parameters = [("match[]", selector), ("start", &start), ("end", &end)];
        let request = self.with_headers(self.client.get(&url).query_pairs(parameters));
        let data = self.data_of(&url, request.call(), PROMETHEUS)?;
        let values =
            data.as_array().map(|values| values.iter().map(|value| value.as_str().map(str::to_owned)));
        values
            .and_then(Iterator::collect::<Option<Vec<_>>>)
            .ok_or_else(|| format!("{url}: an answer that is not {PROMETHEUS}"))
    }

    fn with_headers<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    /// Returns what an answer in Prometheus' envelope has as its data.
    fn data_of(
        &self,
        url: &str,
        response: Result<Response<Body>, http_client::Error>,
        kind: &str,
    ) -> Result<Value, String> {
        let failed = |error: http_client::Error| format!("{url}: {}", http_client::described(&error));
        let mut response = response.map_err(failed)?;
        let text =
            response.body_mut().with_config().limit(self.most_bytes).read_to_string().map_err(failed)?;
        let mut reply: Value = serde_json::from_str(&text)
            .map_err(|_| format!("{url}: {} and an answer that is not {kind}", response.status()))?;
        match reply["error"].as_str() {
            Some(error) => Err(format!("{url}: {error}")),
            None => Ok(reply["data"].take()),
        }
    }
}
