//! The threads that send, one for each receiver.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, PoisonError};

use crate::options::ReceiverOptions;
use crate::progress::Progress;
use crate::sending::{Sending, SharedProgress};

/// The threads, as long as this is kept. A request that is on its way is waited for by its thread alone.
#[derive(Debug)]
pub struct RemoteWriteWatch {
    options: Vec<ReceiverOptions>,
    /// How far each is, as its thread says.
    shared: Vec<SharedProgress>,
    /// Dropped, they end the threads.
    _ends: Vec<Sender<()>>,
}

impl RemoteWriteWatch {
    /// Begins. The history is that of a data directory that this process has locked.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(options: Vec<ReceiverOptions>, history: &Path) -> io::Result<Self> {
        let (mut ends, mut shared) = (Vec::new(), Vec::new());
        for receiver in options.iter().cloned() {
            let (end, inbox) = channel();
            ends.push(end);
            let progress = SharedProgress::default();
            shared.push(Arc::clone(&progress));
            let history = history.to_owned();
            let work = move || Sending::new(receiver, history, progress).run(&inbox);
            std::thread::Builder::new().name("remote write".to_owned()).spawn(work)?;
        }
        Ok(Self { options, shared, _ends: ends })
    }

    /// The receivers.
    pub fn options(&self) -> &[ReceiverOptions] {
        &self.options
    }

    /// How far the receivers are. One that has not begun is left out.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        self.shared.iter().filter_map(|shared| shared.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
