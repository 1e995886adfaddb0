//! `whit delays`.

use std::process::ExitCode;

use facts::task::figure::FigureSet;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use crate::agent_rows;
use crate::delays::arguments::{DelaysArgs, Selection};
use crate::delays::printer::Printer;
use crate::delays::{past, run};
use crate::failure::Failure;

/// Reads what was asked for and prints it.
pub(crate) fn run(args: &DelaysArgs) -> Result<ExitCode, Failure> {
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
        run::enable(&mut reader)?;
    }
    match (&args.selection, args.interval) {
        (Selection::Nothing, _) => Ok(ExitCode::SUCCESS),
        (Selection::Command(command), _) => {
            run::command(&mut reader, command, args.procfs_only, &mut printer)
        }
        (Selection::Exits(command), _) => {
            run::exits(&reader, command.as_deref(), &args.of_exits, args.count, &mut printer)
        }
        (selection, Some(every)) => run::intervals(&mut reader, selection, every, args.count, &mut printer),
        (selection, None) => run::once(&mut reader, selection, &mut printer),
    }
}
