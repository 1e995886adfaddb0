//! Mailboxes on a disk, while others write to them.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use super::*;

const FROM: &str = "From a@b Mon Jan  1 12:00:00 2024\n";

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("whit-mailbox-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn counts(mailbox: &mut Mailbox) -> (u64, u64) {
    let count = mailbox.read().unwrap();
    (count.total, count.unread)
}

#[test]
fn an_mbox_is_followed_through_all_that_happens_to_it() {
    let place = Place::new("mbox");
    let path = place.0.join("mbox");
    let mut mailbox = Mailbox::new(path.clone());
    assert_eq!(mailbox.read(), Err(Absence::Gone));
    fs::write(&path, "").unwrap();
    assert_eq!(counts(&mut mailbox), (0, 0));
    let two = format!("{FROM}Status: O \n\nx\n\n{FROM}A: b\n\ny\n\n");
    fs::write(&path, &two).unwrap();
    assert_eq!(counts(&mut mailbox), (2, 2));
    // Appended.
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(format!("{FROM}A: b\n\nz\n\n").as_bytes()).unwrap();
    assert_eq!(counts(&mut mailbox), (3, 3));
    // Marked in place, of the same length, within a step of the clock; then with another appended at once.
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(FROM.len() as u64)).unwrap();
    file.write_all(b"Status: RO").unwrap();
    assert_eq!(counts(&mut mailbox), (3, 2));
    file.seek(SeekFrom::Start(FROM.len() as u64)).unwrap();
    file.write_all(b"Status: O ").unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(format!("{FROM}A: b\n\nz\n\n").as_bytes()).unwrap();
    assert_eq!(counts(&mut mailbox), (4, 4));
    // Rewritten, shorter; replaced; taken away; a directory.
    fs::write(&path, &two).unwrap();
    assert_eq!(counts(&mut mailbox), (2, 2));
    fs::write(place.0.join("other"), FROM).unwrap();
    fs::rename(place.0.join("other"), &path).unwrap();
    assert_eq!(counts(&mut mailbox), (1, 1));
    fs::remove_file(&path).unwrap();
    assert_eq!(counts(&mut mailbox), (0, 0));
    fs::create_dir_all(path.join("new")).unwrap();
    fs::create_dir_all(path.join("cur")).unwrap();
    assert_eq!(counts(&mut mailbox), (0, 0));
}

/// Thunderbird and Dovecot mark messages without moving a byte, far from the end and from what is unread.
#[test]
fn what_is_marked_in_place_is_seen() {
    let place = Place::new("in-place");
    let path = place.0.join("mbox");
    let message = format!("{FROM}X-Mozilla-Status: 0001\n\n{}\n\n", "body\n".repeat(100));
    fs::write(&path, message.repeat(100)).unwrap();
    let mut mailbox = Mailbox::new(path.clone());
    assert_eq!(counts(&mut mailbox), (100, 0));
    // Past the step of the clock, in which a change has no sign.
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(counts(&mut mailbox), (100, 0));
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(FROM.len() as u64)).unwrap();
    file.write_all(b"X-Mozilla-Status: 0000").unwrap();
    assert_eq!(counts(&mut mailbox), (100, 1));
}

#[test]
fn a_maildir_is_listed_again_when_it_changed() {
    let place = Place::new("maildir");
    for name in ["new", "cur", "tmp"] {
        fs::create_dir(place.0.join(name)).unwrap();
    }
    let mut mailbox = Mailbox::new(place.0.clone());
    assert_eq!(counts(&mut mailbox), (0, 0));
    fs::write(place.0.join("new/1"), "").unwrap();
    fs::write(place.0.join("cur/2:2,S"), "").unwrap();
    fs::write(place.0.join("tmp/3"), "").unwrap();
    assert_eq!(counts(&mut mailbox), (2, 1));
    fs::rename(place.0.join("new/1"), place.0.join("cur/1:2,S")).unwrap();
    assert_eq!(counts(&mut mailbox), (2, 0));
    fs::remove_dir_all(place.0.join("cur")).unwrap();
    assert_eq!(mailbox.read(), Err(Absence::Gone));
}

#[test]
fn a_mailbox_that_is_truncated_repeatedly_ends_no_reader() {
    let place = Place::new("cut");
    let path = place.0.join("mbox");
    let text = format!("{FROM}A: b\n\n{}\n\n", "body\n".repeat(2000)).repeat(200);
    fs::write(&path, &text).unwrap();
    let mut mailbox = Mailbox::new(path.clone());
    let is_done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (flag, cut, whole) = (is_done.clone(), path.clone(), text.clone());
    let writer = std::thread::spawn(move || {
        for round in 0..200 {
            let file = fs::OpenOptions::new().write(true).open(&cut).unwrap();
            file.set_len(round * 100).unwrap();
            fs::write(&cut, &whole).unwrap();
        }
        flag.store(true, std::sync::atomic::Ordering::Release);
    });
    while !is_done.load(std::sync::atomic::Ordering::Acquire) {
        let count = mailbox.read().unwrap();
        assert!(count.total <= 200, "{count:?}");
    }
    writer.join().unwrap();
    assert_eq!(counts(&mut mailbox), (200, 200));
}
