//! Files that a user asked for, which appear whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access};

use crate::failure::Failure;
use probe::random;
use text::printable::Shown as _;

/// A file under construction. What was at its path stays until it is [finished](Self::finish).
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// In memory, until it is whole.
    Memory(Vec<u8>),
    /// A device or pipe, written to at once.
    Stream(File),
}

impl NewFile {
    /// Begins a file for this path, or opens the device or pipe that is there. `-` is standard output.
    ///
    /// # Errors
    /// If it could not be written in the end, as far as that can be known now.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            // The same description, so that what comes before and behind it stays.
            let file =
                rustix::io::dup(rustix::stdio::stdout()).map_err(|error| failed(path, &error.into()))?;
            return Ok(Self { path: path.to_owned(), place: Place::Stream(File::from(file)) });
        }
        if is_open_already(path) {
            let file = OpenOptions::new().append(true).open(path).map_err(|error| failed(path, &error))?;
            return Ok(Self { path: path.to_owned(), place: Place::Stream(file) });
        }
        let path = resolved(path);
        let place = begin(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, place })
    }

    /// Appends.
    pub fn write(&mut self, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let written = match &mut self.place {
            Place::Memory(bytes) => bytes.write_all(content.as_ref()),
            Place::Stream(file) => file.write_all(content.as_ref()),
        };
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::reader_gone(),
            _ => failed(&self.path, &error),
        })
    }

    /// Puts the file in its place: whole, by a rename, where that keeps what is known of the file that is there (its owner, its other
    /// names) and is permitted; else over what is there.
    pub fn finish(self) -> Result<(), Failure> {
        let Place::Memory(bytes) = &self.place else { return Ok(()) };
        let existing = fs::metadata(&self.path).ok();
        let replaced = match &existing {
            Some(existing) if existing.nlink() > 1 => Err(io::ErrorKind::Unsupported.into()),
            existing => replace(&self.path, existing.as_ref(), bytes),
        };
        let written = replaced.or_else(|error| match existing {
            Some(_) => overwrite(&self.path, bytes),
            None => Err(error),
        });
        written.map_err(|error| failed(&self.path, &error))
    }
}

/// Where symlinks lead, so that they stay; also one that leads to a file that is not there yet.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let target = fs::read_link(path).map(|target| path.parent().unwrap_or(Path::new("")).join(target));
    target.unwrap_or_else(|_| path.to_owned())
}

/// A new file in the place of an old one, or of none.
fn replace(path: &Path, existing: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    // Whatever the name is, this one is not too long.
    let start: String = name.chars().take(40).collect();
    let beside = path.with_file_name(format!(".{start}.{}", random::hex()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if existing.is_some() {
        options.mode(0o600);
    }
    let mut file = options.open(&beside)?;
    let done = existing
        .map_or(Ok(()), |existing| {
            let own = file.metadata()?;
            if (own.uid(), own.gid()) != (existing.uid(), existing.gid()) {
                fchown(&file, Some(existing.uid()), Some(existing.gid()))?;
            }
            file.set_permissions(existing.permissions())
        })
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Returns true if the path names a descriptor of this process: /dev/stdout, /dev/fd/3.
fn is_open_already(path: &Path) -> bool {
    let starts = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd"];
    starts.iter().any(|start| path.starts_with(start))
}

fn begin(path: &Path) -> io::Result<Place> {
    // A FIFO without a reader is an error and does not hold whit up.
    let write_only =
        || OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path);
    let Ok(found) = fs::metadata(path) else {
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        access(directory, Access::WRITE_OK | Access::EXEC_OK)?;
        return Ok(Place::Memory(Vec::new()));
    };
    let kind = found.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if kind.is_char_device() || kind.is_fifo() {
        return Ok(Place::Stream(blocking(write_only()?)?));
    }
    if !kind.is_file() {
        return Err(io::Error::other("is neither a file nor a device or pipe"));
    }
    // A file that may not be written is not replaced, either.
    write_only()?;
    Ok(Place::Memory(Vec::new()))
}

/// Makes a file blocking: what is written to a pipe waits for its reader.
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
