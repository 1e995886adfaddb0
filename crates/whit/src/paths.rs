//! Where a user's files are: the XDG Base Directory Specification.

use std::path::PathBuf;

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A relative path in the environment is invalid, says the specification.
fn absolute(path: PathBuf) -> Option<PathBuf> {
    path.is_absolute().then_some(path)
}

/// The user's own directory for configuration; none where neither it nor a home is known.
pub(crate) fn own_configuration_directory() -> Option<PathBuf> {
    let own = variable("XDG_CONFIG_HOME").map(PathBuf::from).and_then(absolute);
    own.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
}

/// All directories for configuration, the user's own first.
pub(crate) fn configuration_directories() -> Vec<PathBuf> {
    let systems = variable("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".into());
    own_configuration_directory()
        .into_iter()
        .chain(std::env::split_paths(&systems).filter_map(absolute))
        .collect()
}
