//! Replies as Prometheus gives them.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use query::QueryError;
use serde::Serialize;
use serde_json::json;

/// JSON, never kept by anyone.
fn document(status: StatusCode, body: &impl Serialize) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    // Into memory, and of what is valid JSON.
    let text = serde_json::to_string(body).unwrap_or_default();
    (status, headers, text).into_response()
}

#[derive(Serialize)]
struct Success<'d, D> {
    data: &'d D,
    status: &'static str,
}

/// Returns a reply with the data that was asked for.
pub(super) fn success(data: &impl Serialize) -> Response {
    document(StatusCode::OK, &Success { data, status: "success" })
}

/// Why there is none.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    kind: &'static str,
    message: String,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self { status, kind, message } = self;
        document(status, &json!({ "status": "error", "errorType": kind, "error": message }))
    }
}

pub(super) fn refusal(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Refusal {
    Refusal { status, kind, message: message.into() }
}

/// A parameter that cannot be.
pub(super) fn bad_data(message: impl Into<String>) -> Refusal {
    refusal(StatusCode::BAD_REQUEST, "bad_data", message)
}

/// Does work that may wait for a disk or another process, on a thread that may.
///
/// # Errors
/// If it panicked.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| internal("it ended early"))
}

/// Something that should not happen.
pub(super) fn internal(message: impl Into<String>) -> Refusal {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        let message = error.to_string();
        match error {
            QueryError::Malformed(_) => bad_data(message),
            QueryError::Interrupted => refusal(StatusCode::SERVICE_UNAVAILABLE, "timeout", message),
            QueryError::Unreadable(_) => internal(message),
            QueryError::Unanswerable(_) | QueryError::TooLarge(_) => {
                refusal(StatusCode::UNPROCESSABLE_ENTITY, "execution", message)
            }
        }
    }
}

pub(super) async fn not_found() -> Refusal {
    refusal(StatusCode::NOT_FOUND, "not_found", "there is nothing here: whit-query(7) lists what is")
}
