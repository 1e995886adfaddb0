//! `whit fleet` over a real store that real agents send to.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use formats::series_name::SeriesName;
use libtest_mimic::Failed;
use query::Answer;
use remote_store::{Asked, RemoteStore};
use serde_json::Value;

use super::machine::{Load, Running, Scratch, WHIT, documents, port, shell, wait_for, whit};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let programs = ["victoria-metrics", "vmalert", "promtool"].map(Need::Program);
    let on_one = [&programs[..1], &["ip", "unshare", "stress"].map(Need::Program), &[Need::Root]].concat();
    vec![
        exact("a_fleet_has_its_worst_machine_first", &programs, worst_first),
        exact("a_fleet_can_be_tried_on_one_machine", &on_one, on_one_machine),
        exact("why_asks_the_store_about_a_machine", &[programs[0], Need::Program("stress")], reasons),
    ]
}

const CLOCK: &str = "whit_remote_write_clock_ahead_seconds";

/// An agent that sends as this machine; `more` is added to its configuration.
fn agent(scratch: &Scratch, store: &str, machine: &str, more: &str) -> Result<Running, Failed> {
    let directory = scratch.0.join(machine);
    fs::create_dir(&directory)?;
    let config = format!(
        "[[remote_write]]\nurl = \"{store}/api/v1/write\"\ninterval = \"1s\"\nfirst = \"1h\"\n\
         labels = {{ instance = \"{machine}\", env = \"{}\" }}\n[recording]\nstarter = false\n\
         [[record]]\nname = \"comm:whit_task_on_cpu_seconds:rate1m\"\ninterval = \"1s\"\n\
         expression = \"topk(20, sum by (comm) (rate(whit_task_on_cpu_seconds_total[5s])) > 0)\"\n{more}",
        &machine[..1]
    );
    fs::write(directory.join("agent.toml"), config)?;
    let mut command = Command::new(WHIT);
    command
        .args(["agent", "--interval", "200ms", "--http", "127.0.0.1:0", "--config"])
        .arg(directory.join("agent.toml"));
    for (option, file) in [("--data", "data"), ("--now", "now"), ("--socket", "socket")] {
        command.arg(option).arg(directory.join(file));
    }
    Ok(Running(command.stderr(Stdio::null()).spawn()?))
}

fn machines(store: &str, more: &[&str]) -> Vec<Value> {
    let text = whit(&[&["fleet", "--from", store, "--json"], more].concat());
    documents(&text).into_iter().map(|mut document| document["machine"].take()).collect()
}

fn names(machines: &[Value]) -> Vec<&str> {
    machines.iter().filter_map(|machine| machine["name"].as_str()).collect()
}

/// A store without series, and its address.
fn empty_store(scratch: &Scratch) -> Result<(Running, String), Failed> {
    let address = format!("127.0.0.1:{}", port());
    let mut words = Command::new("victoria-metrics");
    words.arg("-storageDataPath").arg(scratch.0.join("store")).args(["-httpListenAddr", &address]);
    words.args(["-search.latencyOffset", "0s", "-dedup.minScrapeInterval=1ms"]);
    let store = Running(words.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    Ok((store, format!("http://{address}")))
}

/// Programs that wait for CPUs are the reason, also by what the store has of a machine.
fn reasons() -> Result<(), Failed> {
    let scratch = Scratch::new("fleet-reasons");
    let (_store, store) = empty_store(&scratch)?;
    let rule = "[[record]]\nname = \"comm:whit_task_run_queue_seconds:rate1m\"\ninterval = \"1s\"\n\
                expression = \"topk(20, sum by (comm) (rate(whit_task_run_queue_seconds_total[5s])) > 0)\"\n";
    let _agent = agent(&scratch, &store, "alpha", rule)?;
    let cpus = std::thread::available_parallelism()?.get();
    let _load = Load::stress_as(&scratch, "crowd", &["-c", &(8 * cpus).to_string()]);
    let since = jiff::Timestamp::now();
    let why = |machine: &str, more: &[&str]| {
        let since = since.to_string();
        let until = jiff::Timestamp::now().to_string();
        let words = ["why", "--machine", machine, "--from", &store, "--since", &since, "--until", &until];
        Command::new(WHIT).args(words).args(more).output()
    };
    wait_for("the crowd is named", || {
        let Ok(output) = why("alpha", &["--json"]) else { return false };
        let found = documents(&String::from_utf8_lossy(&output.stdout));
        let sentences = found.first().and_then(|found| found["sentences"].as_array().cloned());
        let is_of_crowd = |sentence: &Value| sentence["trouble"] == "cpu" && sentence["culprit"] == "crowd";
        sentences.is_some_and(|sentences| sentences.iter().any(is_of_crowd))
    });
    let text = String::from_utf8(why("alpha", &[])?.stdout)?;
    assert!(text.contains("crowd") && text.contains("Not known: what single tasks did"), "{text}");
    let unknown = why("alpah", &[])?;
    let says = String::from_utf8(unknown.stderr)?;
    assert!(!unknown.status.success() && says.contains("did you mean \"alpha\"?"), "{says}");
    Ok(())
}

fn worst_first() -> Result<(), Failed> {
    let scratch = Scratch::new("fleet");
    let (_store, store) = empty_store(&scratch)?;
    let client = RemoteStore::new(&store);
    // One that has sent nothing for two hours.
    let now_ms = probe::clock_now().realtime.0.cast_signed() / 1_000_000;
    let name = SeriesName::parse("whit_build_info{instance=\"gone\",version=\"0.1.0\"}")?;
    let samples = [(now_ms - 7_200_000, 1.0)];
    wait_for("the store takes samples", || client.append([(&name, &samples[..])].into_iter()).is_ok());
    let check = "[[check]]\nname = \"broken\"\ncommand = [\"sh\", \"-c\", \"exit 2\"]\ninterval = \"1s\"\nattempts = 1\n";
    let _agents = [agent(&scratch, &store, "alpha", "")?, agent(&scratch, &store, "beta", check)?];
    // The store remembers for some time that it did not have a series: it is asked when it has all.
    for (machine, series) in [("alpha", CLOCK), ("beta", CLOCK), ("beta", "whit_check_state")] {
        let data = scratch.0.join(machine).join("data").display().to_string();
        let words = ["get", &format!("{series} offset 5s"), "--data", &data];
        let is_recorded =
            || Command::new(WHIT).args(words).output().is_ok_and(|output| output.status.success());
        wait_for(&format!("{machine} has recorded {series}"), is_recorded);
    }
    wait_for("the store has all of it", || {
        let machines = machines(&store, &[]);
        let has_all = |name: &str| {
            machines.iter().any(|machine| {
                machine["name"] == name
                    && machine["busy_cpus"].as_f64() > Some(0.0)
                    && machine["largest"]["used_cpus"].as_f64() > Some(0.0)
                    && machine["clock_ahead_ns"].is_i64()
            })
        };
        let is_bad = |machine: &Value| machine["checks"]["critical_count"] == 1;
        has_all("alpha") && has_all("beta") && machines.iter().any(is_bad)
    });
    let all = machines(&store, &[]);
    assert_eq!(names(&all), ["gone", "beta", "alpha"]);
    let cpus = std::thread::available_parallelism()?.get() as f64;
    for machine in &all[1..] {
        assert_eq!(machine["cpus_count"].as_f64(), Some(cpus), "{machine}");
        assert_eq!(machine["version"], env!("CARGO_PKG_VERSION"));
        // Both clocks are the same.
        assert!(
            machine["clock_ahead_ns"].as_i64().is_some_and(|ahead| ahead.abs() < 2_000_000_000),
            "{machine}"
        );
        let memory = machine["memory_bytes"].as_f64().zip(machine["memory_available_bytes"].as_f64());
        assert!(memory.is_some_and(|(all, available)| all > available && available > 0.0), "{machine}");
    }
    assert_eq!(all[1]["checks"]["critical_count"], 1, "{}", all[1]);
    assert_eq!(all[1]["troubles"][0]["text"], "1 check is critical");
    let silent_s = (now_ms - all[0]["silent_since_ns"].as_i64().ok_or("unknown")? / 1_000_000) / 1000;
    // The store looks back for five minutes, in steps of as much.
    assert!((6_600..=7_200).contains(&silent_s), "{silent_s}");
    assert_eq!(names(&machines(&store, &["--selector", "{env=\"a\"}"])), ["alpha"]);
    assert_eq!(names(&machines(&store, &["-n", "2"])), ["gone", "beta"]);
    let one = whit(&["fleet", "beta", "--from", &store]);
    assert!(one.contains("1 check is critical (critical)") && one.contains("memory left"), "{one}");
    assert!(one.contains("\nPROGRAM"), "{one}");
    let documents = documents(&whit(&["fleet", "beta", "--json", "--from", &store]));
    let programs = documents[0]["programs"].as_array().ok_or("no programs")?;
    let largest = programs.first().ok_or("no program")?;
    assert!(largest["on_cpu_ratio"].as_f64() > Some(0.0), "{programs:?}");
    // One recording rule is left in.
    assert!(
        largest["resident_bytes"].is_null() && documents[0]["units"] == serde_json::json!([]),
        "{largest}"
    );
    let table = whit(&["fleet", "--from", &store]);
    // "gone" and "beta"; and "alpha", too, if the disk of this machine is full.
    let critical = all.iter().filter(|machine| machine["troubles"][0]["severity"] == "critical").count();
    assert!(critical >= 2, "{all:?}");
    assert!(table.ends_with(&format!("3 machines, {critical} critical, 0 in warning\n")), "{table}");
    let unknown = Command::new(WHIT).args(["fleet", "alpah", "--from", &store]).output()?;
    let says = String::from_utf8(unknown.stderr)?;
    assert!(!unknown.status.success() && says.contains("did you mean \"alpha\"?"), "{says}");
    simulated(&store, &scratch.0.join("alpha/data"))?;
    deployed(&store)
}

/// The store has the machines that were simulated, with all samples.
fn simulated(store: &str, data: &Path) -> Result<(), Failed> {
    let words =
        |store| ["fleet", "simulate", "--machines", "5", "--duration", "2s", "--speed", "5", "--to", store];
    let simulate = |store| Command::new(WHIT).args(words(store)).arg("--data").arg(data).output();
    let output = simulate(store)?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && text.starts_with("5 machines with "), "{text}");
    let sent = text.lines().nth(1).and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    let client = RemoteStore::new(store);
    wait_for("the store shows what was sent", || {
        let at_ms = probe::clock_now().realtime.0.cast_signed() / 1_000_000;
        let expression = "sum(count_over_time({env=\"simulated\"}[5m]))";
        match client.ask(expression, Asked::At { at_ms }) {
            Ok(Answer::Vector(series)) => series.first().map(|(_, point)| point.value) == sent,
            _ => false,
        }
    });
    let failed = simulate("http://127.0.0.1:1")?;
    let text = String::from_utf8(failed.stdout)?;
    assert!(!failed.status.success() && text.contains("requests failed: "), "{text}");
    Ok(())
}

/// What `make fleet` starts is there, and gone at its end. It has namespaces of its own here, and a directory for what it leaves.
fn on_one_machine() -> Result<(), Failed> {
    let scratch = Scratch::new("fleet-on-one");
    let (ask, script) = (scratch.0.join("ask"), scratch.0.join("script"));
    let tried = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet/try");
    fs::write(
        &ask,
        format!(
            "until {WHIT} fleet --from http://198.18.0.1:18428 | grep '^3 machines, [1-3] critical'; do sleep 0.5; done"
        ),
    )?;
    fs::write(
        &script,
        format!(
            "mount -t tmpfs tmpfs /run && ip link set lo up || exit 1\n\
             TMPDIR=/run {} {WHIT} &\ntrying=$!\ntimeout 170 sh {}\nkill $trying\nwait $trying\necho left: $(ls /run | grep -v netns) $(ip netns) $(ip -brief link | grep whit-)\n",
            tried.display(),
            ask.display()
        ),
    )?;
    let output = shell(&format!(
        "unshare --net --mount --fork --pid --kill-child --mount-proc sh {}",
        script.display()
    ));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().any(|line| line.starts_with("3 machines, ")), "{output:?}");
    assert!(text.ends_with("left:\n"), "{output:?}");
    Ok(())
}

/// Parts of expressions that may have no answer here: no alert fires, one recording rule is left in, and the kernel may not count delays.
const MAY_BE_EMPTY: [&str; 8] = [
    "ALERTS",
    "unit:",
    "comm:whit_task_run_queue",
    "comm:whit_task_block_io",
    "comm:whit_task_memory",
    "comm:whit_task_resident",
    "state=\"block_io\"",
    "thrashing",
];

/// What deploy/fleet has: dashboards ask for what agents send, and rules are understood.
fn deployed(store: &str) -> Result<(), Failed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet");
    for entry in fs::read_dir(directory.join("dashboards"))? {
        let dashboard: Value = serde_json::from_str(&fs::read_to_string(entry?.path())?)?;
        let panels = dashboard["panels"].as_array().ok_or("no panels")?;
        for target in panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten() {
            let expression = target["expr"].as_str().ok_or("no expression")?;
            let chosen = if expression.contains("=~\"$instance") { ".*" } else { "alpha" };
            let expression = expression.replace("$instance", chosen).replace("$__rate_interval", "10s");
            let may_be_empty = MAY_BE_EMPTY.iter().any(|part| expression.contains(part));
            // What a check used is known after its second run.
            wait_for(&format!("an answer of {expression}"), || {
                let answer = documents(&whit(&["query", &expression, "--from", store, "--json"])).remove(0);
                may_be_empty || answer["data"]["result"].as_array().is_some_and(|series| !series.is_empty())
            });
        }
    }
    let rules = directory.join("rules.yml");
    for words in [&["promtool", "check", "rules"][..], &["vmalert", "-dryRun", "-rule"]] {
        let output = Command::new(words[0]).args(&words[1..]).arg(&rules).output()?;
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
