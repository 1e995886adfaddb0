//! The bar as a running program: signals, clicks, commands, faults.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::dead_files::{DEAD, Server};
use super::machine::{PATIENCE, Scratch, WHIT, shell, wait_for, wait_for_end};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("clicks_run_commands", &[], clicks),
        exact("a_click_shows_what_it_changed_and_what_it_started_lives_on", &[], click_effects),
        exact("signals_draw_and_reload", &[], signals),
        exact("a_reload_leaves_nothing_behind", &[], reload),
        exact("a_hidden_bar_sleeps_and_a_stopped_one_draws_at_once", &[], hiding),
        exact("a_reader_that_goes_away_ends_the_bar", &[], reader_gone),
        timed(
            "a_line_is_written_when_it_changed",
            &[],
            "2 to 4 lines in 2.5 s: the seconds begin anywhere",
            only_changes,
        ),
        exact("commands_that_misbehave_are_reported_and_ended", &[], commands),
        exact("a_dead_mount_does_not_stall_the_line", &[Need::Root, Need::Program("python3")], dead_mount),
        exact("interfaces_come_and_go", &[Need::Root, Need::Program("ip")], interfaces),
        exact("waybar_gets_objects", &[], waybar),
        exact("debians_own_i3status_is_imported", &[Need::Program("i3status")], import),
        exact("ten_segments_at_a_second_are_one_wake_up", &[Need::Program("strace")], wake_ups),
    ]
}

/// A bar under way, and its lines.
pub(crate) struct Bar {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pub(crate) scratch: Scratch,
}

impl Bar {
    /// With a configuration, and more words.
    pub(crate) fn start(name: &str, config: &str, words: &[&str]) -> Self {
        Self::start_under(&[], name, config, words)
    }

    fn start_under(wrapper: &[&str], name: &str, config: &str, words: &[&str]) -> Self {
        let scratch = Scratch::new(name);
        let path = scratch.0.join("bar.toml");
        fs::write(&path, config).unwrap();
        let all = [wrapper, &[WHIT, "bar", "--config", path.to_str().unwrap()], words].concat();
        let mut child = Command::new(all[0])
            .args(&all[1..])
            .current_dir(&scratch.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, scratch }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// The next line that fits.
    pub(crate) fn line(&self, fits: impl Fn(&str) -> bool) -> Result<String, Failed> {
        let deadline = Instant::now() + PATIENCE;
        let mut last = String::new();
        while let Some(rest) = deadline.checked_duration_since(Instant::now()) {
            match self.lines.recv_timeout(rest) {
                Ok(line) if fits(&line) => return Ok(line),
                Ok(line) => last = line,
                Err(_) => break,
            }
        }
        Err(format!("no such line; the last was {last:?}").into())
    }

    /// Lines that come within a time.
    fn lines_for(&self, time: Duration) -> Vec<String> {
        let deadline = Instant::now() + time;
        let mut all = Vec::new();
        while let Some(rest) = deadline.checked_duration_since(Instant::now()) {
            match self.lines.recv_timeout(rest) {
                Ok(line) => all.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        all
    }

    fn wait(&mut self) -> std::process::ExitStatus {
        wait_for_end(&mut self.child)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What appears in a file.
fn appears(path: &Path) -> Result<String, Failed> {
    let read = || fs::read_to_string(path).unwrap_or_default();
    wait_for(&format!("{} appears", path.display()), || read().ends_with("end\n"));
    Ok(read())
}

fn clicks() -> Result<(), Failed> {
    let write = r#"["sh", "-c", "echo $WHIT_SEGMENT $WHIT_INSTANCE $WHIT_BUTTON $WHIT_X $WHIT_MODIFIERS $BLOCK_BUTTON end > clicked"]"#;
    let config = format!(
        "[[segment]]\ntype = \"text\"\nformat = \"a\"\n[[segment]]\ntype = \"text\"\nname = \"b\"\nformat = \"b\"\n\
         click = {write}\non = {{ scroll_up = {write} }}\n"
    );
    let mut bar = Bar::start("clicks", &config, &["--for", "i3bar"]);
    let header: Value = serde_json::from_str(&bar.line(|line| line.starts_with('{'))?)?;
    assert_eq!((&header["version"], &header["click_events"]), (&Value::from(1), &Value::from(true)));
    bar.line(|line| line.contains("\"name\":\"text\",\"instance\":\"b\""))?;
    let stdin = bar.stdin.as_mut().unwrap();
    // As i3bar writes it, then as swaybar does.
    let i3bar = r#"[
{"name":"text","instance":"b","button":1,"modifiers":["Shift","Mod1"],"x":1320,"y":1400,"relative_x":12,"relative_y":8,"output_x":1,"output_y":2,"width":50,"height":22}
"#;
    stdin.write_all(i3bar.as_bytes())?;
    let clicked = bar.scratch.0.join("clicked");
    assert_eq!(appears(&clicked)?, "text b 1 1320 Shift Mod1 1 end\n");
    fs::remove_file(&clicked)?;
    let swaybar = r#",{"name":"text","instance":"b","x":5,"y":6,"button":4,"event":768,"relative_x":1,"relative_y":2,"width":3,"height":4,"scale":1.0}"#;
    for half in [&swaybar[..40], &swaybar[40..]] {
        stdin.write_all(half.as_bytes())?;
        stdin.flush()?;
    }
    assert_eq!(appears(&clicked)?, "text b 4 5 4 end\n");
    fs::remove_file(&clicked)?;
    // Nobody's block, and no JSON; then whoever told clicks goes away, and the bar goes on.
    stdin.write_all(b",{\"name\":\"nobody\",\"button\":1},{,{\"button\":\"x\"}\n")?;
    bar.stdin = None;
    bar.signal(Signal::USR1);
    bar.line(|line| line.contains("\"full_text\":\"b\""))?;
    assert!(!clicked.exists());
    Ok(())
}

fn click_effects() -> Result<(), Failed> {
    let config = r#"[[segment]]
type = "command"
command = ["cat", "value"]
interval = 3600
click = ["sh", "-c", "sleep 0.05; echo new > value"]
on = { right = ["sh", "-c", "echo $$ > started; echo end >> started; exec sleep 7654"] }
"#;
    let mut bar = Bar::start("effects", config, &["--for", "i3bar"]);
    bar.line(|line| line.contains("cat: exit 1"))?;
    fs::write(bar.scratch.0.join("value"), "old\n")?;
    bar.signal(Signal::USR1);
    bar.line(|line| line.contains("\"old\""))?;
    let stdin = bar.stdin.as_mut().unwrap();
    stdin.write_all(b"[{\"name\":\"command\",\"instance\":\"1\",\"button\":1},")?;
    bar.line(|line| line.contains("\"new\""))?;
    bar.stdin.as_mut().unwrap().write_all(b"{\"name\":\"command\",\"button\":3},")?;
    let started = appears(&bar.scratch.0.join("started"))?;
    let pid: i32 = started.lines().next().ok_or("no pid")?.parse()?;
    bar.signal(Signal::TERM);
    assert!(bar.wait().success());
    // It is ours to end.
    kill_process(Pid::from_raw(pid).ok_or("no pid")?, Signal::TERM)?;
    Ok(())
}

fn reload() -> Result<(), Failed> {
    let many = |seconds: u32| {
        let command = format!("[[segment]]\ntype = \"command\"\ncommand = [\"sleep\", \"{seconds}\"]\n");
        let talker = "[[segment]]\ntype = \"command\"\ncommand = [\"sh\", \"-c\", \"while :; do echo x; sleep 0.05; done\"]\nruns = \"on\"\n";
        format!("[[segment]]\ntype = \"text\"\nformat = \"n{seconds}.\"\n{command}{talker}")
    };
    let bar = Bar::start("reload", &many(1000), &["--for", "plain"]);
    bar.line(|line| line.starts_with("n1000."))?;
    let path = bar.scratch.0.join("bar.toml");
    for round in 1001..1004 {
        // Signals and output wait together, as after a suspend.
        bar.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(150));
        fs::write(&path, many(round))?;
        bar.signal(Signal::HUP);
        bar.signal(Signal::CONT);
        bar.line(|line| line.starts_with(&format!("n{round}.")))?;
    }
    fs::write(&path, "[[segment]]\ntype = \"text\"\nformat = \"alone\"\n")?;
    bar.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(150));
    bar.signal(Signal::HUP);
    bar.signal(Signal::CONT);
    bar.line(|line| line == "alone")?;
    let pid = bar.pid().as_raw_nonzero();
    // Neither a process nor what is left of one.
    let children = || fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    wait_for("no child is left", || children().trim().is_empty());
    Ok(())
}

fn signals() -> Result<(), Failed> {
    let config = "[[segment]]\ntype = \"file\"\npath = \"value\"\ninterval = 3600\n";
    let mut bar = Bar::start("signals", config, &["--for", "plain"]);
    bar.line(|line| line == "–")?;
    fs::write(bar.scratch.0.join("value"), "one\n")?;
    bar.signal(Signal::USR1);
    bar.line(|line| line == "one")?;
    // Without anything new a line comes all the same.
    bar.signal(Signal::USR1);
    bar.line(|line| line == "one")?;
    // A bad configuration leaves the bar as it is, and says so in it.
    let path = bar.scratch.0.join("bar.toml");
    fs::write(&path, "[[segment]]\ntype = \"file\"\npth = \"x\"\n")?;
    bar.signal(Signal::HUP);
    let told = bar.line(|line| line.starts_with("one | "))?;
    assert!(told.contains("bar.toml:3:1:") && told.contains("did you mean \"path\"?"), "{told}");
    fs::write(&path, "[[segment]]\ntype = \"text\"\nformat = \"new\"\n")?;
    bar.signal(Signal::HUP);
    bar.line(|line| line == "new")?;
    bar.signal(Signal::TERM);
    assert!(bar.wait().success());
    Ok(())
}

fn hiding() -> Result<(), Failed> {
    let config = "[[segment]]\ntype = \"date\"\n";
    let bar = Bar::start("hiding", config, &["--for", "i3bar"]);
    let header: Value = serde_json::from_str(&bar.line(|line| line.starts_with('{'))?)?;
    assert_eq!(header["stop_signal"], Value::from(Signal::TSTP.as_raw()));
    assert_eq!(header["cont_signal"], Value::from(Signal::CONT.as_raw()));
    bar.line(|line| line.contains("date"))?;
    for stop in [Signal::TSTP, Signal::STOP] {
        bar.signal(stop);
        bar.lines_for(Duration::from_millis(200));
        assert_eq!(bar.lines_for(Duration::from_millis(2200)), [""; 0], "nobody looks");
        bar.signal(Signal::CONT);
        bar.line(|line| line.contains("date"))?;
    }
    Ok(())
}

fn reader_gone() -> Result<(), Failed> {
    // Also one that has nothing new to say for an hour.
    for config in ["[[segment]]\ntype = \"date\"\n", "[[segment]]\ntype = \"text\"\nformat = \"x\"\n"] {
        let scratch = Scratch::new("reader-gone");
        let path = scratch.0.join("whit.toml");
        fs::write(&path, config)?;
        let mut child = Command::new(WHIT)
            .args(["bar", "--config", path.to_str().unwrap(), "--for", "plain"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut byte = [0];
        let mut stdout = child.stdout.take().ok_or("no stdout")?;
        stdout.read_exact(&mut byte)?;
        drop(stdout);
        let output = child.wait_with_output()?;
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
    Ok(())
}

fn only_changes() -> Result<(), Failed> {
    let config = "interval = 0.05\n[[segment]]\ntype = \"text\"\nformat = \"x\"\n[[segment]]\ntype = \"date\"\nformat = \"%S\"\n";
    let bar = Bar::start("changes", config, &["--for", "plain"]);
    let lines = bar.lines_for(Duration::from_millis(2500));
    assert!((2..=4).contains(&lines.len()), "a line a second at twenty ticks a second: {lines:?}");
    assert!(lines.windows(2).all(|pair| pair[0] != pair[1]), "{lines:?}");
    Ok(())
}

fn commands() -> Result<(), Failed> {
    let config = r##"
interval = 0.2
[[segment]]
type = "command"
command = ["sh", "-c", "sleep 4321 & sleep 4321"]
timeout = 0.3
[[segment]]
type = "command"
command = ["sh", "-c", "head -c 10000000 /dev/zero | tr '\\0' x"]
format = "flood {text:max5}"
[[segment]]
type = "command"
command = ["sh", "-c", "kill -9 $$"]
[[segment]]
type = "command"
command = ["/nonexistent/program"]
[[segment]]
type = "command"
command = ["sh", "-c", "echo '{\"full_text\":\"j\\u00e4\",\"urgent\":true,\"color\":\"#102030\"}'"]
[[segment]]
type = "command"
command = ["sh", "-c", "while :; do i=$((i+1)); echo n$i; sleep 0.1; done"]
runs = "on"
[[segment]]
type = "command"
command = ["sh", "-c", "echo once; exec sleep 0.01"]
runs = "on"
[[segment]]
type = "date"
"##;
    let mut bar = Bar::start("commands", config, &["--for", "i3bar"]);
    let expected = ["sh: timeout", "flood xxxx…", "sh: signal 9", "program: not found", "jä", "\"n", "once"];
    let told = bar.line(|line| expected.iter().all(|words| line.contains(words)))?;
    let blocks: Value = serde_json::from_str(told.trim_start_matches(','))?;
    let json = blocks.as_array().ok_or("no array")?.iter().find(|block| block["full_text"] == "jä");
    let json = json.ok_or("no block of JSON")?;
    assert_eq!((&json["urgent"], &json["color"]), (&Value::from(true), &Value::from("#102030")));
    // The clock goes on meanwhile.
    let clock = |line: &str| line.rsplit("\"full_text\"").next().unwrap_or_default().to_owned();
    let first = clock(&told);
    bar.line(|line| clock(line) != first)?;
    // Memory is bounded, whatever is printed.
    let status = fs::read_to_string(format!("/proc/{}/status", bar.pid().as_raw_nonzero()))?;
    let resident = status.lines().find(|line| line.starts_with("RssAnon:")).ok_or("no RssAnon")?;
    let kib: u64 = resident.split_whitespace().nth(1).ok_or("no figure")?.parse()?;
    println!("resident with ten megabytes printed again and again: {kib} KiB");
    assert!(kib < 20_000, "{kib} KiB");
    // What was started goes with the bar, grandchildren too.
    bar.signal(Signal::TERM);
    assert!(bar.wait().success());
    wait_for("no grandchild is left", || {
        String::from_utf8_lossy(&shell("ps -eo args | grep -c '^sleep 432[1]'").stdout).trim() == "0"
    });
    Ok(())
}

fn dead_mount() -> Result<(), Failed> {
    // Its end lets go of whoever hangs in it.
    let (server, _said) = Server::start(DEAD)?;
    let path = server.mount.0.display();
    let config = format!(
        "interval = 0.1\n[[segment]]\ntype = \"disk\"\npaths = [\"/\", \"{path}\"]\ninterval = 0.2\n\
         [[segment]]\ntype = \"file\"\npath = \"{path}/file\"\ninterval = 0.2\n\
         [[segment]]\ntype = \"mail\"\npaths = \"{path}/mbox\"\ninterval = 0.2\n\
         [[segment]]\ntype = \"path\"\npath = \"{path}/x\"\ninterval = 0.2\n\
         [[segment]]\ntype = \"date\"\nformat = \"%S.\"\n"
    );
    let bar = Bar::start("dead-bar", &config, &["--for", "plain"]);
    let line = bar.line(|line| line.matches("(stale)").count() == 4)?;
    println!("{line}");
    assert!(line.starts_with("/ ") && line.contains(" free"), "the living filesystem is told: {line}");
    let seconds = |line: &str| line.rsplit(" | ").next().unwrap_or_default().to_owned();
    let first = seconds(&line);
    // The clock goes on, second after second.
    let second = bar.line(|line| seconds(line) != first).map(|line| seconds(&line))?;
    bar.line(|line| ![&first, &second].contains(&&seconds(line)))?;
    Ok(())
}

fn interfaces() -> Result<(), Failed> {
    let space = format!("whit-bar-{}", std::process::id());
    let ip = |words: &str| shell(&format!("ip -n {space} {words}"));
    shell(&format!("ip netns add {space}"));
    let done = (|| {
        let config = "interval = 0.2\n[[segment]]\ntype = \"net\"\nformat = \"{name} {address} {received}\"\n\
                      [[segment]]\ntype = \"net\"\ninterfaces = [\"w0\"]\nformat = \"{name} {state}\"\n";
        let bar =
            Bar::start_under(&["ip", "netns", "exec", &space], "interfaces", config, &["--for", "plain"]);
        bar.line(|line| line == "no network | w0 down")?;
        for round in 0..3 {
            ip("link add w0 type veth peer name w1");
            ip("link set w0 up");
            ip("link set w1 up");
            ip("addr add 192.0.2.7/24 dev w0");
            let line = bar.line(|line| line.contains("w0 192.0.2.7 0 B/s") && line.ends_with("| w0 up"))?;
            assert!(!line.contains('-'), "no negative rate in round {round}: {line}");
            // Unplugged at the other end, then taken away, which shows no more than the first did.
            ip("link set w1 down");
            bar.line(|line| line == "no network | w0 down")?;
            ip("link del w0");
        }
        Ok(())
    })();
    shell(&format!("ip netns del {space}"));
    done
}

fn waybar() -> Result<(), Failed> {
    let config = "[[segment]]\ntype = \"text\"\nformat = \"a & <b>\"\ncolor = \"#ff0000\"\n\
                  [[segment]]\ntype = \"memory\"\nurgent = \"used_percent >= 0\"\n";
    let bar = Bar::start("waybar", config, &["--for", "waybar"]);
    let line: Value = serde_json::from_str(&bar.line(|line| line.starts_with('{'))?)?;
    let text = line["text"].as_str().ok_or("no text")?;
    assert!(text.starts_with("<span color=\"#ff0000\">a &amp; &lt;b&gt;</span> | "), "{text}");
    assert_eq!((&line["class"], &line["alt"]), (&Value::from("critical"), &Value::from("critical")));
    assert!(
        line["tooltip"].as_str().is_some_and(|text| text.starts_with("a &amp; &lt;b&gt;\nmem ")),
        "{line}"
    );
    Ok(())
}

/// What the package puts into /etc is carried over whole, and is a bar.
fn import() -> Result<(), Failed> {
    let output = Command::new(WHIT).args(["bar", "--import", "/etc/i3status.conf"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    // The one thing that is not: what "used" means is the same everywhere.
    let missing: Vec<&str> = text.lines().filter(|line| line.contains("not carried over")).collect();
    assert!(output.status.success(), "{text}");
    assert!(missing.iter().all(|line| line.contains("memory_used_method")), "{missing:?}");
    let bar = Bar::start("imported", &text, &["--for", "i3bar"]);
    let line = bar.line(|line| line.starts_with("[{"))?;
    let blocks: Value = serde_json::from_str(&line)?;
    assert!(blocks.as_array().is_some_and(|blocks| blocks.len() >= 7), "{line}");
    Ok(())
}

fn wake_ups() -> Result<(), Failed> {
    let scratch = Scratch::new("wake-ups");
    let segments: String =
        ["memory", "swap", "cpu", "disk", "battery", "load", "uptime", "date", "net", "disk_io"]
            .iter()
            .map(|kind| format!("[[segment]]\ntype = \"{kind}\"\ninterval = 1\n"))
            .collect();
    let config = scratch.0.join("bar.toml");
    fs::write(&config, segments)?;
    let trace = scratch.0.join("trace");
    let status = Command::new("strace")
        .args(["-f", "-e", "trace=epoll_pwait,epoll_wait,write", "-o"])
        .arg(&trace)
        .args([WHIT, "bar", "-n", "5", "--for", "plain", "--config"])
        .arg(&config)
        .stdout(Stdio::null())
        .status()?;
    assert!(status.success());
    let text = fs::read_to_string(trace)?;
    let calls = text.lines().filter(|line| line.contains("write(1") || line.contains("epoll"));
    let lines: Vec<_> = calls.map(|line| if line.contains("write(1") { 'w' } else { 'e' }).collect();
    let first = lines.iter().position(|call| *call == 'w').ok_or("no line")?;
    let waits = lines[first..].iter().filter(|call| **call == 'e').count();
    println!("waits between five ticks: {waits}");
    assert_eq!(waits, 4, "{lines:?}");
    Ok(())
}
