//! TLS of requests: whom they trust, and who they are.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::ring;
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

fn certificates(text: &str) -> Vec<ureq::tls::Certificate<'static>> {
    let certificate =
        |item| if let Ok(PemItem::Certificate(certificate)) = item { Some(certificate) } else { None };
    parse_pem(text.as_bytes()).filter_map(certificate).collect()
}
