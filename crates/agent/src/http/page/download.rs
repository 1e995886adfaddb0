//! An expression over time as a file: what `whit query --csv` and `whit plot --svg` write.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use jiff::tz::{Offset, TimeZone};
use query::Query;
use text::plot::push_svg;

use super::steps;
use crate::http::api::{Form, limits, with_past};
use crate::http::clients::Requester;
use crate::http::reply::{Refusal, bad_data};
use crate::http::shared::Shared;
use history::answer;
use history::drawing::Drawing;

/// In pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 300.0;

/// The file `plot.csv` or `plot.svg` of an expression.
pub(crate) async fn download(
    State(shared): State<Arc<Shared>>,
    Extension(requester): Extension<Requester>,
    Path(kind): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let media = match kind.as_str() {
        "csv" => "text/csv; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return Err(bad_data("expected /download/csv or /download/svg")),
    };
    let form = Form::read(request).await?;
    let expression = form.needed("query")?.to_owned();
    let steps = steps(&form)?;
    let ahead_s = form.get("utc_offset_s").and_then(|offset| offset.parse().ok());
    let zone =
        ahead_s.and_then(|ahead_s| Offset::from_seconds(ahead_s).ok()).map_or(TimeZone::UTC, TimeZone::fixed);
    Ok(with_past(shared, requester, move |past, cancellation| {
        let is_cancelled = || cancellation.is_cancelled();
        let (limits, times) = (limits(&is_cancelled), [steps.from_ms, steps.to_ms]);
        let answered = Query::parse(&expression)
            .and_then(|query| query.between(past, times, steps.step_ms, &limits))
            .map_err(Refusal::from);
        let mut text = String::new();
        match (answered, kind.as_str()) {
            (Err(refusal), _) => return refusal.into_response(),
            (Ok(found), "csv") => answer::push_csv(&found, &mut text),
            (Ok(found), _) => {
                let times = [steps.from_ms, steps.to_ms, steps.step_ms];
                if let Some(drawing) = Drawing::new(&expression, found, times, zone) {
                    drawing.draw(|plot| push_svg(plot, WIDTH, HEIGHT, &mut text));
                }
            }
        }
        let headers = [
            (header::CONTENT_TYPE, media.to_owned()),
            (header::CONTENT_DISPOSITION, format!("attachment; filename=\"whit.{kind}\"")),
        ];
        (headers, text).into_response()
    })
    .await)
}
