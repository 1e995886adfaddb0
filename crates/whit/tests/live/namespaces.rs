//! Where whit sees only a part of the machine: a PID namespace, /proc mounted with hidepid=2, and no /proc.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, copy_program, documents, shell};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact(
            "every_command_works_in_a_pid_namespace",
            &[Need::Root, Need::Accounting, Need::Program("unshare")],
            pid_namespace,
        ),
        exact(
            "every_command_works_with_hidepid",
            &[Need::Root, Need::Accounting, Need::Program("unshare"), Need::Program("setpriv")],
            hidepid,
        ),
        exact(
            "a_command_says_that_proc_is_not_mounted",
            &[Need::Root, Need::Program("unshare")],
            without_proc,
        ),
    ]
}

/// Commands that must succeed, without their output.
const COMMANDS: [&str; 7] = [
    "free --json",
    "bar --once --for plain",
    "doctor",
    "delays -a",
    "delays -p $$ -i 0.2 -n 1",
    "run -q -- sh -c 'sleep 0.1 & wait'",
    "top -b -n 1",
];
const SOURCES: [&str; 3] = ["bpf", "taskstats", "procfs"];

/// Runs the commands, and reads all tasks by each of these sources; the last tick of each.
fn script(whit: &str, sources: &[&str]) -> String {
    let mut script = String::from("set -e\nsleep 1000 &\nsleeping=$!\ntrap 'kill $sleeping' EXIT\n");
    for command in COMMANDS {
        script.push_str(&format!(
            "{whit} {command} > /dev/null || {{ echo failed: {command:?} >&2; exit 1; }}\n"
        ));
    }
    for source in sources {
        script.push_str(&format!("{whit} top -b -n 2 -d 0.3 --json --tasks {source} | tail -n 1\n"));
    }
    script
}

/// Without /proc commands fail: an empty table, or that nothing is wrong, would be false.
fn without_proc() -> Result<(), Failed> {
    let top = "top -b -n 1 --tasks procfs";
    for words in ["free", top, "delays -a", "delays -p 1", "why --observe 300ms --data /nowhere"] {
        let output = shell(&format!("unshare -m sh -c 'mount -t tmpfs tmpfs /proc && {WHIT} {words}'"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words}: {output:?}");
        assert!(error.ends_with("mount -t proc proc /proc\n"), "{words}: {error}");
    }
    Ok(())
}

fn pid_namespace() -> Result<(), Failed> {
    let scratch = Scratch::new("namespace");
    let path = scratch.0.join("script");
    fs::write(&path, script(WHIT, &SOURCES))?;
    let output = shell(&format!("unshare --fork --pid --mount-proc sh {}", path.display()));
    assert!(output.status.success(), "{output:?}");
    let ticks = documents(&String::from_utf8(output.stdout)?);
    assert_eq!(ticks.len(), SOURCES.len());
    for (tick, source) in ticks.iter().zip(SOURCES) {
        let rows = tick["tasks"].as_array().ok_or("no tasks")?;
        let mut names: Vec<_> = rows
            .iter()
            .filter(|row| row["threads"].as_u64() > Some(0))
            .map(|row| (row["pid"].as_u64(), row["comm"].as_str().unwrap_or_default()))
            .collect();
        names.sort();
        // The shell, its sleep, whit, and tail; by ids of the namespace, which began with 1.
        assert_eq!(names.first(), Some(&(Some(1), "sh")), "{source}: {names:?}");
        assert!(names.iter().any(|(_, comm)| *comm == "sleep"), "{source}: {names:?}");
        assert!(names.len() <= 5 && names.iter().all(|(pid, _)| *pid < Some(200)), "{source}: {names:?}");
    }
    Ok(())
}

fn hidepid() -> Result<(), Failed> {
    let scratch = Scratch::for_all("hidepid");
    let (whit, path) = (scratch.0.join("whit"), scratch.0.join("script"));
    copy_program(WHIT, &whit);
    fs::write(&path, script(whit.to_str().unwrap(), &["procfs"]))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    let user = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let output = shell(&format!(
        "cd / && unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && {user} sh {}'",
        path.display()
    ));
    assert!(output.status.success(), "{output:?}");
    let ticks = documents(&String::from_utf8(output.stdout)?);
    let rows = ticks.first().and_then(|tick| tick["tasks"].as_array()).ok_or("no tasks")?;
    assert!(rows.iter().any(|row| row["comm"] == "sleep"), "{rows:?}");
    assert!(rows.iter().all(|row| row["uid"] == 65534), "{rows:?}");
    Ok(())
}
