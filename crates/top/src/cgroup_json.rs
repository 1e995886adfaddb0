//! What a cgroup is called, for programs.

use sampling::containers::MetContainers;

/// A cgroup, and what its path names.
#[derive(Default)]
pub(crate) struct CgroupJson {
    pub(crate) path: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) container: Option<String>,
    pub(crate) pod: Option<String>,
    pub(crate) namespace: Option<String>,
}

impl CgroupJson {
    pub(crate) fn new(path: String, containers: &mut MetContainers) -> Self {
        let name = containers.cgroup_name(&path);
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Self {
            unit: known(name.unit_name()),
            container: known(name.container_name()),
            pod: known(name.pod()),
            namespace: known(name.namespace()),
            path: Some(path),
        }
    }
}
