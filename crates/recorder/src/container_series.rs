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

/// The most containers that are described at a time; and cgroups whose paths are read, and containers that are sought, at one look: each
/// takes some files.
const MOST: usize = 2000;
const PATHS_A_LOOK: usize = 64;
const SOUGHT_A_LOOK: usize = 16;
/// An engine may describe a container after it has started it. One that nothing is said of is not sought any more.
const ATTEMPTS: u8 = 6;

/// The containers that there are.
#[derive(Debug)]
pub(crate) struct ContainerSeries {
    files: ContainerFiles,
    /// The container of each cgroup with living tasks; `None` if it is of none.
    of_cgroups: HashMap<u64, Option<(String, &'static str)>>,
    containers: HashMap<String, Container>,
}

#[derive(Debug, Default)]
struct Container {
    /// What made it.
    engine: &'static str,
    description: Option<ContainerDescription>,
    attempts: u8,
    /// Its series, as it is recorded; `None` as long as it has none.
    series: Option<(String, SeriesId)>,
}

impl ContainerSeries {
    pub(crate) fn new() -> Self {
        let files = ContainerFiles::new(Path::new("/"));
        Self { files, of_cgroups: HashMap::new(), containers: HashMap::new() }
    }

    /// Looks in which containers tasks live, and what these are called.
    pub(crate) fn look(&mut self, tasks: &TaskStore, labels: &mut TaskLabels) {
        let mut cgroups: HashMap<u64, TaskKey> = HashMap::new();
        cgroups.extend(tasks.rows().filter_map(|row| Some((row.cgroup?, row.key))));
        self.of_cgroups.retain(|cgroup, _| cgroups.contains_key(cgroup));
        cgroups.retain(|cgroup, _| !self.of_cgroups.contains_key(cgroup));
        for (cgroup, key) in cgroups.into_iter().take(PATHS_A_LOOK) {
            // The cgroup of a task that has ended meanwhile is asked for again.
            if let Some(path) = labels.cgroup(key, Some(cgroup)) {
                let container = CgroupName::of(path).container;
                let container = container.filter(|container| !container.id.is_empty());
                let of_cgroup = container.map(|container| (container.id.to_owned(), container.engine));
                self.of_cgroups.insert(cgroup, of_cgroup);
            }
        }
        let living: HashSet<&(String, &'static str)> = self.of_cgroups.values().flatten().collect();
        self.containers.retain(|id, container| living.contains(&(id.clone(), container.engine)));
        for (id, engine) in living {
            if self.containers.len() < MOST && !self.containers.contains_key(id) {
                self.containers.insert(id.clone(), Container { engine, ..Container::default() });
            }
        }
        let is_sought =
            |container: &Container| container.description.is_none() && container.attempts < ATTEMPTS;
        let sought = self.containers.iter_mut().filter(|(_, container)| is_sought(container));
        for (id, container) in sought.take(SOUGHT_A_LOOK) {
            container.attempts += 1;
            container.description = self.files.find(id);
        }
    }

    /// Gives those that are new their series.
    pub(crate) fn register(&mut self, registry: &mut Registry, store: &mut Store) {
        for (id, container) in &mut self.containers {
            let Container { engine, description: Some(description), series: series @ None, .. } = container
            else {
                continue;
            };
            *series = registry.register(&name(id, engine, description), SeriesKind::Gauge, store);
        }
    }

    /// The series with the names under which they are recorded, each 1.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        let series = self.containers.values().filter_map(|container| container.series.as_ref());
        series.map(|(name, id)| (name.as_str(), *id, 1.0))
    }

    /// Lets all get other names.
    pub(crate) fn forget_names(&mut self) {
        for container in self.containers.values_mut() {
            container.series = None;
        }
    }
}

fn name(id: &str, engine: &str, description: &ContainerDescription) -> String {
    let digits = container_of_id(id).unwrap_or(id);
    let ContainerDescription { name, image, pod, namespace } = description;
    let mut series = SeriesName::new(CONTAINERS);
    // As the tasks in it are labelled.
    series.set("container", if name.is_empty() { digits } else { name });
    series.set("id", digits);
    for (label, value) in [("engine", engine), ("image", image), ("pod", pod), ("namespace", namespace)] {
        series.set(label, value);
    }
    series.to_string()
}
