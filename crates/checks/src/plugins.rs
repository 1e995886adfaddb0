//! Plugins that are to run: how many may at a time, and what is ordered of the process that runs them.

use std::collections::HashMap;
use std::time::Duration;

use super::definition::{Check, CheckOptions, Plugin};
use super::runner::{Order, OrderUser};
use super::schedule::Ceiling;

/// Plugins that run.
#[derive(Debug)]
pub(super) struct Plugins {
    most: usize,
    ceiling: Ceiling,
    /// By group: how many may run, and how many do.
    groups: HashMap<String, (usize, usize)>,
    /// Which check an order is for, by its id.
    running: HashMap<u64, Running>,
    last_id: u64,
}

/// One that runs.
#[derive(Clone, Debug)]
pub(super) struct Running {
    /// The name of its check.
    pub(super) name: String,
    group: Option<String>,
}

/// Why a plugin is not started now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Others of its group run.
    Group,
    /// There is room for no other one, either.
    All,
    /// Too many were started a moment ago.
    Ceiling,
}

impl Plugins {
    pub(super) fn new(options: &CheckOptions, now_ms: i64) -> Self {
        let mut plugins = Self {
            most: options.most_running,
            ceiling: Ceiling::new(options.most_starts_a_second, now_ms),
            groups: HashMap::new(),
            running: HashMap::new(),
            last_id: 0,
        };
        plugins.reconfigure(options, now_ms);
        plugins
    }

    /// With other bounds. Those that run go on.
    pub(super) fn reconfigure(&mut self, options: &CheckOptions, now_ms: i64) {
        self.most = options.most_running;
        self.ceiling = Ceiling::new(options.most_starts_a_second, now_ms);
        let counted =
            |name: &String| self.running.values().filter(|one| one.group.as_ref() == Some(name)).count();
        self.groups =
            options.groups.iter().map(|(name, most)| (name.clone(), (*most, counted(name)))).collect();
    }

    /// Takes room for a plugin, and says what is to be ordered.
    pub(super) fn begin(&mut self, check: &Check, plugin: &Plugin, now_ms: i64) -> Result<Order, Refusal> {
        if self.running.len() >= self.most {
            return Err(Refusal::All);
        }
        let group = check.group.as_ref().and_then(|group| self.groups.get_mut(group));
        if group.as_ref().is_some_and(|(most, running)| running >= most) {
            return Err(Refusal::Group);
        }
        if !self.ceiling.take(now_ms) {
            return Err(Refusal::Ceiling);
        }
        if let Some((_, running)) = group {
            *running += 1;
        }
        self.last_id += 1;
        let running = Running { name: check.name.to_string(), group: check.group.clone() };
        self.running.insert(self.last_id, running);
        Ok(plugin.order(self.last_id, check.timeout))
    }

    /// The check that an order was for.
    pub(super) fn get(&self, id: u64) -> Option<&Running> {
        self.running.get(&id)
    }

    /// Nothing of an order runs any more.
    pub(super) fn end(&mut self, id: u64) -> Option<Running> {
        let running = self.running.remove(&id)?;
        let group = running.group.as_ref().and_then(|group| self.groups.get_mut(group));
        if let Some((_, count)) = group {
            *count = count.saturating_sub(1);
        }
        Some(running)
    }

    /// The process that ran them is gone, and all of them with it.
    pub(super) fn end_all(&mut self) -> Vec<Running> {
        self.groups.values_mut().for_each(|(_, running)| *running = 0);
        self.running.drain().map(|(_, running)| running).collect()
    }

    /// The names of the checks whose plugins run.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.running.values().map(|running| running.name.as_str())
    }

    pub(super) fn count(&self) -> usize {
        self.running.len()
    }

    /// How long it takes until another one may be started.
    pub(super) fn wait_ms(&self) -> i64 {
        self.ceiling.wait_ms()
    }
}

impl Plugin {
    /// Returns the order to run it.
    pub(super) fn order(&self, id: u64, timeout: Duration) -> Order {
        // Its numbers are to be read by machines, whatever the agent's language.
        let usual = [("LC_ALL".to_owned(), "C".to_owned())];
        let user = self.user.as_ref();
        Order {
            id,
            words: self.words.iter().map(|word| word.to_string()).collect(),
            environment: usual.into_iter().chain(self.environment.iter().cloned()).collect(),
            directory: self.directory.clone(),
            user: user.map(|user| OrderUser { uid: user.uid, gid: user.gid, groups: user.groups.clone() }),
            timeout_ms: timeout.as_millis() as u64,
        }
    }
}
