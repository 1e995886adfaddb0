//! /proc/PID/cgroup: which cgroups a task is in. cgroups(7).

use crate::cursor::{Malformed, lines};

/// Where a process stands in the hierarchies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupMembership {
    /// The path in the unified hierarchy (v2); `None` if it is not mounted at boot.
    pub unified: Option<Vec<u8>>,
    /// Each v1 hierarchy: its controllers, comma-separated, and the path.
    pub legacy: Vec<(Vec<u8>, Vec<u8>)>,
}

impl CgroupMembership {
    /// Fills from the bytes of a cgroup file: lines of "id:controllers:path".
    ///
    /// # Errors
    /// If a line lacks its two colons.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        *self = Self::default();
        for mut line in lines(bytes) {
            let (Some(_id), Some(controllers)) = (line.until(b':'), line.until(b':')) else {
                return Err(line.expected("id:controllers:path"));
            };
            let path = line.rest().to_vec();
            if controllers.is_empty() {
                self.unified = Some(path);
            } else {
                self.legacy.push((controllers.to_vec(), path));
            }
        }
        Ok(())
    }

    /// The path in the v1 hierarchy of `controller`.
    pub fn legacy_path(&self, controller: &[u8]) -> Option<&[u8]> {
        let has = |names: &[u8]| names.split(|byte| *byte == b',').any(|name| name == controller);
        self.legacy.iter().find(|(names, _)| has(names)).map(|(_, path)| path.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_at_once() {
        let mut membership = CgroupMembership::default();
        membership.parse(b"4:cpu,cpuacct:/a:b\n1:name=systemd:/\n0::/user.slice\n").unwrap();
        assert_eq!(membership.unified.as_deref(), Some(&b"/user.slice"[..]));
        assert_eq!(membership.legacy_path(b"cpuacct"), Some(&b"/a:b"[..]));
        assert_eq!(membership.legacy_path(b"memory"), None);
    }
}
