//! TLS of requests: files with what is trusted, and with a certificate and its key.

use crate::{Fault, Options};

/// The options that [`read`] knows.
pub const OPTIONS: [&str; 3] = ["ca_file", "certificate_file", "key_file"];

/// Reads the files that the options name, in PEM, and lets `make` take them: certificates that are trusted in place of the system's; and a
/// certificate with its private key. What it refuses is named by the option without `_file`.
///
/// # Errors
/// If a file cannot be read or is refused, or a certificate is without its key.
pub fn read<T>(
    table: &Options<'_, '_>,
    make: impl FnOnce(Option<String>, Option<(String, String)>) -> Result<T, (&'static str, &'static str)>,
) -> Result<T, Fault> {
    let [authorities, certificate, key] = OPTIONS.map(|option| table.text_of_file(option));
    let identity = match (certificate?, key?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(table.fault("certificate_file and key_file need one another")),
    };
    make(authorities?, identity).map_err(|(text, message)| table.fault_of(&format!("{text}_file"), message))
}
