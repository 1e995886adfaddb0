//! Capabilities of files are Linux's; what is read here needs none.

use std::io;

/// Nothing is given.
///
/// # Errors
/// None here.
pub fn lay_down() -> io::Result<()> {
    Ok(())
}

/// Always true: there are no capabilities.
pub fn has(_mask: u64) -> bool {
    true
}

/// None are.
pub fn is_given() -> bool {
    false
}
