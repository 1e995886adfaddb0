//! Headers of requests, credentials among them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::{Fault, Options};

/// The options that [`read`] knows.
pub const OPTIONS: [&str; 6] = ["headers", "token", "token_file", "user", "password", "password_file"];
/// Headers that every request has already.
const OWN_HEADERS: [&str; 4] = ["content-length", "transfer-encoding", "connection", "host"];

/// Reads `headers`, and the header `Authorization` of `token`, or of `user` and `password`; both can be in files. `own` are the names of more
/// headers, in small letters, that requests have already.
///
/// # Errors
/// If one cannot be a header, or credentials are there twice or in part.
pub fn read(table: &Options<'_, '_>, own: &[&str]) -> Result<Vec<(String, String)>, Fault> {
    let is_header = |name: &str| {
        let lower = name.to_ascii_lowercase();
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !OWN_HEADERS.iter().chain(own).any(|known| *known == lower)
    };
    let mut headers = table.pairs("headers", "{ X-Scope-OrgID = \"a\" }", is_header)?;
    let is_header_value = |value: &str| value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if !headers.iter().all(|(_, value)| is_header_value(value)) {
        return Err(table.fault_of("headers", "a header is one line of ASCII"));
    }
    if let Some(Authorization { value, key }) = authorization(table)? {
        if !is_header_value(&value) {
            return Err(table.fault_of(key, "a token is one line of ASCII"));
        }
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            return Err(table.fault_of("headers", format!("either Authorization here or {key}")));
        }
        headers.push(("Authorization".to_owned(), value));
    }
    Ok(headers)
}

/// The header with credentials.
struct Authorization {
    value: String,
    /// The option that has them.
    key: &'static str,
}

fn authorization(table: &Options<'_, '_>) -> Result<Option<Authorization>, Fault> {
    let token = table.secret("token")?;
    let (user, password) = (table.text("user")?, table.secret("password")?);
    let of_file = |key: &'static str, file: &'static str| if table.get(key).is_some() { key } else { file };
    match (token, user, password) {
        (None, None, None) => Ok(None),
        (Some(token), None, None) => {
            let key = of_file("token", "token_file");
            Ok(Some(Authorization { value: format!("Bearer {token}"), key }))
        }
        (None, Some(user), Some(password)) => {
            let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
            Ok(Some(Authorization { value, key: of_file("password", "password_file") }))
        }
        (None, _, _) => Err(table.fault("user and password (or password_file) need one another")),
        (Some(_), _, _) => Err(table.fault_of("token", "either a token, or user and password")),
    }
}
