//! Files that a user asked for, which appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::random;
use crate::show::text::Shown as _;

/// A file under construction. What was at its path stays until it is [finished](Self::finish).
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    file: File,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// Beside the path, to be renamed.
    Beside(PathBuf),
    /// In memory, for a file in a directory where none can be made.
    Memory(Vec<u8>),
    /// A device or pipe, written to at once.
    Stream,
}

impl NewFile {
    /// Begins a file for this path, or opens the device or pipe that is there.
    ///
    /// # Errors
    /// If it could not be written in the end, as far as that can be known now.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if is_open_already(path) {
            let file = OpenOptions::new().append(true).open(path).map_err(|error| failed(path, &error))?;
            return Ok(Self { path: path.to_owned(), file, place: Place::Stream });
        }
        // Where a symlink leads, so that the link stays.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (file, place) = begin(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, file, place })
    }

    /// Appends.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let written = match &mut self.place {
            Place::Memory(bytes) => bytes.write_all(text.as_bytes()),
            Place::Beside(_) | Place::Stream => self.file.write_all(text.as_bytes()),
        };
        written.map_err(|error| failed(&self.path, &error))
    }

    /// Puts the file in its place.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let done = match &mut self.place {
            Place::Beside(beside) => fs::rename(&*beside, &self.path),
            Place::Memory(bytes) => self.file.set_len(0).and_then(|()| self.file.write_all(bytes)),
            Place::Stream => Ok(()),
        };
        if done.is_ok() {
            self.place = Place::Stream;
        }
        done.map_err(|error| failed(&self.path, &error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Place::Beside(beside) = &self.place {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Whether it names a descriptor of this process: /dev/stdout, /dev/fd/3.
fn is_open_already(path: &Path) -> bool {
    let starts = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd"];
    starts.iter().any(|start| path.starts_with(start))
}

fn begin(path: &Path) -> io::Result<(File, Place)> {
    let existing = fs::metadata(path).ok();
    // A FIFO without a reader is an error and does not hold whit up.
    let write_only =
        || OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
    if let Some(found) = &existing {
        let kind = found.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if kind.is_char_device() || kind.is_fifo() {
            return Ok((blocking(write_only()?)?, Place::Stream));
        }
        if !kind.is_file() {
            return Err(io::Error::other("is neither a file nor a device or pipe"));
        }
        // A file that may not be written is not replaced, either.
        write_only()?;
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    // Whatever the name is, this one is not too long.
    let start: String = name.chars().take(40).collect();
    let beside = path.with_file_name(format!(".{start}.{}", random::hex()));
    match OpenOptions::new().write(true).create_new(true).open(&beside) {
        Ok(file) => {
            if let Some(found) = existing {
                // As it was; an owner's change of it must not be lost.
                let _ = file.set_permissions(found.permissions());
            }
            Ok((file, Place::Beside(beside)))
        }
        Err(error) if existing.is_some() && error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((write_only()?, Place::Memory(Vec::new())))
        }
        Err(error) => Err(error),
    }
}

/// What is written to a pipe waits for its reader.
fn blocking(file: File) -> io::Result<File> {
    rustix::io::ioctl_fionbio(&file, false)?;
    Ok(file)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_or_stays_as_it_was() {
        let directory = std::env::temp_dir().join(format!("whit-new-file-{}", random::hex()));
        fs::create_dir(&directory).unwrap();
        let path = directory.join("report");
        fs::write(&path, "before").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write("after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        drop(file);
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read_dir(&directory).unwrap().count()),
            (b"before".to_vec(), 1)
        );
        let mut file = NewFile::create(&path).unwrap();
        file.write("after").unwrap();
        file.finish().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read_dir(&directory).unwrap().count()),
            (b"after".to_vec(), 1)
        );
        assert!(NewFile::create(&directory).is_err() && NewFile::create(&directory.join("no/x")).is_err());
        assert!(NewFile::create(Path::new("/dev/null")).and_then(NewFile::finish).is_ok());
        fs::remove_dir_all(&directory).unwrap();
    }
}
