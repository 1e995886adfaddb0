//! `whit history`: what the agent has recorded.

pub(crate) mod arguments;

use std::process::ExitCode;

use facts::unit::{Bytes, Nanos};
use serde_json::json;
use store::{Extent, History};
use text::printable::Shown as _;
use text::units::{Grouped, Size, Span};

use self::arguments::HistoryArgs;
use crate::document::{DocumentKind, Documents};
use crate::failure::Failure;
use crate::output::Output;
use crate::time_zone;

/// Tells what there is.
pub(crate) fn run(args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let path = args.directory.join(::agent::HISTORY);
    let failed = |error| Failure::new(format!("{}: {error}", path.shown()));
    if !path.exists() {
        return Err(Failure::new(format!("{}: there is none yet; whit agent makes it", path.shown())));
    }
    let history = History::open(&path).map_err(failed)?;
    let extent = history.extent().map_err(failed)?;
    let names: Vec<&str> = history.series().into_iter().map(|(name, _)| name).collect();
    let mut text = String::new();
    if args.is_json {
        let listed = args.with_series.then_some(&names);
        push_json(&extent, listed, &mut text)?;
    } else if args.with_series {
        names.iter().for_each(|name| {
            text.push_str(name);
            text.push('\n');
        });
    } else {
        text = words(&extent);
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn words(extent: &Extent) -> String {
    let Some((first, last)) = extent.realtime_ns else { return "no tick is in it yet\n".to_owned() };
    let when = |realtime_ns: i64| {
        let timestamp = jiff::Timestamp::from_nanosecond(i128::from(realtime_ns)).unwrap_or_default();
        timestamp.to_zoned(time_zone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    };
    let span = Nanos(u64::try_from(last.saturating_sub(first)).unwrap_or(0));
    format!(
        "from     {}\nto       {} ({})\nticks    {}\nseries   {}\nboots    {}\non disk  {}\n",
        when(first),
        when(last),
        Span(span),
        Grouped(extent.ticks),
        Grouped(extent.series),
        Grouped(extent.boots),
        Size(Bytes(extent.file_bytes))
    )
}

fn push_json(extent: &Extent, series: Option<&Vec<&str>>, text: &mut String) -> Result<(), Failure> {
    let mut body = json!({
        "first_realtime_ns": extent.realtime_ns.map(|(first, _)| first),
        "last_realtime_ns": extent.realtime_ns.map(|(_, last)| last),
        "ticks": extent.ticks,
        "series": extent.series,
        "boots": extent.boots,
        "file_bytes": extent.file_bytes,
    });
    if let Some(series) = series {
        body["names"] = json!(series);
    }
    Documents::of_live().push(DocumentKind::History, probe::clock_now().realtime, &body, text)
}
