//! Names and numbers that other users cannot guess.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Sixteen hexadecimal digits. The standard library seeds its hashers from the operating system's random numbers, a different
/// one each time, and SipHash does not reveal its key.
pub fn hex() -> String {
    format!("{:016x}", number())
}

/// A number that other users cannot guess.
pub fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_name_comes_twice() {
        let names: std::collections::HashSet<String> = (0..10_000).map(|_| super::hex()).collect();
        assert_eq!(names.len(), 10_000);
        assert!(names.iter().all(|name| name.len() == 16));
    }
}
