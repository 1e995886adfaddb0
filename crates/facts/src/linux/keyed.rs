//! Files of the form "name number" or "Name: number kB", a line each: meminfo, vmstat, cgroup's *.stat.
//!
//! A [`keyed!`](crate::linux::keyed::keyed) table names the fields; the parser expects them in that order, which is the
//! kernel's, and searches only where a kernel differs.

use crate::cursor::{Malformed, lines};

/// Walks over a keyed file and hands each known key's index and number to `set`; "kB" is multiplied out.
pub(crate) fn parse(bytes: &[u8], keys: &[&str], mut set: impl FnMut(usize, u64)) -> Result<(), Malformed> {
    let mut expected = 0;
    for mut line in lines(bytes) {
        let rest = line.rest();
        let is_key = |key: &&str| {
            rest.strip_prefix(key.as_bytes()).is_some_and(|after| matches!(after.first(), Some(b':' | b' ')))
        };
        let index = match keys.get(expected) {
            Some(key) if is_key(key) => expected,
            _ => match keys.iter().position(is_key) {
                Some(index) => index,
                None => continue,
            },
        };
        line.skip(keys[index].as_bytes());
        line.skip(b":");
        let number = line.number().ok_or_else(|| line.expected("a number"))?;
        line.skip_blanks();
        set(index, if line.skip(b"kB") { number.saturating_mul(1024) } else { number });
        expected = index + 1;
    }
    Ok(())
}

/// Makes a type for a keyed file and an enum of its fields.
macro_rules! keyed {
    (
        $(#[$file_doc:meta])* $file:ident,
        $(#[$field_doc:meta])* $field:ident {
            $($(#[$doc:meta])* $variant:ident = $key:literal,)*
        }
    ) => {
        $(#[$field_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $field {
            $($(#[$doc])* #[doc = concat!("`", $key, "`")] $variant,)*
        }

        impl $field {
            /// The kernel's names, in the order of the variants.
            pub const KEYS: &'static [&'static str] = &[$($key),*];
        }

        $(#[$file_doc])*
        #[derive(Clone, Debug)]
        pub struct $file {
            values: [u64; $field::KEYS.len()],
            present: u64,
        }

        impl Default for $file {
            fn default() -> Self {
                Self { values: [0; $field::KEYS.len()], present: 0 }
            }
        }

        impl $file {
            /// What the file said, with kibibytes multiplied out to bytes; none where the kernel does not print it.
            pub fn get(&self, field: $field) -> Option<u64> {
                (self.present >> field as u32 & 1 == 1).then_some(self.values[field as usize])
            }

            fn fill(&mut self, bytes: &[u8]) -> Result<(), $crate::cursor::Malformed> {
                const { assert!($field::KEYS.len() <= 64) };
                self.present = 0;
                $crate::linux::keyed::parse(bytes, $field::KEYS, |index, value| {
                    self.values[index] = value;
                    self.present |= 1 << index;
                })
            }
        }
    };
}
pub(crate) use keyed;
