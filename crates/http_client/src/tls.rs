//! TLS of requests: whom they trust, and who they are.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use ureq::tls::{ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// Whom requests trust, and who they are: by default the certificates of the system are trusted, and requests show none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificates in PEM that are trusted in place of the system's.
    authorities: Option<String>,
    identity: Option<Identity>,
}

#[derive(Clone, PartialEq, Eq)]
struct Identity {
    certificates: String,
    key: String,
}

impl Tls {
    /// Makes it of texts in PEM: certificates that are trusted in place of the system's, and a certificate with its key.
    ///
    /// # Errors
    /// If there is nothing in a text: which one, `ca`, `certificate` or `key`, and what is missing.
    pub fn new(
        authorities: Option<String>,
        identity: Option<(String, String)>,
    ) -> Result<Self, (&'static str, &'static str)> {
        const NO_CERTIFICATE: &str = "the file has no certificate in PEM";
        if authorities.as_deref().is_some_and(|text| certificates(text).is_empty()) {
            return Err(("ca", NO_CERTIFICATE));
        }
        if let Some((certificate, key)) = &identity {
            if certificates(certificate).is_empty() {
                return Err(("certificate", NO_CERTIFICATE));
            }
            if PrivateKey::from_pem(key.as_bytes()).is_err() {
                return Err(("key", "the file has no private key in PEM"));
            }
        }
        let identity = identity.map(|(certificates, key)| Identity { certificates, key });
        Ok(Self { authorities, identity })
    }

    /// Returns the settings of a client.
    pub fn config(&self) -> TlsConfig {
        let roots = match &self.authorities {
            None => RootCerts::PlatformVerifier,
            Some(text) => RootCerts::new_with_certs(&certificates(text)),
        };
        let identity = self.identity.as_ref().and_then(|identity| {
            let key = PrivateKey::from_pem(identity.key.as_bytes()).ok()?;
            Some(ClientCert::new_with_certs(&certificates(&identity.certificates), key))
        });
        TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .root_certs(roots)
            .client_cert(identity)
            .build()
    }
}

/// Without what it is made of, which has a private key.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// A server to which connections in TLS are made by a program that moves the bytes itself.
#[derive(Clone, Debug)]
pub struct TlsServer {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsServer {
    /// Makes it of a name or an address, and of certificates in PEM that are trusted in place of the system's.
    ///
    /// # Errors
    /// If the name cannot stand in a certificate, or there are no certificates to trust.
    pub fn new(name: &str, authorities: Option<&str>) -> Result<Self, String> {
        let failed = |error: &dyn fmt::Display| error.to_string();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let server = ServerName::try_from(bare.to_owned()).map_err(|error| format!("{name}: {error}"))?;
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?;
        let builder = match authorities {
            None => builder.with_platform_verifier().map_err(|error| failed(&error))?,
            Some(text) => {
                let mut roots = RootCertStore::empty();
                let known = certificates(text);
                roots.add_parsable_certificates(
                    known.iter().map(|certificate| CertificateDer::from_slice(certificate.der())),
                );
                if roots.is_empty() {
                    return Err("no certificate in PEM".to_owned());
                }
                builder.with_root_certificates(roots)
            }
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), name: server })
    }

    /// Begins a connection.
    ///
    /// # Errors
    /// If there are no random numbers.
    pub fn connect(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }
}

/// What is said of a server that sends no record of TLS.
pub(crate) const SPEAKS_NO_TLS: &str = "that port speaks no TLS";

/// Returns the error of a handshake in other words, if it is of a server that speaks no TLS.
pub fn described_tls(error: io::Error) -> io::Error {
    let is_no_tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        .is_some_and(|error| matches!(error, rustls::Error::InvalidMessage(_)));
    if is_no_tls { io::Error::new(error.kind(), SPEAKS_NO_TLS) } else { error }
}

fn certificates(text: &str) -> Vec<ureq::tls::Certificate<'static>> {
    let certificate =
        |item| if let Ok(PemItem::Certificate(certificate)) = item { Some(certificate) } else { None };
    parse_pem(text.as_bytes()).filter_map(certificate).collect()
}
