//! `whit age`: what lies in directories, how old it is, and away with the old.

mod batch;
mod delete;
mod node;
mod pace;
mod private;
mod progress;
mod registry;
mod scan;
mod selection;
mod sweep;
mod tmpfiles;
mod verdict;
mod visitors;

pub(crate) use delete::{Told, Way};
pub(crate) use selection::Selection;
pub(crate) use verdict::{Measure, Threshold};

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use facts::age::{AgeBy, Cap};
use facts::unit::Nanos;
use probe::directory::Mounts;

use self::sweep::Sweep;
pub(crate) use self::sweep::{Cost, Swept};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::{age, age_json};

/// The options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) directories: Vec<PathBuf>,
    /// Configurations of tmpfiles.d(5), in place of directories; an empty list stands for all of the system's.
    pub(crate) tmpfiles: Option<Vec<PathBuf>>,
    pub(crate) selection: Selection,
    pub(crate) is_recursive: bool,
    pub(crate) mounts: Mounts,
    pub(crate) view: View,
    pub(crate) is_json: bool,
    /// What the work cost, at the end.
    pub(crate) with_stats: bool,
    /// None: as many as there are CPUs.
    pub(crate) threads: Option<usize>,
}

/// What is made of what is found.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// Sums and a histogram.
    Report { by_directory: bool },
    /// Their paths, each with this behind it.
    List { end: u8 },
    /// Their number, for which nothing is asked of them.
    Count,
    /// A Nagios plugin's line and exit status.
    Verdict { warn: Vec<Threshold>, crit: Vec<Threshold> },
    /// They go.
    Delete(Deletion),
}

/// What goes beside what is older, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deletion {
    pub(crate) way: Way,
    pub(crate) with_empty_directories: bool,
    pub(crate) cap: Cap,
    /// At most so many a second.
    pub(crate) pace: Option<f64>,
}

/// One directory and what is meant in it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) directory: PathBuf,
    /// Where the pattern begins that found it.
    pub(crate) beginning: Option<PathBuf>,
    pub(crate) selection: Selection,
    pub(crate) is_recursive: bool,
}

/// Does it. The exit status of what could not be done is 1, that of a verdict the plugin's.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Failure> {
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
    let mut sweep = Sweep::new(options, now_ns);
    let mut swept = Vec::new();
    for job in jobs(options)? {
        match sweep.run(&job) {
            Ok(found) => swept.push(found),
            // Nobody reads any more.
            Err(failure) if !failure.is_told() => return Err(failure),
            // The others are done all the same.
            Err(failure) => {
                failure.report();
                sweep.count_failure();
            }
        }
    }
    let mut text = String::new();
    for swept in &swept {
        match (&options.view, options.is_json) {
            (View::Verdict { .. } | View::List { .. }, _) => {}
            (_, true) => age_json::push(&mut text, swept, now_ns),
            (_, false) => age::push(&mut text, swept, now_ns),
        }
    }
    let mut code = u8::from(sweep.failures() > 0);
    if let View::Verdict { warn, crit } = &options.view {
        let verdict = verdict::judge(&swept, warn, crit, now_ns, sweep.failures());
        text.push_str(&verdict.line);
        code = verdict.code;
    }
    if options.with_stats {
        let wall = probe::clock_now().monotonic.saturating_sub(began.monotonic);
        let stats = age::stats(&sweep.cost(), wall, probe::own_cpu_time(), options.is_json);
        text.push_str(&stats);
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::from(code))
}

fn jobs(options: &Options) -> Result<Vec<Job>, Failure> {
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

/// What was found, for whoever shows it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) older: Option<Nanos>,
    pub(crate) by: AgeBy,
    pub(crate) what: Swept,
}

impl Job {
    fn path(&self) -> &[u8] {
        self.directory.as_os_str().as_bytes()
    }
}
