//! A server of HTTP by its address.

use std::fs;
use std::path::Path;

use command::failure::Failure;
use http_client::{TlsServer, Uri};
use text::printable::Shown as _;

/// What an address such as `https://shop.test/health?x=1` says.
#[derive(Debug)]
pub(crate) struct Server {
    /// `HOST:PORT`.
    pub(crate) address: String,
    /// For the header `Host`: the host, and the port if the address has one.
    pub(crate) host: String,
    /// And query.
    pub(crate) path: String,
    /// `None`: in plain.
    pub(crate) tls: Option<TlsServer>,
}

impl Server {
    /// Reads an address; `None` if it is a `HOST:PORT`. `authorities` is a file with certificates that are trusted in place of the system's.
    ///
    /// # Errors
    /// If it is none that can be asked, or the file has no certificates.
    pub(crate) fn parse(text: &str, authorities: Option<&Path>) -> Result<Option<Self>, Failure> {
        const ABOUT_TLS: &str = "--ca is about https: write https://HOST:PORT/PATH";
        let Some((scheme, _)) = text.split_once("://") else {
            return if authorities.is_some() { Err(Failure::usage(ABOUT_TLS)) } else { Ok(None) };
        };
        let wrong = |why: &str| Failure::usage(format!("{}: {why}", text.shown()));
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(wrong("only http and https can be asked")),
        };
        let uri: Uri =
            text.parse().map_err(|_| wrong("this is not an address; one is https://shop.test/health"))?;
        let authority = uri.authority().ok_or_else(|| wrong("the host is missing"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("an address has no place for a password: --header 'Authorization: …'"));
        }
        let tls = match (is_tls, authorities) {
            (false, Some(_)) => return Err(Failure::usage(ABOUT_TLS)),
            (false, None) => None,
            (true, file) => Some(tls(authority.host(), file)?),
        };
        let port = match authority.as_str()[authority.host().len()..].strip_prefix(':') {
            None | Some("") if is_tls => 443,
            None | Some("") => 80,
            Some(port) => port.parse::<u16>().map_err(|_| wrong("the port is none"))?,
        };
        Ok(Some(Self {
            address: format!("{}:{port}", authority.host()),
            host: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            tls,
        }))
    }
}

fn tls(host: &str, authorities: Option<&Path>) -> Result<TlsServer, Failure> {
    let in_file =
        |path: &Path, error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", path.shown()));
    let Some(path) = authorities else { return TlsServer::new(host, None).map_err(Failure::new) };
    let text = fs::read_to_string(path).map_err(|error| in_file(path, &error))?;
    TlsServer::new(host, Some(&text)).map_err(|error| in_file(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_a_path() {
        let server = |text: &str| {
            let Server { address, host, path, tls } = Server::parse(text, None).unwrap().unwrap();
            (address, host, path, tls.is_some())
        };
        let expected = |address: &str, host: &str, path: &str, is_tls| {
            (address.to_owned(), host.to_owned(), path.to_owned(), is_tls)
        };
        assert_eq!(server("http://a.test"), expected("a.test:80", "a.test", "/", false));
        assert_eq!(
            server("https://a.test:8443/x?y=1"),
            expected("a.test:8443", "a.test:8443", "/x?y=1", true)
        );
        assert_eq!(server("HTTP://a.test:/"), expected("a.test:80", "a.test:", "/", false));
        assert_eq!(server("https://[::1]/"), expected("[::1]:443", "[::1]", "/", true));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        assert!(Server::parse("localhost:80", None).unwrap().is_none());
        for text in
            ["ftp://a.test/", "https://", "https://ann:secret@a.test/", "http://a b/", "http://a.test:70000/"]
        {
            assert!(Server::parse(text, None).is_err(), "{text}");
        }
        let file = Path::new("/nonexistent/ca.pem");
        for text in ["localhost:80", "http://a.test/", "https://a.test/"] {
            assert!(Server::parse(text, Some(file)).is_err(), "{text}");
        }
    }
}
