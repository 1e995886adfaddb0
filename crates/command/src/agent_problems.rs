//! How many alerts and checks of an agent are not well, as its status counts them.

/// How many checks have which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// A plugin says so.
    pub critical: u64,
    /// A plugin could not find out, or not be run.
    pub unknown: u64,
    /// A plugin says so.
    pub warning: u64,
    /// All is well.
    pub ok: u64,
}

impl CheckCounts {
    /// Finds the counts among the lines of an agent's status; `None`: it has no checks.
    pub fn of_status(status: &str) -> Option<Self> {
        let mut counts = None;
        for line in status.lines() {
            let Some((state, count)) =
                line.strip_prefix("whit_checks{state=\"").and_then(|rest| rest.split_once("\"} "))
            else {
                continue;
            };
            let counts = counts.get_or_insert_with(Self::default);
            let count = count.parse().unwrap_or(0);
            match state {
                "critical" => counts.critical = count,
                "unknown" => counts.unknown = count,
                "warning" => counts.warning = count,
                "ok" => counts.ok = count,
                _ => {}
            }
        }
        counts
    }
}

/// Alerts and checks that are not well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentProblems {
    /// Alerts that fire, whether they are silenced or not.
    pub firing_alerts: u64,
    /// Checks by their states.
    pub checks: CheckCounts,
}

impl AgentProblems {
    /// Finds them among the lines of an agent's status. An agent without rules or without checks has none.
    pub fn of_status(status: &str) -> Self {
        let firing = status.lines().find_map(|line| line.strip_prefix("firing_alerts "));
        Self {
            firing_alerts: firing.and_then(|count| count.parse().ok()).unwrap_or(0),
            checks: CheckCounts::of_status(status).unwrap_or_default(),
        }
    }

    /// Returns whether one needs attention at once: it fires, or is critical.
    pub fn is_urgent(&self) -> bool {
        self.firing_alerts > 0 || self.checks.critical > 0
    }

    /// Says how many there are of each kind, such as `1 alert, 2 checks critical`; `None` if all is well.
    pub fn words(&self) -> Option<String> {
        let CheckCounts { critical, unknown, warning, .. } = self.checks;
        let mut parts = Vec::new();
        if self.firing_alerts > 0 {
            parts.push(counted(self.firing_alerts, "alert"));
        }
        // The noun stands before the first state alone.
        let states = [(critical, "critical"), (warning, "warning"), (unknown, "unknown")];
        for (count, state) in states.into_iter().filter(|(count, _)| *count > 0) {
            let is_first = parts.len() == usize::from(self.firing_alerts > 0);
            let subject = if is_first { counted(count, "check") } else { count.to_string() };
            parts.push(format!("{subject} {state}"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_checks_has_no_counts() {
        assert_eq!(CheckCounts::of_status("whit_agent_cpu_seconds_total 1\n"), None);
        let status = "whit_checks{state=\"ok\"} 7\nwhit_checks{state=\"critical\"} 2\n";
        let expected = CheckCounts { ok: 7, critical: 2, ..CheckCounts::default() };
        assert_eq!(CheckCounts::of_status(status), Some(expected));
    }

    #[test]
    fn only_problems_are_named() {
        let words = |status: &str| AgentProblems::of_status(status).words();
        let checks = |state: &str, count: u64| format!("whit_checks{{state=\"{state}\"}} {count}\n");
        assert_eq!(words(&checks("ok", 7)), None);
        assert_eq!(words("firing_alerts 0\n"), None);
        assert_eq!(words("firing_alerts 1\n").as_deref(), Some("1 alert"));
        let several = checks("critical", 1) + &checks("unknown", 3);
        assert_eq!(words(&several).as_deref(), Some("1 check critical, 3 unknown"));
        let all = format!("firing_alerts 2\n{}", checks("warning", 4));
        assert_eq!(words(&all).as_deref(), Some("2 alerts, 4 checks warning"));
        assert!(AgentProblems::of_status(&all).is_urgent());
        assert!(!AgentProblems::of_status(&checks("warning", 4)).is_urgent());
    }
}
