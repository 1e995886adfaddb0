//! What people call containers: the names that their engines gave to ids.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cgroup_name::{CgroupName, Container, container_of_id};

/// What a container is called. What is not known is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerIdentity {
    /// Its name; in a pod, the name that it has there.
    pub name: String,
    /// The pod of Kubernetes that it belongs to.
    pub pod: String,
    /// The namespace of the pod.
    pub namespace: String,
}

/// Containers by the beginning of their ids, as [`crate::cgroup_name`] has it of a path. A copy costs nothing.
#[derive(Clone, Debug, Default)]
pub struct ContainerNames(Arc<BTreeMap<String, ContainerIdentity>>);

impl ContainerNames {
    /// Names a container, by its id or the first digits of that. Another text names none.
    pub fn insert(&mut self, id: &str, identity: ContainerIdentity) {
        if let Some(id) = container_of_id(id) {
            Arc::make_mut(&mut self.0).insert(id.to_owned(), identity);
        }
    }

    /// What the container of an id is called.
    pub fn get(&self, id: &str) -> Option<&ContainerIdentity> {
        self.0.get(id)
    }

    /// What a cgroup is called, with the names that containers were given.
    pub fn cgroup_name<'p>(&'p self, path: &'p str) -> CgroupName<'p> {
        let mut name = CgroupName::of(path);
        for container in name.containers_mut() {
            self.identify(container);
        }
        name
    }

    fn identify<'p>(&'p self, container: &mut Container<'p>) {
        let Some(identity) = self.get(&container.name) else { return };
        if !identity.name.is_empty() {
            container.name = Cow::Borrowed(&identity.name);
        }
        (container.pod, container.namespace) = (&identity.pod, &identity.namespace);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";

    fn identity(name: &str, pod: &str, namespace: &str) -> ContainerIdentity {
        let [name, pod, namespace] = [name, pod, namespace].map(str::to_owned);
        ContainerIdentity { name, pod, namespace }
    }

    #[test]
    fn containers_have_the_names_that_they_were_given() {
        let of = |identity: ContainerIdentity, path: &str| {
            let mut names = ContainerNames::default();
            names.insert(ID, identity);
            let path = path.replace("ID", ID);
            let name = names.cgroup_name(&path);
            let [pod, namespace] = [name.pod(), name.namespace()].map(str::to_owned);
            (name.to_string(), name.container_name().to_owned(), pod, namespace)
        };
        let is = |shown: &str, name: &str, pod: &str, namespace: &str| {
            (shown.to_owned(), name.to_owned(), pod.to_owned(), namespace.to_owned())
        };
        assert_eq!(of(identity("db", "", ""), "/docker/ID"), is("docker db", "db", "", ""));
        assert_eq!(
            of(identity("db", "", ""), "/system.slice/docker-ID.scope/init.scope"),
            is("docker db init.scope", "db", "", "")
        );
        assert_eq!(
            of(identity("nginx", "web-7d9f", "shop"), "/kubepods/pod1/ID"),
            is("container shop/web-7d9f/nginx", "nginx", "web-7d9f", "shop")
        );
        // Of its own name nothing is known.
        assert_eq!(
            of(identity("", "web-7d9f", "shop"), "/kubepods/pod1/ID"),
            is(&format!("container shop/web-7d9f/{}", &ID[..12]), &ID[..12], "web-7d9f", "shop")
        );
        let digits = &ID[..12];
        assert_eq!(of(identity("", "", ""), "/docker/ID"), is(&format!("docker {digits}"), digits, "", ""));
        assert_eq!(of(identity("db", "", ""), "/a.service"), is("a.service", "", "", ""));
    }
}
