//! Any bytes as an mbox, read in pieces of any size, and taken up again where it was cut.

#![no_main]

use facts::mailbox::maildir::Directory;
use facts::mailbox::mbox::{Mbox, ReadAt};
use libfuzzer_sys::fuzz_target;

struct Pieces<'a>(&'a [u8], usize);

impl ReadAt for Pieces<'_> {
    type Error = ();

    fn read_at(&mut self, offset: u64, memory: &mut [u8]) -> Result<usize, ()> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
        let length = rest.len().min(memory.len()).min(self.1);
        memory[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (at_most, cut, data) = (usize::from(input.0) + 1, usize::from(input.1), input.2);
    let mut memory = Vec::new();
    let mut scan = |mbox: &mut Mbox, bytes: &[u8], at_most| {
        let _ = mbox.scan(&mut Pieces(bytes, at_most), &mut memory);
        mbox.count()
    };
    let whole = scan(&mut Mbox::default(), data, usize::MAX);
    assert_eq!(scan(&mut Mbox::default(), data, at_most), whole);
    let mut appended = Mbox::default();
    scan(&mut appended, &data[..cut.min(data.len())], usize::MAX);
    scan(&mut appended, data, usize::MAX);
    assert!(whole.new <= whole.unread && whole.unread <= whole.total);
    Directory::Cur.count(data);
});
