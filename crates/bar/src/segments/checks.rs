//! Problems that the agent's checks found.

use std::time::Duration;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use command::agent_problems::CheckCounts;
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
        let ask: Job<Option<CheckCounts>> =
            Box::new(move || CheckCounts::of_status(&agent_rows::status(&mut client)?));
        Ok(Box::new(Checks { query: Query::new(ask) }))
    },
    ..Kind::DEFAULT
};

struct Checks {
    query: Query<Option<CheckCounts>, Job<Option<CheckCounts>>>,
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
            let Some(Some(CheckCounts { critical, unknown, warning, ok })) = counts else { return };
            let problems = critical + unknown + warning;
            items.only(&[problems, *critical, *unknown, *warning, *ok].map(Value::count));
        });
    }
}
