//! Names and numbers that other users cannot guess.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read as _;

/// Sixteen hexadecimal digits.
pub fn hex() -> String {
    format!("{:016x}", number())
}

/// A number that other users cannot guess: urandom(4), or where there is none the seeds of the standard library's hashers.
pub fn number() -> u64 {
    let mut bytes = [0; 8];
    match File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => RandomState::new().build_hasher().finish(),
    }
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
