//! The state that every request needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use facts::task::rounds::Scope;

use crate::inspection::Inspector;
use crate::options::HttpOptions;
use crate::shared_states::SharedStates;
use service::Privileged;

use super::assets::Assets;
use super::kept_past::KeptPast;
use super::live::Live;
#[cfg(feature = "feeds")]
use super::reader::Reader;
use super::reply::{Refusal, refusal};
use super::request_queue::RequestQueue;
use super::sessions::SignIn;
use super::shared_fleet::SharedFleet;

/// The state that every request needs.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) history: PathBuf,
    pub(super) past: KeptPast,
    pub(super) requests: Arc<RequestQueue>,
    pub(super) live: Arc<Live>,
    pub(super) assets: Assets,
    pub(super) sign_in: SignIn,
    pub(super) options: HttpOptions,
    pub(super) privileged: Privileged,
    pub(super) own_uid: u32,
    pub(super) states: SharedStates,
    /// The client of the inspector; `None` if it did not start.
    pub(super) inspector: Option<Arc<Inspector>>,
    pub(super) fleet: SharedFleet,
    #[cfg(feature = "feeds")]
    pub(super) reader: Reader,
}

impl Shared {
    /// The data directory.
    pub(super) fn data(&self) -> &Path {
        self.history.parent().unwrap_or(&self.history)
    }

    /// Returns whether there is a feed reader.
    #[cfg(feature = "feeds")]
    pub(super) fn has_reader(&self) -> bool {
        self.reader.is_on()
    }

    /// Returns false: this build has no feed reader.
    #[cfg(not(feature = "feeds"))]
    pub(super) fn has_reader(&self) -> bool {
        false
    }
}

/// Refuses clients that see their own tasks only.
///
/// # Errors
/// If the client sees its own tasks only.
pub(super) fn must_see_all(scope: Scope) -> Result<(), Refusal> {
    let message = "this is for users that see everything: root, and the group in the agent's configuration";
    match scope {
        Scope::All => Ok(()),
        Scope::User(_) => Err(refusal(StatusCode::FORBIDDEN, "forbidden", message)),
    }
}
