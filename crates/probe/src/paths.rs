//! Files that a user names: their contents, whether they are there, the process whose number they hold. Any of these
//! can hang where the path leads to another machine; they are asked by a thread ([`crate::background_job`]).

use std::path::{Path, PathBuf};

use facts::cursor::Cursor;
use facts::sample::Absence;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, open, statat};
use rustix::io::{Errno, read};
use rustix::process::{Pid, test_kill_process};

/// The first bytes of a file, at most `at_most`.
///
/// # Errors
/// Why they cannot be read.
pub fn read_start(path: &Path, at_most: usize) -> Result<Vec<u8>, Absence> {
    // A FIFO without a writer must not hold the thread up for ever.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty()).map_err(absence)?;
    let mut bytes = vec![0; at_most];
    let mut length = 0;
    while length < at_most {
        match read(&file, &mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(Errno::INTR) => {}
            Err(error) => return Err(absence(error)),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Returns true if something is at a path.
///
/// # Errors
/// If that cannot be determined.
pub fn exists(path: &Path) -> Result<bool, Absence> {
    match statat(CWD, path, AtFlags::empty()).map_err(absence) {
        Ok(_) => Ok(true),
        Err(Absence::Gone) => Ok(false),
        Err(absence) => Err(absence),
    }
}

/// The process whose number stands in a file, if it lives. One `*` may stand in the file's name; the first that matches
/// is taken.
///
/// # Errors
/// If the file is there and cannot be read, or holds no number.
pub fn living_process(pid_file: &Path) -> Result<Option<u32>, Absence> {
    let Some(path) = first_match(pid_file)? else { return Ok(None) };
    let bytes = match read_start(&path, 64) {
        Err(Absence::Gone) => return Ok(None),
        read => read?,
    };
    let number = Cursor::new(bytes.trim_ascii()).number().and_then(|number| i32::try_from(number).ok());
    let pid =
        number.and_then(Pid::from_raw).ok_or(Absence::Malformed)?.as_raw_nonzero().get().cast_unsigned();
    Ok(is_living(pid).then_some(pid))
}

/// Returns true if a process of this number exists, of any user.
pub fn is_living(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

fn first_match(path: &Path) -> Result<Option<PathBuf>, Absence> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((start, end)) = name.split_once('*') else { return Ok(Some(path.to_owned())) };
    let directory = path.parent().unwrap_or(Path::new("/"));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listing = match open(directory, flags, Mode::empty()).map_err(absence) {
        Err(Absence::Gone) => return Ok(None),
        opened => Dir::new(opened?).map_err(absence)?,
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(absence)?;
        let name = entry.file_name().to_bytes();
        let fits = name.len() >= start.len() + end.len();
        if fits && name.starts_with(start.as_bytes()) && name.ends_with(end.as_bytes()) {
            found.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(found.into_iter().min().map(|name| directory.join(name)))
}

fn absence(error: Errno) -> Absence {
    match error {
        Errno::NOENT | Errno::NOTDIR => Absence::Gone,
        Errno::ACCESS | Errno::PERM => Absence::Denied,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => Absence::Exhausted,
        _ => Absence::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_leads_to_a_living_process_or_to_none() {
        let directory = std::env::temp_dir().join(format!("whit-paths-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let own = std::process::id();
        std::fs::write(directory.join("a-1.pid"), format!("{own}\n")).unwrap();
        std::fs::write(directory.join("b.pid"), "2147483646").unwrap();
        std::fs::write(directory.join("c.pid"), "none").unwrap();
        let process = |name: &str| living_process(&directory.join(name));
        assert_eq!(process("a-1.pid"), Ok(Some(own)));
        assert_eq!(process("a-*.pid"), Ok(Some(own)));
        assert_eq!((process("b.pid"), process("z*.pid"), process("d.pid")), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(process("c.pid"), Err(Absence::Malformed));
        assert_eq!((exists(&directory), exists(&directory.join("x"))), (Ok(true), Ok(false)));
        assert_eq!(read_start(&directory.join("c.pid"), 2), Ok(b"no".to_vec()));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
