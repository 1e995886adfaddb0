//! Whom tasks wait for, link by link, and what `whit why` says of those that are held up.

use std::fs;
use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;

use super::api::{Api, output};
use super::machine::{
    Load, Scratch, WHIT, children_of, copy_program, documents, peer, wait_for, wait_for_state, whit,
};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [Need::Root, Need::Program("cc"), Need::Program("flock")];
    vec![
        exact("a_chain_leads_through_a_proxy_to_a_lock", &all, proxy),
        exact("threads_at_a_lock_wait_for_its_holder", &all, convoy),
        exact("a_deadlock_is_a_circle", &all, deadlock),
        exact("the_end_of_a_pipe_is_its_reader", &all, pipe),
        exact("a_command_waits_for_its_children", &all, children),
        exact("why_names_who_does_not_read", &all, reader),
        exact("why_names_who_owes_answers", &all, server),
        exact("why_says_nothing_of_those_that_wait_for_work", &all, idle),
        exact(
            "another_users_tasks_are_no_links",
            &[Need::Root, Need::Program("cc"), Need::Program("setpriv")],
            other_user,
        ),
        exact(
            "the_page_shows_whom_a_process_waits_for",
            &[Need::Root, Need::Program("setpriv"), Need::Program("curl")],
            inspection,
        ),
        exact("run_says_for_what_programs_slept", &all, run),
    ]
}

/// A load and the processes that it starts, which end with it.
struct Tree(Load);

impl Tree {
    fn start(words: &[&str]) -> Self {
        Self(Load::start(words))
    }

    fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let mut found = vec![self.id()];
        let mut next = 0;
        while let Some(pid) = found.get(next).copied() {
            found.extend(children_of(pid));
            next += 1;
        }
        for pid in found.into_iter().skip(1) {
            if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// Starts a part of a chain.
fn start(words: &[&str]) -> Load {
    let program = peer("chains").display().to_string();
    Load::start(&[&[program.as_str()], words].concat())
}

/// Starts one that serves. Returns its port.
fn serve(scratch: &Scratch, words: &[&str], more: &[&str]) -> (Load, String) {
    let file = scratch.0.join(words[1]).display().to_string();
    let load = start(&[words, &[file.as_str()], more].concat());
    wait_for("a port", || Path::new(&file).exists());
    let port = fs::read_to_string(&file).unwrap_or_default().trim().to_owned();
    (load, port)
}

/// What is asked of a process now.
fn why(words: &[&str]) -> Value {
    let all = [&["why", "--json", "--observe", "1s", "--data", "/nowhere"], words].concat();
    documents(&whit(&all)).remove(0)
}

/// The chain of a process: depth, name and reason of each link, and why it ends.
fn chain(pid: u32) -> Vec<String> {
    let document = why(&[&pid.to_string()]);
    let links = document["chains"][0].as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    links
        .iter()
        .map(|link| {
            let did = if link["reason"].is_null() { &link["activity"] } else { &link["reason"] };
            format!("{} {} {} {}", link["depth"], word(&link["comm"]), word(did), word(&link["end"]))
        })
        .collect()
}

/// Waits until a chain is what is expected: on a busy machine its links come later.
pub(crate) fn expect_chain(pid: u32, expected: &[&str]) {
    let mut found = Vec::new();
    for _ in 0..20 {
        found = chain(pid);
        if found == expected {
            return;
        }
    }
    assert_eq!(found, expected);
}

fn proxy() -> Result<(), Failed> {
    let scratch = Scratch::new("chains");
    let lock = scratch.0.join("lock").display().to_string();
    let holder = Tree::start(&["flock", &lock, "sleep", "1000"]);
    wait_for_state(holder.id(), 'S');
    wait_for("a lock that is held", || {
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.contains(&format!(" {} ", holder.id()))
    });
    let (_server, port) = serve(&scratch, &["locked", "ch-server"], &[&lock]);
    let (_proxy, port) = serve(&scratch, &["proxy", "ch-proxy"], &[&port]);
    let client = start(&["client", "ch-client", &port]);
    let expected = [
        "0 ch-client socket -",
        "1 ch-proxy events -",
        "2 ch-server file lock -",
        "3 flock child -",
        "4 sleep timer explained",
    ];
    expect_chain(client.id(), &expected);
    // What is not seen itself is marked.
    let document = why(&[&client.id().to_string()]);
    let is_probable = |place: usize| document["chains"][0][place]["is_probable"].clone();
    assert_eq!([is_probable(1), is_probable(2), is_probable(3)], [false, true, false]);
    let text = whit(&["why", &client.id().to_string(), "--observe", "1s", "--data", "/nowhere"]);
    assert!(text.contains(&format!("for the lock of {lock}, in flock")), "{text}");
    Ok(())
}

/// The sentences about the present that contain a text.
fn sentences_of(text: &str) -> Vec<Value> {
    let document = why(&[]);
    let sentences = document["sentences"].as_array().cloned().unwrap_or_default();
    let is_it = |sentence: &Value| sentence["text"].as_str().is_some_and(|words| words.contains(text));
    sentences.into_iter().filter(is_it).collect()
}

/// Waits for a sentence about a trouble that names a process.
fn expect_sentence(trouble: &str, of: &str) -> Value {
    let mut found = Vec::new();
    for _ in 0..20 {
        found = sentences_of(of);
        if let Some(sentence) = found.iter().find(|sentence| sentence["trouble"] == trouble) {
            return sentence.clone();
        }
    }
    panic!("no {trouble} of {of}: {found:#?}");
}

fn convoy() -> Result<(), Failed> {
    let load = start(&["convoy", "ch-convoy"]);
    let mut links = Value::Null;
    wait_for("a queue", || {
        links = why(&[&load.id().to_string()])["chains"][0].clone();
        links[0]["reason"] == "lock" && links[0]["threads"].as_u64() >= Some(8) && links[1]["depth"] == 1
    });
    // Its holder is a thread of the same process, and no other one is named.
    assert_eq!((&links[1]["pid"], &links[1]["is_probable"]), (&load.id().into(), &false.into()));
    let sentence = expect_sentence("contention", &format!("ch-convoy ({})", load.id()));
    assert_eq!((&sentence["culprit"], &sentence["culprit_kind"]), (&"ch-convoy".into(), &"program".into()));
    // Between a release and the wake-up of the next thread the lock has no holder, and none is counted.
    assert!(sentence["lost_ratio"].as_f64() >= Some(3.0), "{sentence}");
    Ok(())
}

fn deadlock() -> Result<(), Failed> {
    let load = start(&["deadlock", "ch-deadlock"]);
    let expected =
        ["0 ch-deadlock lock -", "1 ch-deadlock lock -", "2 ch-deadlock lock -", "3 ch-deadlock lock circle"];
    expect_chain(load.id(), &expected);
    let sentence = expect_sentence("deadlock", &format!("ch-deadlock ({})", load.id()));
    assert_eq!((&sentence["culprit"], &sentence["weight_ratio"]), (&"ch-deadlock".into(), &1.0.into()));
    Ok(())
}

fn pipe() -> Result<(), Failed> {
    let load = Tree::start(&["sh", "-c", "yes | sleep 1000"]);
    let child = |name: &str| {
        let is_it =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name);
        children_of(load.id()).into_iter().find(is_it)
    };
    wait_for("a pipeline", || child("yes").is_some() && child("sleep").is_some());
    let writer = child("yes").ok_or("no writer")?;
    expect_chain(writer, &["0 yes pipe -", "1 sleep timer explained"]);
    Ok(())
}

fn children() -> Result<(), Failed> {
    let load = Tree::start(&["sh", "-c", "sh -c 'sleep 1000; true'; true"]);
    expect_chain(load.id(), &["0 sh child -", "1 sh child -", "2 sleep timer explained"]);
    Ok(())
}

fn reader() -> Result<(), Failed> {
    let load = start(&["unix", "ch-writer", "ch-reader"]);
    let sentence = expect_sentence("reader", &format!("ch-writer ({})", load.id()));
    assert_eq!(sentence["culprit"], "ch-reader");
    expect_chain(load.id(), &["0 ch-writer socket -", "1 ch-reader signal explained"]);
    Ok(())
}

fn server() -> Result<(), Failed> {
    let scratch = Scratch::new("chains-server");
    let (server, port) = serve(&scratch, &["busy", "ch-busy"], &[]);
    let _clients: Vec<Load> = (0..4).map(|_| start(&["client", "ch-client4", &port])).collect();
    let of_all = format!("4 processes waited for answers of ch-busy ({})", server.id());
    let sentence = expect_sentence("server", &of_all);
    let text = sentence["text"].as_str().unwrap_or_default();
    assert!(text.contains("is on a CPU"), "{text}");
    assert_eq!(sentence["culprit"], "ch-busy");
    Ok(())
}

/// Threads that wait for work, a client that is answered, and servers that are idle hold nothing up.
fn idle() -> Result<(), Failed> {
    let scratch = Scratch::new("chains-idle");
    let (echo, port) = serve(&scratch, &["echo", "ch-echo"], &[]);
    let client = start(&["polite", "ch-polite", &port]);
    let pool = start(&["pool", "ch-pool"]);
    let sleeper = Load::start(&["sleep", "1000"]);
    for load in [&echo, &client, &pool, &sleeper] {
        wait_for_state(load.id(), 'S');
    }
    for _ in 0..3 {
        for load in [&echo, &client, &pool, &sleeper] {
            let found = sentences_of(&format!("({})", load.id()));
            assert!(found.is_empty(), "{found:#?}");
        }
    }
    // A condition is no lock. Its memory does not say who will signal it.
    let chain = chain(pool.id());
    assert!(chain.contains(&"0 ch-pool lock unknown".to_owned()), "{chain:?}");
    Ok(())
}

fn other_user() -> Result<(), Failed> {
    let load = Load::start(&["sh", "-c", "exec sleep 1000"]);
    wait_for_state(load.id(), 'S');
    let program = Scratch::for_all("chains-user");
    let copy = program.0.join("whit");
    copy_program(WHIT, &copy);
    let pid = load.id().to_string();
    let words = ["--reuid=60001", "--regid=60001", "--clear-groups"];
    let asked = ["why", &pid, "--json", "--observe", "1s", "--data", "/nowhere"];
    let output = std::process::Command::new("setpriv").args(words).arg(&copy).args(asked).output()?;
    let document = documents(&String::from_utf8_lossy(&output.stdout)).remove(0);
    let link = &document["chains"][0][0];
    assert_eq!((&link["activity"], &link["end"]), (&"hidden".into(), &"other_user".into()), "{document}");
    assert!(link["reason"].is_null() && link["object"].is_null(), "{link}");
    Ok(())
}

/// Who asks over HTTP sees what the kernel shows them, though the agent may look at all processes.
fn inspection() -> Result<(), Failed> {
    const USER: [&str; 3] = ["--reuid=60001", "--regid=60001", "--clear-groups"];
    let scratch = Scratch::new("chains-page");
    let api = Api::start(&scratch, &[])?;
    let script = "sleep 1000 | cat; true";
    let of_root = Tree::start(&["sh", "-c", script]);
    let of_user = Tree::start(&[&["setpriv"], &USER[..], &["sh", "-c", script]].concat());
    let cat_of = |tree: &Tree| {
        let is_cat =
            |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "cat\n");
        children_of(tree.id()).into_iter().find(is_cat)
    };
    // Both programs of each pipe.
    wait_for("both pipes", || cat_of(&of_root).is_some() && cat_of(&of_user).is_some());
    let cats = [&of_root, &of_user].map(|tree| cat_of(tree).unwrap_or_default());
    for program in [&of_root, &of_user].into_iter().flat_map(|tree| children_of(tree.id())) {
        wait_for("a program", || {
            fs::read_to_string(format!("/proc/{program}/comm")).is_ok_and(|comm| comm != "sh\n")
        });
        wait_for_state(program, 'S');
    }
    let address = |pid: u32| format!("/api/page/inspection?pid={pid}");
    let as_user = |pid: u32| -> Result<Value, Failed> {
        let url = format!("{}{}", api.url(), address(pid));
        // A look that takes two seconds is given up: on a busy machine it may.
        for _ in 0..20 {
            let reply = output("setpriv", &[&USER[..], &["curl", "-s", &url]].concat())?;
            let data = serde_json::from_str::<Value>(&reply)?["data"].clone();
            if data["found"].is_object() {
                return Ok(data);
            }
        }
        Err(format!("no look at {pid}").into())
    };
    let as_root = |pid: u32| -> Value {
        let mut data = Value::Null;
        wait_for("a look", || {
            data = api.get(&address(pid)).unwrap_or_default()["data"].clone();
            data["found"].is_object()
        });
        data
    };
    let words = |data: &Value| -> Vec<String> {
        let links = data["found"]["links"].as_array().cloned().unwrap_or_default();
        let word = |link: &Value, name: &str| link[name].as_str().unwrap_or_default().to_owned();
        links.iter().map(|link| ["before", "name", "after"].map(|name| word(link, name)).concat()).collect()
    };
    // Of the processes that a user may not look at one could write to the pipe as well.
    for (found, cat, before) in [
        (as_root(cats[0]), cats[0], ""),
        (as_root(cats[1]), cats[1], ""),
        (as_user(cats[1])?, cats[1], "probably on "),
    ] {
        let [waits, sleeps] = &words(&found)[..] else { return Err(found.to_string().into()) };
        assert_eq!(waits, &format!("cat ({cat}) waits for data from a pipe, in read"));
        assert!(
            sleeps.starts_with(&format!("{before}sleep ("))
                && sleeps.contains(" waits until a point in time"),
            "{sleeps}"
        );
        assert!(found["found"]["open_files"]["count"].as_u64() >= Some(3), "{found}");
    }
    let hidden = as_user(cats[0])?;
    assert_eq!(words(&hidden), [format!("cat ({}) sleeps; why may not be read", cats[0])]);
    assert!(hidden["found"]["open_files"].is_null(), "{hidden}");
    // Of their user, and more than that: a capability, another group.
    for more in [
        &[
            "--reuid=60001",
            "--regid=60001",
            "--clear-groups",
            "--inh-caps=+sys_nice",
            "--ambient-caps=+sys_nice",
        ][..],
        &["--reuid=60001", "--regid=60002", "--clear-groups"],
    ] {
        let load = Load::start(&[&["setpriv"], more, &["sleep", "1000"]].concat());
        wait_for("sleep", || {
            fs::read_to_string(format!("/proc/{}/comm", load.id())).is_ok_and(|comm| comm == "sleep\n")
        });
        wait_for_state(load.id(), 'S');
        let hidden = as_user(load.id())?;
        assert_eq!(
            words(&hidden),
            [format!("sleep ({}) sleeps; why may not be read", load.id())],
            "{more:?}"
        );
    }
    // No process has the highest number.
    assert!(
        api.get(&address(u32::MAX))
            .is_some_and(|reply| reply["status"] == "success" && reply["data"] == "gone")
    );
    // Without the inspector the server has no privileges for another one: it is started again, with them.
    let is_inspector = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline"));
        words.is_ok_and(|words| words.ends_with(b"\0agent\0inspector\0"))
    };
    let inspectors_of = |api: &Api| -> Vec<u32> {
        children_of(api.pid()).into_iter().flat_map(children_of).filter(is_inspector).collect()
    };
    let pid = inspectors_of(&api).first().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
    rustix::process::kill_process(pid.ok_or("no inspector")?, rustix::process::Signal::KILL)?;
    wait_for("another inspector", || as_root(cats[0])["found"].is_object());
    assert_eq!(inspectors_of(&api).len(), 1);
    Ok(())
}

fn run() -> Result<(), Failed> {
    let report = Scratch::new("chains-run");
    let file = report.0.join("report").display().to_string();
    let words = ["run", "--json", "-o", &file, "--", "sh", "-c", "(sleep 2; true) | cat; true"];
    whit(&words);
    let document = documents(&fs::read_to_string(&file)?).remove(0);
    let programs = document["programs"].as_array().cloned().unwrap_or_default();
    let most = |name: &str| {
        let of_name = programs.iter().find(|program| program["comm"] == name);
        of_name.map(|program| program["asleep_for"][0]["reason"].clone()).unwrap_or_default()
    };
    assert_eq!([most("sleep"), most("cat"), most("sh")], ["timer", "pipe", "child"], "{programs:#?}");
    // Who waits for a child waits for what that one does.
    let whole = document["whole"]["asleep_for"].as_array().cloned().unwrap_or_default();
    assert!(!whole.iter().any(|reason| reason["reason"] == "child"), "{whole:?}");
    Ok(())
}
