//! The state that every request needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
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

/// A client that sees the tasks of all users. A request of another one is refused before its handler runs.
#[derive(Debug)]
pub(super) struct SeesAll;

impl<S: Sync> FromRequestParts<S> for SeesAll {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let message =
            "this is for users that see everything: root, and the group in the agent's configuration";
        match parts.extensions.get() {
            Some(Scope::All) => Ok(Self),
            _ => Err(refusal(StatusCode::FORBIDDEN, "forbidden", message)),
        }
    }
}
