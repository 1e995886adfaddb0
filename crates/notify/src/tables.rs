//! Receivers as TOML: `[[receiver]]`.

use std::ffi::OsString;
use std::time::Duration;

use crate::{FIELDS, MailEncryption, MailOptions, Receiver, Way, WebhookForm};

use configuration::{Fault, Options};
use formats::shell;

const USUAL_TIMEOUT: Duration = Duration::from_secs(30);
/// A notification that takes longer comes too late.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
const ENCRYPTIONS: [(&str, MailEncryption); 3] =
    [("none", MailEncryption::None), ("starttls", MailEncryption::StartTls), ("tls", MailEncryption::Tls)];

/// The command that does a job; its last word is the path of the job.
pub fn job_program() -> Vec<OsString> {
    vec![probe::spawn::own_program(), "alert".into(), "deliver".into()]
}

/// Reads all `[[receiver]]` tables.
pub fn read(root: &Options<'_, '_>) -> Result<Vec<Receiver>, Fault> {
    let mut receivers: Vec<Receiver> = Vec::new();
    for table in root.tables("receiver")? {
        let receiver = receiver(&table)?;
        if receivers.iter().any(|other| other.name == receiver.name) {
            return Err(table.fault_of("name", format!("there is a receiver \"{}\" already", receiver.name)));
        }
        receivers.push(receiver);
    }
    Ok(receivers)
}

/// Rejects names that no receiver has.
pub fn refuse_unknown(table: &Options<'_, '_>, key: &str, receivers: &[Receiver]) -> Result<(), Fault> {
    let names = table.texts(key)?;
    let unknown = names.iter().find(|name| receivers.iter().all(|receiver| receiver.name != **name));
    match unknown {
        Some(name) => Err(table.fault_of(key, format!("there is no [[receiver]] with the name \"{name}\""))),
        None => Ok(()),
    }
}

fn receiver(table: &Options<'_, '_>) -> Result<Receiver, Fault> {
    const KNOWN: [&str; 14] = [
        "name",
        "command",
        "webhook",
        "form",
        "mail",
        "from",
        "server",
        "port",
        "encryption",
        "user",
        "password",
        "password_file",
        "timeout",
        "ends",
    ];
    table.refuse_unknown(KNOWN.into_iter(), "a receiver")?;
    let name = name(table, "\"mail\"")?;
    let ways = ["command", "webhook", "mail"].into_iter().filter(|way| table.get(way).is_some());
    let way = match ways.collect::<Vec<_>>().as_slice() {
        ["command"] => Way::Command(command(table)?),
        ["webhook"] => webhook(table)?,
        ["mail"] => Way::Mail(mail(table)?),
        _ => {
            return Err(table.fault(
                "this needs one of command = [\"mail\", …], webhook = \"https://…\" and mail = \"ann@example.org\"",
            ));
        }
    };
    let timeout = table.duration("timeout")?.unwrap_or(USUAL_TIMEOUT);
    if timeout > MAX_TIMEOUT {
        return Err(table.fault_of("timeout", "expected 10m or less"));
    }
    let tells_ends = table.flag_or("ends", true)?;
    Ok(Receiver { name, way, timeout, tells_ends })
}

/// The words of a command. What stands for a field is often what others have sent.
fn command(table: &Options<'_, '_>) -> Result<Vec<String>, Fault> {
    let words = table.words("command")?.unwrap_or_default();
    let has_field = |word: &str| FIELDS.iter().any(|field| word.contains(field));
    match shell::program_among(&words, has_field) {
        Some(_) => Err(table.fault_of(
            "command",
            "a shell would read what stands for {…} as a part of its program: let it be words behind that, as in \
             [\"sh\", \"-c\", \"echo \\\"$1\\\"\", \"sh\", \"{text}\"], or read it from the environment",
        )),
        None => Ok(words),
    }
}

fn webhook(table: &Options<'_, '_>) -> Result<Way, Fault> {
    let url = table.text("webhook")?.unwrap_or_default();
    table.check_http_address("webhook", url)?;
    let form = table.choice("form", &WebhookForm::NAMED)?.unwrap_or_default();
    Ok(Way::Webhook { url: url.to_owned(), form })
}

fn mail(table: &Options<'_, '_>) -> Result<MailOptions, Fault> {
    let to = table.texts("mail")?;
    let is_address = |address: &str| address.contains('@') && !address.contains(['\r', '\n']);
    if to.is_empty() || !to.iter().all(|address| is_address(address)) {
        return Err(table.fault_of("mail", "expected an address, such as \"ann@example.org\""));
    }
    let server = table.text("server")?.unwrap_or("localhost").to_owned();
    let is_local = ["localhost", "127.0.0.1", "::1"].contains(&server.as_str());
    let usual = if is_local { MailEncryption::None } else { MailEncryption::StartTls };
    let from = table.text("from")?.map_or_else(|| "whit@localhost".to_owned(), str::to_owned);
    if !is_address(&from) {
        return Err(table.fault_of("from", "expected an address, such as \"whit@example.org\""));
    }
    let login = match (table.text("user")?, table.secret("password")?) {
        (Some(user), Some(password)) => Some((user.to_owned(), password)),
        (None, None) => None,
        (_, _) => return Err(table.fault("either both user and password or neither")),
    };
    Ok(MailOptions {
        server,
        port: table.number("port", 1.0, 65_535.0)?.map(|port| port as u16),
        encryption: table.choice("encryption", &ENCRYPTIONS)?.unwrap_or(usual),
        login,
        from,
        to,
    })
}

/// Reads the name of a rule or a receiver.
pub fn name(table: &Options<'_, '_>, example: &str) -> Result<String, Fault> {
    let name = table.required_text("name", example)?;
    if name.is_empty() || name.len() > 100 || name.starts_with('{') || name.chars().any(char::is_control) {
        return Err(
            table.fault_of("name", format!("expected a name of up to 100 letters, such as {example}"))
        );
    }
    Ok(name.to_owned())
}
