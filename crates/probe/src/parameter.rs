//! A parameter of the kernel by its name, as sysctl(8) has it.

use std::io;

use crate::roots::{RootError, Roots, System};
use crate::sysctl;

/// Reads a parameter: on FreeBSD, and of its captures, the bytes of a node of sysctl(3); on Linux the text of a file below /proc/sys, with its
/// line feed (proc_sys(5)). `name` is a name with dots; on Linux it may have slashes instead, and where both occur the first of them separates.
///
/// # Errors
/// `NotFound` if there is no such parameter, `PermissionDenied` if it may not be read. With any other error, `name` is a
/// group of parameters, or the machine cannot be opened.
pub fn parameter(roots: &Roots, name: &str) -> io::Result<Vec<u8>> {
    if name.contains('\0') {
        return Err(io::ErrorKind::NotFound.into());
    }
    let failed = |error: RootError| io::Error::new(error.cause().kind(), error.to_string());
    match roots.system().map_err(failed)? {
        #[cfg(target_os = "linux")]
        System::Linux => {
            let directory = roots.open().map_err(failed)?;
            let path = path(name).ok_or(io::ErrorKind::NotFound)?;
            Ok(crate::linux::files::Buffer::new().read_once(&directory, &path)?.to_vec())
        }
        System::FreeBsd => sysctl::node_bytes(roots, name),
    }
}

/// Returns the file of a parameter; `None` for a name that leads elsewhere.
#[cfg(target_os = "linux")]
fn path(name: &str) -> Option<String> {
    let has_slashes = name.find(['.', '/']).is_some_and(|place| name.as_bytes()[place] == b'/');
    let path: String = match has_slashes {
        true => name.to_owned(),
        // A dot in the name of an interface is written as a slash.
        false => name
            .chars()
            .map(|letter| {
                if letter == '.' {
                    '/'
                } else if letter == '/' {
                    '.'
                } else {
                    letter
                }
            })
            .collect(),
    };
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    path.split('/').all(is_name).then(|| format!("proc/sys/{path}"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn fixture(name: &str) -> Roots {
        Roots::captured(format!("{}/../../fixtures/{name}", env!("CARGO_MANIFEST_DIR")))
    }

    #[test]
    fn parameters_of_both_systems_are_read() {
        let read = |machine: &str, name: &str| parameter(&fixture(machine), name);
        assert_eq!(read("linux-6.18", "kernel.task_delayacct").unwrap(), b"1\n");
        assert_eq!(read("linux-6.18", "kernel/task_delayacct").unwrap(), b"1\n");
        assert_eq!(read("freebsd-14", "hw.ncpu").unwrap().len(), 4);
        for machine in ["linux-6.18", "freebsd-14"] {
            for name in ["kernel.nothing", "../../etc/passwd", "kernel/../../stat", "kernel.os\0release", ""]
            {
                let error = read(machine, name).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{machine}: {name}: {error}");
            }
        }
    }

    #[test]
    fn names_are_those_of_sysctl() {
        for (name, expected) in [
            ("vm.swappiness", Some("proc/sys/vm/swappiness")),
            ("net.ipv4.conf.eth0/1.forwarding", Some("proc/sys/net/ipv4/conf/eth0.1/forwarding")),
            ("net/ipv4/conf/eth0.1/forwarding", Some("proc/sys/net/ipv4/conf/eth0.1/forwarding")),
            ("vm..swappiness", None),
            (".", None),
        ] {
            assert_eq!(path(name).as_deref(), expected, "{name}");
        }
    }
}
