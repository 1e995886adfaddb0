//! `whit delays`.

use std::process::ExitCode;

use probe::tasks::TaskReader;

use crate::delays::arguments::{DelaysArgs, Selection};
use crate::delays::printer::Printer;
use crate::delays::run;
use crate::failure::Failure;

/// Reads what was asked for and prints it.
pub(crate) fn run(args: &DelaysArgs) -> Result<ExitCode, Failure> {
    let mut reader = match args.procfs_only {
        true => TaskReader::open_procfs(&args.roots)?,
        false => TaskReader::open(&args.roots)?,
    };
    let mut printer = Printer::new(args.view, args.sort);
    if args.enable {
        run::enable(&mut reader)?;
    }
    match (&args.selection, args.interval) {
        (Selection::Nothing, _) => Ok(ExitCode::SUCCESS),
        (Selection::Command(command), _) => {
            run::command(&mut reader, command, args.procfs_only, &mut printer)
        }
        (Selection::Exits(command), _) => run::exits(&reader, command.as_deref(), &mut printer),
        (selection, Some(every)) => run::intervals(&mut reader, selection, every, args.count, &mut printer),
        (selection, None) => run::once(&mut reader, selection, &mut printer),
    }
}
