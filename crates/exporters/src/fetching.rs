//! The text of an exporter.

use std::time::Duration;

use http_client::{Client, Error, Tls, client_with, described, redirects_with};

/// What whit reads, as a request says it.
const ACCEPT: &str = "text/plain;version=0.0.4;q=1,*/*;q=0.1";

/// Asks one exporter.
#[derive(Debug)]
pub(crate) struct Fetcher {
    client: Client,
    url: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    most_bytes: u64,
}

impl Fetcher {
    /// Connects with the first request. Redirects are followed as [`redirects_with`] says.
    pub(crate) fn new(
        url: String,
        headers: Vec<(String, String)>,
        tls: &Tls,
        timeout: Duration,
        most_bytes: u64,
    ) -> Self {
        let client = client_with(timeout, redirects_with(&headers), tls);
        Self { client, url, headers, timeout, most_bytes }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// If no answer comes in time, or its status is not 200, or it is too long, or it is not UTF-8.
    pub(crate) fn fetch(&self) -> Result<String, String> {
        let mut request = self.client.get(&self.url).header("Accept", ACCEPT);
        request =
            request.header("X-Prometheus-Scrape-Timeout-Seconds", self.timeout.as_secs_f64().to_string());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let failed = |error: Error| match error {
            Error::BodyExceedsLimit(bytes) => {
                format!("the answer has more than {bytes} bytes (the option size)")
            }
            Error::Timeout(_) => {
                format!("no whole answer in {} s (the option timeout)", self.timeout.as_secs_f64())
            }
            error => described(&error),
        };
        let mut response = request.call().map_err(failed)?;
        if response.status() != 200 {
            return Err(format!("the status is {}", response.status()));
        }
        let body = response.body_mut().with_config().limit(self.most_bytes).read_to_vec().map_err(failed)?;
        String::from_utf8(body).map_err(|_| "the answer is not UTF-8".to_owned())
    }
}
