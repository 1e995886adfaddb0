//! Does a native check.

use std::path::Path;
use std::time::{Duration, Instant};

use super::outcome::Outcome;
use super::subject::Native;
use super::{certificate, expression, files, names, network, ping, processes, units};
use crate::runner::RunCost;
use crate::status::Finding;

/// Does a native check, and measures how long that takes; `history` is that of the agent.
pub(crate) fn run(native: &Native, timeout: Duration, history: &Path) -> (Finding, RunCost) {
    let begun = Instant::now();
    let Outcome { state, text, figures } = find(native, timeout, history);
    let at_ms = jiff::Timestamp::now().as_millisecond();
    let cost = RunCost { wall_ns: begun.elapsed().as_nanos() as u64, ..RunCost::default() };
    (Finding { state, text, figures, at_ms, ..Finding::default() }, cost)
}

fn find(native: &Native, timeout: Duration, history: &Path) -> Outcome {
    match native {
        Native::Expression(wanted) => expression::ask(wanted, timeout, history),
        Native::Tcp(address) => network::connect(address, timeout),
        Native::Http(wanted) => network::get(wanted, timeout),
        Native::Name(wanted) => names::resolve(wanted, timeout),
        Native::Ping(wanted) => ping::ping(wanted, timeout),
        Native::Certificate(wanted) => certificate::look(wanted, timeout),
        Native::Unit(pattern) => units::ask(pattern, timeout),
        Native::File(wanted) => files::look(wanted),
        Native::Process { name, least, most } => processes::count(name, *least, *most),
    }
}
