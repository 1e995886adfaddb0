//! `whit fleet`: the machines of a fleet, those in trouble first.

pub(crate) mod arguments;
mod render;
mod simulate;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ::fleet::{Fleet, MachineUses, Snapshot, Use};
use clap::ArgMatches;
use facts::unit::Nanos;
use serde_json::json;
use text::nearest::did_you_mean;
use text::printable::Shown as _;

use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;

use self::arguments::{FleetArgs, FleetTask};

/// After this nothing more is asked, and the longest that one question may take.
const LONGEST: Duration = Duration::from_secs(60);
const MAX_QUESTION: Duration = Duration::from_secs(30);

/// Asks the store and prints its machines, or simulates some.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match arguments::from_matches(matches)? {
        FleetTask::List(args) => list(&args),
        FleetTask::Simulate(args) => simulate::run(&args),
    }
}

fn list(args: &FleetArgs) -> Result<ExitCode, Failure> {
    let fleet = Fleet::new(&args.options, MAX_QUESTION);
    let deadline = Instant::now() + LONGEST;
    let snapshot = fleet.at(args.at_ms, deadline).map_err(Failure::new)?;
    let mut snapshot = chosen(snapshot, args)?;
    let uses = args.machine.as_ref().map(|name| fleet.uses(name, args.at_ms, deadline)).transpose();
    let uses = uses.unwrap_or_else(|fault| {
        snapshot.faults.push(fault);
        None
    });
    for fault in &snapshot.faults {
        eprintln!("whit fleet: {}", fault.shown());
    }
    let mut text = String::new();
    match (args.is_json, &args.machine) {
        (true, _) => push_json(&snapshot, uses.as_ref(), args.most, &mut text)?,
        (false, Some(_)) => {
            snapshot.machines.iter().for_each(|machine| render::one(machine, args.at_ms, &mut text));
            uses.iter().for_each(|uses| render::uses(uses, args.most, &mut text));
        }
        (false, None) => render::table(&snapshot, args.most, !args.options.matchers.is_empty(), &mut text),
    }
    Output::stdout().write(text.as_bytes())?;
    // Figures are missing.
    Ok(if snapshot.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Leaves the machine that is named, if one is.
fn chosen(mut snapshot: Snapshot, args: &FleetArgs) -> Result<Snapshot, Failure> {
    if let Some(name) = &args.machine {
        let names: Vec<String> = snapshot.machines.iter().map(|machine| machine.name.clone()).collect();
        snapshot.machines.retain(|machine| machine.name == *name);
        if snapshot.machines.is_empty() {
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            return Err(Failure::new(format!("no machine is called \"{name}\"{hint}")));
        }
    }
    Ok(snapshot)
}

/// Writes a document for each of the first so many machines. `uses` are those of the only one.
fn push_json(
    snapshot: &Snapshot,
    uses: Option<&MachineUses>,
    most: usize,
    text: &mut String,
) -> Result<(), Failure> {
    let documents = Documents::of_live();
    for machine in snapshot.machines.iter().take(most) {
        let mut body = json!({ "machine": machine });
        if let Some(MachineUses { programs, units }) = uses {
            let first = |uses: &[Use]| json!(&uses[..most.min(uses.len())]);
            (body["programs"], body["units"]) = (first(programs), first(units));
        }
        documents.push(DocumentKind::Fleet, Nanos(snapshot.at_ms.unsigned_abs() * 1_000_000), &body, text)?;
    }
    Ok(())
}
