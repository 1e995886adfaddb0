//! The objects that the rows of Livestatus' tables are made from.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::{Check, CheckRegistry, CheckStatus, Downtime, State};

/// All checks as hosts and their services, at one time. A copy: the thread that does the checks does not wait for a dashboard.
pub(super) struct Inventory {
    pub(super) checks: Arc<Vec<Check>>,
    pub(super) statuses: Vec<CheckStatus>,
    pub(super) hosts: Vec<Host>,
    /// For each check how many downtimes it is in.
    downtime_counts: Vec<i64>,
    pub(super) downtimes: Vec<(i64, Downtime)>,
    pub(super) now_ms: i64,
    /// In the zone of times of the week.
    pub(super) now: Zoned,
    /// When the server began.
    pub(super) started_ms: i64,
    /// The status of a host without a check of its own.
    none: CheckStatus,
}

/// A host, with the places of checks.
pub(super) struct Host {
    pub(super) name: String,
    /// Its own.
    check: Option<usize>,
    services: Vec<usize>,
    /// Nothing reaches it.
    is_unreachable: bool,
    /// The hosts that have it as a parent.
    pub(super) children: Vec<String>,
}

impl Inventory {
    /// Creates the inventory of a registry. Checks without a host belong to this machine.
    pub(super) fn new(
        registry: &CheckRegistry,
        downtimes: Vec<(i64, Downtime)>,
        machine: &str,
        zone: &TimeZone,
        [started_ms, now_ms]: [i64; 2],
    ) -> Self {
        let now = Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(zone.clone());
        let count = |status: &CheckStatus| {
            let is_now =
                |(_, downtime): &&(i64, Downtime)| downtime.is_of(&status.name) && downtime.is_now(&now);
            downtimes.iter().filter(is_now).count() as i64
        };
        let mut children: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for child in registry.checks.iter().filter(|check| check.is_of_host()) {
            for parent in &child.parents {
                children.entry(parent).or_default().push(child.name.host.clone());
            }
        }
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut hosts: Vec<Host> = Vec::new();
        for (at, check) in registry.checks.iter().enumerate() {
            let host = check.name.host.as_str();
            let place = *places.entry(host).or_insert_with(|| {
                let name = if host.is_empty() { machine } else { host };
                let is_unreachable = registry.is_unreachable(host);
                let children = children.remove(host).unwrap_or_default();
                let (check, services) = (None, Vec::new());
                hosts.push(Host { name: name.to_owned(), check, services, is_unreachable, children });
                hosts.len() - 1
            });
            match check.is_of_host() {
                true => hosts[place].check = Some(at),
                false => hosts[place].services.push(at),
            }
        }
        Self {
            downtime_counts: registry.statuses.iter().map(count).collect(),
            checks: Arc::clone(&registry.checks),
            statuses: registry.statuses.clone(),
            hosts,
            downtimes,
            now_ms,
            now,
            started_ms,
            none: CheckStatus::default(),
        }
    }
}

/// A check; of a host perhaps none.
#[derive(Clone)]
pub(super) struct CheckRow {
    pub(super) all: Arc<Inventory>,
    place: Option<usize>,
}

impl CheckRow {
    pub(super) fn check(&self) -> Option<&Check> {
        self.place.map(|place| &self.all.checks[place])
    }

    pub(super) fn status(&self) -> &CheckStatus {
        self.place.map_or(&self.all.none, |place| &self.all.statuses[place])
    }

    /// Downtimes that are now.
    pub(super) fn downtimes(&self) -> i64 {
        self.place.map_or(0, |place| self.all.downtime_counts[place])
    }

    /// The state of a service; one without a result is OK here, and not `has_been_checked`.
    pub(super) fn service_state(&self) -> i64 {
        i64::from(self.status().state.unwrap_or_default().number())
    }
}

/// A host with its services.
pub(super) struct HostRow {
    pub(super) check: CheckRow,
    place: usize,
}

impl HostRow {
    pub(super) fn all(inventory: &Arc<Inventory>) -> Vec<Self> {
        (0..inventory.hosts.len()).map(|place| Self::new(inventory, place)).collect()
    }

    fn new(inventory: &Arc<Inventory>, place: usize) -> Self {
        let check = CheckRow { all: Arc::clone(inventory), place: inventory.hosts[place].check };
        Self { check, place }
    }

    pub(super) fn host(&self) -> &Host {
        &self.check.all.hosts[self.place]
    }

    pub(super) fn address(&self) -> &str {
        let services = &self.host().services;
        let check = self.host().check.or_else(|| services.first().copied());
        let address = check.map_or("", |place| self.check.all.checks[place].address.as_str());
        if address.is_empty() { &self.host().name } else { address }
    }

    pub(super) fn services(&self) -> impl Iterator<Item = CheckRow> {
        let of = |place: &usize| CheckRow { all: Arc::clone(&self.check.all), place: Some(*place) };
        self.host().services.iter().map(of)
    }

    /// Up, down or unreachable.
    pub(super) fn state(&self) -> i64 {
        match (self.check.status().is_problem(), self.host().is_unreachable) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    /// How many services are in a state; `None`: have no result.
    pub(super) fn count(&self, state: Option<State>) -> i64 {
        self.services().filter(|row| row.status().state == state).count() as i64
    }
}

/// A service with its host.
pub(super) struct ServiceRow {
    pub(super) host: HostRow,
    pub(super) check: CheckRow,
}

impl ServiceRow {
    pub(super) fn all(inventory: &Arc<Inventory>) -> Vec<Self> {
        let of_host = |(place, host): (usize, &Host)| {
            host.services.clone().into_iter().map(move |service| Self {
                host: HostRow::new(inventory, place),
                check: CheckRow { all: Arc::clone(inventory), place: Some(service) },
            })
        };
        inventory.hosts.iter().enumerate().flat_map(of_host).collect()
    }
}
