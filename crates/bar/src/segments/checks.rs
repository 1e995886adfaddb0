//! Problems that the agent's checks found.

use std::time::Duration;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use command::agent_rows;
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "checks",
    about: "Problems that the checks of an agent found; nothing if no agent runs, or none has checks.",
    fields: &[
        field("problems", "how many checks are not OK"),
        field("critical", "how many of them are critical"),
        field("unknown", "how many have an unknown state"),
        field("warning", "how many are warnings"),
        field("ok", "how many checks are OK"),
    ],
    format: "checks {problems}",
    variants: &[("problems < 1", "checks ok")],
    thresholds: &[(Tone::Urgent, "critical >= 1"), (Tone::Warning, "problems >= 1")],
    interval: Some(Duration::from_secs(5)),
    make: |_| {
        let mut client = None;
        let ask: Job<Option<Counts>> = Box::new(move || counts(&agent_rows::status(&mut client)?));
        Ok(Box::new(Checks { query: Query::new(ask) }))
    },
    ..Kind::DEFAULT
};

struct Checks {
    query: Query<Option<Counts>, Job<Option<Counts>>>,
}

/// How many checks have which state.
#[derive(Clone, Copy, Default)]
struct Counts {
    critical: u64,
    unknown: u64,
    warning: u64,
    ok: u64,
}

/// Finds the counts among the lines of the agent's status; `None`: it has no checks.
fn counts(status: &str) -> Option<Counts> {
    let mut counts = None;
    for line in status.lines() {
        let Some((state, count)) =
            line.strip_prefix("whit_checks{state=\"").and_then(|rest| rest.split_once("\"} "))
        else {
            continue;
        };
        let counts = counts.get_or_insert_with(Counts::default);
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

impl Segment for Checks {
    fn tick(&mut self, context: &SegmentContext) {
        self.query.request("checks", context);
    }

    fn is_waiting(&self) -> bool {
        self.query.is_waiting()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        self.query.render(items, |counts, items| {
            let Some(Some(Counts { critical, unknown, warning, ok })) = counts else { return };
            let problems = critical + unknown + warning;
            items.only(&[problems, *critical, *unknown, *warning, *ok].map(Value::count));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_checks_has_no_counts() {
        assert!(counts("whit_agent_cpu_seconds_total 1\n").is_none());
        let status = "whit_checks{state=\"ok\"} 7\nwhit_checks{state=\"critical\"} 2\n";
        let counts = counts(status).unwrap();
        assert_eq!((counts.ok, counts.critical, counts.warning), (7, 2, 0));
    }
}
