//! What a kernel or a privilege lacks, one by one and all at once: every command's first screen works, says what is missing, and takes nothing
//! that is unknown for zero.

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, copy_program, documents, shell};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [
        Need::Root,
        Need::Accounting,
        Need::Path("/sys/kernel/btf"),
        Need::Path("/proc/pressure"),
        Need::Program("setpriv"),
        Need::Program("unshare"),
    ];
    vec![exact("every_first_screen_says_what_is_missing", &needs, screens)]
}

/// Something that is taken away.
#[derive(Clone, Copy)]
struct Lacking {
    name: &'static str,
    /// A directory of the kernel that is covered.
    covered: Option<&'static str>,
    /// Capabilities that root gives up.
    capabilities: &'static str,
    is_root: bool,
    /// What `whit doctor` says.
    doctor: &'static str,
}

const NOTHING: Lacking = Lacking { name: "", covered: None, capabilities: "", is_root: true, doctor: "" };
const LACKING: [Lacking; 6] = [
    Lacking { name: "BTF", covered: Some("/sys/kernel/btf"), doctor: "no BTF", ..NOTHING },
    Lacking {
        name: "BPF",
        capabilities: "-bpf,-sys_admin,-perfmon",
        doctor: "BTF is there, but not permitted",
        ..NOTHING
    },
    Lacking {
        name: "taskstats",
        capabilities: "-net_admin",
        doctor: "taskstats         not permitted",
        ..NOTHING
    },
    Lacking { name: "PSI", covered: Some("/proc/pressure"), doctor: "no /proc/pressure", ..NOTHING },
    Lacking { name: "cgroups", covered: Some("/sys/fs/cgroup"), doctor: "own cannot be seen", ..NOTHING },
    Lacking { name: "root", is_root: false, doctor: "taskstats         not permitted", ..NOTHING },
];

/// The first screens, in the place of `$$` the shell that runs them.
const COMMANDS: [&str; 10] = [
    "free",
    "bar --once --for plain",
    "doctor",
    "delays -a",
    "delays -p 1",
    "delays -p $$",
    "top -b -n 1",
    "run -- true",
    "age .",
    "why --observe 300ms --data /nowhere",
];

fn screens() -> Result<(), Failed> {
    let scratch = Scratch::for_all("absences");
    let program = scratch.0.join("whit");
    copy_program(WHIT, &program);
    let program = program.display().to_string();
    for lacking in LACKING {
        screens_without(&program, &[lacking])?;
    }
    screens_without(&program, &LACKING)
}

fn screens_without(program: &str, lacking: &[Lacking]) -> Result<(), Failed> {
    let names: Vec<&str> = lacking.iter().map(|one| one.name).collect();
    let names = names.join(", ");
    let run = |words: &str| {
        let output = shell(&script(program, lacking, words));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text, errors)
    };
    for words in COMMANDS {
        let (status, text, errors) = run(words);
        assert_eq!(status, Some(0), "without {names}: {words}: {text}{errors}");
        assert!(!text.is_empty() || words == "run -- true", "without {names}: {words}: {errors}");
        assert!(!errors.contains("panicked"), "without {names}: {words}: {errors}");
    }
    let (_, said, _) = run("doctor");
    for one in lacking {
        // Without BTF nothing is said of the capabilities that it would need.
        let is_hidden = one.name == "BPF" && lacking.len() > 1;
        assert!(is_hidden || said.contains(one.doctor), "without {names}: {said}");
    }
    let lacks = |name: &str| lacking.iter().any(|one| one.name == name);
    let (_, free, _) = run("free --json");
    let free = &documents(&free)[0];
    assert_eq!(free["pressure"].is_null(), lacks("PSI"), "without {names}: {free}");
    // What only taskstats counts is unknown without it; the wait for a CPU is in /proc as well.
    let (_, delays, _) = run("delays -t $$ --json");
    let delays = &documents(&delays)[0];
    let has_taskstats = !lacks("taskstats") && !lacks("root");
    assert_eq!(delays["delays"]["reclaim"]["total_ns"].is_u64(), has_taskstats, "without {names}: {delays}");
    assert!(delays["run_queue_ns"].is_u64() && delays["on_cpu_ns"].is_u64(), "without {names}: {delays}");
    let (_, top, _) = run("top -b -n 1");
    let source = match (lacks("BPF") || lacks("BTF") || lacks("root"), has_taskstats) {
        (false, _) => "by bpf",
        (true, true) => "by taskstats",
        (true, false) => "by procfs",
    };
    assert!(top.contains(source), "without {names}: not {source}: {top}");
    Ok(())
}

/// Runs a command of the program where these are missing.
fn script(program: &str, lacking: &[Lacking], words: &str) -> String {
    let covers: String = lacking
        .iter()
        .filter_map(|one| one.covered)
        .map(|directory| format!("mount -t tmpfs none {directory} && "))
        .collect();
    let capabilities: Vec<&str> =
        lacking.iter().map(|one| one.capabilities).filter(|names| !names.is_empty()).collect();
    let bounding = match capabilities.is_empty() {
        true => String::new(),
        false => format!(" --bounding-set {}", capabilities.join(",")),
    };
    let user = match lacking.iter().all(|one| one.is_root) {
        true => "",
        false => " --reuid 65534 --regid 65534 --clear-groups",
    };
    let directory = program.trim_end_matches("/whit");
    // Without options setpriv does nothing, and says so.
    let before = if bounding.is_empty() && user.is_empty() {
        String::new()
    } else {
        format!("setpriv{user}{bounding}")
    };
    format!("cd / && unshare -m sh -c '{covers}cd {directory} && timeout 60 {before} {program} {words}'")
}
