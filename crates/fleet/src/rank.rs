//! What is the matter with a machine, and which of two is worse.

use std::cmp::{Ordering, Reverse};

use text::natural_order::by_natural_order;

use crate::machine::{Machine, Severity, Trouble};

/// A machine whose newest sample is older is silent. Agents send every five seconds unless they are configured otherwise.
const SILENT_MS: i64 = 90_000;
/// As the alerts that agents have by themselves.
const MIN_ROOM_RATIO: f64 = 0.02;
const LITTLE_ROOM_RATIO: f64 = 0.1;
const LITTLE_MEMORY_RATIO: f64 = 0.05;
/// Tasks wait so long in each second and for each CPU.
const MUCH_WAITING: f64 = 1.0;
/// A clock that is so far off makes the times of different machines incomparable. The store's own clock is known to a second.
const CLOCK_OFF_S: f64 = 2.0;

impl Machine {
    /// Finds what is the matter at an instant in milliseconds since 1970.
    pub(crate) fn judge(&mut self, at_ms: i64) {
        let mut troubles = Vec::new();
        let mut add = |severity, text: String| troubles.push(Trouble { severity, text });
        match self.seen_ns {
            None => add(Severity::Critical, "sends nothing".to_owned()),
            Some(seen_ns) if at_ms - seen_ns / 1_000_000 > SILENT_MS => {
                let seconds = at_ms / 1000 - seen_ns / 1_000_000_000;
                add(Severity::Critical, format!("has sent nothing for {seconds} s"));
            }
            Some(_) => {}
        }
        for alert in &self.alerts {
            let severity = match alert.severity.as_str() {
                "critical" | "page" => Severity::Critical,
                "info" | "notice" => Severity::Notice,
                _ => Severity::Warning,
            };
            let times = if alert.count > 1 { format!(" ({} times)", alert.count) } else { String::new() };
            add(severity, format!("{}{times}", alert.name));
        }
        let counts = [
            (Severity::Critical, self.checks.critical_count, "critical"),
            (Severity::Warning, self.checks.warning_count, "in warning"),
            (Severity::Warning, self.checks.unknown_count, "unknown"),
        ];
        for (severity, count, state) in counts.into_iter().filter(|(_, count, _)| *count > 0) {
            let noun = if count == 1 { "check is" } else { "checks are" };
            add(severity, format!("{count} {noun} {state}"));
        }
        if let Some(fullest) = self.fullest.as_ref().filter(|full| full.available_ratio < LITTLE_ROOM_RATIO) {
            let is_full = fullest.available_ratio < MIN_ROOM_RATIO;
            let severity = if is_full { Severity::Critical } else { Severity::Notice };
            let percent = 100.0 * fullest.available_ratio;
            add(severity, format!("{} has {percent:.0} % left", fullest.mountpoint));
        }
        if let Some(ratio) = self.memory_left_ratio().filter(|ratio| *ratio < LITTLE_MEMORY_RATIO) {
            add(Severity::Warning, format!("{:.0} % of its memory are left", 100.0 * ratio));
        }
        if let Some(longest) = self.waits.first().filter(|_| self.waited_per_cpu() > MUCH_WAITING) {
            let seconds = longest.waited_ratio;
            add(Severity::Notice, format!("tasks wait {seconds:.1} s in each second for {}", longest.cause));
        }
        let ahead_s = self.clock_ahead_ns.map(|ahead_ns| ahead_ns as f64 / 1e9);
        if let Some(ahead_s) = ahead_s.filter(|ahead_s| ahead_s.abs() > CLOCK_OFF_S) {
            let side = if ahead_s > 0.0 { "ahead" } else { "behind" };
            add(Severity::Warning, format!("its clock is {:.0} s {side}", ahead_s.abs()));
        }
        troubles.sort_by_key(|trouble| Reverse(trouble.severity));
        self.troubles = troubles;
    }

    /// The order of the fleet: the worst trouble first, then most waiting.
    pub(crate) fn worse_first(&self, other: &Self) -> Ordering {
        let worst = |machine: &Self| machine.troubles.first().map(|trouble| trouble.severity);
        let is_silent = |machine: &Self| machine.seen_ns.is_none();
        let rank = |machine: &Self| (worst(machine), is_silent(machine));
        rank(other)
            .cmp(&rank(self))
            .then_with(|| other.waited_per_cpu().total_cmp(&self.waited_per_cpu()))
            .then_with(|| by_natural_order(&self.name, &other.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{FiringAlert, FullestFilesystem};

    const NOW_MS: i64 = 1_700_000_000_000;

    fn machine(name: &str) -> Machine {
        Machine {
            seen_ns: Some((NOW_MS - 1000) * 1_000_000),
            cpus_count: Some(2.0),
            ..Machine::new(name.to_owned())
        }
    }

    fn texts(mut machine: Machine) -> Vec<String> {
        machine.judge(NOW_MS);
        machine.troubles.into_iter().map(|trouble| trouble.text).collect()
    }

    #[test]
    fn what_is_the_matter_is_said_worst_first() {
        assert!(texts(machine("quiet")).is_empty());
        let mut bad = machine("bad");
        bad.checks.critical_count = 1;
        bad.checks.unknown_count = 2;
        bad.fullest = Some(FullestFilesystem { mountpoint: "/srv".to_owned(), available_ratio: 0.054 });
        bad.alerts.push(FiringAlert { name: "a unit failed".to_owned(), severity: String::new(), count: 3 });
        bad.clock_ahead_ns = Some(-7_200_000_000);
        assert_eq!(
            texts(bad),
            [
                "1 check is critical",
                "a unit failed (3 times)",
                "2 checks are unknown",
                "its clock is 7 s behind",
                "/srv has 5 % left"
            ]
        );
        let mut late = machine("late");
        late.seen_ns = Some((NOW_MS - 100_000) * 1_000_000);
        assert_eq!(texts(late), ["has sent nothing for 100 s"]);
    }

    #[test]
    fn a_silent_machine_comes_first_and_a_quiet_one_last() {
        let silent = Machine::new("silent".to_owned());
        let mut full = machine("full");
        full.fullest = Some(FullestFilesystem { mountpoint: "/".to_owned(), available_ratio: 0.0 });
        let mut waiting = machine("waiting");
        waiting.wait("thrashing", 0.2);
        waiting.wait("block_io", 0.3);
        waiting.wait("reclaim", 0.2);
        assert_eq!(waiting.waits.first().map(|wait| wait.cause.as_str()), Some("memory"));
        let mut all = [machine("a"), waiting, full, silent];
        all.iter_mut().for_each(|machine| machine.judge(NOW_MS));
        all.sort_by(Machine::worse_first);
        let names: Vec<&str> = all.iter().map(|machine| machine.name.as_str()).collect();
        assert_eq!(names, ["silent", "full", "waiting", "a"]);
    }
}
