//! Any bytes as an mbox, read in pieces of any size, and taken up again where it was cut.

use facts::mailbox::maildir::Directory;
use facts::mailbox::mbox::{Mbox, ReadAt};

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

/// The first bytes say how large a piece is, and where the mailbox is cut.
pub fn run(input: &[u8]) {
    let Some((&[at_most, low, high], data)) = input.split_first_chunk() else { return };
    let (at_most, cut) = (usize::from(at_most) + 1, usize::from(u16::from_le_bytes([low, high])));
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
}
