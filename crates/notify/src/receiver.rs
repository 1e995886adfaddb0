//! The receivers of notifications.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A receiver of notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// By which rules name it.
    pub name: String,
    /// How.
    pub way: Way,
    /// The longest that one message may take.
    pub timeout: Duration,
    /// It is also notified that an alert is over.
    pub tells_ends: bool,
}

/// The way in which a receiver is notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a command: words with `{name}`, `{state}`, `{text}` and `{value}` in them, and environment variables.
    Command(Vec<String>),
    /// By a POST of JSON.
    Webhook {
        /// Where to.
        url: String,
        /// The form of the body.
        form: WebhookForm,
    },
    /// By mail.
    Mail(MailOptions),
}

/// The body that a webhook is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WebhookForm {
    /// All that is known: of alerts as Alertmanager sends it, of checks by fields of their own.
    #[default]
    Whole,
    /// A line of text in the field that a chat service expects.
    Text(&'static str),
}

impl WebhookForm {
    /// All, by the names of services that take them.
    pub const NAMED: [(&'static str, Self); 7] = [
        ("whole", Self::Whole),
        ("slack", Self::Text("text")),
        ("mattermost", Self::Text("text")),
        ("rocketchat", Self::Text("text")),
        ("google-chat", Self::Text("text")),
        ("teams", Self::Text("text")),
        ("discord", Self::Text("content")),
    ];
}

/// A mail and the server that takes it: SMTP, RFC 5321.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailOptions {
    /// The server's name or address.
    pub server: String,
    /// `None`: 25, 587 with STARTTLS, 465 with TLS.
    pub port: Option<u16>,
    /// How it is encrypted.
    pub encryption: MailEncryption,
    /// A user there, and the password.
    pub login: Option<(String, String)>,
    /// The sender.
    pub from: String,
    /// The recipients.
    pub to: Vec<String>,
}

/// How the connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailEncryption {
    /// Not at all: for a server on this machine.
    None,
    /// After it has begun, or not at all if the server refuses (RFC 3207).
    StartTls,
    /// From the beginning (RFC 8314).
    Tls,
}
