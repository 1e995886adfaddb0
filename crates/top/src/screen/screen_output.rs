//! Bytes on their way to a terminal, which may have stopped taking them (Ctrl-S, a window that hangs).

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use probe::outlet::Outlet;
use probe::timespec;
use rustix::event::{PollFd, PollFlags, poll};

use facts::unit::Nanos;

/// How long a terminal that is given back is waited for.
const PATIENCE: Nanos = Nanos(100_000_000);
/// Ends an escape sequence that was cut: ECMA-48, CAN.
const CANCEL: u8 = 0x18;

/// Standard output for a drawing library: never waits. Clones write to the same terminal.
#[derive(Clone, Debug)]
pub(super) struct ScreenOutput {
    outlet: Rc<Outlet>,
    /// The bytes that the terminal has not taken.
    rest: Rc<RefCell<Vec<u8>>>,
}

impl ScreenOutput {
    pub(super) fn new() -> Self {
        Self { outlet: Rc::new(Outlet::stdout()), rest: Rc::default() }
    }

    pub(super) fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Returns true if the terminal has to take something before more is drawn.
    pub(super) fn is_full(&self) -> bool {
        !self.rest.borrow().is_empty()
    }

    /// Writes what gives the terminal back, if it takes it in a moment.
    pub(super) fn write_last(&self, bytes: &[u8]) {
        let mut bytes = bytes.to_vec();
        if self.is_full() {
            bytes.insert(0, CANCEL);
        }
        self.rest.borrow_mut().clear();
        let mut left = bytes.as_slice();
        // If the terminal is gone, there is nothing to restore.
        while let Ok(written) = self.outlet.write(left)
            && written < left.len()
        {
            left = &left[written..];
            let mut descriptors = [PollFd::new(&*self.outlet, PollFlags::OUT)];
            if poll(&mut descriptors, Some(&timespec(PATIENCE))).is_ok_and(|ready| ready == 0) {
                return;
            }
        }
    }
}

impl Write for ScreenOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut rest = self.rest.borrow_mut();
        let written = self.outlet.write(&rest)?;
        rest.drain(..written);
        Ok(())
    }
}
