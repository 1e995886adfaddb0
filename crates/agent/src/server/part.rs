//! A part of the server: how it is started, tried again and reconfigured.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::runner::PrivilegedRunner;
use facts::unit::Nanos;
use probe::background_job::Notifier;
use probe::clock_now;
use recorder::messages::TaskReading;
use service::Log;

use crate::http::BoundHttp;
use crate::inspection::Inspector;
use crate::options::AgentOptions;
use crate::shared_states::SharedStates;

/// The delay before the first restart of a part that failed. It doubles with each, up to the longest.
const FIRST_DELAY: Nanos = Nanos(1_000_000_000);
const MAX_DELAY: Nanos = Nanos(60_000_000_000);

/// The settings that a part may depend on and that can change while it runs.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) options: AgentOptions,
    /// How the recorder reads tasks; `None`: it does not.
    pub(super) reading: Option<TaskReading>,
}

/// The context that parts are started with.
pub(super) struct Context {
    pub(super) settings: Settings,
    /// The path of history.sqlite.
    pub(super) history: PathBuf,
    pub(super) states: SharedStates,
    /// Notified when a client needs data of the recorder.
    pub(super) requests: Notifier,
    /// The address of HTTP, which was bound, or could not be, while the process had the privilege for it. `None` once it is taken.
    pub(super) bound_http: Option<io::Result<BoundHttp>>,
    /// What runs plugins as other users, started while the process had the privilege for it.
    pub(super) runner: Option<PrivilegedRunner>,
    /// What looks at processes, started while the process had the privilege for it.
    pub(super) inspector: Option<Arc<Inspector>>,
}

impl Context {
    /// Returns the data directory.
    pub(super) fn data(&self) -> &Path {
        self.history.parent().unwrap_or(&self.history)
    }
}

/// A part of the server. It ends when it is dropped.
pub(super) trait Part: Sized {
    /// Its name in messages.
    const NAME: &'static str;

    /// Starts it; `None` if it is not configured.
    ///
    /// # Errors
    /// The message for the log.
    fn start(context: &mut Context) -> Result<Option<Self>, String>;

    /// Applies other settings. Returns `false` if it has to be started again for them.
    fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool;
}

/// The place of a part: a part that could not be started is tried again, less and less often.
pub(super) struct Slot<P> {
    pub(super) part: Option<P>,
    retry_at: Option<Nanos>,
    delay: Nanos,
}

impl<P> Default for Slot<P> {
    fn default() -> Self {
        Self { part: None, retry_at: None, delay: FIRST_DELAY }
    }
}

/// A slot, whatever its part is.
pub(super) trait AnySlot {
    /// Starts the part again if it could not be started and the delay is over.
    fn retry_if_due(&mut self, context: &mut Context, log: &mut Log);

    /// Applies the settings of the context.
    fn reconfigure(&mut self, old: &Settings, context: &mut Context, log: &mut Log);
}

impl<P: Part> Slot<P> {
    fn start(&mut self, context: &mut Context, log: &mut Log) {
        let fault = match P::start(context) {
            Ok(part) => {
                *self = Self { part, ..Self::default() };
                None
            }
            Err(fault) => {
                self.retry_at = Some(clock_now().boottime + self.delay);
                self.delay = Nanos(self.delay.0 * 2).min(MAX_DELAY);
                Some(format!("{fault}; it is tried again"))
            }
        };
        log.fault(P::NAME, fault);
    }
}

impl<P: Part> AnySlot for Slot<P> {
    fn retry_if_due(&mut self, context: &mut Context, log: &mut Log) {
        if self.retry_at.is_some_and(|at| clock_now().boottime >= at) {
            self.start(context, log);
        }
    }

    fn reconfigure(&mut self, old: &Settings, context: &mut Context, log: &mut Log) {
        let is_kept = self.part.as_mut().is_some_and(|part| part.reconfigure(old, &context.settings));
        if !is_kept {
            // The old part is dropped first: it may hold the same path or address. A fault is logged again, even if it is the same.
            *self = Self::default();
            log.forget(P::NAME);
            self.start(context, log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cannot be started while a file is missing, which stands for an address or a descriptor.
    struct Picky;

    impl Part for Picky {
        const NAME: &'static str = "picky";

        fn start(context: &mut Context) -> Result<Option<Self>, String> {
            if context.history.exists() { Ok(Some(Self)) } else { Err("no file".to_owned()) }
        }

        fn reconfigure(&mut self, old: &Settings, new: &Settings) -> bool {
            old.reading == new.reading
        }
    }

    #[test]
    fn a_part_that_failed_is_started_again() {
        let history = std::env::temp_dir().join(format!("whit-part-{}", std::process::id()));
        let mut context = context(history.clone());
        let (mut slot, mut log) = (Slot::<Picky>::default(), Log::open());
        let settings = context.settings.clone();
        slot.reconfigure(&settings, &mut context, &mut log);
        assert!(slot.part.is_none() && slot.retry_at.is_some() && slot.delay > FIRST_DELAY);
        slot.retry_if_due(&mut context, &mut log);
        assert!(slot.part.is_none(), "not at once");
        std::fs::write(&history, "").unwrap();
        slot.retry_at = Some(Nanos(0));
        slot.retry_if_due(&mut context, &mut log);
        assert!(slot.part.is_some() && slot.retry_at.is_none() && slot.delay == FIRST_DELAY);
        // It stays with the same settings.
        std::fs::remove_file(&history).unwrap();
        slot.reconfigure(&settings, &mut context, &mut log);
        assert!(slot.part.is_some());
        let old =
            Settings { reading: Some(TaskReading::new(1, facts::task::TaskSource::Bpf, None)), ..settings };
        slot.reconfigure(&old, &mut context, &mut log);
        assert!(slot.part.is_none() && slot.retry_at.is_some());
    }

    fn context(history: PathBuf) -> Context {
        let recorder = recorder::RecorderOptions {
            data: PathBuf::new(),
            fallback: None,
            now: None,
            now_metrics: Vec::new(),
            interval: std::time::Duration::from_secs(1),
            slow_interval: std::time::Duration::from_secs(1),
            count: None,
            records_tasks: false,
            command_lines: None,
            relabelling: formats::relabel::Relabelling::default(),
            retention: store::Retention::default(),
            server: None,
            cpu_limit: None,
        };
        let options = AgentOptions {
            configuration: None,
            recorder,
            socket: None,
            privileged: service::Privileged::default(),
            http: None,
            alerts: None,
            checks: None,
            exporters: None,
            remote_write: Vec::new(),
            fleet: None,
            #[cfg(feature = "feeds")]
            feeds: None,
            requests_cpu_limit: facts::unit::Ratio(1.0),
        };
        Context {
            settings: Settings { options, reading: None },
            history,
            states: SharedStates::default(),
            requests: Notifier::new().unwrap(),
            bound_http: None,
            runner: None,
            inspector: None,
        }
    }
}
