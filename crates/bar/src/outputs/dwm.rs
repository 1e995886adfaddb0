//! For dwm, which shows the name of the root window.
//!
//! x11rb is a dependency for this output alone: the formats of X authority files are not worth another implementation.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, PropMode, Window};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::{Block, LineOutput, LineStyle, shown};
use command::failure::Failure;

/// A connection to the X server. Nothing is written to standard output.
pub(super) struct Dwm {
    connection: RustConnection,
    root: Window,
    text_type: u32,
    text: String,
}

impl Dwm {
    /// Connects to the display of the environment.
    pub(super) fn open() -> Result<Self, Failure> {
        let fail = |error: String| Failure::new(format!("the X server ($DISPLAY): {error}"));
        let (connection, screen) = x11rb::connect(None).map_err(|error| fail(error.to_string()))?;
        let root = connection.setup().roots.get(screen).map(|screen| screen.root);
        let root = root.ok_or_else(|| fail("it has no such screen".to_owned()))?;
        let atom = connection.intern_atom(false, b"UTF8_STRING").map_err(|error| fail(error.to_string()))?;
        let text_type = atom.reply().map_err(|error| fail(error.to_string()))?.atom;
        Ok(Self { connection, root, text_type, text: String::new() })
    }
}

impl LineOutput for Dwm {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, _out: &mut Vec<u8>) -> Result<(), Failure> {
        self.text.clear();
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                self.text.push_str(&style.separator);
            }
            self.text.push_str(&block.text);
        }
        let name = self.text.as_bytes();
        let (kind, mode) = (AtomEnum::WM_NAME, PropMode::REPLACE);
        let changed = self.connection.change_property8(mode, self.root, kind, self.text_type, name);
        // Waited for, so that a bar of one line is shown; a server that went away took the bar with it.
        let shown = changed.ok().and_then(|changed| changed.check().ok());
        shown.ok_or_else(Failure::reader_gone)
    }
}
