//! Queries of segments that can hang, run by a background thread.

use probe::background_job::BackgroundJob;

use super::SegmentContext;
use super::appearance::ItemRenderer;

/// A job that is moved to a background thread at its first request.
pub(crate) struct Query<T, J> {
    /// `None` once it was moved.
    job: Option<J>,
    thread: Option<BackgroundJob<T>>,
}

impl<T: Send + 'static, J: FnMut() -> T + Send + 'static> Query<T, J> {
    pub(crate) fn new(job: J) -> Self {
        Self { job: Some(job), thread: None }
    }

    /// Requests a new result.
    pub(crate) fn request(&mut self, name: &str, context: &SegmentContext) {
        if let Some(job) = self.job.take() {
            self.thread = Some(BackgroundJob::start(name, context.notifier.clone(), job));
        }
        self.thread.iter().for_each(BackgroundJob::request);
    }

    /// Returns true if it waits for the first result.
    pub(crate) fn is_waiting(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.with_result(|answer, _| answer.is_none()))
    }

    /// The last result, and whether it is stale.
    pub(crate) fn last(&self) -> (Option<T>, bool)
    where
        T: Copy,
    {
        let read =
            |thread: &BackgroundJob<T>| thread.with_result(|answer, is_stale| (answer.copied(), is_stale));
        self.thread.as_ref().map_or((None, false), read)
    }

    /// Renders the last result, and marks it if it is stale.
    pub(crate) fn render(
        &self,
        items: &mut ItemRenderer<'_>,
        say: impl FnOnce(Option<&T>, &mut ItemRenderer<'_>),
    ) {
        let Some(thread) = &self.thread else { return };
        let is_stale = thread.with_result(|answer, is_stale| {
            say(answer, items);
            is_stale
        });
        if is_stale {
            items.stale();
        }
    }
}

/// A boxed job.
pub(crate) type Job<T> = Box<dyn FnMut() -> T + Send>;
