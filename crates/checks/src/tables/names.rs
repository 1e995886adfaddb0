//! Names of hosts and checks, and labels.

use formats::series_name::is_label;

use configuration::{Fault, Options, expected, text};

/// `labels = { team = "web" }`.
pub(super) fn labels(table: &Options<'_, '_>) -> Result<Vec<(String, String)>, Fault> {
    let Some(value) = table.get("labels") else { return Ok(Vec::new()) };
    let all = value.get_ref().as_table().ok_or_else(|| expected(value, "{ team = \"web\" }"))?;
    let mut labels = Vec::new();
    for (name, value) in all.iter() {
        let label = name.get_ref();
        if !is_label(label) || label.starts_with("__") || ["host", "check"].contains(&label.as_ref()) {
            return Err(Fault::new(name.span(), format!("\"{label}\" cannot be a label")));
        }
        labels.push((label.to_string(), text(value)?.to_owned()));
    }
    Ok(labels)
}

/// Checks that a check of a host can have this name, which is behind that of the host.
pub(super) fn service_name(name: &str) -> Result<(), String> {
    check_name(&name.replace('/', "_"))
}

/// Checks that a host or a check can have this name.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_odd = |letter: char| letter.is_control() || letter == '/' || letter == ';';
    match name.is_empty() || name.len() > 200 || name.contains(is_odd) {
        true => Err("expected a name of up to 200 letters, without / and ;".to_owned()),
        false => Ok(()),
    }
}
