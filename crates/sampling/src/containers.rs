//! Names of containers, from what their engines leave in files. No engine is asked.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use facts::cgroup_name::CgroupName;
use facts::container::{ContainerIdentity, ContainerNames};
use formats::containers::ContainerDescription;
use probe::cgroup_tasks::Cgroup;

use crate::container_files::ContainerFiles;

/// More containers than a machine has.
const MAX_SOUGHT: usize = 10_000;

/// Finds a cgroup by its directory, its path, or the name of its unit or container.
///
/// # Errors
/// If no hierarchy has it, or several have the name.
pub fn find_cgroup(path: &Path) -> io::Result<Cgroup> {
    let files = ContainerFiles::of_this_user();
    let is_called = |id: &str| files.find(id).is_some_and(|found| path.as_os_str() == found.name.as_str());
    Cgroup::find(path, &is_called)
}

/// Names of containers, each sought when it is met first.
#[derive(Debug, Default)]
pub struct MetContainers {
    /// As they were when a container was not found in them; `None`: none are sought beside those that are known.
    files: Option<ContainerFiles>,
    sought: HashSet<String>,
    names: ContainerNames,
}

impl MetContainers {
    /// Those of this machine.
    pub fn live() -> Self {
        Self { files: Some(ContainerFiles::of_this_user()), ..Self::default() }
    }

    /// Those that a history knows.
    pub fn of_past(names: ContainerNames) -> Self {
        Self { names, ..Self::default() }
    }

    /// What a cgroup is called, with the name of its container as far as that can be found.
    pub fn cgroup_name<'p>(&'p mut self, path: &'p str) -> CgroupName<'p> {
        for id in CgroupName::of(path).ids() {
            let Some(files) = &mut self.files else { break };
            if self.sought.len() >= MAX_SOUGHT {
                (self.sought, self.names) = (HashSet::new(), ContainerNames::default());
            }
            if !self.sought.insert(id.to_owned()) {
                continue;
            }
            // It may have come since the lists were read.
            let read_again = |files: &mut ContainerFiles| {
                *files = ContainerFiles::of_this_user();
                files.find(id)
            };
            if let Some(found) = files.find(id).or_else(|| read_again(files)) {
                self.names.insert(id, identity(found));
            }
        }
        self.names.cgroup_name(path)
    }
}

fn identity(found: ContainerDescription) -> ContainerIdentity {
    let ContainerDescription { name, pod, namespace, .. } = found;
    ContainerIdentity { name, pod, namespace }
}
