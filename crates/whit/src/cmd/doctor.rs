//! `whit doctor`.

use std::process::ExitCode;

use crate::args::DoctorArgs;
use crate::doctor;
use crate::failure::Failure;
use crate::output::Output;
use crate::show::doctor as draw;
use crate::show::style::Style;

/// Examines the machine, or lists the metrics.
pub(crate) fn run(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    probe::raise_descriptor_limit();
    let mut text = String::new();
    match (args.with_metrics, args.is_json) {
        (true, true) => text = draw::metrics_json(&doctor::sample_all(&args.roots)?).to_string(),
        (true, false) => draw::write_metrics(&doctor::sample_all(&args.roots)?, &mut text),
        (false, true) => {
            text = serde_json::to_string(&doctor::examine(&args.roots)?).map_err(Failure::internal)?;
        }
        (false, false) => draw::write(&doctor::examine(&args.roots)?, Style::for_stdout(), &mut text),
    }
    if args.is_json {
        text.push('\n');
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
