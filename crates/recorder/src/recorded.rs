//! The series of a tick, from wherever they come.

use facts::sample::Sample;
use formats::relabel::Relabelling;
use store::{SeriesId, Store};

use crate::alert_series::AlertSeries;
use crate::container_series::ContainerSeries;
use crate::feed_series::FeedSeries;
use crate::machine_series::MachineSeries;
use crate::messages::ServerReport;
use crate::own_series::{OwnSeries, OwnState};
use crate::receiver_series::ReceiverSeries;
use crate::registry::Registry;
use crate::task_series::TaskSeries;

/// All that are recorded.
pub(crate) struct Recorded {
    pub(crate) registry: Registry,
    machine: MachineSeries,
    pub(crate) own: OwnSeries,
    pub(crate) tasks: TaskSeries,
    pub(crate) containers: ContainerSeries,
    alerts: AlertSeries,
    feeds: FeedSeries,
    receivers: ReceiverSeries,
}

impl Recorded {
    pub(crate) fn new(relabelling: Relabelling) -> Self {
        Self {
            registry: Registry::new(relabelling),
            machine: MachineSeries::default(),
            own: OwnSeries::default(),
            tasks: TaskSeries::default(),
            containers: ContainerSeries::default(),
            alerts: AlertSeries::default(),
            feeds: FeedSeries::default(),
            receivers: ReceiverSeries::default(),
        }
    }

    /// Takes the values of samples of the machine.
    pub(crate) fn collect_machine(&mut self, samples: [&Sample; 2], store: &mut Store) {
        self.machine.collect(samples, &mut self.registry, store);
    }

    /// Takes all others: the agent's own, the tasks', and those of the server's alerts, feeds and receivers.
    pub(crate) fn collect_others(&mut self, own: OwnState, report: &ServerReport, store: &mut Store) {
        self.own.collect(own, &mut self.registry, store);
        self.tasks.register(&mut self.registry, store);
        self.containers.register(&mut self.registry, store);
        self.alerts.collect(&report.alerts, &mut self.registry, store);
        self.feeds.collect(&report.feeds, &mut self.registry, store);
        self.receivers.collect(&report.receivers, &mut self.registry, store);
    }

    /// The last tick's values, with the names under which they are recorded; without alerts, feeds and receivers.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, SeriesId, f64)> {
        let machine = self.machine.recorded().chain(self.own.recorded());
        machine.chain(self.tasks.recorded()).chain(self.containers.recorded())
    }

    /// Returns the values of the last tick that all users may see. The sums over all tasks are not among them.
    pub(crate) fn public(&self) -> impl Iterator<Item = (&str, f64)> {
        self.machine.recorded().chain(self.own.recorded()).map(|(name, _, value)| (name, value))
    }

    /// All of the last tick's values.
    pub(crate) fn values(&self) -> impl Iterator<Item = (SeriesId, f64)> {
        let named = self.named().map(|(_, id, value)| (id, value));
        named.chain(self.alerts.values()).chain(self.feeds.values()).chain(self.receivers.values())
    }

    /// Lets all get other names.
    pub(crate) fn rename(&mut self, relabelling: Relabelling) {
        self.registry = Registry::new(relabelling);
        self.machine.forget_names();
        self.own.forget_names();
        self.tasks.forget_names();
        self.containers.forget_names();
        self.alerts.forget_names();
        self.feeds.forget_names();
        self.receivers.forget_names();
    }
}
