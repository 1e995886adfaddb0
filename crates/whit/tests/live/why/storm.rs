//! A storm of processes beside what is staged. WHIT_STORM says how many are started in each second; without it there is none.

use serde_json::Value;

use super::super::machine::{Load, Scratch, copy_program, peer};
use super::super::trials::times;

/// Its name, and for how many seconds it would last: an observation is shorter.
const NAME: &str = "storm";
const SECONDS: &str = "60";

/// A storm that ends with this.
pub(super) struct Storm {
    _load: Load,
    _scratch: Scratch,
}

impl Storm {
    /// Starts a storm if one is wanted.
    pub(super) fn start() -> Option<Self> {
        (rate() > 0).then(|| Self::of(rate()))
    }

    /// Starts a storm of so many processes in each second.
    pub(super) fn of(rate: u64) -> Self {
        let scratch = Scratch::new("storm");
        let program = scratch.0.join(NAME);
        copy_program(peer("execs"), &program);
        let load = Load::start(&[&program.display().to_string(), "exec", SECONDS, &rate.to_string()]);
        std::thread::sleep(std::time::Duration::from_millis(300));
        Self { _load: load, _scratch: scratch }
    }
}

/// The processes that it starts in each second.
pub(super) fn rate() -> u64 {
    times("WHIT_STORM", 0)
}

/// Returns whether a sentence says that there is a storm, and whose it is: it is true, and none of what was staged.
pub(super) fn is_named(sentence: &Value) -> bool {
    sentence["trouble"] == "forks" && sentence["culprit"] == NAME
}
