//! Alerts: who is told of what, how often, and what a healthy machine is told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use super::machine::{Running, Scratch, WHIT, document, port, wait_for, whit};
use super::trials::{Need, Trial, exact, times};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("each_alert_is_told_once_over_many_kills", &[], kills),
        exact("what_could_not_be_told_is_told_later", &[], later),
        exact("silences_and_reloads_and_a_healthy_machine", &[], silences),
        exact("an_end_is_told_after_its_beginning", &[], order),
        exact("a_ledger_that_is_damaged_or_removed_is_begun_again", &[], ledger),
        exact("a_mail_is_sent", &[], mail),
        exact("others_see_no_alerts_about_tasks", &[Need::Root, Need::Program("setpriv")], others),
    ]
}

fn start(directory: &Path, config: &Path) -> Result<Running, Failed> {
    Ok(Running(agent(directory, config).spawn()?))
}

fn agent(directory: &Path, config: &Path) -> Command {
    let mut command = Command::new(WHIT);
    command.args(["agent", "--interval", "100ms", "--http", "127.0.0.1:0", "--config"]).arg(config);
    command.arg("--data").arg(directory.join("data")).arg("--now").arg(directory.join("now"));
    command.arg("--socket").arg(directory.join("socket")).stderr(Stdio::null());
    command
}

fn list(directory: &Path) -> serde_json::Value {
    let data = directory.join("data");
    document(&["alert", "--json", "--data", data.to_str().unwrap()])
}

/// Counts what is posted, by the alert's name and state.
#[derive(Clone, Default)]
struct Posted(Arc<Mutex<BTreeMap<String, u32>>>);

impl Posted {
    fn listen(&self) -> Result<u16, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let posted = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let posted = posted.clone();
                std::thread::spawn(move || posted.take(stream));
            }
        });
        Ok(port)
    }

    fn take(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body: serde_json::Value = serde_json::from_slice(&body).ok()?;
        let alert = &body["alerts"][0];
        let name = format!("{} {}", alert["labels"]["alertname"].as_str()?, alert["status"].as_str()?);
        *self.0.lock().ok()?.entry(name).or_default() += 1;
        (&stream).write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()
    }
}

/// Each run has one rule more, whose alert fires at once; the agent is killed somewhere between that and the end of its deliveries.
fn kills() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-kills");
    let config = scratch.0.join("agent.toml");
    let told = scratch.0.join("told");
    fs::write(&told, "")?;
    let posted = Posted::default();
    let port = posted.listen()?;
    let head = format!(
        "[alerts]\nstarter = false\n[[receiver]]\nname = \"file\"\ncommand = [\"sh\", \"-c\", \"sleep 0.02; echo \\\"$0 $1\\\" >> {}\", \"{{name}}\", \"{{state}}\"]\n\
         [[receiver]]\nname = \"web\"\nwebhook = \"http://127.0.0.1:{port}/\"\n",
        told.display()
    );
    let mut rules = String::new();
    let mut random = 12345_u32;
    let mut told_at_kill = 0_u64;
    let kills = times("WHIT_KILLS", 30);
    // How long a delivery takes: the first run waits for one, and each later one says whether it takes longer by now.
    let mut middle_ms = 0.0;
    for run in 0..kills {
        write!(rules, "[[alert]]\nname = \"k{run}\"\nexpression = \"vector(1)\"\n")?;
        fs::write(&config, format!("{head}{rules}"))?;
        let mut child = start(&scratch.0, &config)?;
        let begun = Instant::now();
        if run == 0 {
            wait_for("the first alert is told", || {
                fs::read_to_string(&told).is_ok_and(|text| text.contains("k0 firing"))
            });
            middle_ms = begun.elapsed().as_secs_f64() * 1e3;
        } else {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let part = 0.75 + f64::from((random >> 16) % 100) / 200.0;
            std::thread::sleep(Duration::from_secs_f64(middle_ms * part / 1e3));
        }
        child.0.kill()?;
        child.0.wait()?;
        let is_told = fs::read_to_string(&told)?.contains(&format!("k{run} firing"));
        told_at_kill += u64::from(is_told);
        middle_ms *= if is_told { 0.85 } else { 1.18 };
    }
    let child = start(&scratch.0, &config)?;
    let lines = || fs::read_to_string(&told).map_or(0, |text| text.lines().count());
    wait_for("all are told", || {
        lines() >= kills as usize && posted.0.lock().unwrap().len() >= kills as usize
    });
    // Who is told twice is told soon.
    std::thread::sleep(Duration::from_secs(2));
    let unknown = list(&scratch.0)["deliveries"].as_array().ok_or("deliveries")?.clone();
    drop(child);
    let text = fs::read_to_string(&told)?;
    for run in 0..kills {
        let name = format!("k{run} firing");
        let count = text.lines().filter(|line| **line == name).count();
        assert_eq!(count, 1, "{name}: {unknown:?}");
        assert_eq!(posted.0.lock().unwrap().get(&name), Some(&1), "{name}: {unknown:?}");
    }
    assert_eq!(text.lines().count(), kills as usize);
    println!("{kills} kills, {told_at_kill} of them after their alert was told");
    // Otherwise the kills were not where they were meant to be.
    assert!((kills / 10..kills * 9 / 10).contains(&told_at_kill), "{told_at_kill}");
    Ok(())
}

/// A receiver that is not there, one that fails, and one that takes too long.
fn later() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-later");
    let config = scratch.0.join("agent.toml");
    let port = port();
    let (told, ready) = (scratch.0.join("told"), scratch.0.join("ready"));
    fs::write(
        &config,
        format!(
            "[alerts]\nstarter = false\n[[alert]]\nname = \"a\"\nexpression = \"vector(1)\"\n\
             [[receiver]]\nname = \"absent\"\nwebhook = \"http://127.0.0.1:{port}/\"\n\
             [[receiver]]\nname = \"failing\"\ncommand = [\"sh\", \"-c\", \"test -e {0} && echo told >> {1}\"]\n\
             [[receiver]]\nname = \"slow\"\ncommand = [\"sleep\", \"3000\"]\ntimeout = \"1s\"\n\
             [[receiver]]\nname = \"missing\"\ncommand = [\"/nonexistent/program\"]\n",
            ready.display(),
            told.display()
        ),
    )?;
    let mut child = start(&scratch.0, &config)?;
    let deliveries = || {
        let list = list(&scratch.0);
        let all = list["deliveries"].as_array().cloned().unwrap_or_default();
        all.into_iter()
            .map(|one| (one["receiver"].as_str().unwrap_or_default().to_owned(), one))
            .collect::<BTreeMap<_, _>>()
    };
    let mut known = BTreeMap::new();
    wait_for("attempts", || {
        known = deliveries();
        known.len() == 4 && known.values().all(|one| one["reason"] != "")
    });
    assert_eq!(known["slow"]["outcome"], "unknown", "{known:?}");
    assert!(known["slow"]["reason"].as_str().ok_or("reason")?.contains("killed"), "{known:?}");
    for (name, reason) in [("absent", "refused"), ("failing", "exit status 1"), ("missing", "No such file")] {
        assert!(known[name]["outcome"].is_null(), "{known:?}");
        assert!(known[name]["reason"].as_str().ok_or("reason")?.contains(reason), "{known:?}");
    }
    // Now they are there.
    fs::write(&ready, "")?;
    let posted = Posted::default();
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let taking = posted.clone();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| {
            let _ = taking.take(stream);
        })
    });
    wait_for("both are told", || {
        let known = deliveries();
        known["absent"]["outcome"] == "delivered" && known["failing"]["outcome"] == "delivered"
    });
    end(&mut child.0)?;
    assert_eq!(fs::read_to_string(&told)?, "told\n");
    assert_eq!(posted.0.lock().unwrap().get("a firing"), Some(&1));
    Ok(())
}

fn end(child: &mut Child) -> Result<(), Failed> {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    child.wait()?;
    Ok(())
}

/// The rules that are there from the beginning say nothing of a machine on which nothing is the matter; a silenced alert is told when
/// the silence ends, its end is told, and rules follow the configuration.
fn silences() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-silences");
    let config = scratch.0.join("agent.toml");
    let data = scratch.0.join("data");
    let data = data.to_str().ok_or("the path")?;
    let posted = Posted::default();
    let port = posted.listen()?;
    let head = format!(
        "[alerts]\ninterval = \"1s\"\n[[receiver]]\nname = \"web\"\nwebhook = \"http://127.0.0.1:{port}/\"\n"
    );
    fs::write(&config, &head)?;
    let mut child = start(&scratch.0, &config)?;
    wait_for("a ledger", || list(&scratch.0)["alerts"].is_array());
    whit(&["alert", "silence", "{alertname=~\"it.*\"}", "--duration", "1h", "--data", data]);
    fs::write(&config, format!("{head}[[alert]]\nname = \"it\"\nexpression = \"node_load1 >= 0\"\n"))?;
    rustix::process::kill_process(rustix::process::Pid::from_child(&child.0), rustix::process::Signal::HUP)?;
    // Rules of the beginning may be about to fire: of a disk that is nearly full, for one.
    let is_firing = |alert: &serde_json::Value| alert["name"] == "it" && alert["state"] == "firing";
    wait_for("it fires", || {
        list(&scratch.0)["alerts"].as_array().is_some_and(|all| all.iter().any(is_firing))
    });
    std::thread::sleep(Duration::from_secs(2));
    assert!(posted.0.lock().unwrap().is_empty(), "it is silenced");
    assert!(whit(&["alert", "--data", data]).contains("silenced"));
    assert_eq!(whit(&["alert", "unsilence", "1", "--data", data]), "silence 1 has ended\n");
    wait_for("it is told", || posted.0.lock().unwrap().get("it firing") == Some(&1));
    let history = whit(&["query", "ALERTS", "--data", data]);
    assert!(history.contains("ALERTS{alertname=\"it\",alertstate=\"firing\"}"), "{history}");
    // Without its rule it is over.
    fs::write(&config, &head)?;
    rustix::process::kill_process(rustix::process::Pid::from_child(&child.0), rustix::process::Signal::HUP)?;
    wait_for("its end is told", || posted.0.lock().unwrap().get("it resolved") == Some(&1));
    end(&mut child.0)?;
    let told = posted.0.lock().unwrap().clone();
    assert_eq!(told.len(), 2, "{told:?}");
    // One may be pending: a machine that builds beside this fills its disk for a while.
    let alerts = list(&scratch.0)["alerts"].as_array().ok_or("alerts")?.clone();
    assert!(alerts.iter().all(|alert| alert["state"] == "pending" && alert["name"] != "it"), "{alerts:?}");
    let test = whit(&[
        "alert",
        "test",
        "--since",
        "-1m",
        "--data",
        data,
        "--config",
        config.to_str().ok_or("path")?,
    ]);
    assert!(test.lines().all(|line| line.ends_with("would not have fired")), "{test}");
    Ok(())
}

/// A receiver that fails while the alert begins and ends.
fn order() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-order");
    let (config, told, ready) =
        (scratch.0.join("agent.toml"), scratch.0.join("told"), scratch.0.join("ready"));
    let receiver = format!(
        "[alerts]\nstarter = false\ninterval = \"1s\"\n[[receiver]]\nname = \"r\"\n\
         command = [\"sh\", \"-c\", \"test -e {} && echo $0 >> {}\", \"{{state}}\"]\n",
        ready.display(),
        told.display()
    );
    let with_rule =
        |name: &str| format!("{receiver}[[alert]]\nname = \"{name}\"\nexpression = \"vector(1)\"\n");
    fs::write(&config, with_rule("a"))?;
    let child = start(&scratch.0, &config)?;
    let count = || list(&scratch.0)["deliveries"].as_array().map_or(0, Vec::len);
    wait_for("the beginning", || count() == 1);
    fs::write(&config, with_rule("b"))?;
    rustix::process::kill_process(rustix::process::Pid::from_child(&child.0), rustix::process::Signal::HUP)?;
    wait_for("the end, and another beginning", || count() == 3);
    std::thread::sleep(Duration::from_secs(1));
    fs::write(&ready, "")?;
    wait_for("all are told", || fs::read_to_string(&told).is_ok_and(|text| text.lines().count() == 3));
    let text = fs::read_to_string(&told)?;
    let place = |line: &str| text.lines().position(|other| other == line);
    assert!(place("firing") < place("resolved"), "{text}");
    Ok(())
}

/// Takes one mail, and refuses recipients called gone. Returns all that it was told.
fn take_mail(listener: &TcpListener) -> std::io::Result<String> {
    let (mut stream, _) = listener.accept()?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    stream.write_all(b"220 here\r\n")?;
    let (mut text, mut is_text) = (String::new(), false);
    while let Some(line) = lines.next().transpose()? {
        let _ = writeln!(text, "{line}");
        let reply = match line.as_str() {
            "." => Some("250 taken"),
            _ if is_text => None,
            "DATA" => Some("354 go on"),
            "QUIT" => Some("221 bye"),
            line if line.starts_with("RCPT TO:<gone") => Some("550 there is no such user"),
            _ => Some("250 fine"),
        };
        is_text = line == "DATA" || is_text && line != ".";
        if let Some(reply) = reply {
            stream.write_all(format!("{reply}\r\n").as_bytes())?;
        }
        if line == "." {
            break;
        }
    }
    Ok(text)
}

/// To a server that is named, not given by its address. Those of its recipients that it knows get the mail, and the others are named.
fn mail() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-mail");
    let config = scratch.0.join("agent.toml");
    for (recipients, has_text, fault) in [
        (&["ann@example.org"][..], true, None),
        (&["gone@example.org", "ann@example.org"], true, Some("gone@example.org")),
        (&["gone@example.org"], false, Some("gone@example.org")),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let server = std::thread::spawn(move || take_mail(&listener));
        fs::write(
            &config,
            format!(
                "[alerts]\nstarter = false\n[[receiver]]\nname = \"mail\"\nmail = {recipients:?}\nserver = \"localhost\"\n\
                 port = {port}\n[[alert]]\nname = \"a\"\nexpression = \"1\"\n"
            ),
        )?;
        let output = Command::new(WHIT).args(["alert", "test", "--send", "-c"]).arg(&config).output()?;
        assert_eq!(output.status.success(), fault.is_none(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(fault.is_none_or(|fault| said.contains(fault) && !said.contains("ann@")), "{output:?}");
        let text = server.join().map_err(|_| "the server")??;
        assert_eq!(text.contains("This is a test of whit alert."), has_text, "{text}");
        for part in recipients.iter().map(|to| format!("RCPT TO:<{to}>")) {
            assert!(text.contains(&part), "{text}");
        }
        assert_eq!(text.contains("Subject: "), has_text, "{text}");
    }
    Ok(())
}

/// The alerts go on, and can be listed.
fn ledger() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-ledger");
    let config = scratch.0.join("agent.toml");
    fs::write(
        &config,
        "[alerts]\nstarter = false\ninterval = \"1s\"\n[[alert]]\nname = \"a\"\nexpression = \"vector(1)\"\n",
    )?;
    let data = scratch.0.join("data");
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&data)?;
    fs::write(data.join("alerts.sqlite"), [0x5a; 20_000])?;
    let _child = start(&scratch.0, &config)?;
    let fires = || list(&scratch.0)["alerts"][0]["state"] == "firing";
    wait_for("a new one", || data.join("alerts.damaged-1.sqlite").exists() && fires());
    for name in ["alerts.sqlite", "alerts.sqlite-wal", "alerts.sqlite-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
    wait_for("another one", fires);
    Ok(())
}

/// Neither those that name a metric of tasks, nor those that may mean one, nor alerts about alerts.
fn others() -> Result<(), Failed> {
    let scratch = Scratch::new("alert-others");
    let config = scratch.0.join("agent.toml");
    let port = port();
    let rule = |name: &str, expression: &str| {
        format!("[[alert]]\nname = \"{name}\"\nexpression = '{expression}'\ntext = \"about {{comm}}\"\n")
    };
    let rules = [
        "[alerts]\nstarter = false\ninterval = \"1s\"\n".to_owned(),
        rule("open", "node_load1 >= 0"),
        rule("secret1", "whit_task_on_cpu_seconds_total{comm=\"whit\"} > 0"),
        rule("secret2", "{__name__=~\"whit_t.*_on_cpu_seconds_total\",comm=\"whit\"} > 0"),
        rule("secret3", "count by (comm) (ALERTS{alertname=~\"secret.*\"})"),
        rule("secret4", "{alertname=\"secret1\"}"),
    ];
    fs::write(&config, rules.concat())?;
    let mut command = agent(&scratch.0, &config);
    command.args(["--http", &format!("127.0.0.1:{port}")]);
    let mut words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    // The last one counts.
    let first = words.iter().position(|word| word == "--http").ok_or("--http")?;
    words.drain(first..first + 2);
    let _child = Running(Command::new(WHIT).args(words).stderr(Stdio::null()).spawn()?);
    let get = |path: &str, uid: &str| {
        let url = format!("http://127.0.0.1:{port}{path}");
        let words = ["--reuid", uid, "--regid", uid, "--clear-groups", "curl", "-s", &url];
        let output = Command::new("setpriv").args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    wait_for("all fire", || {
        let all = get("/api/v1/alerts", "0");
        (1..5).all(|number| all.contains(&format!("\"secret{number}\"")))
    });
    for path in ["/api/v1/alerts", "/api/v1/rules", "/api/v1/query?query=ALERTS", "/metrics"] {
        let text = get(path, "4242");
        assert!(!text.is_empty() && !text.contains("secret"), "{path}: {text}");
    }
    assert!(get("/api/v1/alerts", "4242").contains("\"open\""));
    Ok(())
}
