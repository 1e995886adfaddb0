//! What segments have asked by a thread, since it can hang.

use probe::errand::Errand;

use super::Workshop;
use super::look::Items;

/// A job, and the thread that does it once it was asked for first.
pub(crate) struct Asking<T, J> {
    /// Gone to the thread.
    job: Option<J>,
    errand: Option<Errand<T>>,
}

impl<T: Send + 'static, J: FnMut() -> T + Send + 'static> Asking<T, J> {
    pub(crate) fn new(job: J) -> Self {
        Self { job: Some(job), errand: None }
    }

    /// Has it done once more.
    pub(crate) fn ask(&mut self, name: &str, workshop: &Workshop) {
        if let Some(job) = self.job.take() {
            self.errand = Some(Errand::start(name, workshop.bell.clone(), job));
        }
        self.errand.iter().for_each(Errand::ask);
    }

    /// Whether the first answer is still to come.
    pub(crate) fn is_waiting(&self) -> bool {
        self.errand.as_ref().is_some_and(|errand| errand.look(|answer, _| answer.is_none()))
    }

    /// The last answer, and whether a newer one is late.
    pub(crate) fn last(&self) -> (Option<T>, bool)
    where
        T: Copy,
    {
        let look = |errand: &Errand<T>| errand.look(|answer, is_stale| (answer.copied(), is_stale));
        self.errand.as_ref().map_or((None, false), look)
    }

    /// Has the last answer said; what does not answer is stale.
    pub(crate) fn say(&self, items: &mut Items<'_>, say: impl FnOnce(Option<&T>, &mut Items<'_>)) {
        let Some(errand) = &self.errand else { return };
        let is_stale = errand.look(|answer, is_stale| {
            say(answer, items);
            is_stale
        });
        if is_stale {
            items.stale();
        }
    }
}

/// A job of any kind.
pub(crate) type Job<T> = Box<dyn FnMut() -> T + Send>;
