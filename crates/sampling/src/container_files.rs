//! Where engines describe their containers.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use formats::containers::{self, ContainerDescription};
use probe::named;

/// Larger files are not read. A list of ten thousand containers has some megabytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The directories of containers/storage that have lists, by its driver.
const STORAGE_DRIVERS: [&str; 4] = ["overlay", "vfs", "btrfs", "zfs"];
const LISTS: [&str; 2] = ["containers.json", "volatile-containers.json"];

/// The files in which engines describe their containers. What several containers share is read once, when it is needed.
#[derive(Debug)]
pub struct ContainerFiles {
    root: PathBuf,
    /// Where this user's own containers are.
    own_storage: Option<PathBuf>,
    docker: OnceCell<PathBuf>,
    /// The directories of containerd's namespaces.
    namespaces: OnceCell<Vec<PathBuf>>,
    stored: OnceCell<HashMap<String, ContainerDescription>>,
    logs: OnceCell<HashMap<String, ContainerDescription>>,
}

impl ContainerFiles {
    /// The files of the machine whose root this is, as root's engines have them.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            own_storage: None,
            docker: OnceCell::new(),
            namespaces: OnceCell::new(),
            stored: OnceCell::new(),
            logs: OnceCell::new(),
        }
    }

    /// The same, and those of the containers that this user made.
    pub fn of_this_user() -> Self {
        let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let of_home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/share"));
        let own_storage = data.or_else(of_home).map(|data| data.join("containers/storage"));
        Self { own_storage, ..Self::new(Path::new("/")) }
    }

    /// Finds a container by all digits of its id; `None` if no engine says anything of it here, or its files may not be read.
    pub fn find(&self, id: &str) -> Option<ContainerDescription> {
        let sources = [
            self.docker(id),
            self.bundle(id),
            self.stored.get_or_init(|| self.read_lists()).get(id).cloned(),
            self.logs.get_or_init(|| self.read_logs()).get(id).cloned(),
        ];
        let mut found = ContainerDescription::default();
        for source in sources.into_iter().flatten() {
            found.complete(source);
        }
        Some(found).filter(|found| !found.is_empty())
    }

    fn docker(&self, id: &str) -> Option<ContainerDescription> {
        let data = self.docker.get_or_init(|| {
            // daemon.json(5) may name another one.
            let configuration = read(&self.root.join("etc/docker/daemon.json"));
            let elsewhere = configuration.and_then(|bytes| containers::docker_data_root(&bytes));
            let data = elsewhere.unwrap_or_else(|| "/var/lib/docker".to_owned());
            self.root.join(data.trim_start_matches('/'))
        });
        containers::docker(&read(&data.join("containers").join(id).join("config.v2.json"))?)
    }

    /// The bundle of a container, which containerd and CRI-O have as long as it runs.
    fn bundle(&self, id: &str) -> Option<ContainerDescription> {
        let tasks = || entries(&self.root.join("run/containerd/io.containerd.runtime.v2.task")).collect();
        let namespaces = self.namespaces.get_or_init(tasks).iter();
        let of_containerd = namespaces.map(|namespace| namespace.join(id).join("config.json"));
        let of_storage = STORAGE_DRIVERS.iter().map(|driver| {
            self.root.join(format!("run/containers/storage/{driver}-containers/{id}/userdata/config.json"))
        });
        of_containerd.chain(of_storage).find_map(|path| containers::bundle(&read(&path)?))
    }

    /// Reads the lists of containers/storage. Those of other users are not read: what is in a home may hang.
    fn read_lists(&self) -> HashMap<String, ContainerDescription> {
        let storages =
            ["var/lib/containers/storage", "run/containers/storage"].map(|path| self.root.join(path));
        let mut found = HashMap::new();
        for storage in storages.iter().chain(&self.own_storage) {
            for driver in STORAGE_DRIVERS {
                for list in LISTS {
                    let bytes = read(&storage.join(format!("{driver}-containers")).join(list));
                    found.extend(bytes.map(|bytes| containers::stored(&bytes)).unwrap_or_default());
                }
            }
        }
        found
    }

    fn read_logs(&self) -> HashMap<String, ContainerDescription> {
        let logs = entries(&self.root.join("var/log/containers")).filter_map(|path| {
            let (id, description) = containers::log(path.file_name()?.to_str()?)?;
            Some((id.to_owned(), description))
        });
        logs.collect()
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    named::read(path, MAX_FILE_BYTES).ok()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
