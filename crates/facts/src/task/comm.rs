//! A task's name.

/// The name that a task gave itself, as the kernel keeps it: up to 15 bytes and a zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Comm(pub [u8; 16]);

impl Comm {
    /// From the kernel's bytes; what is longer is cut.
    pub fn new(name: &[u8]) -> Self {
        let kept = &name[..name.len().min(15)];
        let mut bytes = [0; 16];
        bytes[..kept.len()].copy_from_slice(kept);
        Self(bytes)
    }

    /// Up to the zero.
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// Returns true if it is this name, of which the kernel keeps the first 15 bytes.
    pub fn is_named(&self, name: &str) -> bool {
        self.as_bytes() == Self::new(name.as_bytes()).as_bytes()
    }

    /// As text, with U+FFFD for what is not UTF-8.
    pub fn to_lossy(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }

    /// As text, up to the first byte that is not UTF-8.
    pub fn as_str(&self) -> &str {
        let bytes = self.as_bytes();
        std::str::from_utf8(bytes)
            .unwrap_or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default())
    }
}
