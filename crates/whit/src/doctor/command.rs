//! `whit doctor`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use clap::ArgMatches;
use probe::capture::CaptureError;
use serde_json::{Value, json};
use text::printable::printable_text;

use crate::doctor;
use crate::doctor::arguments::{self, DoctorArgs};
use crate::doctor::render as draw;
use crate::doctor::selftest::Verdict;
use command::document::{DocumentKind, Documents, realtime};
use command::failure::Failure;
use command::output::{Output, stdout_style};

/// Examines the machine, or lists the metrics.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches);
    probe::raise_descriptor_limit();
    let mut text = String::new();
    if args.is_selftest {
        return selftest(args);
    }
    if let Some(directory) = &args.capture {
        return capture(args, directory);
    }
    match (args.with_metrics, args.is_json) {
        (true, true) => {
            let metrics = draw::metrics_json(&doctor::sample_all(&args.roots)?);
            push(args, DocumentKind::Metrics, &json!({ "metrics": metrics }), &mut text)?;
        }
        (true, false) => draw::write_metrics(&doctor::sample_all(&args.roots)?, &mut text),
        (false, true) => {
            let findings = doctor::examine(&args.roots)?;
            push(args, DocumentKind::Doctor, &json!({ "findings": findings }), &mut text)?;
        }
        (false, false) => draw::write(&doctor::examine(&args.roots)?, stdout_style(), &mut text),
    }
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Appends a document about the machine that was asked about.
fn push(args: &DoctorArgs, kind: DocumentKind, body: &Value, text: &mut String) -> Result<(), Failure> {
    Documents::of(&args.roots).push(kind, realtime(&args.roots)?, body, text)
}

/// Writes a capture.
fn capture(args: &DoctorArgs, directory: &Path) -> Result<ExitCode, Failure> {
    let files = probe::capture::capture(&args.roots, directory).map_err(|error| match error {
        CaptureError::Root(error) => error.into(),
        CaptureError::Write(path, error) => Failure::new(format!("{}: {error}", path.display())),
    })?;
    let directory = printable_text(directory.as_os_str().as_bytes());
    let text = format!(
        "{files} files in {directory}. Look through them before you share them: mounts, cgroups, interfaces and the names of\n\
         processes and users say what runs on the machine. whit top --root DIR reads them.\n"
    );
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Exit status 1 where something does not hang together.
fn selftest(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let checks = doctor::selftest::run(&args.roots)?;
    let mut text = String::new();
    if args.is_json {
        push(args, DocumentKind::Selftest, &json!({ "checks": checks }), &mut text)?;
    } else {
        draw::write_checks(&checks, stdout_style(), &mut text);
    }
    Output::stdout().write(text.as_bytes())?;
    let has_failed = checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
