//! What every request needs.

use std::path::PathBuf;
use std::sync::Arc;

use crate::alert::Board;
use crate::options::{HttpOptions, Privileged};

use super::kept_past::KeptPast;
use super::live::Live;
use super::sessions::SignIn;

/// What every request needs.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) history: PathBuf,
    pub(super) past: KeptPast,
    pub(super) live: Arc<Live>,
    pub(super) sign_in: SignIn,
    pub(super) options: HttpOptions,
    pub(super) privileged: Privileged,
    pub(super) own_uid: u32,
    pub(super) alerts: Board,
}
