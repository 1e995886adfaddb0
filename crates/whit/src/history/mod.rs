//! `whit history`: what the agent has recorded.

pub(crate) mod arguments;
mod export;
mod exporters;
mod import;
mod remote;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgMatches;
use facts::unit::{Bytes, Nanos};
use serde_json::json;
use store::{Extent, History, StoreError};
use text::printable::Shown as _;
use text::units::{Grouped, Size, Span};

use self::arguments::HistoryTask;
use crate::agent::in_use::InUse;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use command::{past, progress, time_zone};

/// Does with a history what was asked for.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let path = args.directory.join(::history::HISTORY);
    let failed = |error: StoreError| Failure::new(format!("{}: {error}", path.shown()));
    let needs_history = !matches!(args.task, HistoryTask::Import(_));
    if needs_history && !past::is_there(&path)? {
        return Err(past::no_history(&path));
    }
    match &args.task {
        HistoryTask::Show { with_series, is_json } => {
            let history = History::open(&path).map_err(failed)?;
            show(&history, *with_series, *is_json, &failed)?;
        }
        HistoryTask::Export(window, format, relabelling) => {
            let history = History::open(&path).map_err(failed)?;
            let damaged = history.damaged() + export::write(&history, window, *format, relabelling, &failed)?;
            if damaged > 0 {
                return Err(Failure::new(format!(
                    "{damaged} parts are damaged and were left out: whit history verify"
                )));
            }
        }
        HistoryTask::Remote { is_json } => {
            let history = History::open(&path).map_err(failed)?;
            remote::show(&args.directory, &history, *is_json, &failed)?;
        }
        HistoryTask::Exporters { is_json } => exporters::show(&args.directory, *is_json)?,
        HistoryTask::Import(files) => import_files(&args.directory, files)?,
        HistoryTask::Verify => {
            let history = History::open(&path).map_err(failed)?;
            let mut findings =
                progress::during(|| "checking every row".to_owned(), || history.verify()).map_err(failed)?;
            // It keeps the log of its database from being reused.
            drop(history);
            let of_sums = progress::during(
                || "making all sums of tasks again".to_owned(),
                || ::recorder::verify_sums(&args.directory),
            );
            findings.extend(of_sums.map_err(failed)?);
            if !findings.is_empty() {
                return Err(Failure::new(findings.join("\n")));
            }
            Output::stdout().write(b"everything is as it was written\n")?;
        }
        HistoryTask::Compact | HistoryTask::Drop(_) => {
            let before_ns = if let HistoryTask::Drop(before_ns) = args.task { Some(before_ns) } else { None };
            let retention = InUse::read(None, Some(&args.directory))?.options.recorder.retention;
            let (before, after) = progress::during(
                || "writing the history anew".to_owned(),
                || ::recorder::compact(&args.directory, &retention, before_ns),
            )
            .map_err(|error| Failure::new(error.to_string()))?;
            let sizes = format!("{} before, {} now\n", Size(Bytes(before)), Size(Bytes(after)));
            Output::stdout().write(sizes.as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads all files before it adds anything.
fn import_files(directory: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let read =
        |path: &PathBuf| progress::during(|| format!("reading {}", path.shown()), || import::read(path));
    let sets = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if let Some((path, _)) = files.iter().zip(&sets).find(|(_, samples)| samples.count() == 0) {
        return Err(Failure::new(format!("{}: there are no samples in it", path.shown())));
    }
    let retention = InUse::read(None, Some(directory))?.options.recorder.retention;
    for (path, samples) in files.iter().zip(&sets) {
        let ticks = progress::during(
            || format!("adding {}", path.shown()),
            || ::recorder::import(directory, &retention, samples),
        )
        .map_err(|error| Failure::new(error.to_string()))?;
        let text = format!(
            "{}: {} samples of {} series at {} times\n",
            path.shown(),
            Grouped(samples.count()),
            Grouped(samples.series().len() as u64),
            Grouped(ticks)
        );
        Output::stdout().write(text.as_bytes())?;
    }
    Ok(())
}

fn show(
    history: &History,
    with_series: bool,
    is_json: bool,
    failed: &impl Fn(StoreError) -> Failure,
) -> Result<(), Failure> {
    let extent = history.extent().map_err(failed)?;
    let names: Vec<&str> = history.series().into_iter().map(|(name, _)| name).collect();
    let mut text = String::new();
    if is_json {
        let listed = with_series.then_some(&names);
        push_json(&extent, listed, &mut text)?;
    } else if with_series {
        names.iter().for_each(|name| {
            text.push_str(name);
            text.push('\n');
        });
    } else {
        text = words(&extent);
    }
    Output::stdout().write(text.as_bytes())
}

fn words(extent: &Extent) -> String {
    let Some((first, last)) = extent.realtime_ns else { return "no tick is in it yet\n".to_owned() };
    let span = Nanos(u64::try_from(last.saturating_sub(first)).unwrap_or(0));
    let damaged = match extent.damaged_files {
        0 => String::new(),
        files => format!("damaged  {files} files that were renamed; whit history verify reads them\n"),
    };
    format!(
        "from     {}\nto       {} ({})\nticks    {}\nseries   {}\nboots    {}\non disk  {}\n{damaged}",
        time_zone::written(first),
        time_zone::written(last),
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
        "damaged_files": extent.damaged_files,
    });
    if let Some(series) = series {
        body["names"] = json!(series);
    }
    Documents::of_live().push(DocumentKind::History, probe::clock_now().realtime, &body, text)
}
