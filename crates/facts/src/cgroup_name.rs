//! What people call a cgroup: the unit of systemd or the container that its path names.

use std::borrow::Cow;
use std::fmt;

/// The ends of the names of units that have processes (systemd.unit(5)).
const UNITS: [&str; 5] = [".service", ".scope", ".socket", ".mount", ".swap"];
/// The end of the name of a unit that has other units.
const SLICE: &str = ".slice";
/// The number of hexadecimal digits of a container's id. `docker ps` and `podman ps` list the first [`SHOWN_DIGITS`].
const ID_DIGITS: usize = 64;
const SHOWN_DIGITS: usize = 12;
/// What stands before the id of a container, and whose it is.
const ENGINES: [(&str, &str); 6] = [
    ("docker-", "docker"),
    ("libpod-payload-", "podman"),
    ("libpod-", "podman"),
    ("cri-containerd-", "containerd"),
    ("nerdctl-", "containerd"),
    ("crio-", "cri-o"),
];
/// Directories whose containers have their bare id as their directory; `pod…` and `kubepods` are Kubernetes'.
const DIRECTORIES: [(&str, &str); 3] = [("docker", "docker"), ("buildx", "docker"), ("pod", "container")];
/// The slice of what systemd-machined(8) knows: systemd-nspawn(1) and virtual machines.
const MACHINES: &str = "machine.slice";
/// The service of a user's own systemd, before the number of the user.
const USER_MANAGER: &str = "user@";
/// Where engines put the processes of a container within its directory.
const PAYLOADS: [&str; 2] = ["container", "payload"];
/// What the kernel appends to the path of a cgroup that was removed (cgroups(7)).
const REMOVED: &str = " (deleted)";

/// A container, or a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'p> {
    /// What made it: `docker`, `podman`, `containerd`, `cri-o`, `lxc`, `machine`; `container` if the path does not say it.
    pub engine: &'static str,
    /// Its name, or the first twelve digits of its id.
    pub name: Cow<'p, str>,
    /// All digits of its id; empty if the path has a name.
    pub id: &'p str,
    /// The pod of Kubernetes in which it is; empty if there is none, or its name is not known.
    pub pod: &'p str,
    /// The namespace of the pod.
    pub namespace: &'p str,
}

impl fmt::Display for Container<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.engine)?;
        for above in [self.namespace, self.pod].into_iter().filter(|above| !above.is_empty()) {
            write!(f, "{above}/")?;
        }
        f.write_str(&self.name)
    }
}

/// The unit and the container of a cgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupName<'p> {
    /// The innermost unit of the machine's systemd, or of a user's. Units of a systemd in a container are not among them.
    pub unit: Option<&'p str>,
    /// The innermost container.
    pub container: Option<Container<'p>>,
    /// The container in which that one is.
    outer: Option<Container<'p>>,
    /// The user whose systemd has the unit.
    user: Option<&'p str>,
    /// What follows in the path: below the container, else below the unit; all of it where there is neither.
    below: &'p str,
}

impl<'p> CgroupName<'p> {
    /// Returns what a path says, from the root of its hierarchy on (cgroups(7), /proc/PID/cgroup).
    pub fn of(path: &'p str) -> Self {
        let path = path.strip_suffix(REMOVED).unwrap_or(path);
        let mut name = Self { below: path, ..Self::default() };
        let (mut parents, mut at) = (["", ""], 0);
        for part in path.split('/') {
            at += part.len() + 1;
            let below = path.get(at - 1..).unwrap_or_default();
            // What runs in a container has a systemd of its own, if any.
            if name.container.is_none() {
                // A slice is what is meant only if nothing follows.
                if is_unit(part) || part.ends_with(SLICE) && below.is_empty() {
                    (name.unit, name.below) = (Some(part), below);
                }
                let user = part.strip_prefix(USER_MANAGER).and_then(|rest| rest.strip_suffix(".service"));
                name.user = user.or(name.user);
            }
            if let Some(container) = container(parents, part) {
                name.outer = name.container.replace(container).or(name.outer);
                name.below = below;
            }
            parents = [parents[1], part];
        }
        // The service of the user's systemd says itself whose it is.
        name.user = name.user.filter(|_| name.unit.is_some_and(|unit| !unit.starts_with(USER_MANAGER)));
        name
    }

    /// The name of the unit; empty if there is none.
    pub fn unit_name(&self) -> &'p str {
        self.unit.unwrap_or_default()
    }

    /// The name of the container; empty if there is none.
    pub fn container_name(&self) -> &str {
        self.container.as_ref().map_or("", |container| &container.name)
    }

    /// The name of its pod; empty if there is none.
    pub fn pod(&self) -> &'p str {
        self.container.as_ref().map_or("", |container| container.pod)
    }

    /// The namespace of its pod; empty if there is none.
    pub fn namespace(&self) -> &'p str {
        self.container.as_ref().map_or("", |container| container.namespace)
    }

    /// All digits of the ids of the container and of the one in which that is, as far as the path has them.
    pub fn ids(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let both =
            [&self.container, &self.outer].map(|container| container.as_ref().map_or("", |one| one.id));
        both.into_iter().filter(|id| !id.is_empty())
    }

    /// The container, and the one in which that is.
    pub(crate) fn containers_mut(&mut self) -> impl Iterator<Item = &mut Container<'p>> {
        self.container.iter_mut().chain(&mut self.outer)
    }
}

/// The container or else the unit, with what is below it; else the path.
impl fmt::Display for CgroupName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(container) = &self.container {
            if let Some(outer) = &self.outer {
                write!(f, "{outer} ")?;
            }
            container.fmt(f)?;
            // Of a unit in it its name suffices: the slices above that are as everywhere.
            let below = self.below.strip_prefix('/').filter(|below| !PAYLOADS.contains(below));
            let unit = below.and_then(|below| below.rsplit('/').find(|part| is_unit(part)));
            return unit.or(below).map_or(Ok(()), |below| write!(f, " {below}"));
        }
        let Some(unit) = self.unit else { return f.write_str(self.below) };
        write!(f, "{unit}{}", self.below)?;
        self.user.map_or(Ok(()), |user| write!(f, " of user {user}"))
    }
}

/// The container that a directory is of, which is below two others.
fn container<'p>([grandparent, parent]: [&str; 2], directory: &'p str) -> Option<Container<'p>> {
    let with_id = |engine, name, id| Some(Container { engine, name, id, pod: "", namespace: "" });
    let made = |engine, name| with_id(engine, name, "");
    let of_id = |engine, id: &'p str| with_id(engine, Cow::Borrowed(id.get(..SHOWN_DIGITS)?), id);
    let bare = directory.strip_suffix(".scope").unwrap_or(directory);
    // Without a driver for systemd, containerd appends to the slice of the pod: SLICE:ENGINE:ID.
    if let Some((rest, id)) = bare.rsplit_once(':').filter(|(_, id)| is_id(id)) {
        let prefix = rest.rsplit(':').next().unwrap_or_default();
        let known = ENGINES.iter().find(|(start, _)| start.strip_suffix('-') == Some(prefix));
        return of_id(known.map_or("container", |(_, engine)| engine), id);
    }
    let after = |(start, engine): &(&str, &'static str)| {
        Some((*engine, bare.strip_prefix(start).filter(|id| is_id(id))?))
    };
    if let Some((engine, id)) = ENGINES.iter().find_map(after) {
        return of_id(engine, id);
    }
    if is_id(bare) {
        let is_parent =
            |(name, _): &&(&str, _)| parent == *name || *name == "pod" && parent.starts_with("pod");
        return DIRECTORIES.iter().find(is_parent).and_then(|(_, engine)| of_id(engine, bare));
    }
    if let Some(name) = directory.strip_prefix("lxc.payload.") {
        return made("lxc", Cow::Borrowed(name));
    }
    // The directories of LXC 3 and before are at the root; so are those of its monitors.
    if parent == "lxc" && grandparent.is_empty() && directory != "monitor" {
        return made("lxc", Cow::Borrowed(directory));
    }
    let of_machine = || {
        let service =
            directory.strip_prefix("systemd-nspawn@").and_then(|rest| rest.strip_suffix(".service"));
        service.or_else(|| directory.strip_prefix("machine-")?.strip_suffix(".scope"))
    };
    let machine = if parent == MACHINES { of_machine() } else { None };
    machine.and_then(|name| made("machine", unescaped(name)))
}

fn is_unit(part: &str) -> bool {
    UNITS.iter().any(|end| part.len() > end.len() && part.ends_with(end))
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && is_hexadecimal(text)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the name of the container whose id a text is, or the beginning of its id; `None` if the text has too few digits, or others.
pub fn container_of_id(text: &str) -> Option<&str> {
    text.get(..SHOWN_DIGITS).filter(|_| is_hexadecimal(text))
}

/// A name without the escapes of systemd-escape(1): `\x2d` is a hyphen. Others than those of visible ASCII characters stay.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("\\x") {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("\\x");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii_graphic) {
            Some(letter) => {
                whole.push(char::from(letter));
                whole.push_str(&part[2..]);
            }
            None => {
                whole.push_str("\\x");
                whole.push_str(part);
            }
        }
    }
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";
    const OUTER: &str = "aaaaaaaaaaaaaa8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";

    /// The path; what is shown; the labels unit and container.
    const UNITS_OF_SYSTEMD: [(&str, &str, &str); 12] = [
        ("/system.slice/nginx.service", "nginx.service", "nginx.service"),
        ("/system.slice/nginx.service/worker", "nginx.service/worker", "nginx.service"),
        ("/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "session-3.scope"),
        (
            "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-42.scope",
            "app-firefox-42.scope of user 1000",
            "app-firefox-42.scope",
        ),
        ("/user.slice/user-1000.slice/user@1000.service", "user@1000.service", "user@1000.service"),
        (
            "/user.slice/user-1000.slice/user@1000.service/app.slice/machine-learning.scope",
            "machine-learning.scope of user 1000",
            "machine-learning.scope",
        ),
        ("/system.slice", "system.slice", "system.slice"),
        // What is below a slice is not the slice.
        ("/system.slice/system-foo.slice/sub", "/system.slice/system-foo.slice/sub", ""),
        ("/system.slice/gone.service (deleted)", "gone.service", "gone.service"),
        ("/system.slice/libpod-conmon-ID.scope", "libpod-conmon-ID.scope", "libpod-conmon-ID.scope"),
        ("/batch/night", "/batch/night", ""),
        ("/", "/", ""),
    ];
    const CONTAINERS: [(&str, &str, &str, &str); 21] = [
        ("/system.slice/docker-ID.scope", "docker DIGITS", "docker-ID.scope", "DIGITS"),
        ("/docker/ID", "docker DIGITS", "", "DIGITS"),
        ("/docker/buildx/ID", "docker DIGITS", "", "DIGITS"),
        ("/docker/ID/system.slice/nginx.service/worker", "docker DIGITS nginx.service", "", "DIGITS"),
        ("/system.slice/docker-ID.scope/init.scope", "docker DIGITS init.scope", "docker-ID.scope", "DIGITS"),
        ("/system.slice/docker-ID.scope/some/where", "docker DIGITS some/where", "docker-ID.scope", "DIGITS"),
        ("/machine.slice/libpod-ID.scope/container", "podman DIGITS", "libpod-ID.scope", "DIGITS"),
        ("/libpod_parent/OUTER/libpod-ID", "podman DIGITS", "", "DIGITS"),
        // A quadlet, and a systemd in it.
        ("/system.slice/web.service/libpod-payload-ID", "podman DIGITS", "web.service", "DIGITS"),
        (
            "/system.slice/web.service/libpod-payload-ID/init.scope",
            "podman DIGITS init.scope",
            "web.service",
            "DIGITS",
        ),
        (
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice/cri-containerd-ID.scope",
            "containerd DIGITS",
            "cri-containerd-ID.scope",
            "DIGITS",
        ),
        ("/kubepods/burstable/pod12-34/ID", "container DIGITS", "", "DIGITS"),
        (
            "/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:ID",
            "containerd DIGITS",
            "containerd.service",
            "DIGITS",
        ),
        ("/lxc.payload.web/system.slice/cron.service", "lxc web cron.service", "", "web"),
        ("/lxc/web", "lxc web", "", "web"),
        ("/lxc/105/ns/system.slice/docker-ID.scope", "lxc 105 docker DIGITS", "", "DIGITS"),
        (
            "/system.slice/docker-OUTER.scope/kubelet.slice/cri-containerd-ID.scope",
            "docker aaaaaaaaaaaa containerd DIGITS",
            "docker-OUTER.scope",
            "DIGITS",
        ),
        (
            r"/machine.slice/machine-debian\x2d12.scope/payload",
            "machine debian-12",
            r"machine-debian\x2d12.scope",
            "debian-12",
        ),
        (
            "/machine.slice/systemd-nspawn@debian.service/payload/system.slice/nginx.service",
            "machine debian nginx.service",
            "systemd-nspawn@debian.service",
            "debian",
        ),
        // Not containers.
        ("/system.slice/a.service/lxc/worker", "a.service/lxc/worker", "a.service", ""),
        ("/tmp/ID", "/tmp/ID", "", ""),
    ];

    #[test]
    fn units_and_containers_are_named() {
        let of_systemd = UNITS_OF_SYSTEMD.map(|(path, shown, unit)| (path, shown, unit, ""));
        for (path, shown, unit, container) in of_systemd.into_iter().chain(CONTAINERS) {
            let [path, shown, unit, container] = [path, shown, unit, container].map(|text| {
                text.replace("OUTER", OUTER).replace("ID", ID).replace("DIGITS", &ID[..SHOWN_DIGITS])
            });
            let name = CgroupName::of(&path);
            let is = [&name.to_string(), name.unit_name(), name.container_name()].map(str::to_owned);
            assert_eq!(is, [shown, unit, container], "{path}");
        }
    }

    #[test]
    fn ids_and_their_beginnings_are_of_containers() {
        for id in [ID, &ID[..13], &ID[..12]] {
            assert_eq!(container_of_id(id), Some(&ID[..12]));
        }
        for other in [&ID[..11], "", "nginx-worker-1", "3f2a1b4c5d6é"] {
            assert_eq!(container_of_id(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_a_name(path in r"(/([a-f0-9]{64}|lxc|docker|pod1|machine\.slice|[a-f0-9.:@\\x_-]{0,9})(\.scope|\.service|é)?){0,5}") {
            let name = CgroupName::of(&path).to_string();
            prop_assert_eq!(path.is_empty(), name.is_empty());
        }
    }
}
