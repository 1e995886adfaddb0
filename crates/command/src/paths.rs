//! Where a user's files are: the XDG Base Directory Specification.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A relative path in the environment is invalid, says the specification.
fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.is_absolute().then_some(path)
}

/// The user's own directory for configuration; `None` if neither it nor a home is known.
pub fn own_configuration_directory() -> Option<PathBuf> {
    let own = variable("XDG_CONFIG_HOME").map(PathBuf::from).and_then(absolute);
    own.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
}

/// All directories for configuration, the user's own first.
pub fn configuration_directories() -> Vec<PathBuf> {
    let systems = variable("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".into());
    own_configuration_directory()
        .into_iter()
        .chain(std::env::split_paths(&systems).filter_map(absolute))
        .collect()
}

/// The agent's configuration in the directory that systemd gives its service: ConfigurationDirectory= of systemd.exec(5). A service has no
/// home, and its user is not root. `None` if there is no such file.
pub fn service_configuration() -> Option<PathBuf> {
    let directory = variable("CONFIGURATION_DIRECTORY").map(PathBuf::from).and_then(absolute)?;
    Some(directory.join("agent.toml")).filter(|path| path.exists())
}

/// A file in the first of these directories that has it.
pub fn find_configuration(file: &str) -> Option<PathBuf> {
    configuration_directories().into_iter().map(|directory| directory.join(file)).find(|path| path.exists())
}

/// Where this user's programs keep what must survive a restart. Root's is the system's, whatever the environment says of a home,
/// unless XDG_STATE_HOME names another.
pub fn state_directory() -> Option<PathBuf> {
    let own = variable("XDG_STATE_HOME").map(PathBuf::from).and_then(absolute);
    own.or_else(|| match rustix::process::geteuid().is_root() {
        true => Some(PathBuf::from("/var/lib")),
        false => variable("HOME").map(PathBuf::from).and_then(absolute).map(|home| home.join(".local/state")),
    })
}

/// Returns the data directory that the environment names for all commands: WHIT_DATA.
pub fn data_of_environment() -> Option<PathBuf> {
    variable("WHIT_DATA").map(PathBuf::from)
}

/// Returns the agent's configuration that the environment names for all commands: WHIT_CONFIG.
pub fn configuration_of_environment() -> Option<PathBuf> {
    variable("WHIT_CONFIG").map(PathBuf::from)
}

/// Where the history is: as it was named, here or in the environment, or this user's place for it.
///
/// # Errors
/// If there is no home.
pub fn data_directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named
        .map(Path::to_owned)
        .or_else(data_of_environment)
        .or_else(|| state_directory().map(|state| state.join("whit")))
        .ok_or_else(|| Failure::new("no HOME, so no place for a history: --data DIR names one"))
}

/// Where the service records, and root's agent: systemd's StateDirectory.
pub const SERVICE_DATA: &str = "/var/lib/whit";

/// Where an agent of root has its socket and its file of the last tick.
const SYSTEM_RUNTIME: &str = "/run/whit";

/// Where an agent of this user has them: for root the system's place; `None` if this user has none.
pub fn runtime_directory() -> Option<PathBuf> {
    match rustix::process::geteuid().is_root() {
        true => Some(PathBuf::from(SYSTEM_RUNTIME)),
        false => own_runtime_directory(),
    }
}

fn own_runtime_directory() -> Option<PathBuf> {
    variable("XDG_RUNTIME_DIR").map(PathBuf::from).and_then(absolute).map(|directory| directory.join("whit"))
}

/// The sockets at which this user asks an agent: the system's first, since it may see more.
pub fn agent_sockets() -> impl Iterator<Item = PathBuf> {
    [Some(system_agent_socket()), own_agent_socket()].into_iter().flatten()
}

/// The socket of the agent of the machine.
pub fn system_agent_socket() -> PathBuf {
    Path::new(SYSTEM_RUNTIME).join(AGENT_SOCKET)
}

/// The socket of an agent that this user has started.
pub fn own_agent_socket() -> Option<PathBuf> {
    own_runtime_directory().map(|directory| directory.join(AGENT_SOCKET))
}

/// The name of the agent's socket.
pub const AGENT_SOCKET: &str = "agent.sock";

/// Returns true if only this user and root can change what lies at a path: no component of it is writable by others, but for sticky
/// directories such as /tmp, and none is a symlink.
pub fn is_trusted(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    path.is_absolute()
        && path.ancestors().all(|part| {
            std::fs::symlink_metadata(part).is_ok_and(|found| {
                let is_own = found.uid() == own || found.uid() == 0 && part != path;
                let is_sticky = found.mode() & 0o1000 != 0 && part != path;
                let is_writable_by_others = found.mode() & 0o022 != 0 && !is_sticky;
                found.is_dir() && is_own && !is_writable_by_others
            })
        })
}

/// Device and inode of what is at a path, which is not followed if it is a symlink. Shows whether it is still what was created there.
pub fn identity_of(path: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
