//! Mail: RFC 5321, by lettre.

use std::io;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Credentials;
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
    let builder = match options.encryption {
        MailEncryption::None => Ok(SmtpTransport::builder_dangerous(&options.server)),
        MailEncryption::StartTls => SmtpTransport::starttls_relay(&options.server),
        MailEncryption::Tls => SmtpTransport::relay(&options.server),
    };
    let mut builder = match builder {
        Ok(builder) => builder.timeout(Some(timeout)),
        Err(error) => return failed(&error),
    };
    if let Some(port) = options.port {
        builder = builder.port(port);
    }
    if let Some((user, password)) = &options.login {
        builder = builder.credentials(Credentials::new(user.clone(), password.clone()));
    }
    match builder.build().send(&message) {
        Ok(_) => Progress::Delivered,
        Err(error) if was_not_sent(&error) => failed(&error),
        Err(error) => Progress::Unknown(format!("{}: {error}", options.server)),
    }
}

/// Whether the server cannot have taken it: it said no, or was not reached.
fn was_not_sent(error: &Error) -> bool {
    let has_refused = error.is_permanent() || error.is_transient() || error.is_client() || error.is_tls();
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    has_refused || source.is_some_and(was_not_reached)
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
