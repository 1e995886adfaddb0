//! Canned replies, from a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use toml::Spanned;

use super::fault::Fault;
use command::failure::Failure;
use probe::named;
use text::printable::Shown as _;
use text::printable::line_and_column;

/// The replies to requests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replies {
    #[serde(default, rename = "reply")]
    replies: Vec<Spanned<Reply>>,
}

/// One reply: to an HTTP path, or to a line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    /// The path of HTTP requests, without the query behind `?`; `*` at the end for any rest.
    path: Option<String>,
    /// The method of HTTP requests: others do not get the reply.
    method: Option<String>,
    pub(super) status: Option<u16>,
    #[serde(default)]
    pub(super) body: String,
    content_type: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Otherwise the first line, in the same way.
    line: Option<String>,
    #[serde(default)]
    pub(super) text: String,
    /// It comes later by so much.
    delay: Option<String>,
    /// What happens in its place: "reset" or "half".
    fault: Option<String>,
    /// How often it is given, before the next one that is meant replies.
    times: Option<u64>,
    /// How often it was given.
    #[serde(skip)]
    given: Arc<AtomicU64>,
}

/// The longest file of replies, in bytes.
const REPLIES_BYTES: u64 = 64 << 20;

impl Replies {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = named::read_text_or_pipe(path, REPLIES_BYTES)
            .map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
        Self::parse(&text).map_err(|error| Failure::new(format!("{}:{error}", path.shown())))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let fault = |offset: usize, message: &str| {
            let (line, column) = line_and_column(text, offset);
            format!("{line}:{column}: {message}")
        };
        let replies: Replies = toml::from_str(text)
            .map_err(|error| fault(error.span().map_or(0, |span| span.start), error.message()))?;
        if replies.replies.is_empty() {
            return Err(fault(0, "no [[reply]] is in it"));
        }
        let is_http = replies.is_http();
        for reply in &replies.replies {
            let is_to_path = reply.get_ref().path.is_some();
            let is_field = |text: &str| !text.is_empty() && !text.contains(['\r', '\n', '\0']);
            let fields = reply.get_ref().headers();
            let own = ["content-length", "connection", "transfer-encoding"];
            if fields.iter().any(|(name, _)| own.iter().any(|own| name.eq_ignore_ascii_case(own))) {
                return Err(fault(
                    reply.span().start,
                    "Content-Length, Connection and Transfer-Encoding are whit's own headers",
                ));
            }
            if reply.get_ref().path.as_deref().is_some_and(|path| !path.starts_with(['/', '*'])) {
                return Err(fault(reply.span().start, "a path begins with /, or is *"));
            }
            if reply.get_ref().path.as_deref().is_some_and(|path| path.contains('?')) {
                return Err(fault(
                    reply.span().start,
                    "a path is without what is asked behind ?: it replies to all of these",
                ));
            }
            let is_method =
                |method: &str| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
            if reply.get_ref().method.as_deref().is_some_and(|method| !is_method(method)) {
                return Err(fault(reply.span().start, "a method has capital letters: GET, POST"));
            }
            let is_same = |other: &&Spanned<Reply>| {
                let (one, other) = (reply.get_ref(), other.get_ref());
                // After so many times the next one is meant.
                other.times.is_none()
                    && (&one.path, &one.method, &one.line) == (&other.path, &other.method, &other.line)
            };
            let before = || replies.replies.iter().take_while(|other| other.span() != reply.span());
            if before().any(|other| is_same(&other)) {
                return Err(fault(
                    reply.span().start,
                    "another reply before this one is to the same: the first that is meant replies",
                ));
            }
            if !fields.iter().all(|(name, value)| is_token(name) && is_field(value)) {
                return Err(fault(
                    reply.span().start,
                    "a header has a name of letters, digits and -, and a value in one line",
                ));
            }
            if reply.get_ref().status.is_some_and(|status| !(200..600).contains(&status)) {
                return Err(fault(
                    reply.span().start,
                    "a status is from 200 to 599: those below are no answer yet",
                ));
            }
            if let Err(message) = reply.get_ref().checked_fault() {
                return Err(fault(reply.span().start, &message));
            }
            if reply.get_ref().times == Some(0) {
                return Err(fault(reply.span().start, "a reply that is given 0 times replies to nothing"));
            }
            if let Some(message) = reply.get_ref().contradiction() {
                return Err(fault(reply.span().start, message));
            }
            let message = match &reply.get_ref().line {
                Some(_) if is_to_path => "a reply is to a path or to a line, and this one to both",
                None if !is_to_path => "a reply needs path = \"/…\" or line = \"…\"",
                Some(_) if is_http => {
                    "this reply is to a line, and others are to paths of HTTP: a sink answers one kind"
                }
                _ => continue,
            };
            return Err(fault(reply.span().start, message));
        }
        Ok(replies)
    }

    /// Returns true if any reply is to an HTTP path.
    pub(super) fn is_http(&self) -> bool {
        self.replies.iter().any(|reply| reply.get_ref().path.is_some())
    }

    /// The reply to a request; what is to GET is to HEAD as well.
    pub(super) fn to_request(&self, method: &str, path: &str) -> Option<&Reply> {
        let path = path_of(path);
        let mut all = self.replies.iter().map(Spanned::get_ref);
        let is_method = |reply: &Reply| {
            let as_get = if method == "HEAD" { "GET" } else { method };
            reply.method.as_deref().is_none_or(|wanted| wanted == method || wanted == as_get)
        };
        all.find(|reply| {
            is_method(reply)
                && reply.path.as_deref().is_some_and(|pattern| is_meant(pattern, path))
                && reply.take_turn()
        })
    }

    pub(super) fn to_line(&self, line: &str) -> Option<&Reply> {
        let mut all = self.replies.iter().map(Spanned::get_ref);
        all.find(|reply| {
            reply.line.as_deref().is_some_and(|pattern| is_meant(pattern, line)) && reply.take_turn()
        })
    }
}

impl Reply {
    /// Takes one of the times that it is given. Returns false if none is left.
    fn take_turn(&self) -> bool {
        let Some(times) = self.times else { return true };
        let taken = |given: u64| (given < times).then(|| given + 1);
        self.given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }

    /// Returns what happens to it.
    pub(super) fn fault(&self) -> Option<Fault> {
        // It was checked when it was read.
        self.checked_fault().unwrap_or_default()
    }

    fn checked_fault(&self) -> Result<Option<Fault>, String> {
        match (self.delay.as_deref(), self.fault.as_deref()) {
            (None, None) => Ok(None),
            (None, Some("reset")) => Ok(Some(Fault::Reset)),
            (None, Some("half")) => Ok(Some(Fault::Half)),
            (None, Some(_)) => Err("a fault is \"reset\" or \"half\"".to_owned()),
            (Some(delay), None) => text::quantity::duration(delay)
                .map(|delay| Some(Fault::Slow(delay)))
                .map_err(|error| format!("delay: {error}")),
            (Some(_), Some(_)) => Err("a reply has a delay or a fault, not both".to_owned()),
        }
    }

    /// Returns a message about options that contradict each other or would have no effect.
    fn contradiction(&self) -> Option<&'static str> {
        let is_bodiless = matches!(self.status, Some(204 | 304));
        let has_http = self.status.is_some()
            || self.method.is_some()
            || self.content_type.is_some()
            || !self.body.is_empty()
            || !self.headers.is_empty();
        let has_star_inside = |pattern: &String| pattern.strip_suffix('*').unwrap_or(pattern).contains('*');
        match (&self.path, &self.line) {
            (Some(_), None) if !self.text.is_empty() => {
                Some("a reply to a path has a body; text is of replies to lines")
            }
            (Some(_), None) if is_bodiless && !self.body.is_empty() => {
                Some("a reply with this status has no body")
            }
            (Some(path), None) if has_star_inside(path) => {
                Some("a * stands at the end of a path, for what follows")
            }
            (None, Some(_)) if has_http => {
                Some("a reply to a line has a text; status, method, headers and body are of replies to paths")
            }
            (Some(_), None) if self.fault.as_deref() == Some("reset") && !self.body.is_empty() => {
                Some("a reply that is a reset has no body")
            }
            (None, Some(line)) if has_star_inside(line) => {
                Some("a * stands at the end of a line, for what follows")
            }
            _ => None,
        }
    }

    /// Its headers, as they are sent.
    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        self.content_type.iter().map(|value| ("Content-Type", value.as_str())).chain(own).collect()
    }
}

/// The name of a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Returns the path without a query, and of a target in absolute form, as a proxy gets it, without the host (RFC 9112, 3.2.2).
fn path_of(target: &str) -> &str {
    let target = target.split('?').next().unwrap_or_default();
    let is_absolute =
        |scheme: &str| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    match ["http://", "https://"].into_iter().find(|scheme| is_absolute(scheme)) {
        None => target,
        Some(scheme) => target[scheme.len()..].find('/').map_or("/", |place| &target[scheme.len() + place..]),
    }
}

fn is_meant(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == text, |start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use facts::unit::Nanos;

    use super::*;

    #[test]
    fn the_first_that_is_meant_replies() {
        let replies = Replies::parse(
            "[[reply]]\npath = \"/a\"\nbody = \"one\"\n[[reply]]\npath = \"/*\"\nstatus = 404\n",
        )
        .unwrap();
        assert!(replies.is_http());
        assert_eq!(replies.to_request("GET", "/a?x=1").map(|reply| reply.body.as_str()), Some("one"));
        let of_proxy = replies.to_request("GET", "HTTP://box:80/a?x=1");
        assert_eq!(of_proxy.map(|reply| reply.body.as_str()), Some("one"));
        assert_eq!(path_of("http://box?x"), "/");
        assert_eq!(replies.to_request("PUT", "/b").and_then(|reply| reply.status), Some(404));
        let replies = Replies::parse("[[reply]]\nline = \"PING\"\ntext = \"PONG\\n\"\n").unwrap();
        assert!(!replies.is_http());
        assert_eq!(replies.to_line("PING").map(|reply| reply.text.as_str()), Some("PONG\n"));
        assert!(replies.to_line("PONG").is_none());
    }

    #[test]
    fn replies_follow_one_another() {
        let replies = Replies::parse(
            "[[reply]]\npath = \"/a\"\nstatus = 503\ntimes = 2\n[[reply]]\npath = \"/a\"\ndelay = \"20ms\"\ntimes = 1\n\
             [[reply]]\npath = \"/a\"\nfault = \"half\"\n",
        )
        .unwrap();
        let replied = [(); 5].map(|()| {
            let reply = replies.to_request("GET", "/a").unwrap();
            (reply.status, reply.fault())
        });
        let (busy, slow) = ((Some(503), None), (None, Some(Fault::Slow(Nanos(20_000_000)))));
        assert_eq!(replied, [busy, busy, slow, (None, Some(Fault::Half)), (None, Some(Fault::Half))]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = Replies::parse("[[reply]]\npath = \"/\"\ncolour = 3\n").unwrap_err();
        assert!(error.starts_with("3:1: "), "{error}");
        let error = |text: &str| Replies::parse(text).unwrap_err();
        for (reply, message) in [
            ("path = \"/\"\ntext = \"x\"", "a reply to a path has a body"),
            ("path = \"/\"\nstatus = 204\nbody = \"x\"", "a reply with this status has no body"),
            ("path = \"/*a\"", "a * stands at the end"),
            ("line = \"P\"\nstatus = 200", "a reply to a line has a text"),
            ("path = \"/\"\nfault = \"slow\"", "a fault is"),
            ("path = \"/\"\nfault = \"half\"\ndelay = \"1s\"", "a reply has a delay or a fault"),
            ("path = \"/\"\ndelay = \"soon\"", "delay: "),
            ("path = \"/\"\ntimes = 0", "a reply that is given 0 times"),
        ] {
            let error = error(&format!("[[reply]]\n{reply}\n"));
            assert!(error.starts_with(&format!("1:1: {message}")), "{error}");
        }
        assert!(error("").starts_with("1:1: no [[reply]]"));
        assert!(error("[[reply]]\npath = \"health\"\n").starts_with("1:1: a path begins with /"));
        assert!(error("[[reply]]\nbody = \"x\"\n").starts_with("1:1: a reply needs path"));
        assert!(
            error("\n[[reply]]\npath = \"/\"\nline = \"a\"\n").starts_with("2:1: a reply is to a path or")
        );
        let both = "[[reply]]\nline = \"PING\"\n[[reply]]\npath = \"/\"\n";
        assert!(error(both).starts_with("1:1: this reply is to a line"), "{}", error(both));
    }
}
