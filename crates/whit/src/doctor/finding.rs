//! The findings that the report consists of.

use serde::Serialize;

/// How much of something there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Ok,
    /// Works in part, or could do more.
    Limited,
    Absent,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) area: &'static str,
    pub(crate) state: State,
    pub(crate) detail: String,
    /// The remedy; `None` if nothing needs to be or can be done.
    pub(crate) remedy: Option<String>,
}

impl Finding {
    pub(super) fn ok(area: &'static str, detail: impl Into<String>) -> Self {
        Self { area, state: State::Ok, detail: detail.into(), remedy: None }
    }

    pub(super) fn limited(area: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { area, state: State::Limited, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn absent(area: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into()).filter(|remedy| !remedy.is_empty());
        Self { area, state: State::Absent, detail: detail.into(), remedy }
    }
}
