//! Mail: RFC 5321, by lettre.

use std::net::SocketAddr;
use std::time::Duration;

use lettre::Message;
use lettre::address::Envelope;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use lettre::transport::smtp::{Error, SMTP_PORT, SUBMISSION_PORT, SUBMISSIONS_PORT};

use super::progress::Progress;
use super::receiver::{MailEncryption, MailOptions};

/// Sends a mail with this subject and text.
pub(super) fn send(
    options: &MailOptions,
    [subject, text]: [&str; 2],
    id: &str,
    timeout: Duration,
) -> Progress {
    let message = match write(options, [subject, text], id) {
        Ok(message) => message,
        Err(reason) => return Progress::Failed(reason),
    };
    let failed = |error: &dyn std::fmt::Display| Progress::Failed(format!("{}: {error}", options.server));
    let mut connection = match connect(options, timeout) {
        Ok(connection) => connection,
        Err(reason) => return failed(&reason),
    };
    let text = message.formatted();
    let refused = match begin(&mut connection, message.envelope(), &text) {
        Ok(refused) => refused,
        Err(reason) => {
            connection.abort();
            return failed(&reason);
        }
    };
    let sent = connection.message(&text);
    // What the server says to that changes nothing.
    let _ = connection.quit();
    match sent {
        Ok(_) if refused.is_empty() => Progress::Delivered,
        Ok(_) => {
            let reasons: Vec<&str> = refused.iter().map(|refused| refused.reason.as_str()).collect();
            let later = refused.iter().filter(|refused| refused.is_for_now).map(|refused| refused.to.clone());
            let reason = format!("{}: {}", options.server, reasons.join("; "));
            Progress::DeliveredInPart { later: later.collect(), reason }
        }
        Err(error) if has_refused(&error) => failed(&error),
        Err(error) => Progress::Unknown(format!("{}: {error}", options.server)),
    }
}

/// A recipient that the server refuses.
struct Refused {
    to: String,
    /// It may take the mail later.
    is_for_now: bool,
    reason: String,
}

/// Says from whom and to whom a mail is, up to its text: until then the server has none of it. Returns the recipients that the server refuses,
/// which are not all.
fn begin(connection: &mut SmtpConnection, envelope: &Envelope, text: &[u8]) -> Result<Vec<Refused>, String> {
    let words = |error: Error| error.to_string();
    let mut parameters = Vec::new();
    let mut addresses = envelope.from().into_iter().chain(envelope.to());
    let has_other_letters = addresses.any(|address| !address.to_string().is_ascii());
    let needed = [
        (has_other_letters, Extension::SmtpUtfEight, MailParameter::SmtpUtfEight),
        (!text.is_ascii(), Extension::EightBitMime, MailParameter::Body(MailBodyParameter::EightBitMime)),
    ];
    for (_, extension, parameter) in needed.into_iter().filter(|(is_needed, ..)| *is_needed) {
        if !connection.server_info().supports_feature(extension) {
            return Err(format!("the server does not have {extension}, which this mail needs"));
        }
        parameters.push(parameter);
    }
    connection.command(Mail::new(envelope.from().cloned(), parameters)).map_err(words)?;
    let mut refused = Vec::new();
    for to in envelope.to() {
        match connection.command(Rcpt::new(to.clone(), Vec::new())) {
            Ok(_) => {}
            Err(error) if has_refused(&error) => refused.push(Refused {
                to: to.to_string(),
                is_for_now: error.is_transient(),
                reason: format!("{to}: {error}"),
            }),
            Err(error) => return Err(error.to_string()),
        }
    }
    if refused.len() == envelope.to().len() {
        let reasons: Vec<String> = refused.into_iter().map(|refused| refused.reason).collect();
        return Err(reasons.join("; "));
    }
    connection.command(Data).map_err(words)?;
    Ok(refused)
}

/// Connects to the first address of the server that answers, and signs in. Encrypted connections need a certificate of its name.
fn connect(options: &MailOptions, timeout: Duration) -> Result<SmtpConnection, String> {
    let text = |error: Error| error.to_string();
    let (usual_port, is_wrapped) = match options.encryption {
        MailEncryption::None => (SMTP_PORT, false),
        MailEncryption::StartTls => (SUBMISSION_PORT, false),
        MailEncryption::Tls => (SUBMISSIONS_PORT, true),
    };
    let port = options.port.unwrap_or(usual_port);
    let addresses: Vec<SocketAddr> = resolver::addresses_of(&options.server, timeout / 3)?
        .into_iter()
        .map(|address| SocketAddr::new(address, port))
        .collect();
    let parameters = match options.encryption {
        MailEncryption::None => None,
        _ => Some(TlsParameters::new(options.server.clone()).map_err(text)?),
    };
    let hello = ClientId::default();
    let wrapped = parameters.as_ref().filter(|_| is_wrapped);
    // It tries one address after the other, each for as long.
    let patience = (timeout / 2) / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut connection =
        SmtpConnection::connect(&addresses[..], Some(patience), &hello, wrapped, None).map_err(text)?;
    connection.set_timeout(Some(timeout)).map_err(|error| error.to_string())?;
    if let Some(parameters) = parameters.as_ref().filter(|_| !is_wrapped) {
        connection.starttls(parameters, &hello).map_err(text)?;
    }
    if let Some((user, password)) = &options.login {
        let login = Credentials::new(user.clone(), password.clone());
        connection.auth(DEFAULT_MECHANISMS, &login).map_err(text)?;
    }
    Ok(connection)
}

/// Returns whether the server said no.
fn has_refused(error: &Error) -> bool {
    error.is_permanent() || error.is_transient()
}

fn write(options: &MailOptions, [subject, text]: [&str; 2], id: &str) -> Result<Message, String> {
    let mailbox = |text: &str| text.parse::<Mailbox>().map_err(|error| format!("{text}: {error}"));
    let mut builder = Message::builder().from(mailbox(&options.from)?);
    for to in &options.to {
        builder = builder.to(mailbox(to)?);
    }
    // A header is one line. With the same id a mail that comes twice is recognised.
    let subject = subject.replace(['\r', '\n'], " ");
    let message =
        builder.subject(subject).message_id(Some(format!("<{id}@whit>"))).header(ContentType::TEXT_PLAIN);
    message.body(text.to_owned()).map_err(|error| error.to_string())
}
