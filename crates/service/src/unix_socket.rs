//! A Unix socket at a path.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Listens at a path, whose directory is made; a socket that no process listens at any more makes room. Everybody may connect: what each
/// may see is decided by who it is.
///
/// # Errors
/// If another process listens there, or the socket cannot be made.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another agent listens there"));
    }
    remove(path)?;
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Removes a socket, and nothing else that may be there.
pub fn remove(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something else than a socket")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
