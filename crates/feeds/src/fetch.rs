//! Fetching a document: conditional requests, redirects, and only addresses that are allowed.

use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_cache_semantics::{AfterResponse, BeforeRequest, CacheOptions, CachePolicy};
use http_client::{Body, Client, Guard, Tls, guarded_client};
use syndication::{Reading, parse_url};
use url::Url;

use crate::addresses::is_fetched;
use crate::cache::{Cache, CachedResponse, DocumentDigest};
use crate::cache_headers::{for_cache, with_validators};
use crate::error::FeedError;
use crate::options::FeedOptions;
use crate::parser::DocumentParser;

/// A request with all its redirects and its body takes at most this.
const MAX_FETCH: Duration = Duration::from_secs(30);
const MAX_CONNECT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
/// A server may ask for a pause of at most this.
const MAX_PAUSE: Duration = Duration::from_secs(7 * 86_400);
const ACCEPTED: &str = "application/atom+xml, application/rss+xml, application/rdf+xml, application/feed+json, \
    application/xml;q=0.9, text/xml;q=0.9, text/html;q=0.5, */*;q=0.1";
const USER_AGENT: &str = concat!("whit/", env!("CARGO_PKG_VERSION"), " (feed reader)");

/// Fetches documents, through a cache on disk.
#[derive(Debug)]
pub struct Fetcher {
    client: Client,
    cache: Cache,
    most_bytes: u64,
    /// An older copy is checked with the server, even if it is fresh.
    most_age: Duration,
    /// Documents are read one after the other: each may take much memory.
    reading: Mutex<()>,
}

/// A document, or the news that it has not changed.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// The document; `None` if it is the known one.
    pub document: Option<Vec<u8>>,
    /// Its digest.
    pub digest: DocumentDigest,
    /// Its Content-Type; empty: none.
    pub content_type: String,
    /// Its address after all redirects.
    pub address: String,
    /// The address that is to be asked from now on: all redirects to it are permanent.
    pub moved_to: Option<String>,
    /// The document need not be asked for again before this has passed.
    pub fresh_for: Duration,
}

/// Why there is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FetchError {
    /// The server says that it will not come back: status 410.
    Gone,
    /// The server wants a pause: status 429 or 503.
    Pause {
        /// The description of what happened.
        reason: String,
        /// How long; `None` if the server does not say.
        pause: Option<Duration>,
        /// The server.
        host: String,
    },
    /// There is no connection to the server.
    Unreached(String),
    /// It cannot be had now.
    Failed(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("the server says that it is gone for good (status 410)"),
            Self::Pause { reason, .. } | Self::Unreached(reason) | Self::Failed(reason) => {
                f.write_str(reason)
            }
        }
    }
}

impl std::error::Error for FetchError {}

impl Fetcher {
    /// Opens the cache of a data directory.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open(data: &Path, options: &FeedOptions) -> Result<Self, FeedError> {
        let config = Client::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(MAX_CONNECT))
            .user_agent(USER_AGENT)
            .tls_config(Tls::default().config())
            .max_idle_connections(4)
            .build();
        let allowed = options.allowed.clone();
        let guard = Guard {
            is_permitted: Box::new(move |address, port| is_fetched(address, port, &allowed)),
            // Without the address: users must not learn what a name resolves to inside the network.
            refusal: |host, port| {
                format!(
                    "the address of {host} is not public, and [feeds] allow does not have it with port {port}"
                )
            },
        };
        Ok(Self {
            client: guarded_client(config, guard),
            cache: Cache::open(data)?,
            most_bytes: options.most_bytes,
            most_age: options.most_interval,
            reading: Mutex::default(),
        })
    }

    /// Reads what was fetched; `None` if nothing was.
    ///
    /// # Errors
    /// If the document cannot be read.
    pub(crate) fn read(&self, parser: &DocumentParser, fetched: &Fetched) -> Result<Option<Reading>, String> {
        let Some(document) = &fetched.document else { return Ok(None) };
        let _turn = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        parser.read(document, &fetched.content_type, &fetched.address).map(Some)
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Fetches a document, which is returned if it is not the `known` one.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn fetch(
        &self,
        address: &str,
        known: Option<&DocumentDigest>,
        now: SystemTime,
        cost: &mut Cost,
    ) -> Result<Fetched, FetchError> {
        let mut url = parse_url(address).map_err(FetchError::Failed)?;
        let deadline = Instant::now() + MAX_FETCH;
        let (mut moved_to, mut is_permanent) = (None, true);
        for _ in 0..=MAX_REDIRECTS {
            let answer = match self.ask(&url, now, deadline, cost) {
                // A temporary redirect led there: the feed itself is not gone.
                Err(FetchError::Gone) if !is_permanent => Err(FetchError::Failed(said(410))),
                answer => answer,
            }?;
            let cached = &answer.response;
            match cached.status {
                200 => {
                    let document =
                        match known {
                            Some(known) if *known == cached.digest => None,
                            _ => Some(answer.body.or_else(|| self.cache.body(url.as_str())).ok_or_else(
                                || FetchError::Failed("its copy in the cache cannot be read".to_owned()),
                            )?),
                        };
                    return Ok(Fetched {
                        digest: cached.digest.clone(),
                        document,
                        content_type: cached.content_type.clone(),
                        address: url.into(),
                        moved_to,
                        fresh_for: cached.policy.time_to_live(now),
                    });
                }
                status @ (301 | 302 | 303 | 307 | 308) => {
                    is_permanent &= matches!(status, 301 | 308);
                    let target = url.join(&cached.location).map_err(|error| error.to_string());
                    let target = target.and_then(|target| parse_url(target.as_str()));
                    url = target.map_err(|error| {
                        FetchError::Failed(format!(
                            "it redirects to an address that cannot be fetched: {error}"
                        ))
                    })?;
                    if is_permanent {
                        moved_to = Some(url.to_string());
                    }
                }
                status => return Err(FetchError::Failed(said(status))),
            }
        }
        Err(FetchError::Failed(format!("it redirects more than {MAX_REDIRECTS} times")))
    }

    /// Asks one address, or the cache.
    fn ask(
        &self,
        url: &Url,
        now: SystemTime,
        deadline: Instant,
        cost: &mut Cost,
    ) -> Result<Answer, FetchError> {
        // The key has the password: others must not get the document.
        let key = url.as_str();
        let request = request(url, self.most_age).map_err(FetchError::Failed)?;
        let mut cached = self.cache.get(key);
        let mut headers = request.headers().clone();
        match cached.as_ref().map(|cached| cached.policy.before_request(&request, now)) {
            Some(BeforeRequest::Fresh(_)) => {
                if let Some(response) = cached.take() {
                    return Ok(Answer { response, body: None });
                }
            }
            Some(BeforeRequest::Stale { request, .. }) => headers = request.headers,
            None => {}
        }
        cost.requests += 1;
        let response = self.send(&request, &headers, deadline)?;
        if response.status() == StatusCode::NOT_MODIFIED {
            let Some(cached) = cached else {
                return Err(FetchError::Failed(said(304)));
            };
            let policy = match cached.policy.after_response(
                &request,
                &with_validators(for_cache(response.headers(), 304), &headers),
                now,
            ) {
                AfterResponse::NotModified(policy, _) => policy,
                AfterResponse::Modified(..) => {
                    // The 304 is about another document than the cached one: asked again, without conditions.
                    self.cache.remove(key);
                    return self.ask(url, now, deadline, cost);
                }
            };
            let response = CachedResponse { policy, ..cached };
            // What is not written is asked for again.
            let _ = self.cache.put(&response, None);
            return Ok(Answer { response, body: None });
        }
        self.receive(url, &request, response, now, cost, cached.map(|cached| cached.digest))
    }

    fn send(
        &self,
        request: &Request<()>,
        headers: &HeaderMap,
        deadline: Instant,
    ) -> Result<Response<Body>, FetchError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut conditional = self.client.get(request.uri().to_string());
        // `Cache-Control` is for our own cache, and is not sent.
        for (name, value) in headers.iter().filter(|(name, _)| *name != header::CACHE_CONTROL) {
            conditional = conditional.header(name, value);
        }
        let conditional = conditional.config().timeout_global(Some(left)).build();
        conditional.call().map_err(|error| match http_client::is_unreached(&error) {
            true => FetchError::Unreached(reason(error)),
            false => FetchError::Failed(reason(error)),
        })
    }

    fn receive(
        &self,
        url: &Url,
        request: &Request<()>,
        mut response: Response<Body>,
        now: SystemTime,
        cost: &mut Cost,
        cached: Option<DocumentDigest>,
    ) -> Result<Answer, FetchError> {
        let status = response.status().as_u16();
        let text =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match status {
            410 => return Err(FetchError::Gone),
            429 | 503 => {
                let pause = retry_after(text(header::RETRY_AFTER), now);
                let host = url.host_str().unwrap_or_default().to_owned();
                return Err(FetchError::Pause { reason: said(status), pause, host });
            }
            200 | 301 | 302 | 303 | 307 | 308 => {}
            // What was fetched before stays in the cache.
            _ => return Err(FetchError::Failed(said(status))),
        }
        let key = url.as_str();
        let content_type = text(header::CONTENT_TYPE).to_owned();
        // Some servers send Location in UTF-8, which browsers accept.
        let location = response.headers().get(header::LOCATION).map(|value| value.as_bytes());
        let location = String::from_utf8_lossy(location.unwrap_or_default()).into_owned();
        // No heuristics: nothing is fresh unless the server says so.
        let options = CacheOptions { shared: false, cache_heuristic: 0.0, ..CacheOptions::default() };
        let policy = CachePolicy::new_options(request, &for_cache(response.headers(), status), now, options);
        let mut body = Vec::new();
        let too_long = || FetchError::Failed(format!("the document has more than {} bytes", self.most_bytes));
        if status == 200 {
            if text(header::CONTENT_LENGTH).parse().is_ok_and(|length: u64| length > self.most_bytes) {
                return Err(too_long());
            }
            let read = response.body_mut().as_reader().take(self.most_bytes + 1).read_to_end(&mut body);
            cost.received_bytes += body.len() as u64;
            read.map_err(|error| FetchError::Failed(format!("the document ends early: {error}")))?;
            if body.len() as u64 > self.most_bytes {
                return Err(too_long());
            }
        }
        let is_storable = policy.is_storable();
        let response = CachedResponse {
            url: key.to_owned(),
            policy,
            status,
            content_type,
            location,
            digest: DocumentDigest::of(&body),
        };
        match is_storable {
            true => {
                // Without a cached copy, for example on a full disk, the next fetch is a whole one.
                let is_same = cached.as_ref() == Some(&response.digest);
                let _ = self.cache.put(&response, (!is_same).then_some(body.as_slice()));
            }
            false => self.cache.remove(key),
        }
        Ok(Answer { response, body: Some(body) })
    }
}

/// The answer of an address, now or earlier.
struct Answer {
    response: CachedResponse,
    /// `None` if it is the one in the cache.
    body: Option<Vec<u8>>,
}

/// The cost of fetches, whether they succeeded or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Requests; 0 if the cache answered.
    pub(crate) requests: u64,
    /// Bytes of documents that were received, decompressed.
    pub(crate) received_bytes: u64,
}

/// A request without conditions; the cache answers it with nothing older than `most_age`. A name and password in the address become a
/// header (RFC 7617), which a redirect does not take along.
fn request(url: &Url, most_age: Duration) -> Result<Request<()>, String> {
    let mut bare = url.clone();
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    let mut request = Request::get(bare.as_str())
        .header(header::ACCEPT, ACCEPTED)
        .header(header::CACHE_CONTROL, format!("max-age={}", most_age.as_secs()));
    if !url.username().is_empty() || url.password().is_some() {
        let decode = |text: &str| {
            form_urlencoded::parse(text.replace('+', "%2B").as_bytes())
                .next()
                .map(|(text, _)| text.into_owned())
        };
        let user = decode(url.username()).unwrap_or_default();
        let password = url.password().and_then(decode).unwrap_or_default();
        let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        let value = HeaderValue::from_str(&value).map_err(|_| "its password is malformed".to_owned())?;
        request = request.header(header::AUTHORIZATION, value);
    }
    request.body(()).map_err(|error| format!("\"{bare}\" is not an address: {error}"))
}

fn said(status: u16) -> String {
    let name =
        StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
    format!("the server answers with status {status} {name}").trim_end().to_owned()
}

/// Seconds, or a date as in HTTP (RFC 9110, 10.2.3).
fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let pause = match text.trim().parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = syndication::parse_date(text)?;
            SystemTime::from(date).duration_since(now).unwrap_or_default()
        }
    };
    Some(pause.min(MAX_PAUSE))
}

fn reason(error: http_client::Error) -> String {
    match error {
        http_client::Error::Timeout(_) => format!("no answer within {} s", MAX_FETCH.as_secs()),
        error => http_client::described(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_sent_as_a_header() {
        let request = request(&parse_url("http://a%40b:c+d@h/x#y").unwrap(), Duration::ZERO).unwrap();
        assert_eq!(request.uri().to_string(), "http://h/x");
        assert_eq!(request.headers()[header::AUTHORIZATION], "Basic YUBiOmMrZA==");
    }

    #[test]
    fn a_pause_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Sun, 06 Nov 1990 08:50:37 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("99999999999", now), Some(MAX_PAUSE));
        assert_eq!(retry_after("soon", now), None);
    }
}
