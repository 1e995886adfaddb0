//! `whit age`: directories by age: sums, lists, deletion of old files.
//!
//! All system calls on directories are in `probe`, each relative to a descriptor. `scan` walks the tree, and a `Visitor` sums, lists, counts
//! or deletes. The thread that lists a directory puts names into batches, and the threads of rayon stat them. A strict deletion renames the
//! entry into a private directory, compares it there, and unlinks it or renames it back (`private`); `registry` records which private
//! directories are whit's. Where tmpfiles.d(5) leaves a choice, whit keeps more than systemd-tmpfiles.

#![forbid(unsafe_code)]

mod arguments;
mod batch;
mod delete;
mod extremes;
mod job;
mod json;
mod listing;
mod mutex;
mod node;
mod options;
mod pace;
mod private;
mod registry;
mod render;
mod report;
mod scan;
mod selection;
mod sweep;
mod tmpfiles;
mod verdict;
mod visitors;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgMatches;

use self::job::Job;
use self::options::{AgeOptions, Deletion, View};
use self::sweep::Sweep;
use command::document::Documents;
use command::failure::Failure;
use command::output::Output;

pub use arguments::{command, is_plugin};
pub use verdict::unknown;

/// Runs `whit age`.
///
/// # Errors
/// If the command line is wrong. With --warn or --crit the plugin's line says so, too.
pub fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let options = arguments::from_matches(matches).map_err(|failure| {
        if !matches.contains_id("warn") && !matches.contains_id("crit") {
            return failure;
        }
        failure.report();
        unknown(failure.message())
    })?;
    sweep(&options)
}

/// Scans, and deletes if that is wanted. The exit status is 1 if something could not be done, or that of the verdict.
fn sweep(options: &AgeOptions) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    let mut pool = rayon::ThreadPoolBuilder::new().use_current_thread();
    if let Some(threads) = options.threads {
        pool = pool.num_threads(threads);
    }
    let _pool = pool
        .build()
        .map_err(|error| Failure::new(format!("no thread can be made (ulimit -u, -v): {error}")))?;
    let began = probe::clock_now();
    let now_ns = i64::try_from(began.realtime.0).unwrap_or(i64::MAX);
    let documents = Documents::of_live();
    let mut sweep = Sweep::new(options, &documents, now_ns);
    let mut swept = Vec::new();
    for job in jobs(options)? {
        match sweep.run(&job) {
            Ok(found) => swept.push(found),
            // The reader has closed the pipe.
            Err(failure) if !failure.has_message() => return Err(failure),
            // The others are done all the same.
            Err(failure) => {
                failure.report();
                sweep.counts().count_failure(failure.message().to_owned());
            }
        }
    }
    let mut text = String::new();
    for swept in &swept {
        match (&options.view, options.is_json) {
            (View::Verdict { .. } | View::List { .. } | View::Delete(Deletion { is_quiet: true, .. }), _) => {
            }
            (_, true) => json::push(&mut text, &documents, swept, now_ns)?,
            (_, false) => render::push(&mut text, swept, now_ns),
        }
    }
    let mut code = u8::from(sweep.counts().failures() > 0);
    if let View::Verdict { warn, crit } = &options.view {
        let verdict = verdict::judge(&swept, warn, crit, now_ns, sweep.counts());
        match options.is_json {
            true => json::push_verdict(&mut text, &documents, &verdict, now_ns)?,
            false => text.push_str(&verdict.line),
        }
        code = verdict.code;
    }
    if options.with_stats {
        let wall = probe::monotonic_now().saturating_sub(began.monotonic);
        let (cost, cpu) = (sweep.cost(), probe::own_cpu_time());
        match options.is_json {
            true => json::push_cost(&mut text, &documents, &cost, wall, cpu, now_ns)?,
            false => text.push_str(&render::stats(&cost, wall, cpu)),
        }
    }
    match Output::stdout().write(text.as_bytes()) {
        Ok(()) => Ok(ExitCode::from(code)),
        // If the output cannot be written, files were still deleted or counted; a verdict, however, must be reported as unknown.
        Err(failure) => {
            let reported = failure.report();
            let is_verdict = matches!(options.view, View::Verdict { .. });
            Ok(match code {
                0 if is_verdict => ExitCode::from(verdict::UNKNOWN),
                0 => reported,
                code => ExitCode::from(code),
            })
        }
    }
}

fn jobs(options: &AgeOptions) -> Result<Vec<Job>, Failure> {
    if let Some(files) = &options.tmpfiles {
        return tmpfiles::jobs(files, &options.selection);
    }
    let job = |directory: &PathBuf| Job {
        directory: directory.clone(),
        beginning: None,
        selection: options.selection.clone(),
        is_recursive: options.is_recursive,
    };
    Ok(options.directories.iter().map(job).collect())
}
