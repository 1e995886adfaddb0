//! Web servers that answer.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};
use http_client::Client;

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// The most bytes of an answer that are looked at.
const MAX_BODY_BYTES: u64 = 1 << 20;

/// The answer that is expected of a web server.
#[derive(Debug)]
struct Http {
    /// With this status; none: any below 400.
    status: Option<u16>,
    /// A text that is to be in it.
    contains: Option<String>,
    /// Slower is a warning.
    slow: Option<Duration>,
}

pub(super) fn read(table: &Options<'_, '_>, subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    table.check_http_address("http", subject)?;
    Ok(Arc::new(Http {
        status: table.whole_number("status")?.map(|status| status as u16),
        contains: table.text("contains")?.filter(|text| !text.is_empty()).map(str::to_owned),
        slow: table.duration("slow")?,
    }))
}

impl Probe for Http {
    fn run(&self, url: &str, limits: &Limits<'_>) -> Outcome {
        get(self, url, &limits.clients.within(limits.timeout))
    }
}

fn get(wanted: &Http, url: &str, client: &Client) -> Outcome {
    let begun = Instant::now();
    let mut response = match client.get(url).call() {
        Ok(response) => response,
        Err(error) => {
            return Outcome::new(State::Critical, format!("{url}: {}", http_client::described(&error)));
        }
    };
    let status = response.status().as_u16();
    // Of a page that is longer its beginning is enough.
    let mut body = Vec::new();
    let read = response.body_mut().as_reader().take(MAX_BODY_BYTES).read_to_end(&mut body);
    let took = begun.elapsed();
    let is_expected = wanted.status.map_or(status < 400, |wanted| wanted == status);
    let has_text = |text: &String| body.windows(text.len()).any(|part| part == text.as_bytes());
    let (state, what) = if !is_expected {
        (State::Critical, format!("answered with {status}"))
    } else if let Err(error) = read {
        (State::Critical, format!("answered with {status}, and not to the end ({error}),"))
    } else if let Some(text) = wanted.contains.as_ref().filter(|text| !has_text(text)) {
        (State::Critical, format!("answered without \"{text}\""))
    } else if wanted.slow.is_some_and(|slow| took > slow) {
        (State::Warning, format!("answered with {status}, slowly"))
    } else {
        (State::Ok, format!("answered with {status}"))
    };
    let size = body.len();
    let took_s = took.as_secs_f64();
    let text = format!("{url} {what} after {:.1} ms", took_s * 1e3);
    Outcome::new(state, text).with(format!("time={took_s:.6}s size={size}B"))
}
