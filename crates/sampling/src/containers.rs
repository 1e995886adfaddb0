//! Names of containers, from what their engines leave in files. No engine is asked.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use facts::cgroup_name::CgroupName;
use facts::container::{ContainerIdentity, ContainerNames};
use formats::containers::{self, ContainerDescription};
use probe::cgroup_tasks::Cgroup;
use probe::named;

/// A larger file is no description; a list of ten thousand containers has some megabytes.
const LARGEST_FILE_BYTES: u64 = 16 << 20;
/// The directories of containers/storage that have lists, by its driver.
const STORAGE_DRIVERS: [&str; 4] = ["overlay", "vfs", "btrfs", "zfs"];
const LISTS: [&str; 2] = ["containers.json", "volatile-containers.json"];
/// More containers than a machine has.
const MOST_SOUGHT: usize = 10_000;

/// The places at which engines describe containers.
#[derive(Clone, Debug)]
pub struct ContainerFiles {
    root: PathBuf,
    /// Where this user's own containers are, without root's rights.
    own_storage: Option<PathBuf>,
}

impl ContainerFiles {
    /// The places of the machine whose root this is, as root's engines have them.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), own_storage: None }
    }

    /// The same, and the place of containers that this user made.
    pub fn of_this_user() -> Self {
        let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let of_home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/share"));
        let own_storage = data.or_else(of_home).map(|data| data.join("containers/storage"));
        Self { own_storage, ..Self::new(Path::new("/")) }
    }

    /// Finds a container by all digits of its id; `None` if no engine says anything of it here, or its files may not be read.
    pub fn find(&self, id: &str) -> Option<ContainerDescription> {
        let sources = [Self::docker, Self::bundles, Self::storages, Self::logs];
        let mut found = ContainerDescription::default();
        for source in sources {
            found.complete(source(self, id).unwrap_or_default());
        }
        Some(found).filter(|found| !found.is_empty())
    }

    fn docker(&self, id: &str) -> Option<ContainerDescription> {
        let path =
            |directory: &str| self.root.join(directory).join("containers").join(id).join("config.v2.json");
        // It may be elsewhere: daemon.json(5), `data-root`.
        let elsewhere = || {
            let configuration = read(&self.root.join("etc/docker/daemon.json"))?;
            read(&path(containers::docker_data_root(&configuration)?.trim_start_matches('/')))
        };
        containers::docker(&read(&path("var/lib/docker")).or_else(elsewhere)?)
    }

    /// Bundles of containerd, by namespace, and of CRI-O.
    fn bundles(&self, id: &str) -> Option<ContainerDescription> {
        let tasks = self.root.join("run/containerd/io.containerd.runtime.v2.task");
        let of_namespaces = entries(&tasks).map(|namespace| namespace.join(id).join("config.json"));
        let drivers = STORAGE_DRIVERS.iter().map(|driver| {
            self.root.join(format!("run/containers/storage/{driver}-containers/{id}/userdata/config.json"))
        });
        of_namespaces.chain(drivers).find_map(|path| containers::bundle(&read(&path)?))
    }

    /// Lists of containers/storage. Those of other users are not read: what is in a home may hang.
    fn storages(&self, id: &str) -> Option<ContainerDescription> {
        let mut storages =
            vec![self.root.join("var/lib/containers/storage"), self.root.join("run/containers/storage")];
        storages.extend(self.own_storage.clone());
        let lists = storages.iter().flat_map(|storage| {
            let paths = STORAGE_DRIVERS.iter().map(|driver| storage.join(format!("{driver}-containers")));
            paths.flat_map(|directory| LISTS.map(|list| directory.join(list)))
        });
        lists.into_iter().find_map(|list| containers::stored(&read(&list)?, id))
    }

    fn logs(&self, id: &str) -> Option<ContainerDescription> {
        let mut names = entries(&self.root.join("var/log/containers"));
        names.find_map(|path| containers::log(path.file_name()?.to_str()?, id))
    }
}

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
    /// `None`: none are sought beside those that are known.
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
            let Some(files) = &self.files else { break };
            if self.sought.len() >= MOST_SOUGHT {
                (self.sought, self.names) = (HashSet::new(), ContainerNames::default());
            }
            if self.sought.insert(id.to_owned())
                && let Some(found) = files.find(id)
            {
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

fn read(path: &Path) -> Option<Vec<u8>> {
    named::read(path, LARGEST_FILE_BYTES).ok()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
