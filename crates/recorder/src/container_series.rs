//! What the containers are called whose tasks live: a series for each, whose labels say it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use facts::cgroup_name::{CgroupName, container_of_id};
use facts::task::TaskKey;
use facts::task::store::TaskStore;
use formats::containers::ContainerDescription;
use formats::series_name::SeriesName;
use history::metrics::CONTAINERS;
use sampling::container_files::ContainerFiles;
use sampling::task_labels::TaskLabels;
use store::{SeriesId, SeriesKind, Store};

use crate::registry::Registry;

/// The most containers that are described at a time.
const MOST: usize = 2000;
/// The most series: containers that come and go all day must not fill the memory.
const MAX_SERIES: usize = 20_000;
/// The most cgroups whose paths are read at one look, a file each.
const PATHS_A_LOOK: usize = 512;
/// The most containers that are sought at one look, in some files each.
const SOUGHT_A_LOOK: usize = 128;
/// An engine may describe a container after it has started it. One that nothing is said of is not sought any more.
const ATTEMPTS: u8 = 6;

/// The containers that there are.
#[derive(Debug, Default)]
pub(crate) struct ContainerSeries {
    /// The container of each cgroup with living tasks; `None` if it is of none.
    of_cgroups: HashMap<u64, Option<ContainerId>>,
    containers: HashMap<ContainerId, Container>,
    /// Each series that there was, by its own name, and as it is recorded; `None` if it is not.
    known: HashMap<String, Option<(String, SeriesId)>>,
}

/// A container, as the path of a cgroup has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ContainerId {
    engine: &'static str,
    id: String,
}

#[derive(Debug, Default)]
struct Container {
    /// The name of its series; `None` as long as nothing is known of it.
    series: Option<String>,
    attempts: u8,
}

impl ContainerSeries {
    /// Looks in which containers tasks live, and what these are called.
    pub(crate) fn look(&mut self, tasks: &TaskStore, labels: &mut TaskLabels) {
        let mut cgroups: HashMap<u64, TaskKey> = HashMap::new();
        cgroups.extend(tasks.rows().filter_map(|row| Some((row.cgroup?, row.key))));
        self.of_cgroups.retain(|cgroup, _| cgroups.contains_key(cgroup));
        cgroups.retain(|cgroup, _| !self.of_cgroups.contains_key(cgroup));
        for (cgroup, key) in cgroups.into_iter().take(PATHS_A_LOOK) {
            // The cgroup of a task that has ended meanwhile is asked for again.
            if let Some(path) = labels.cgroup(key, Some(cgroup)) {
                self.of_cgroups.insert(cgroup, ContainerId::of(path));
            }
        }
        let living: HashSet<ContainerId> = self.of_cgroups.values().flatten().cloned().collect();
        self.find(&living, &ContainerFiles::new(Path::new("/")));
    }

    /// Goes on with these containers, and finds out what the new ones are called.
    fn find(&mut self, living: &HashSet<ContainerId>, files: &ContainerFiles) {
        self.containers.retain(|id, _| living.contains(id));
        for id in living {
            if self.containers.len() < MOST && !self.containers.contains_key(id) {
                self.containers.insert(id.clone(), Container::default());
            }
        }
        let is_sought = |container: &Container| container.series.is_none() && container.attempts < ATTEMPTS;
        let mut sought: Vec<_> =
            self.containers.iter_mut().filter(|(_, container)| is_sought(container)).collect();
        // New containers come first: the others were sought before, and nothing was found.
        sought.sort_by_key(|(_, container)| container.attempts);
        for (id, container) in sought.into_iter().take(SOUGHT_A_LOOK) {
            container.attempts += 1;
            container.series = files.find(&id.id).map(|found| series(id, &found));
        }
    }

    /// Gives those that are new their series.
    pub(crate) fn register(&mut self, registry: &mut Registry, store: &mut Store) {
        for name in self.containers.values().filter_map(|container| container.series.as_ref()) {
            if self.known.contains_key(name) {
                continue;
            }
            if self.known.len() >= MAX_SERIES {
                return registry.refuse(MAX_SERIES);
            }
            self.known.insert(name.clone(), registry.register(name, SeriesKind::Gauge, store));
        }
    }

    /// The series with the names under which they are recorded, each 1.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        let names = self.containers.values().filter_map(|container| container.series.as_ref());
        let series = names.filter_map(|name| self.known.get(name)?.as_ref());
        series.map(|(name, id)| (name.as_str(), *id, 1.0))
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        self.known.clear();
    }
}

impl ContainerId {
    /// The container of a cgroup, if its path has the id of one.
    fn of(path: &str) -> Option<Self> {
        let container = CgroupName::of(path).container?;
        (!container.id.is_empty()).then(|| Self { engine: container.engine, id: container.id.to_owned() })
    }
}

fn series(ContainerId { engine, id }: &ContainerId, description: &ContainerDescription) -> String {
    let digits = container_of_id(id).unwrap_or(id);
    let ContainerDescription { name, image, pod, namespace } = description;
    let mut series = SeriesName::new(CONTAINERS);
    // As the tasks in it are labelled.
    series.set("container", if name.is_empty() { digits } else { name });
    series.set("id", digits);
    for (label, value) in [("engine", *engine), ("image", image), ("pod", pod), ("namespace", namespace)] {
        series.set(label, value);
    }
    series.to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use formats::relabel::Relabelling;
    use store::Retention;

    use super::*;

    const ID: &str = "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";

    /// A machine on which Docker describes one container.
    fn machine(name: &str) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("whit-containers-{name}-{}", std::process::id()));
        let directory = root.join("var/lib/docker/containers").join(ID);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.v2.json"), r#"{"Name":"/db","Config":{"Image":"pg:1"}}"#).unwrap();
        root
    }

    #[test]
    fn a_container_that_comes_back_has_its_series_again() {
        let root = machine("back");
        let store = &mut Store::open(&root.join("history.sqlite"), Retention::default()).unwrap();
        let (mut registry, mut series) = (Registry::new(Relabelling::default()), ContainerSeries::default());
        let id = ContainerId::of(&format!("/docker/{ID}")).unwrap();
        let mut names = |living: &[&ContainerId]| {
            series.find(&living.iter().map(|id| (*id).clone()).collect(), &ContainerFiles::new(&root));
            series.register(&mut registry, store);
            let names: Vec<String> = series.recorded().map(|(name, ..)| name.to_owned()).collect();
            (names, registry.take_fault())
        };
        let name = format!(
            r#"whit_container_info{{container="db",engine="docker",id="{}",image="pg:1"}}"#,
            &ID[..12]
        );
        assert_eq!(names(&[&id]), (vec![name.clone()], None));
        assert_eq!(names(&[]), (vec![], None));
        assert_eq!(names(&[&id]), (vec![name], None));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn what_nothing_is_said_of_is_sought_some_times() {
        let root = machine("unknown");
        let mut series = ContainerSeries::default();
        let id = ContainerId::of(&format!("/docker/{}", ID.replace('3', "4"))).unwrap();
        for _ in 0..10 {
            series.find(&HashSet::from([id.clone()]), &ContainerFiles::new(&root));
        }
        assert_eq!((series.containers[&id].attempts, series.recorded().count()), (ATTEMPTS, 0));
        fs::remove_dir_all(&root).unwrap();
    }
}
