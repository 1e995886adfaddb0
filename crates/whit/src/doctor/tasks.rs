//! How tasks can be read. Exit records are tried for real: in a namespace registering succeeds and nothing arrives.

use std::time::{Duration, Instant};

use facts::linux::taskstats::{NEWEST_VERSION, expected_length};
use facts::linux::version::KernelVersion;
use facts::sample::Absence;
use facts::task::figure::FigureSet;
use facts::task::rounds::Scope;
use probe::Roots;
use probe::exits::ExitRecords;
use probe::survey::Survey;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use text::units::Span;

use super::finding::Finding;
use command::agent_rows;
use command::failure::Failure;

/// How long an exit record may take; it comes before the thread can be joined.
const PATIENCE: Duration = Duration::from_millis(500);

/// Opens the best of these sources of tasks.
pub(super) fn open(roots: &Roots, sources: &[TaskSource]) -> Result<TaskReader, Failure> {
    Ok(TaskReader::open(roots, &TaskRequest { sources, extra: FigureSet::default() })?)
}

pub(super) fn examine(roots: &Roots, survey: &mut Survey) -> Result<Vec<Finding>, Failure> {
    let reader = open(roots, &TaskSource::FOR_ONE_READING)?;
    if reader.source() == TaskSource::Sysctl {
        return Ok(vec![Finding::limited(
            "tasks",
            "from kern.proc: time on a CPU; FreeBSD counts neither delays nor time in the run queue",
            "none: the kernel does not know them",
        )]);
    }
    let mut findings = vec![taskstats(roots, &reader)];
    if !roots.is_captured() {
        findings.push(exit_records());
    }
    findings.push(accounting(reader.accounting_on(), survey));
    if !roots.is_captured() {
        findings.push(agent());
    }
    Ok(findings)
}

fn taskstats(roots: &Roots, reader: &TaskReader) -> Finding {
    match reader.taskstats_version() {
        Ok((version, length)) => {
            let extra = length.saturating_sub(expected_length(version));
            let detail = format!("version {version}, {length} bytes, {extra} of them unknown");
            if version > NEWEST_VERSION {
                let remedy = format!(
                    "whit knows the fields up to version {NEWEST_VERSION}; a newer whit may know more"
                );
                return Finding::limited("taskstats", detail, remedy);
            }
            Finding::ok("taskstats", detail)
        }
        Err(_) if roots.is_captured() => {
            Finding::absent("taskstats", "a captured machine answers no questions", "")
        }
        Err(Absence::Denied) => Finding::limited(
            "taskstats",
            "not permitted; tasks are read from /proc: run queue, and block I/O in ticks",
            "run as root, or give the binary CAP_NET_ADMIN (whit-install(7))",
        ),
        Err(reason) => Finding::absent("taskstats", reason.to_string(), "a kernel with CONFIG_TASKSTATS=y"),
    }
}

/// Checks whether an agent answers, and what it shows this user.
fn agent() -> Finding {
    let area = "agent";
    let Some(client) = agent_rows::connect() else {
        return Finding::absent(
            area,
            "none answers",
            "whit agent: the delays of a user's own tasks, and a history",
        );
    };
    let hello = client.hello();
    let whose = match hello.scope {
        Scope::All => "all tasks",
        Scope::User(_) => "this user's tasks",
    };
    Finding::ok(area, format!("answers: {whose}, by {}, every {}", hello.source.name(), Span(hello.interval)))
}

fn exit_records() -> Finding {
    let area = "exit records";
    let mut records = match ExitRecords::open(None) {
        Ok(records) => records,
        Err(Absence::Denied) => {
            return Finding::limited(
                area,
                "not permitted",
                "run as root in the initial user, PID and network namespaces",
            );
        }
        Err(absence) => {
            return Finding::absent(area, absence.to_string(), "a kernel with CONFIG_TASKSTATS=y");
        }
    };
    let own_pid = std::process::id();
    // A thread that does nothing leaves a record when it ends.
    let thread = std::thread::Builder::new().spawn(|| {});
    match thread.map(std::thread::JoinHandle::join) {
        Ok(_) => {}
        Err(error) => {
            return Finding::limited(area, format!("registered; no thread to try it with: {error}"), "");
        }
    }
    let began = Instant::now();
    let mut arrived = 0;
    while arrived == 0 && began.elapsed() < PATIENCE {
        let received = records.receive(|record| {
            let is_ours = record.row.tgid.is_none_or(|tgid| tgid == own_pid);
            arrived += u32::from(is_ours);
        });
        if let Err(absence) = received {
            return Finding::limited(area, format!("registered, then: {absence}"), "");
        }
        if arrived == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    if arrived == 0 {
        return Finding::limited(
            area,
            "registered, but none arrived for a thread that ended",
            "run in the initial user, PID and network namespaces",
        );
    }
    Finding::ok(area, "one arrived for a thread that ended")
}

fn accounting(switch: Option<bool>, survey: &mut Survey) -> Finding {
    let area = "delay accounting";
    match switch {
        Some(true) => {
            Finding::ok(area, "on; tasks that are older than the switch are not counted until restarted")
        }
        Some(false) => Finding::limited(
            area,
            "off: of tasks made now only the run queue is counted",
            "sysctl kernel.task_delayacct=1 (or whit delays --enable), then restart the tasks that matter; for good: a file \
             in /etc/sysctl.d, or the boot parameter delayacct",
        ),
        None if survey.kernel_version().is_some_and(|version| version >= KernelVersion::new(5, 14)) => {
            let remedy = "a kernel with CONFIG_TASK_DELAY_ACCT=y, and /proc/sys mounted";
            Finding::absent(area, "no kernel.task_delayacct", remedy)
        }
        None => {
            let command_line = survey.text("/proc/cmdline").unwrap_or_default();
            if command_line.split_whitespace().any(|word| word == "nodelayacct") {
                Finding::limited(area, "off: booted with nodelayacct", "boot without it")
            } else {
                Finding::ok(
                    area,
                    "no switch (before Linux 5.14): on if the kernel has CONFIG_TASK_DELAY_ACCT=y",
                )
            }
        }
    }
}
