//! Mail: RFC 5321, by lettre.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::{Error, SMTP_PORT, SUBMISSION_PORT, SUBMISSIONS_PORT};
use lettre::{Message, SmtpTransport, Transport as _};

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
    let addresses = match resolver::addresses_of(&options.server, timeout) {
        Ok(addresses) => addresses,
        Err(reason) => return Progress::Failed(reason),
    };
    let mut progress = Progress::Waiting;
    for address in addresses {
        let transport = match transport(options, address, timeout) {
            Ok(transport) => transport,
            Err(error) => return failed(&error),
        };
        progress = match transport.send(&message) {
            Ok(_) => return Progress::Delivered,
            Err(error) if source(&error).is_some_and(was_not_reached) => failed(&error),
            Err(error) if was_not_sent(&error) => return failed(&error),
            Err(error) => return Progress::Unknown(format!("{}: {error}", options.server)),
        };
    }
    progress
}

/// Connects to an address of the server, and checks the certificate of its name.
fn transport(options: &MailOptions, address: IpAddr, timeout: Duration) -> Result<SmtpTransport, Error> {
    let parameters = || TlsParameters::new(options.server.clone());
    let (tls, usual_port) = match options.encryption {
        MailEncryption::None => (Tls::None, SMTP_PORT),
        MailEncryption::StartTls => (Tls::Required(parameters()?), SUBMISSION_PORT),
        MailEncryption::Tls => (Tls::Wrapper(parameters()?), SUBMISSIONS_PORT),
    };
    let builder = SmtpTransport::builder_dangerous(address.to_string())
        .tls(tls)
        .port(options.port.unwrap_or(usual_port))
        .timeout(Some(timeout));
    let login = options.login.clone().map(|(user, password)| Credentials::new(user, password));
    Ok(login.into_iter().fold(builder, |builder, login| builder.credentials(login)).build())
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
