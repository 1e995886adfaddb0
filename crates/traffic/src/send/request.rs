//! A request of HTTP/1.1, as it goes out: RFC 9112.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use command::failure::Failure;

/// An HTTP request.
#[derive(Debug)]
pub(crate) struct Request {
    /// None: GET, or POST if there is a body.
    pub(crate) method: Option<String>,
    /// And query.
    pub(crate) path: String,
    /// Where it goes to, unless a header says otherwise.
    pub(crate) host: String,
    /// `Name: value`.
    pub(crate) headers: Vec<String>,
    /// The file that is sent with it; `-` is standard input.
    pub(crate) body: Option<PathBuf>,
}

/// A body may be so large: it is kept in memory.
const MAX_BODY_BYTES: u64 = 1 << 30;

impl Request {
    /// As bytes.
    ///
    /// # Errors
    /// If the file cannot be read, or a part of it cannot stand in a request.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
        if !self.path.starts_with('/') || !is_word(&self.path) {
            return Err(Failure::usage("--http takes a path: /, /health?x=1"));
        }
        let body = self.body.as_ref().map(|path| read(path)).transpose()?;
        let method = self.method.as_deref().unwrap_or(if body.is_some() { "POST" } else { "GET" });
        if !is_token(method) {
            return Err(Failure::usage("--method takes a word: GET, HEAD, PUT"));
        }
        let mut text = format!("{method} {} HTTP/1.1\r\n", self.path);
        if !self.has("host") {
            text.push_str(&format!("Host: {}\r\n", self.host));
        }
        if !self.has("user-agent") {
            text.push_str("User-Agent: whit\r\n");
        }
        for header in &self.headers {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| Failure::usage(format!("--header \"{header}\": NAME: VALUE")))?;
            let (name, value) = (name.trim_end(), value.trim());
            let is_plain = value.chars().all(|letter| letter == '\t' || !letter.is_control());
            if !is_token(name) || !is_plain {
                return Err(Failure::usage(format!("--header {header:?} cannot stand in a request")));
            }
            // whit counts the answers by their ends, and the body's length by its file.
            if ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(Failure::usage(format!("--header {name}: that follows from --body")));
            }
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &body {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend(body.unwrap_or_default());
        Ok(bytes)
    }

    /// Returns true if its answers have no body, whatever their heads say: RFC 9112, section 6.3.
    pub(crate) fn is_head(&self) -> bool {
        self.method.as_deref() == Some("HEAD")
    }

    fn has(&self, name: &str) -> bool {
        let is_name = |header: &String| {
            header
                .split_once(':')
                .is_some_and(|(of_header, _)| of_header.trim_end().eq_ignore_ascii_case(name))
        };
        self.headers.iter().any(is_name)
    }
}

/// A token of RFC 9110.
fn is_token(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !word.is_empty() && word.bytes().all(fits)
}

/// Reads a body; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let too_long = || Failure::usage(format!("--body {}: at most 1 GiB", path.display()));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().take(MAX_BODY_BYTES + 1).read_to_end(&mut bytes).map_err(Failure::of_system)?;
        return if bytes.len() as u64 > MAX_BODY_BYTES { Err(too_long()) } else { Ok(bytes) };
    }
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    if fs::metadata(path).map_err(failed)?.len() > MAX_BODY_BYTES {
        return Err(too_long());
    }
    fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[&str]) -> Request {
        Request {
            method: None,
            path: "/x?y=1".to_owned(),
            host: "box:80".to_owned(),
            headers: headers.iter().map(|header| (*header).to_owned()).collect(),
            body: None,
        }
    }

    #[test]
    fn heads_are_as_the_standard_has_them() {
        let bytes = request(&["Accept:text/plain", "host: other"]).bytes().unwrap();
        let text = "GET /x?y=1 HTTP/1.1\r\nUser-Agent: whit\r\nAccept: text/plain\r\nhost: other\r\n\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
        for wrong in ["no colon", ": x", "a b: x", "a: x\r\nb: y", "Content-Length: 3"] {
            assert!(request(&[wrong]).bytes().is_err(), "{wrong}");
        }
        for wrong in ["x", "/x y", ""] {
            assert!(Request { path: wrong.to_owned(), ..request(&[]) }.bytes().is_err(), "{wrong}");
        }
        assert!(Request { method: Some("GET /".to_owned()), ..request(&[]) }.bytes().is_err());
    }
}
