//! Numbers as Prometheus writes them.

/// A number, as it stands in a label: `0.5`, `1e3`, `+Inf`, `NaN`.
pub fn parse(text: &str) -> Option<f64> {
    match text.strip_prefix('+').unwrap_or(text) {
        "" => None,
        rest => rest.parse().ok(),
    }
}

/// A number as the API and `count_values` write it: in full, without an exponent.
pub fn write_in_full(value: f64) -> String {
    if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}
