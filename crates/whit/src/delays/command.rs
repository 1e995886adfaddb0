//! `whit delays`.

use std::process::ExitCode;

use clap::ArgMatches;
use facts::task::figure::FigureSet;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use crate::delays::arguments::{self, Selection};
use crate::delays::past;
use crate::delays::printer::Printer;
use command::agent_rows;
use command::failure::Failure;

/// Reads what was asked for and prints it.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let sources: &[TaskSource] = match args.procfs_only {
        true => &TaskSource::UNPRIVILEGED,
        false => &TaskSource::FOR_ONE_READING,
    };
    let request = TaskRequest { sources, extra: FigureSet::default() };
    let mut reader = TaskReader::open(&args.roots, &request)?;
    if !args.procfs_only && !args.is_direct {
        agent_rows::add(&mut reader, &args.roots, args.interval);
    }
    let mut printer = Printer::new(&args.roots, args.view, args.sort);
    if let Some(time) = &args.past {
        return past::run(args, time, &mut printer);
    }
    if args.enable {
        super::run::enable(&mut reader)?;
    }
    match (&args.selection, args.interval) {
        (Selection::Nothing, _) => Ok(ExitCode::SUCCESS),
        (Selection::Command(command), _) => {
            super::run::command(&mut reader, command, args.procfs_only, &mut printer)
        }
        (Selection::Exits(command), _) => {
            super::run::exits(&reader, command.as_deref(), &args.of_exits, args.count, &mut printer)
        }
        (selection, Some(every)) => {
            super::run::intervals(&mut reader, selection, every, args.count, &mut printer)
        }
        (selection, None) => super::run::once(&mut reader, selection, &mut printer),
    }
}
