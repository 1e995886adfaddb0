//! The labels of tasks in a history.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::RangeInclusive;

use facts::container::ContainerNames;
use facts::task::TaskRow;
use facts::task::comm::Comm;
use facts::task::rounds::Scope;
use facts::task::wait::WaitReason;
use foldhash::HashMap;
use formats::series_name::{METRIC, SeriesName};
use query::{Condition, LabelChoice, Matcher};
use sampling::users::Users;
use store::{Named, TaskNames};

use super::brief_bounds;
use crate::task_sums::SpanGroups;

pub(super) const LABELS: [&str; 9] =
    ["pid", "tid", "comm", "user", "cgroup", "unit", "container", "pod", "namespace"];
pub(super) const LABELS_OF_WAITING: [&str; 10] =
    ["pid", "tid", "comm", "user", "cgroup", "unit", "container", "pod", "namespace", "reason"];

/// The labels that distinguish tasks, as far as they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskLabels {
    pub(super) pid: Option<u32>,
    tid: Option<u32>,
    pub(super) comm: Option<Comm>,
    uid: Option<u32>,
    /// Places in [`Cgroups`]: two ids of one path are one label.
    cgroup: Option<u32>,
    unit: Option<u32>,
    container: Option<u32>,
    pod: Option<u32>,
    namespace: Option<u32>,
    reason: Option<WaitReason>,
}

/// A source of the paths of cgroups.
pub(super) trait CgroupPaths {
    /// A number of the boot whose cgroups these are: in another one the same id is another cgroup.
    fn boot(&self) -> BootNumber;

    /// The path of a cgroup; `None` if it was not recorded.
    ///
    /// # Errors
    /// If the history cannot be read.
    fn path(&mut self, cgroup: u64) -> Result<Option<&str>, String>;
}

/// A boot, by the number that rounds or sums have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BootNumber {
    OfRounds(i64),
    OfSums(Option<u32>),
}

impl CgroupPaths for TaskNames<'_> {
    fn boot(&self) -> BootNumber {
        BootNumber::OfRounds(TaskNames::boot(self))
    }

    fn path(&mut self, cgroup: u64) -> Result<Option<&str>, String> {
        self.name(Named::Cgroup(cgroup)).map_err(|error| error.to_string())
    }
}

impl CgroupPaths for &SpanGroups {
    fn boot(&self) -> BootNumber {
        BootNumber::OfSums(self.boot)
    }

    fn path(&mut self, cgroup: u64) -> Result<Option<&str>, String> {
        Ok(self.cgroup(cgroup))
    }
}

/// The labels of the cgroups that were met. Each is the place of its text, so that a name is only written for series that are wanted.
#[derive(Debug, Default)]
struct Cgroups {
    known: HashMap<(BootNumber, u64), CgroupLabels>,
    places: HashMap<String, u32>,
    texts: Vec<String>,
}

/// The places of the labels that a cgroup's path gives.
#[derive(Clone, Copy, Debug)]
struct CgroupLabels {
    path: u32,
    unit: u32,
    container: u32,
    pod: u32,
    namespace: u32,
}

impl Cgroups {
    fn labels(
        &mut self,
        containers: &ContainerNames,
        paths: &mut impl CgroupPaths,
        id: Option<u64>,
    ) -> Result<CgroupLabels, String> {
        let Some(id) = id else { return Ok(self.labels_of(containers, "")) };
        let key = (paths.boot(), id);
        if let Some(labels) = self.known.get(&key) {
            return Ok(*labels);
        }
        let labels = self.labels_of(containers, paths.path(id)?.unwrap_or_default());
        self.known.insert(key, labels);
        Ok(labels)
    }

    fn labels_of(&mut self, containers: &ContainerNames, path: &str) -> CgroupLabels {
        let name = containers.cgroup_name(path);
        CgroupLabels {
            path: self.place(path),
            unit: self.place(name.unit_name()),
            container: self.place(name.container_name()),
            pod: self.place(name.pod()),
            namespace: self.place(name.namespace()),
        }
    }

    fn place(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }

    fn text(&self, place: Option<u32>) -> &str {
        place.and_then(|place| self.texts.get(place as usize)).map_or("", String::as_str)
    }
}

/// The names of what has numbers or ids.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// Users.
    pub users: &'n Users,
    /// Containers.
    pub containers: &'n ContainerNames,
}

/// The labels of tasks: how they read, and which are wanted.
pub(super) struct Labelling<'s> {
    names: Names<'s>,
    /// The scope of the tasks that are seen.
    scope: Scope,
    matchers: Vec<&'s Matcher>,
    is_wanted: [bool; LABELS_OF_WAITING.len()],
    metric: Option<&'static str>,
    /// What is known of cgroups is kept by what only asks.
    cgroups: RefCell<Cgroups>,
}

impl<'s> Labelling<'s> {
    /// Creates the labelling of tasks that meet conditions, with all labels; with those of a choice if there is one. `None`: no task can
    /// meet them.
    pub(super) fn new(
        (names, scope): (Names<'s>, Scope),
        matchers: &'s [Matcher],
        choice: Option<&LabelChoice>,
        (metric, labels): (&'static str, &'static [&'static str]),
    ) -> Option<Self> {
        let (known, others): (Vec<_>, Vec<_>) = matchers
            .iter()
            .filter(|matcher| matcher.label != METRIC)
            .partition(|matcher| labels.contains(&matcher.label.as_str()));
        // Labels that no task has are empty.
        others.iter().all(|matcher| matcher.accepts("")).then(|| Self {
            names,
            scope,
            matchers: known,
            is_wanted: LABELS_OF_WAITING
                .map(|label| labels.contains(&label) && choice.is_none_or(|choice| choice.contains(label))),
            metric: choice.is_none().then_some(metric),
            cgroups: RefCell::default(),
        })
    }

    /// Returns whether another one of the same scope selects the same tasks, and names them alike.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.matchers == other.matchers && self.is_wanted == other.is_wanted && self.metric == other.metric
    }

    /// Returns whether the matchers depend on the name of a task only.
    pub(super) fn is_by_name_alone(&self) -> bool {
        self.scope == Scope::All && self.matchers.iter().all(|matcher| matcher.label == "comm")
    }

    /// Returns whether sums of processes can tell which tasks are meant.
    pub(super) fn is_summable(&self) -> bool {
        let [_, tid, ..] = self.is_wanted;
        let is_told = |matcher: &&Matcher| match (matcher.label.as_str(), &matcher.condition) {
            ("tid", _) => false,
            ("pid", condition) => matches!(condition, Condition::Equal(_)),
            _ => true,
        };
        !tid && self.matchers.iter().all(is_told)
    }

    /// Returns whether it asks for, or selects, single processes.
    pub(super) fn is_by_process(&self) -> bool {
        let [pid, ..] = self.is_wanted;
        pid || self.selects_a_process()
    }

    /// Returns whether it selects a process by its number.
    pub(super) fn selects_a_process(&self) -> bool {
        self.matchers.iter().any(|matcher| matcher.label == "pid")
    }

    /// Returns whether one of some processes of a program may meet the conditions, where [`Self::is_summable`].
    pub(super) fn may_accept(
        &self,
        paths: &mut impl CgroupPaths,
        row: &TaskRow,
        processes: &[RangeInclusive<u32>],
    ) -> Result<bool, String> {
        let pids = self.matchers.iter().filter(|matcher| matcher.label == "pid");
        let mut numbers = pids.filter_map(|matcher| match &matcher.condition {
            Condition::Equal(number) => {
                Some(number.parse().is_ok_and(|number| brief_bounds::has(processes, number)))
            }
            _ => None,
        });
        Ok(numbers.all(|is_met| is_met) && self.accepts_but(paths, row, "pid")?)
    }

    /// Returns whether a task meets the conditions.
    pub(super) fn accepts(&self, paths: &mut impl CgroupPaths, row: &TaskRow) -> Result<bool, String> {
        self.accepts_but(paths, row, "")
    }

    /// Returns whether it meets those that are not about one of the labels.
    fn accepts_but(
        &self,
        paths: &mut impl CgroupPaths,
        row: &TaskRow,
        ignored: &str,
    ) -> Result<bool, String> {
        if matches!(self.scope, Scope::User(uid) if row.uid != Some(uid)) {
            return Ok(false);
        }
        for matcher in self.matchers.iter().filter(|matcher| matcher.label != ignored) {
            let is_met = match matcher.label.as_str() {
                "pid" => matcher.accepts(&row.tgid.unwrap_or(row.key.pid).to_string()),
                "tid" => matcher.accepts(&row.key.pid.to_string()),
                "comm" => matcher.accepts(&comm(&row.comm)),
                "user" => matcher.accepts(&self.user(row.uid)),
                "reason" => matcher.accepts(row.wait.map_or("", |wait| wait.reason.name())),
                label => {
                    let mut cgroups = self.cgroups.borrow_mut();
                    let labels = cgroups.labels(self.names.containers, paths, row.cgroup)?;
                    let place = match label {
                        "unit" => labels.unit,
                        "container" => labels.container,
                        "pod" => labels.pod,
                        "namespace" => labels.namespace,
                        _ => labels.path,
                    };
                    matcher.accepts(cgroups.text(Some(place)))
                }
            };
            if !is_met {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The labels of a task that are wanted.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(super) fn key(&mut self, paths: &mut impl CgroupPaths, row: &TaskRow) -> Result<TaskLabels, String> {
        let [pid, tid, comm, user, cgroup, unit, container, pod, namespace, reason] = self.is_wanted;
        let is_of_cgroup = cgroup || unit || container || pod || namespace;
        let containers = self.names.containers;
        let of_cgroup =
            is_of_cgroup.then(|| self.cgroups.get_mut().labels(containers, paths, row.cgroup)).transpose()?;
        Ok(TaskLabels {
            pid: pid.then_some(row.tgid.unwrap_or(row.key.pid)),
            tid: tid.then_some(row.key.pid),
            comm: comm.then_some(row.comm),
            uid: row.uid.filter(|_| user),
            cgroup: of_cgroup.filter(|_| cgroup).map(|labels| labels.path),
            unit: of_cgroup.filter(|_| unit).map(|labels| labels.unit),
            container: of_cgroup.filter(|_| container).map(|labels| labels.container),
            pod: of_cgroup.filter(|_| pod).map(|labels| labels.pod),
            namespace: of_cgroup.filter(|_| namespace).map(|labels| labels.namespace),
            reason: row.wait.map(|wait| wait.reason).filter(|_| reason),
        })
    }

    /// Returns whether tasks with other keys have other names.
    pub(super) fn is_named_alone(&self, key: &TaskLabels) -> bool {
        let [_, _, _, user, ..] = self.is_wanted;
        // What is not UTF-8 is written with this letter.
        let is_clear =
            |name: &Comm| str::from_utf8(name.as_bytes()).is_ok_and(|name| !name.contains('\u{fffd}'));
        !user && key.comm.as_ref().is_none_or(is_clear)
    }

    pub(super) fn user(&self, uid: Option<u32>) -> Cow<'_, str> {
        match uid {
            None => Cow::Borrowed(""),
            Some(uid) => self.names.users.name_or_number(uid),
        }
    }

    /// The name of the series with these labels.
    pub(super) fn name(&self, key: &TaskLabels) -> SeriesName {
        let mut name = SeriesName::default();
        name.set(METRIC, self.metric.unwrap_or_default());
        name.set("pid", &key.pid.map(|pid| pid.to_string()).unwrap_or_default());
        name.set("tid", &key.tid.map(|tid| tid.to_string()).unwrap_or_default());
        name.set("comm", &key.comm.map(|name| comm(&name).into_owned()).unwrap_or_default());
        name.set("user", &self.user(key.uid));
        let cgroups = self.cgroups.borrow();
        name.set("cgroup", cgroups.text(key.cgroup));
        name.set("unit", cgroups.text(key.unit));
        name.set("container", cgroups.text(key.container));
        name.set("pod", cgroups.text(key.pod));
        name.set("namespace", cgroups.text(key.namespace));
        name.set("reason", key.reason.map_or("", WaitReason::name));
        name
    }
}

fn comm(comm: &Comm) -> Cow<'_, str> {
    String::from_utf8_lossy(comm.as_bytes())
}
