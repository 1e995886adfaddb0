//! Files of the form "name number" or "Name: number kB", a line each: meminfo, vmstat, cgroup's *.stat.
//!
//! A `keyed!` table names the fields; the parser expects them in that order, which is the
//! kernel's, and searches only where a kernel differs.

use std::ops::{ControlFlow, Range};

use crate::cursor::{Cursor, Malformed, starts_with};

/// Walks over a keyed file and hands each known key's index and number to `set`, until that says it has enough; "kB" is
/// multiplied out.
pub(crate) fn parse(
    bytes: &[u8],
    keys: &[&str],
    mut set: impl FnMut(usize, u64) -> ControlFlow<()>,
) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(bytes);
    let mut expected = 0;
    while cursor.peek().is_some() {
        let index = match keys.get(expected) {
            // Nearly always the line is the one that comes next.
            Some(key) if is_line_of(cursor.rest(), key.as_bytes()) => expected,
            _ => {
                let key = key_of(cursor.rest());
                // A kernel leaves some out, but keeps the order.
                match find(keys, expected..keys.len(), key).or_else(|| find(keys, 0..expected, key)) {
                    Some(index) => index,
                    None => {
                        cursor.line();
                        continue;
                    }
                }
            }
        };
        cursor.skip(keys[index].as_bytes());
        cursor.skip(b":");
        let number = cursor.number().ok_or_else(|| cursor.expected("a number"))?;
        let flow = if cursor.skip(b" kB\n") {
            set(index, number.saturating_mul(1024))
        } else {
            cursor.skip_blanks();
            let is_kib = cursor.skip(b"kB");
            cursor.line();
            set(index, if is_kib { number.saturating_mul(1024) } else { number })
        };
        if flow.is_break() {
            return Ok(());
        }
        expected = index + 1;
    }
    Ok(())
}

fn is_line_of(line: &[u8], key: &[u8]) -> bool {
    starts_with(line, key) && matches!(line.get(key.len()), Some(b':' | b' '))
}

fn key_of(line: &[u8]) -> &[u8] {
    &line[..line.iter().position(|byte| matches!(byte, b':' | b' ' | b'\n')).unwrap_or(line.len())]
}

fn find(keys: &[&str], range: Range<usize>, key: &[u8]) -> Option<usize> {
    let start = range.start;
    keys[range].iter().position(|known| known.as_bytes() == key).map(|offset| start + offset)
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

            /// All of them, in that order.
            #[allow(dead_code, reason = "not every file is read by another way")]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),*];
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
            /// Returns the value in the file, with kibibytes multiplied out to bytes; `None` if the kernel does not print it.
            pub fn get(&self, field: $field) -> Option<u64> {
                (self.present >> field as u32 & 1 == 1).then_some(self.values[field as usize])
            }

            /// Sets a field, for what comes by another way than the file.
            #[allow(dead_code, reason = "not every file has another way")]
            pub fn set(&mut self, field: $field, value: u64) {
                self.values[field as usize] = value;
                self.present |= 1 << field as u32;
            }

            /// Makes a field absent: what it said cannot be.
            #[allow(dead_code, reason = "not every file has impossible values")]
            pub(crate) fn remove(&mut self, field: $field) {
                self.present &= !(1 << field as u32);
            }

            /// Up to the field that is enough, if there is one.
            #[allow(dead_code, reason = "not every file has a field on each line")]
            fn fill(&mut self, bytes: &[u8], last: Option<$field>) -> Result<(), $crate::cursor::Malformed> {
                const { assert!($field::KEYS.len() <= 64) };
                self.present = 0;
                let last = last.map(|last| last as usize);
                $crate::linux::keyed::parse(bytes, $field::KEYS, |index, value| {
                    self.values[index] = value;
                    self.present |= 1 << index;
                    if last == Some(index) {
                        std::ops::ControlFlow::Break(())
                    } else {
                        std::ops::ControlFlow::Continue(())
                    }
                })
            }
        }
    };
}
pub(crate) use keyed;
