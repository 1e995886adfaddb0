//! Where engines describe their containers.

use std::path::{Path, PathBuf};
use std::{env, fs};

use formats::containers::{self, ContainerDescription};
use probe::named;

/// A larger file is no description; a list of ten thousand containers has some megabytes.
const LARGEST_FILE_BYTES: u64 = 16 << 20;
/// The directories of containers/storage that have lists, by its driver.
const STORAGE_DRIVERS: [&str; 4] = ["overlay", "vfs", "btrfs", "zfs"];
const LISTS: [&str; 2] = ["containers.json", "volatile-containers.json"];
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

fn read(path: &Path) -> Option<Vec<u8>> {
    named::read(path, LARGEST_FILE_BYTES).ok()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
