//! The sums beside a history, as far as they can be used.

use std::path::Path;

use facts::task::figure::FigureSet;
use store::History;

use crate::task_sums::{Boots, Span, SpanGroups, SpanProcesses, SumsFile};

/// The sums beside a history.
#[derive(Debug)]
pub(super) struct PastSums {
    pub(super) file: SumsFile,
    /// The first and the last round that they are of, in milliseconds since 1970.
    pub(super) exact_ms: [i64; 2],
    pub(super) boots: Boots,
}

impl PastSums {
    /// Opens them; `None` if there are none that can be used.
    pub(super) fn open(path: &Path, history: &History) -> Option<Self> {
        let (first_ns, last_ns) = history.exact_rounds_ns().ok()??;
        let (file, boots) = (SumsFile::open_for_reading(path).ok()?, Boots::of(history).ok()?);
        let exact_ms = [first_ns / 1_000_000, last_ns / 1_000_000];
        file.is_of(&boots).then_some(Self { file, exact_ms, boots })
    }

    /// Returns the sums of a span by these figures, those of its processes only if they are needed; `None` if they cannot be used.
    pub(super) fn sums(
        &self,
        span: Span,
        figures: FigureSet,
        is_by_process: bool,
    ) -> Option<(SpanGroups, Option<SpanProcesses>)> {
        let (groups, processes) = match is_by_process {
            true => self.file.sums(span, figures).ok()?.map(|sums| (sums.groups, Some(sums.processes)))?,
            false => (self.file.groups(span, figures).ok()??, None),
        };
        let is_of_this_history = match groups.boot {
            Some(boot) => self.boots.contains(boot),
            // Nothing was recorded then.
            None => groups.times_ms.is_empty(),
        };
        // The clock may have been set.
        let has_order = groups.times_ms.is_sorted_by(|one, next| one < next);
        (is_of_this_history && has_order).then_some((groups, processes))
    }
}
