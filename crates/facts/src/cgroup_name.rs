//! What people call a cgroup: the unit of systemd or the container that its path names.

use std::borrow::Cow;
use std::fmt;

/// The ends of the names of units that have processes (systemd.unit(5)). Slices have none of their own, mostly.
const UNITS: [&str; 5] = [".service", ".scope", ".socket", ".mount", ".swap"];
const SLICE: &str = ".slice";
/// An id of a container has so many hexadecimal digits, of which its engine shows [`SHOWN_DIGITS`].
const ID_DIGITS: usize = 64;
const SHOWN_DIGITS: usize = 12;
/// What stands before an id, in a scope or in a directory of the engine's own, and whose it is.
const ENGINES: [(&str, &str); 5] = [
    ("docker-", "docker"),
    ("libpod-", "podman"),
    ("cri-containerd-", "containerd"),
    ("crio-", "cri-o"),
    ("nerdctl-", "containerd"),
];
/// Directories of engines whose containers have their bare id, or name, as their directory.
const DIRECTORIES: [(&str, &str); 2] = [("docker", "docker"), ("lxc", "lxc")];
/// What stands before the name of a container that has one: LXC's, and systemd-machined's (systemd-nspawn, virtual machines).
const NAMED: [(&str, &str); 2] = [("lxc.payload.", "lxc"), ("machine-", "machine")];

/// A container, or a virtual machine that systemd-machined knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'p> {
    /// What made it: `docker`, `podman`, `containerd`, `cri-o`, `lxc`, `machine`; `container` if the path does not say it.
    pub engine: &'static str,
    /// Its name, or the first digits of its id, as its engine lists it.
    pub name: Cow<'p, str>,
}

/// The unit and the container of a cgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupName<'p> {
    /// The innermost unit; within a container that has a systemd, one of its units.
    pub unit: Option<&'p str>,
    /// The outermost container.
    pub container: Option<Container<'p>>,
    /// Whether the unit is one of the container's.
    is_unit_inside: bool,
    path: &'p str,
}

impl<'p> CgroupName<'p> {
    /// Returns what a path says, from the root of its hierarchy on (cgroups(7), /proc/PID/cgroup).
    pub fn of(path: &'p str) -> Self {
        let mut name = Self { path, ..Self::default() };
        let (mut parent, mut slice) = ("", None);
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if name.container.is_none() {
                name.container = container(parent, part);
                name.is_unit_inside = false;
            }
            if UNITS.iter().any(|end| part.ends_with(end)) {
                name.is_unit_inside = name.container.is_some() && container(parent, part).is_none();
                name.unit = Some(part);
            } else if part.ends_with(SLICE) {
                slice = Some(part);
            }
            parent = part;
        }
        name.unit = name.unit.or(slice);
        name
    }
}

impl CgroupName<'_> {
    /// The name of the unit; empty if there is none.
    pub fn unit_name(&self) -> &str {
        self.unit.unwrap_or_default()
    }

    /// The name of the container; empty if there is none.
    pub fn container_name(&self) -> &str {
        self.container.as_ref().map_or("", |container| &container.name)
    }
}

/// The container, with the unit in it; else the unit, else the path.
impl fmt::Display for CgroupName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.container, self.unit) {
            (Some(Container { engine, name }), unit) => {
                write!(f, "{engine} {name}")?;
                unit.filter(|_| self.is_unit_inside).map_or(Ok(()), |unit| write!(f, " {unit}"))
            }
            (None, Some(unit)) => f.write_str(unit),
            (None, None) => f.write_str(self.path),
        }
    }
}

/// The container whose directory this is, below a parent.
fn container<'p>(parent: &str, directory: &'p str) -> Option<Container<'p>> {
    let bare = directory.strip_suffix(".scope").unwrap_or(directory);
    let found = |engine, name| Some(Container { engine, name });
    if let Some((engine, id)) = before(&ENGINES, bare).filter(|(_, id)| is_id(id)) {
        return found(engine, Cow::Borrowed(&id[..SHOWN_DIGITS]));
    }
    if let Some((engine, name)) = before(&NAMED, bare) {
        // A scope of systemd-machined; another directory may begin so as well.
        let is_named = engine != "machine" || directory.ends_with(".scope");
        return is_named.then_some(()).and_then(|()| found(engine, unescaped(name)));
    }
    match DIRECTORIES.iter().find(|(name, _)| *name == parent) {
        Some((_, "lxc")) => found("lxc", Cow::Borrowed(bare)),
        Some((_, engine)) if is_id(bare) => found(engine, Cow::Borrowed(&bare[..SHOWN_DIGITS])),
        _ if is_id(bare) => found("container", Cow::Borrowed(&bare[..SHOWN_DIGITS])),
        _ => None,
    }
}

fn before<'p>(table: &[(&str, &'static str)], text: &'p str) -> Option<(&'static str, &'p str)> {
    table.iter().find_map(|(start, engine)| Some((*engine, text.strip_prefix(start)?)))
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|letter| letter.is_ascii_hexdigit())
}

/// A name without the escapes of systemd-escape(1): `\x2d` is a hyphen. What is no ASCII letter stays escaped.
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

    #[test]
    fn units_and_containers_are_named() {
        let cases = [
            ("/system.slice/nginx.service", "nginx.service", ""),
            (
                "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-42.scope",
                "app-firefox-42.scope",
                "",
            ),
            ("/system.slice", "system.slice", ""),
            ("/", "/", ""),
            ("/batch/night", "/batch/night", ""),
            ("/system.slice/docker-ID.scope", "docker 3f2a1b4c5d6e", "3f2a1b4c5d6e"),
            ("/docker/ID", "docker 3f2a1b4c5d6e", "3f2a1b4c5d6e"),
            ("/docker/ID/system.slice/nginx.service", "docker 3f2a1b4c5d6e nginx.service", "3f2a1b4c5d6e"),
            ("/system.slice/docker-ID.scope/init.scope", "docker 3f2a1b4c5d6e init.scope", "3f2a1b4c5d6e"),
            ("/machine.slice/libpod-ID.scope/container", "podman 3f2a1b4c5d6e", "3f2a1b4c5d6e"),
            ("/machine.slice/libpod-conmon-ID.scope", "libpod-conmon-ID.scope", ""),
            (
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice/cri-containerd-ID.scope",
                "containerd 3f2a1b4c5d6e",
                "3f2a1b4c5d6e",
            ),
            ("/kubepods/burstable/pod12-34/ID", "container 3f2a1b4c5d6e", "3f2a1b4c5d6e"),
            ("/lxc.payload.web/system.slice/cron.service", "lxc web cron.service", "web"),
            ("/lxc/web", "lxc web", "web"),
            (r"/machine.slice/machine-debian\x2d12.scope/payload", "machine debian-12", "debian-12"),
            ("/machine-room/docker", "/machine-room/docker", ""),
        ];
        for (path, shown, container) in cases {
            let (path, shown) = (path.replace("ID", ID), shown.replace("ID", ID));
            let name = CgroupName::of(&path);
            assert_eq!(name.to_string(), shown, "{path}");
            assert_eq!(name.container_name(), container, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_a_name(path in r"(/[a-f0-9.\\x_-]{0,70}(\.scope|\.service|é)?){0,4}") {
            let name = CgroupName::of(&path).to_string();
            prop_assert!(path.is_empty() || !name.is_empty());
        }
    }
}
