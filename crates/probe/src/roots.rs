//! Where the machine is: the live one, or one that was captured into a directory.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::Arc;

#[cfg(target_os = "linux")]
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, StatxFlags, fstat, makedev, open, openat, openat2,
    readlinkat, statat, statx,
};
#[cfg(target_os = "linux")]
use rustix::io::Errno;

/// The root below which `proc` and `sys` are opened.
#[derive(Clone, Debug)]
pub struct Roots {
    root: Option<PathBuf>,
}

/// The system of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    #[cfg(target_os = "linux")]
    Linux,
    FreeBsd,
}

impl System {
    /// That of the machine on which whit runs.
    #[cfg(target_os = "linux")]
    const LIVE: Self = Self::Linux;
    /// That of the machine on which whit runs.
    #[cfg(target_os = "freebsd")]
    const LIVE: Self = Self::FreeBsd;
}

/// A root that cannot be opened.
#[derive(Debug)]
pub struct RootError {
    path: PathBuf,
    error: io::Error,
    is_captured: bool,
}

impl RootError {
    /// Returns the error with which opening failed.
    pub fn cause(&self) -> &io::Error {
        &self.error
    }

    /// Returns true if the root is that of a captured machine.
    pub fn is_captured(&self) -> bool {
        self.is_captured
    }
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for RootError {}

impl Roots {
    /// This machine.
    pub fn live() -> Self {
        Self { root: None }
    }

    /// A machine captured in the directory `root`: `proc` and perhaps `sys` and `statfs` of Linux, or `sysctl` of FreeBSD.
    pub fn captured(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    /// The directory of a captured machine.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns true if the machine is a captured one, which stands still.
    pub fn is_captured(&self) -> bool {
        self.root.is_some()
    }

    /// The system of the machine. A capture of FreeBSD contains a directory `sysctl`.
    ///
    /// # Errors
    /// If whit cannot read this system's captures here.
    pub(crate) fn system(&self) -> Result<System, RootError> {
        match &self.root {
            None => Ok(System::LIVE),
            Some(path) if path.join("sysctl").symlink_metadata().is_ok_and(|data| data.is_dir()) => {
                Ok(System::FreeBsd)
            }
            #[cfg(target_os = "linux")]
            Some(_) => Ok(System::Linux),
            #[cfg(not(target_os = "linux"))]
            Some(path) => {
                let message = "not a capture of FreeBSD; others are read on Linux";
                let error = io::Error::new(io::ErrorKind::Unsupported, message);
                Err(RootError { path: path.clone(), error, is_captured: true })
            }
        }
    }

    /// Where a captured machine is.
    pub(crate) fn captured_path(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// An error about a directory of the root.
    pub(crate) fn error(&self, directory: &str, error: io::Error) -> RootError {
        let path = self.root.as_deref().unwrap_or(Path::new("/")).join(directory);
        RootError { path, error, is_captured: self.is_captured() }
    }

    /// The directory that all other paths are opened from.
    ///
    /// # Errors
    /// If it is no directory that can be opened, or a captured one holds no `proc`.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(&self) -> Result<MachineDirectory, RootError> {
        let path = self.root.as_deref().unwrap_or(Path::new("/"));
        let is_captured = self.is_captured();
        let fail = |path: &Path, error: io::Error| RootError { path: path.into(), error, is_captured };
        let directory = open(path, DIRECTORY, Mode::empty()).map_err(|error| fail(path, error.into()))?;
        if !is_captured {
            return Ok(MachineDirectory { directory, captured: None });
        }
        let root = Arc::new(directory.try_clone().map_err(|error| fail(path, error))?);
        let opened = MachineDirectory { directory, captured: Some(Captured { root, path: String::new() }) };
        opened.open_at("proc", DIRECTORY).map_err(|error| fail(&path.join("proc"), error.into()))?;
        Ok(opened)
    }
}

#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A directory of a machine, its root or one below. Of a captured machine everything is resolved within its root: no symlink and no
/// `..` leads out of it, and only files and directories are opened, so that a FIFO cannot block.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct MachineDirectory {
    directory: OwnedFd,
    captured: Option<Captured>,
}

/// The number of a file, with that of its device, and its type.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    pub(crate) inode: u64,
    file_type: FileType,
}

#[cfg(target_os = "linux")]
impl Identity {
    /// Returns true for a pipe, with a name (fifo(7)) or without.
    pub(crate) fn is_pipe(self) -> bool {
        self.file_type.is_fifo()
    }
}

/// Where a directory of a captured machine lies.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
struct Captured {
    root: Arc<OwnedFd>,
    /// From the root, with a slash behind each part.
    path: String,
}

#[cfg(target_os = "linux")]
impl MachineDirectory {
    /// A directory of this machine.
    pub(crate) fn live(directory: OwnedFd) -> Self {
        Self { directory, captured: None }
    }

    pub(crate) fn is_captured(&self) -> bool {
        self.captured.is_some()
    }

    /// Opens a path in it.
    pub(crate) fn open_at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        let Some(captured) = &self.captured else {
            return openat(&self.directory, path, flags | OFlags::NOCTTY, Mode::empty());
        };
        if !flags.intersects(OFlags::DIRECTORY | OFlags::PATH) {
            // Looked at before it is opened, which can have side effects.
            let found = captured.open(path, OFlags::PATH | OFlags::CLOEXEC)?;
            if !FileType::from_raw_mode(fstat(&found)?.st_mode).is_file() {
                return Err(Errno::INVAL);
            }
        }
        // openat2(2) takes no flag that means nothing.
        let waits =
            if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK | OFlags::NOCTTY };
        captured.open(path, flags | waits)
    }

    /// A directory in it.
    pub(crate) fn directory_at(&self, path: &str) -> Result<Self, Errno> {
        let directory = self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let captured = self
            .captured
            .as_ref()
            .map(|captured| Captured { path: format!("{}{path}/", captured.path), ..captured.clone() });
        Ok(Self { directory, captured })
    }

    /// Checks that something is at a path in it.
    pub(crate) fn look_at(&self, path: &str) -> Result<(), Errno> {
        match &self.captured {
            None => statat(&self.directory, path, AtFlags::empty()).map(drop),
            Some(captured) => captured.open(path, OFlags::PATH | OFlags::CLOEXEC).map(drop),
        }
    }

    /// Returns which file is at a path in it, as the kernel remembers it: a server of files that does not answer is not asked
    /// (AT_STATX_DONT_SYNC), unless the kernel has no statx(2), before Linux 4.11.
    pub(crate) fn identity_at(&self, path: &str) -> Result<Identity, Errno> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO;
        let found = match &self.captured {
            None => statx(&self.directory, path, AtFlags::STATX_DONT_SYNC, wanted),
            Some(captured) => {
                let file = captured.open(path, OFlags::PATH | OFlags::CLOEXEC)?;
                statx(&file, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, wanted)
            }
        };
        match (found, &self.captured) {
            (Ok(found), _) => Ok(Identity {
                device: makedev(found.stx_dev_major, found.stx_dev_minor),
                inode: found.stx_ino,
                file_type: FileType::from_raw_mode(found.stx_mode.into()),
            }),
            (Err(Errno::NOSYS), None) => {
                let found = statat(&self.directory, path, AtFlags::empty())?;
                let file_type = FileType::from_raw_mode(found.st_mode);
                Ok(Identity { device: found.st_dev, inode: found.st_ino, file_type })
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Where a symlink in it leads, as it says.
    pub(crate) fn link_at(&self, path: &str) -> Result<String, Errno> {
        let target = match &self.captured {
            None => readlinkat(&self.directory, path, Vec::new())?,
            Some(captured) => {
                let link = captured.open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
                readlinkat(&link, "", Vec::new())?
            }
        };
        Ok(target.to_string_lossy().into_owned())
    }
}

#[cfg(target_os = "linux")]
impl Captured {
    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        const ATTEMPTS: u32 = 16;
        let whole = format!("{}{path}", self.path);
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let mut opened = Err(Errno::AGAIN);
        // Something was renamed meanwhile.
        for _ in 0..ATTEMPTS {
            opened = openat2(&*self.root, &whole, flags, Mode::empty(), resolve);
            if opened.as_ref().err() != Some(&Errno::AGAIN) {
                break;
            }
        }
        match opened {
            Err(Errno::NOSYS) => self.open_by_parts(&whole, flags),
            opened => opened,
        }
    }

    /// Opens a path where the kernel has no openat2(2), before 5.6: part by part, and symlinks are read here.
    fn open_by_parts(&self, whole: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        const MAX_LINKS: u32 = 40;
        let mut links = 0;
        // The directories from the root to where it is now, and the parts that are left, the next one last.
        let mut entered: Vec<OwnedFd> = Vec::new();
        let mut left: Vec<String> = whole.rsplit('/').map(str::to_owned).collect();
        while let Some(part) = left.pop() {
            let directory = entered.last().unwrap_or(&self.root);
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    entered.pop();
                    continue;
                }
                _ => {}
            }
            let found = openat(directory, &part, LOOK, Mode::empty())?;
            let is_last = left.iter().all(|part| part.is_empty() || part == ".");
            let is_link = FileType::from_raw_mode(fstat(&found)?.st_mode).is_symlink();
            if is_link && !(is_last && flags.contains(OFlags::NOFOLLOW)) {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let target = readlinkat(&found, "", Vec::new())?.to_string_lossy().into_owned();
                if target.starts_with('/') {
                    entered.clear();
                }
                left.extend(target.rsplit('/').map(str::to_owned));
            } else if is_last {
                return openat(directory, &part, flags | OFlags::NOFOLLOW, Mode::empty());
            } else {
                entered.push(found);
            }
        }
        openat(entered.last().unwrap_or(&self.root), ".", flags, Mode::empty())
    }
}

#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
impl AsFd for MachineDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_out_of_a_captured_machine() {
        let place = std::env::temp_dir().join(format!("whit-root-{}", std::process::id()));
        let root = place.join("machine");
        fs::create_dir_all(root.join("proc/net")).unwrap();
        fs::create_dir_all(root.join("sys/class/net/eth0")).unwrap();
        fs::write(root.join("proc/net/dev"), "inside").unwrap();
        fs::write(place.join("secret"), "outside").unwrap();
        fs::write(root.join("secret"), "inside").unwrap();
        symlink(place.join("secret"), root.join("proc/absolute")).unwrap();
        symlink("/proc/version", root.join("proc/version")).unwrap();
        symlink("../../secret", root.join("proc/relative")).unwrap();
        symlink("/proc/net/dev", root.join("proc/within")).unwrap();
        symlink("/sys", root.join("sys/class/net/wlan0")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, root.join("proc/fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let machine = Roots::captured(&root).open().unwrap();
        let read = |directory: &MachineDirectory, path: &str| {
            let file = directory.open_at(path, OFlags::RDONLY)?;
            let mut bytes = [0; 64];
            let length = rustix::io::read(&file, &mut bytes)?;
            Ok::<_, Errno>(String::from_utf8_lossy(&bytes[..length]).into_owned())
        };
        for path in ["proc/absolute", "proc/version", "proc/../../../../../etc/passwd"] {
            assert!(read(&machine, path).is_err(), "{path}");
        }
        for path in ["proc/within", "proc/relative", "../proc/net/dev", "secret"] {
            assert_eq!(read(&machine, path).as_deref(), Ok("inside"), "{path}");
        }
        // The same without openat2(2).
        let captured = machine.captured.as_ref().unwrap();
        let by_parts = |path: &str| {
            let file = captured.open_by_parts(path, OFlags::RDONLY | OFlags::CLOEXEC)?;
            let mut bytes = [0; 64];
            let length = rustix::io::read(&file, &mut bytes)?;
            Ok::<_, Errno>(String::from_utf8_lossy(&bytes[..length]).into_owned())
        };
        for path in ["proc/absolute", "proc/version", "proc/../../../../../etc/passwd"] {
            assert!(by_parts(path).is_err(), "{path}");
        }
        for path in
            ["proc/within", "proc/relative", "../proc/net/dev", "secret", "sys/class/net/wlan0/../secret"]
        {
            assert_eq!(by_parts(path).as_deref(), Ok("inside"), "{path}");
        }
        symlink("loop", root.join("proc/loop")).unwrap();
        assert_eq!(by_parts("proc/loop"), Err(Errno::LOOP));
        // A FIFO is no file; nothing waits for a writer.
        assert_eq!(read(&machine, "proc/fifo"), Err(Errno::INVAL));
        let interfaces = machine.directory_at("sys/class/net").unwrap();
        assert!(interfaces.look_at("eth0").is_ok() && interfaces.look_at("wlan0/class/net/eth0").is_ok());
        assert_eq!(read(&interfaces, "../../../secret").as_deref(), Ok("inside"));
        assert_eq!(interfaces.link_at("wlan0").as_deref(), Ok("/sys"));
        assert!(Roots::captured(place.join("machine/sys")).open().is_err());
        fs::remove_dir_all(&place).unwrap();
    }
}
