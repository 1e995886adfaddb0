//! Nasty mailboxes, in whatever pieces they are read.

use super::*;
use proptest::prelude::*;

/// Hands out so many bytes at most.
struct Pieces<'a> {
    bytes: &'a [u8],
    at_most: usize,
    read: u64,
}

impl ReadAt for Pieces<'_> {
    type Error = ();

    fn read_at(&mut self, offset: u64, memory: &mut [u8]) -> Result<usize, ()> {
        let rest =
            usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..)).unwrap_or_default();
        let length = rest.len().min(memory.len()).min(self.at_most);
        memory[..length].copy_from_slice(&rest[..length]);
        self.read += length as u64;
        Ok(length)
    }
}

fn scan(mbox: &mut Mbox, bytes: &[u8], at_most: usize) -> (u64, u64, u64) {
    let mut memory = Vec::new();
    mbox.scan(&mut Pieces { bytes, at_most, read: 0 }, &mut memory).unwrap();
    let count = mbox.count();
    (count.total, count.unread, count.new)
}

fn count(text: &str) -> (u64, u64, u64) {
    let whole = scan(&mut Mbox::default(), text.as_bytes(), usize::MAX);
    for at_most in [1, 2, 7] {
        assert_eq!(scan(&mut Mbox::default(), text.as_bytes(), at_most), whole, "{text:?} in pieces");
    }
    whole
}

const FROM: &str = "From a@b Mon Jan  1 12:00:00 2024\n";

#[test]
fn states_come_from_headers_alone() {
    assert_eq!(count(""), (0, 0, 0));
    assert_eq!(count("\n\n"), (0, 0, 0));
    assert_eq!(count("nothing of the kind\n"), (0, 0, 0));
    assert_eq!(count(&format!("{FROM}Subject: x\n\nbody\n")), (1, 1, 1));
    assert_eq!(count(&format!("{FROM}Status: RO\n\nbody\n")), (1, 0, 0));
    assert_eq!(count(&format!("{FROM}Status: O\n\nStatus: R\n")), (1, 1, 0));
    assert_eq!(count(&format!("{FROM}X-Status: D\n\nx\n")), (1, 0, 0));
    let mozilla = format!("{FROM}X-Mozilla-Status: 0001\n\nx\n\n{FROM}X-Mozilla-Status: 0008\n\n");
    assert_eq!(count(&mozilla), (1, 0, 0));
    assert_eq!(count(&format!("{FROM}sTaTuS:RO\n\nx\n")), (1, 0, 0));
    assert_eq!(count(&format!("{FROM}Subject: x\n Status: R\n\nx\n")), (1, 1, 1));
    assert_eq!(count(&format!("{FROM}X-IMAP: 1 2\n\ndata\n\n{FROM}\nx\n")), (1, 1, 1));
}

#[test]
fn separators_are_distinguished_from_prose() {
    let two = format!("{FROM}A: b\n\nx\n\n{FROM}A: b\n\ny\n");
    assert_eq!(count(&two), (2, 2, 2));
    assert_eq!(count(&two.replace('\n', "\r\n")), (2, 2, 2));
    assert_eq!(count(&format!("\n{two}")), (2, 2, 2));
    assert_eq!(count(&format!("{FROM}A: b\n\nFrom here on\n\nFrom there, too\n>{FROM}")), (1, 1, 1));
    assert_eq!(count(&format!("{FROM}A: b\n\nx\n{FROM}A: b\n\ny\n")), (2, 2, 2));
    assert_eq!(count("From a\nA: b\n\nx\n\nFrom c\nA: b\n\ny\n"), (2, 2, 2));
    assert_eq!(count(&format!("{FROM}A: b\n{FROM}Status: R\n\n")), (2, 1, 1));
    assert_eq!(count(&format!("{FROM}\n{FROM}\n{FROM}")), (3, 3, 3));
    assert_eq!(count(FROM.trim_end()), (1, 1, 1));
}

#[test]
fn a_length_that_leads_to_a_message_is_believed_and_another_is_not() {
    let body = format!("x\n\n{FROM}Status: R\n\ny\n");
    let message = |length: u64| format!("{FROM}Content-Length: {length}\n\n{body}");
    assert_eq!(count(&message(body.len() as u64)), (1, 1, 1));
    assert_eq!(count(&format!("{}\n{FROM}A: b\n\nz\n", message(body.len() as u64))), (2, 2, 2));
    let (largest, length) = (i64::MAX as u64, body.len() as u64);
    for wrong in [0, 1, length - 3, length + 1, largest - 10, largest, largest + 1, u64::MAX] {
        assert_eq!(count(&message(wrong)), (2, 1, 1), "{wrong}");
    }
    assert_eq!(count(&message(0).replace(": 0", ": 99999999999999999999999")), (2, 1, 1));
}

#[test]
fn lines_longer_than_the_window_are_walked_over() {
    let long = "x".repeat(600_000);
    let text = format!("{FROM}A: {long}\nStatus: R\n\n{long}\n\n{FROM}B: c\n\n{long}");
    assert_eq!(scan(&mut Mbox::default(), text.as_bytes(), usize::MAX), (2, 1, 1));
}

#[test]
fn what_is_appended_costs_what_was_appended() {
    let mut text = String::new();
    for number in 0..2000 {
        text.push_str(&format!("{FROM}Subject: {number}\nStatus: RO\n\n{}\n\n", "body ".repeat(100)));
    }
    let (mut mbox, mut memory) = (Mbox::default(), Vec::new());
    mbox.scan(&mut Pieces { bytes: text.as_bytes(), at_most: usize::MAX, read: 0 }, &mut memory).unwrap();
    assert_eq!((mbox.count().total, mbox.count().unread), (2000, 0));
    text.push_str(&format!("{FROM}Subject: new\n\nhello\n"));
    let mut pieces = Pieces { bytes: text.as_bytes(), at_most: usize::MAX, read: 0 };
    mbox.scan(&mut pieces, &mut memory).unwrap();
    assert_eq!((mbox.count().total, mbox.count().unread), (2001, 1));
    assert!(pieces.read < 2000, "{} bytes were read", pieces.read);
}

#[test]
fn a_half_written_message_is_right_when_it_is_whole() {
    let text = format!("{FROM}A: b\n\nx\n\n{FROM}A: b\nStatus: RO\n\nFrom here on\n\n{FROM}C: d\n\n");
    for cut in 0..text.len() {
        let mut mbox = Mbox::default();
        scan(&mut mbox, &text.as_bytes()[..cut], usize::MAX);
        assert_eq!(scan(&mut mbox, text.as_bytes(), usize::MAX), (3, 2, 2), "cut at {cut}");
    }
}

#[test]
fn unread_headers_can_be_looked_at_again() {
    let text = format!("{FROM}A: b\n\nx\n\n{FROM}Status: R\n\ny\n\n{FROM}C: d\n\n");
    let mut mbox = Mbox::default();
    scan(&mut mbox, text.as_bytes(), usize::MAX);
    let part = |(offset, length): &(u64, u64)| &text[*offset as usize..(*offset + *length) as usize];
    let headers: Vec<&str> = mbox.unread_headers().iter().map(part).collect();
    assert_eq!(headers, ["A: b\n\n", "C: d\n\n"]);
}

proptest! {
    #[test]
    fn pieces_make_no_difference(words in proptest::collection::vec(0usize..12, 0..40), at_most in 1usize..40) {
        let vocabulary = [FROM, "\n", "\r\n", "From x\n", "Status: R\n", "A: b\n", "Content-Length: 40\n", "body\n",
            "From ", ">From y\n", "\n\n", "X-IMAP: 1\n"];
        let text: String = words.iter().map(|word| vocabulary[*word]).collect();
        let whole = scan(&mut Mbox::default(), text.as_bytes(), usize::MAX);
        prop_assert_eq!(scan(&mut Mbox::default(), text.as_bytes(), at_most), whole);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        scan(&mut Mbox::default(), &bytes, 5);
    }
}
