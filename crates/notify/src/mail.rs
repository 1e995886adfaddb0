//! Mail: RFC 5321, by lettre.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use lettre::Message;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{SmtpConnection, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error, SMTP_PORT, SUBMISSION_PORT, SUBMISSIONS_PORT};

use super::progress::{Progress, was_not_reached};
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
    let sent = connection.send(message.envelope(), &message.formatted());
    // What the server says to that changes nothing.
    let _ = connection.quit();
    match sent {
        Ok(_) => Progress::Delivered,
        Err(error) if was_not_sent(&error) => failed(&error),
        Err(error) => Progress::Unknown(format!("{}: {error}", options.server)),
    }
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

/// Returns whether the server cannot have taken it: it said no, or was not reached.
fn was_not_sent(error: &Error) -> bool {
    let has_refused = error.is_permanent() || error.is_transient() || error.is_client() || error.is_tls();
    has_refused || source(error).is_some_and(was_not_reached)
}

fn source(error: &Error) -> Option<&io::Error> {
    std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>())
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
