//! Files that a user names: opened without waiting, refused unless they are regular files, and read no further than a limit.
//!
//! Opening a FIFO blocks until another process writes to it, opening a device can have side effects, and /dev/zero has no end.

use std::io;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

/// The longest configuration, in bytes.
pub const CONFIGURATION_BYTES: u64 = 1 << 20;

/// Opens a regular file for reading.
///
/// # Errors
/// The errors of open(2); `InvalidInput` if it is not a regular file.
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    let refuse = || io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file");
    let is_file = |mode| FileType::from_raw_mode(mode).is_file();
    // Looked at first: opening a device can have side effects.
    if !is_file(statat(CWD, path, AtFlags::empty())?.st_mode) {
        return Err(refuse());
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = openat(CWD, path, flags, Mode::empty())?;
    // And again: it may have been exchanged meanwhile.
    if is_file(fstat(&file)?.st_mode) { Ok(file) } else { Err(refuse()) }
}

/// The whole of a regular file.
///
/// # Errors
/// As for [`open`]; `FileTooLarge` if it is longer than `at_most` bytes.
pub fn read(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    read_all(&open(path)?, at_most)
}

fn read_all(file: &OwnedFd, at_most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match rustix::io::read(file, &mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(length) => bytes.extend_from_slice(&chunk[..length]),
            Err(Errno::INTR) => {}
            // Of a pipe.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(file, PollFlags::IN)], None)),
            Err(error) => return Err(error.into()),
        }
        if bytes.len() as u64 > at_most {
            let message = format!("is longer than {} KiB", at_most / 1024);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
    }
}

/// Reads a file in the same way, as text.
///
/// # Errors
/// As for [`read`]; `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, at_most: u64) -> io::Result<String> {
    text(read(path, at_most)?)
}

/// Reads a text like [`read_text`], from a pipe as well: a file on the command line may be a shell's `<(...)`. A pipe without a writer is
/// empty.
///
/// # Errors
/// As for [`read_text`].
pub fn read_text_or_pipe(path: &Path, at_most: u64) -> io::Result<String> {
    let is_pipe = |mode| FileType::from_raw_mode(mode) == FileType::Fifo;
    if !is_pipe(statat(CWD, path, AtFlags::empty())?.st_mode) {
        return read_text(path, at_most);
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    text(read_all(&openat(CWD, path, flags, Mode::empty())?, at_most)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn only_files_of_bounded_length_are_read() {
        let directory = std::env::temp_dir().join(format!("whit-named-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (short, long, fifo) = (directory.join("short"), directory.join("long"), directory.join("fifo"));
        std::fs::write(&short, "x = 1").unwrap();
        std::fs::write(&long, vec![b'#'; 3000]).unwrap();
        assert_eq!(read_text(&short, 2048).unwrap(), "x = 1");
        assert_eq!(read(&long, 2048).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        for path in [&fifo, &directory, Path::new("/dev/zero")] {
            assert_eq!(read(path, 2048).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
        assert_eq!(read_text_or_pipe(&fifo, 2048).unwrap(), "");
        // Open for both, as its writer can be before there is a reader.
        let writer = std::fs::File::options().read(true).write(true).open(&fifo).unwrap();
        std::thread::scope(|scope| {
            let read = scope.spawn(|| read_text_or_pipe(&fifo, 2048).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(50));
            (&writer).write_all(b"y = 2").unwrap();
            // When the last descriptor of a FIFO is closed, data that were not read are lost.
            while !read.is_finished() && rustix::io::ioctl_fionread(&writer).unwrap() > 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            drop(writer);
            assert_eq!(read.join().unwrap(), "y = 2");
        });
        assert_eq!(read(&directory.join("gone"), 2048).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
