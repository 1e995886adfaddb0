//! The tutorials of docs/tutorials: a shell in an empty home types what they say, and must see what they show.

mod document;
mod shell;

use std::fs;
use std::path::Path;
use std::time::Instant;

use libtest_mimic::Failed;

use self::document::{Action, Step};
use self::shell::{Reader, Shell};
use super::machine::{Cgroup, PATIENCE};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let with = |more: &[Need]| {
        [&[Need::Root, Need::Program("setpriv"), Need::Program("unshare"), Need::Program("ip")], more]
            .concat()
    };
    let python = Need::Program("python3");
    vec![
        exact("the_tutorial_of_the_bar_is_true", &with(&[]), || follow("bar", &Reader::User)),
        exact(
            "the_tutorial_of_memory_is_true",
            &with(&[python, Need::Controller("memory")]),
            memory_in_a_container,
        ),
        exact("the_tutorial_of_a_server_is_true", &with(&[Need::Program("curl")]), || {
            follow("server", &Reader::User)
        }),
        exact("the_tutorial_of_slowness_is_true", &with(&[Need::Program("flock")]), || {
            follow("slow", &Reader::Root)
        }),
        exact(
            "the_tutorial_of_checks_is_true",
            &with(&[Need::Program("/usr/lib/nagios/plugins/check_dummy")]),
            || follow("checks", &Reader::User),
        ),
        exact("the_tutorial_of_a_fleet_is_true", &with(&[Need::Program("victoria-metrics")]), || {
            follow("fleet", &Reader::User)
        }),
        exact("the_tutorial_of_feeds_is_true", &with(&[python]), || follow("feeds", &Reader::User)),
    ]
}

/// The reader sits in a container that may have as much as the tutorial says.
fn memory_in_a_container() -> Result<(), Failed> {
    let cgroup = Cgroup::new("memory");
    let limit = if cgroup.version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
    cgroup.set(limit, "256M");
    follow("memory", &Reader::UserInCgroup(&cgroup.directory))
}

/// Does all that a tutorial says.
fn follow(name: &str, reader: &Reader<'_>) -> Result<(), Failed> {
    let path = format!("docs/tutorials/{name}.md");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&path))?;
    let mut shell = Shell::start(name, reader)?;
    for Step { line, action } in document::steps(&text) {
        let done = match action {
            Action::Write { path, text } => shell.write(path, &text).map_err(|error| error.to_string()),
            Action::Type { command, status, shown } => see(&mut shell, command, status, &shown),
        };
        done.map_err(|difference| format!("{path}:{line}: {difference}"))?;
    }
    Ok(())
}

/// Types a command, and again until it shows what the tutorial says: so does a reader while the agent has only begun to record. Other
/// programs than whit are run once.
fn see(shell: &mut Shell, command: &str, status: i32, shown: &[&str]) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (ended, output) = shell.run(command)?;
        if ended == status && document::is_shown(shown, &output) {
            return Ok(());
        }
        if !command.starts_with("whit ") || Instant::now() > deadline {
            let logs = shell.run("tail -n 20 *.log").map_or_else(|error| error, |(_, logs)| logs);
            return Err(format!(
                "{command}\n--- exit status {status}\n{}\n--- but {ended}\n{output}\n--- logs\n{logs}",
                shown.join("\n")
            ));
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}
