//! What engines of containers write of each: Docker's `config.v2.json`, the lists of containers/storage (Podman, CRI-O), annotations of a
//! bundle (OCI runtime specification, as containerd and CRI-O write it), and the names of the kubelet's logs.

use std::collections::HashMap;

use serde::Deserialize;

/// Longer names are none: those of Kubernetes and Docker have at most 253 letters.
const MAX_NAME: usize = 253;
/// Images may have a host, a path, a tag and a digest.
const MAX_IMAGE: usize = 512;

/// What an engine says of a container; what it does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerDescription {
    /// Its name; in a pod, the name that it has there.
    pub name: String,
    /// The image that it was made of.
    pub image: String,
    /// The pod of Kubernetes that it belongs to.
    pub pod: String,
    /// The namespace of the pod.
    pub namespace: String,
}

impl ContainerDescription {
    /// Returns true if nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes what another source says where this one says nothing.
    pub fn complete(&mut self, other: Self) {
        let Self { name, image, pod, namespace } = other;
        for (own, other) in [
            (&mut self.name, name),
            (&mut self.image, image),
            (&mut self.pod, pod),
            (&mut self.namespace, namespace),
        ] {
            if own.is_empty() {
                *own = other;
            }
        }
    }

    /// The description with the names of a pod, as the kubelet gives them to engines that know no pods: `k8s_NAME_POD_NAMESPACE_UID_ATTEMPT`.
    fn of_name(name: &str) -> Self {
        let parts: Vec<&str> = name.split('_').collect();
        match parts[..] {
            ["k8s", name, pod, namespace, _, _] => Self {
                name: bounded(name),
                pod: bounded(pod),
                namespace: bounded(namespace),
                ..Self::default()
            },
            _ => Self { name: bounded(name), ..Self::default() },
        }
    }

    /// What the annotations of a bundle say.
    fn of_annotations(annotations: &HashMap<String, String>) -> Self {
        let first =
            |keys: &[&str]| keys.iter().find_map(|key| annotations.get(*key)).map_or("", String::as_str);
        Self {
            name: bounded(first(&[
                "io.kubernetes.cri.container-name",
                "io.kubernetes.container.name",
                "nerdctl/name",
            ])),
            image: bounded_to(
                MAX_IMAGE,
                first(&["io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"]),
            ),
            pod: bounded(first(&["io.kubernetes.cri.sandbox-name", "io.kubernetes.pod.name"])),
            namespace: bounded(first(&[
                "io.kubernetes.cri.sandbox-namespace",
                "io.kubernetes.pod.namespace",
            ])),
        }
    }
}

#[derive(Deserialize)]
struct DockerContainer {
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Config")]
    config: DockerConfig,
}

#[derive(Deserialize)]
struct DockerConfig {
    #[serde(rename = "Image", default)]
    image: String,
}

/// Reads `config.v2.json` of a container of Docker; `None` if it is none. Its labels say nothing: an image brings its own.
pub fn docker(bytes: &[u8]) -> Option<ContainerDescription> {
    let DockerContainer { name, config } = serde_json::from_slice(bytes).ok()?;
    let image = bounded_to(MAX_IMAGE, &config.image);
    Some(ContainerDescription { image, ..ContainerDescription::of_name(name.trim_start_matches('/')) })
}

/// Returns the directory of Docker's data that its `daemon.json` names.
pub fn docker_data_root(bytes: &[u8]) -> Option<String> {
    let configuration: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    configuration.get("data-root")?.as_str().map(str::to_owned)
}

#[derive(Deserialize)]
struct StoredContainer {
    id: String,
    #[serde(default)]
    names: Vec<String>,
    /// A document in a text.
    #[serde(default)]
    metadata: String,
}

#[derive(Default, Deserialize)]
struct StoredMetadata {
    #[serde(rename = "image-name", default)]
    image: String,
}

/// Reads a list of containers/storage, `containers.json`: the id of each, and what it says; nothing if it is none.
pub fn stored(bytes: &[u8]) -> Vec<(String, ContainerDescription)> {
    let containers: Vec<StoredContainer> = serde_json::from_slice(bytes).unwrap_or_default();
    let description = |container: StoredContainer| {
        let metadata: StoredMetadata = serde_json::from_str(&container.metadata).unwrap_or_default();
        let name = container.names.first().map_or("", String::as_str);
        let image = bounded_to(MAX_IMAGE, &metadata.image);
        (container.id, ContainerDescription { image, ..ContainerDescription::of_name(name) })
    };
    containers.into_iter().map(description).collect()
}

#[derive(Deserialize)]
struct Bundle {
    #[serde(default)]
    annotations: HashMap<String, String>,
}

/// Reads the annotations of a bundle's `config.json`; `None` if it is none.
pub fn bundle(bytes: &[u8]) -> Option<ContainerDescription> {
    let bundle: Bundle = serde_json::from_slice(bytes).ok()?;
    Some(ContainerDescription::of_annotations(&bundle.annotations))
}

/// Reads the name of a log of the kubelet, `POD_NAMESPACE_NAME-ID.log`: the id of its container, and what it says; `None` if it is none.
pub fn log(file_name: &str) -> Option<(&str, ContainerDescription)> {
    let (names, id) = file_name.strip_suffix(".log")?.rsplit_once('-')?;
    let parts: Vec<&str> = names.split('_').collect();
    let [pod, namespace, name] = parts[..] else { return None };
    let [pod, namespace, name] = [pod, namespace, name].map(bounded);
    Some((id, ContainerDescription { name, pod, namespace, ..ContainerDescription::default() }))
}

fn bounded(name: &str) -> String {
    bounded_to(MAX_NAME, name)
}

/// A name, unless it is too long to be one, or has letters that none has.
fn bounded_to(most: usize, name: &str) -> String {
    let is_name = name.len() <= most && name.bytes().all(|letter| letter.is_ascii_graphic());
    if is_name { name.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "241f6ef7ff314ecc7ba4d1a5ecd7fdde979ade8a891c2087d13eda61d92add17";

    fn description(name: &str, image: &str, pod: &str, namespace: &str) -> ContainerDescription {
        let [name, image, pod, namespace] = [name, image, pod, namespace].map(str::to_owned);
        ContainerDescription { name, image, pod, namespace }
    }

    #[test]
    fn docker_has_a_file_for_each() {
        // Docker 20.10, shortened.
        let plain = br#"{"ID":"241f","Path":"/bin/sleep","Config":{"Hostname":"241f6ef7ff31","Env":null,"Image":"tiny:1",
            "Labels":{}},"Image":"sha256:e0a5","Name":"/shop-db","Driver":"vfs"}"#;
        assert_eq!(docker(plain), Some(description("shop-db", "tiny:1", "", "")));
        // The labels are those of its image.
        let labelled =
            br#"{"Name":"/a","Config":{"Image":"b","Labels":{"io.kubernetes.container.name":"other"}}}"#;
        assert_eq!(docker(labelled), Some(description("a", "b", "", "")));
        let of_pod = br#"{"Name":"/k8s_nginx_web-7d9f_shop_12-34_0","Config":{"Image":"nginx@sha256:1"}}"#;
        assert_eq!(docker(of_pod), Some(description("nginx", "nginx@sha256:1", "web-7d9f", "shop")));
        assert_eq!(docker(b"{}"), None);
        assert_eq!(docker_data_root(br#"{"data-root":"/srv/docker"}"#).as_deref(), Some("/srv/docker"));
    }

    #[test]
    fn storage_has_a_list() {
        // Podman 4.3.
        let list = format!(
            r#"[{{"id":"0","names":["x"]}},{{"id":"{ID}","names":["web-one"],"image":"","layer":"03",
            "metadata":"{{\"image-name\":\"docker.io/library/nginx:1\",\"name\":\"web-one\"}}","flags":{{}}}}]"#
        );
        let expected = [
            ("0", description("x", "", "", "")),
            (ID, description("web-one", "docker.io/library/nginx:1", "", "")),
        ];
        assert_eq!(stored(list.as_bytes()), expected.map(|(id, one)| (id.to_owned(), one)));
        assert!(stored(b"{}").is_empty());
    }

    #[test]
    fn bundles_have_annotations() {
        let of = |annotations: &str| {
            bundle(format!(r#"{{"ociVersion":"1","annotations":{annotations}}}"#).as_bytes())
        };
        let containerd = r#"{"io.kubernetes.cri.container-name":"nginx","io.kubernetes.cri.image-name":"nginx:1",
            "io.kubernetes.cri.sandbox-name":"web","io.kubernetes.cri.sandbox-namespace":"shop"}"#;
        assert_eq!(of(containerd), Some(description("nginx", "nginx:1", "web", "shop")));
        let crio = r#"{"io.kubernetes.container.name":"nginx","io.kubernetes.cri-o.ImageName":"nginx:1",
            "io.kubernetes.pod.name":"web","io.kubernetes.pod.namespace":"shop"}"#;
        assert_eq!(of(crio), Some(description("nginx", "nginx:1", "web", "shop")));
        assert_eq!(of(r#"{"nerdctl/name":"db"}"#), Some(description("db", "", "", "")));
        assert_eq!(bundle(b"{}"), Some(ContainerDescription::default()));
        assert_eq!(bundle(b"1"), None);
    }

    #[test]
    fn logs_have_the_names_of_pods() {
        let name = format!("web-7d9f_shop_nginx-proxy-{ID}.log");
        assert_eq!(log(&name), Some((ID, description("nginx-proxy", "", "web-7d9f", "shop"))));
        assert_eq!(log(&format!("web-{ID}.log")), None);
    }

    #[test]
    fn what_is_no_name_is_not_known() {
        assert_eq!(bounded("a b"), "");
        assert_eq!(bounded("a\u{1b}[1m"), "");
        assert_eq!(bounded(&"a".repeat(MAX_NAME + 1)), "");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), name in ".{0,40}") {
            let _ = (docker(&bytes), stored(&bytes), bundle(&bytes), log(&name));
        }
    }
}
