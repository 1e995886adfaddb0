//! What somebody else than root can do, with a binary that was given CAP_NET_ADMIN, and with little memory.

use std::fs;
use std::process::Output;

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, copy_program, shell};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Root, Need::Program("setcap"), Need::Program("setpriv"), Need::Program("unshare")];
    vec![
        exact("a_capability_opens_no_file", &needs, files_stay_closed),
        exact("a_capability_is_held_for_taskstats_alone", &needs, laid_down),
        exact("hidden_processes_stay_hidden", &needs, hidden),
        exact("little_memory_is_reported_and_not_fatal", &[Need::Root], little_memory),
        exact("few_descriptors_are_reported", &[Need::Root], few_descriptors),
    ]
}

const NOBODY: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups";
/// Root's alone to read; the kernel shows it to whoever has CAP_NET_ADMIN.
const SECRET: &str = "/proc/sys/net/ipv4/tcp_fastopen_key";

/// Whit with the capability, where everybody can reach it.
struct Given(Scratch);

impl Given {
    fn new(name: &str) -> Self {
        let scratch = Scratch::for_all(name);
        let binary = scratch.0.join("whit");
        copy_program(WHIT, &binary);
        let output = shell(&format!("setcap cap_net_admin+ep {}", binary.display()));
        assert!(output.status.success(), "{output:?}");
        Self(scratch)
    }

    fn program(&self) -> String {
        self.0.0.join("whit").display().to_string()
    }

    fn run(&self, words: &str) -> Output {
        shell(&format!("cd / && timeout 60 {NOBODY} {} {words}", self.program()))
    }
}

fn files_stay_closed() -> Result<(), Failed> {
    let given = Given::new("closed");
    for words in [
        format!("bar --once --config {SECRET}"),
        format!("sink --udp --port 0 --replies {SECRET}"),
        "run -o /proc/sys/net/ipv4/ip_default_ttl -- true".to_owned(),
        format!("age --delete --tmpfiles {SECRET}"),
    ] {
        let errors = String::from_utf8(given.run(&words).stderr)?;
        assert!(errors.contains("Permission denied"), "{words}: {errors}");
    }
    Ok(())
}

fn laid_down() -> Result<(), Failed> {
    let given = Given::new("held");
    let output = given.run("delays -t 1 --json");
    let told = String::from_utf8(output.stdout)?;
    assert!(
        told.contains("\"peak_resident_bytes\":") && !told.contains("\"peak_resident_bytes\":null"),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Of what runs for longer, every thread.
    // Its first table says that it has begun.
    let (program, table) = (given.program(), given.0.0.join("table").display().to_string());
    let held = shell(&format!(
        "cd / && {NOBODY} {program} delays -a -i 1 > {table} & until [ -s {table} ]; do sleep 0.1; done; \
         cat /proc/$!/task/*/status | grep -E 'Cap(Prm|Eff)'; kill $!"
    ));
    let held = String::from_utf8(held.stdout)?;
    assert!(held.contains("CapPrm:\t0000000000001000"), "{held}");
    assert!(
        held.lines()
            .filter(|line| line.starts_with("CapEff"))
            .all(|line| line.ends_with("\t0000000000000000")),
        "{held}"
    );
    // Its children have nothing at all.
    let inherited = String::from_utf8(given.run("run -- cat /proc/self/status").stdout)?;
    let mut lines = inherited.lines().filter(|line| line.starts_with("CapPrm") || line.starts_with("CapEff"));
    assert!(lines.all(|line| line.ends_with("0000000000000000")), "{inherited}");
    Ok(())
}

fn hidden() -> Result<(), Failed> {
    let given = Given::new("hidden");
    let words = |command: &str| {
        let whit = format!("timeout 60 {NOBODY} {}", given.program());
        shell(&format!(
            "cd / && unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && {whit} {command}'"
        ))
    };
    let output = words("delays -t 1");
    assert!(!output.status.success(), "{output:?}");
    let output = words("delays --exits");
    assert!(String::from_utf8(output.stderr)?.contains("permission denied"));
    let told = words("top -b -n 1 --json");
    let told = String::from_utf8(told.stdout)?;
    assert!(told.contains("\"whit\"") && !told.contains("\"uid\":0"), "{told}");
    Ok(())
}

fn little_memory() -> Result<(), Failed> {
    // The program itself, with all its debugging information, wants some address space.
    let own_mib = fs::metadata(WHIT)?.len() / (1 << 20);
    for mib in [12, 16, 20, 24, 28, 32, 36, 40] {
        for command in ["top -b -n 1", "doctor"] {
            let limit_kib = (own_mib + mib) * 1024;
            let output = shell(&format!("ulimit -v {limit_kib}; {WHIT} {command}"));
            assert!(output.status.code().is_some_and(|code| code <= 1), "{command}, {mib} MiB: {output:?}");
        }
    }
    Ok(())
}

fn few_descriptors() -> Result<(), Failed> {
    let scratch = Scratch::new("descriptors");
    for command in
        ["doctor", "top -b -n 1", "bar --once", "free", "delays -a", "run -- true", "age --older 1d ."]
    {
        for limit in 4..=24 {
            let output =
                shell(&format!("cd {} && ulimit -n {limit} && {WHIT} {command}", scratch.0.display()));
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code().is_some(), "{command} with {limit}: {output:?}");
            assert!(
                !errors.contains("internal error") && !errors.contains("captured machine"),
                "{command} with {limit}: {errors}"
            );
        }
    }
    Ok(())
}
