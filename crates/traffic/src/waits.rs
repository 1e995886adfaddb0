//! Delays of whit's own threads: what they waited for.

use facts::task::figure::FigureSet;
use facts::task::{TaskAccount, TimeBreakdown};
use probe::Roots;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use text::units::Span;

/// This process' account since it began; `None` if it cannot be read.
pub(crate) fn own() -> Option<TaskAccount> {
    let request = TaskRequest { sources: &TaskSource::FOR_ONE_READING, extra: FigureSet::default() };
    let mut reader = TaskReader::open(&Roots::live(), &request).ok()?;
    Some(reader.read_process(std::process::id()).ok()?.living)
}

/// Its parts in words.
pub(crate) fn words(account: &TaskAccount) -> String {
    let TimeBreakdown { on_cpu, run_queue, block_io, sleeping, .. } = account.sum.breakdown();
    let span =
        |part: Option<facts::unit::Nanos>| part.map_or("–".to_owned(), |part| Span(part).to_string());
    format!(
        "on CPU {}, run queue {}, block I/O {}, sleeping {}",
        span(on_cpu),
        span(run_queue),
        span(block_io),
        span(sleeping)
    )
}
