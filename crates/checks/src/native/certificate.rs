//! Certificates of TLS servers: whether they are trusted, and when they expire.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use configuration::{Fault, Options};
use http_client::described_tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use super::tcp;
use crate::state::State;

const DAY_S: i64 = 86_400;
const DAY: Duration = Duration::from_secs(86_400);

/// How long before it expires a certificate is a problem.
#[derive(Debug)]
struct Certificate {
    warn_before: Duration,
    critical_before: Duration,
}

pub(super) fn read(table: &Options<'_, '_>, subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    tcp::check_address(table, "certificate", subject)?;
    Ok(Arc::new(Certificate {
        warn_before: table.duration("warn_before")?.unwrap_or(30 * DAY),
        critical_before: table.duration("critical_before")?.unwrap_or(7 * DAY),
    }))
}

impl Probe for Certificate {
    fn run(&self, address: &str, limits: &Limits<'_>) -> Outcome {
        look(self, address, limits.timeout)
    }
}

fn look(wanted: &Certificate, address: &str, timeout: Duration) -> Outcome {
    let name = address.rsplit_once(':').map_or(address, |(name, _)| name);
    let (certificate, trusted) = match handshake(address, name, timeout) {
        Ok(seen) => seen,
        Err(error) => return Outcome::new(State::Critical, format!("{}: {error}", address)),
    };
    let Some(validity) = formats::certificate::validity(&certificate) else {
        return Outcome::new(State::Unknown, format!("{}: its certificate cannot be read", address));
    };
    let now_s = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_secs().cast_signed());
    let left_s = validity.not_after_s - now_s;
    let figures = format!("left={left_s}s");
    let days = left_s.div_euclid(DAY_S);
    let what = match left_s {
        ..0 => format!("expired {} days ago", (-left_s) / DAY_S),
        _ => format!("expires in {days} days"),
    };
    let is_within = |before: Duration| left_s < before.as_secs().cast_signed();
    let state = match &trusted {
        Err(_) => State::Critical,
        Ok(()) if is_within(wanted.critical_before) => State::Critical,
        Ok(()) if is_within(wanted.warn_before) => State::Warning,
        Ok(()) => State::Ok,
    };
    let distrust = trusted.err().map(|error| format!("; it is not trusted: {error}")).unwrap_or_default();
    Outcome::new(state, format!("the certificate of {} {what}{distrust}", address)).with(figures)
}

type Seen = (Vec<u8>, Result<(), Error>);

/// Shakes hands with a server. Returns its certificate, and whether the system trusts it.
fn handshake(address: &str, name: &str, timeout: Duration) -> Result<Seen, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(name.to_owned()).map_err(|error| failed(&error))?;
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Witness::new(Arc::clone(&provider)).map_err(|error| failed(&error))?);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))?;
    let until = Instant::now() + timeout;
    let mut stream = tcp::open(address, timeout)?;
    let shaken = shake_hands(&mut connection, &mut stream, until);
    shaken.map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the TLS handshake timed out".to_owned(),
        _ => error.to_string(),
    })?;
    let seen = verifier.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    seen.ok_or_else(|| "it has no certificate".to_owned())
}

/// A server that sends a byte now and then does not outlast the deadline.
fn shake_hands(connection: &mut ClientConnection, stream: &mut TcpStream, until: Instant) -> io::Result<()> {
    while connection.is_handshaking() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        stream.set_read_timeout(Some(left))?;
        if connection.wants_write() {
            connection.write_tls(stream)?;
        } else if connection.read_tls(stream)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        } else {
            connection.process_new_packets().map_err(|error| described_tls(io::Error::other(error)))?;
        }
    }
    Ok(())
}

/// Accepts every certificate, so that the handshake goes on, and notes what the system's verifier says of it. Nothing is sent over such a
/// connection.
#[derive(Debug)]
struct Witness {
    system: Verifier,
    seen: Mutex<Option<Seen>>,
}

impl Witness {
    fn new(provider: Arc<CryptoProvider>) -> Result<Self, Error> {
        Ok(Self { system: Verifier::new(provider)?, seen: Mutex::new(None) })
    }
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.system.verify_server_cert(certificate, intermediates, name, ocsp_response, now);
        let seen = (certificate.to_vec(), verified.map(drop));
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}
