//! `whit top` on a terminal: tmux types and reads the screen.

use std::process::Command;
use std::time::{Duration, Instant};

use facts::linux::bpf_task::RECORD_BYTES;
use facts::task::TaskRow;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::unit::Nanos;
use libtest_mimic::Failed;
use probe::Roots;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use serde_json::Value;

use super::machine::{Cgroup, Load, PATIENCE, Scratch, WHIT, documents, enable_accounting, shell, whit};
use super::stolen;
use super::trials::{Need, Trial, alone, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let with = [Need::Program("tmux"), Need::Program("stress")];
    vec![
        exact("the_screen_shows_sorts_and_filters", &with, screen),
        alone(
            "the_first_screen_explains_itself",
            &[Need::Root, Need::Accounting, Need::Program("tmux")],
            first_screen,
        ),
        exact("kernel_threads_are_one_row", &[Need::Root, Need::Program("tmux")], kernel_threads),
        exact("a_containers_quota_is_in_the_head", &[Need::Root, Need::Controller("cpu")], quota),
        exact(
            "the_filter_looks_at_what_is_shown",
            &[Need::Program("tmux"), Need::Program("python3")],
            command_lines,
        ),
        timed(
            "what_ended_is_in_a_narrowed_view",
            &[Need::Root, Need::Accounting, Need::Controller("memory")],
            "half: four windows of 2 s over a storm, one after the other",
            storm_in_cgroup,
        ),
        exact("a_task_is_opened", &with, detail),
        exact("forty_columns_suffice", &with, narrow),
        exact("columns_are_kept", &with, columns),
        exact("a_column_that_says_nothing_is_not_shown", &with, empty_columns),
        exact("a_signal_is_asked_for_first", &with, signal),
        exact("the_terminal_is_given_back", &with, given_back),
        exact("a_key_that_was_cut_stops_nothing", &with, cut_key),
        timed(
            "three_sources_agree",
            &[Need::Root, Need::Accounting, Need::Program("stress")],
            "15 % of the time of a thread that spins, and what a hypervisor took",
            ways,
        ),
        alone(
            "a_task_that_did_not_run_is_as_if_it_were_read",
            &[Need::Root, Need::Accounting, Need::Program("stress")],
            taken_over,
        ),
        exact("plain_whit_prints_a_table", &[], plain),
    ]
}

/// A terminal of its own server, which ends with it.
pub(crate) struct Screen {
    socket: String,
    configuration: Scratch,
}

impl Screen {
    /// With `whit top`.
    pub(crate) fn open(name: &str, width: usize, height: usize, options: &str) -> Self {
        Self::run(name, width, height, |home| {
            // In colour or not the letters are the same.
            format!("XDG_CONFIG_HOME={home} {WHIT} top {options}; echo ended $?; sleep 60")
        })
    }

    /// With a command that knows its home directory.
    pub(crate) fn run(name: &str, width: usize, height: usize, words: impl Fn(&str) -> String) -> Self {
        let configuration = Scratch::new(name);
        let socket = format!("whit-{name}-{}", std::process::id());
        let words = words(&configuration.0.to_string_lossy());
        let size = (width.to_string(), height.to_string());
        let status = Command::new("tmux")
            .args([
                "-L",
                &socket,
                "-f",
                "/dev/null",
                "new-session",
                "-d",
                "-x",
                &size.0,
                "-y",
                &size.1,
                &words,
            ])
            .status()
            .unwrap();
        assert!(status.success());
        Self { socket, configuration }
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            Command::new("tmux").args(["-L", &self.socket, "send-keys", key]).status().unwrap();
            // What follows it at once makes one key with Escape, as Alt does: what reads them may be busy meanwhile.
            std::thread::sleep(Duration::from_millis(if *key == "Escape" { 400 } else { 60 }));
        }
    }

    fn text(&self) -> String {
        let output = Command::new("tmux").args(["-L", &self.socket, "capture-pane", "-p"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The screen as soon as it is so; a machine may be slow.
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let text = self.text();
            if is_so(&text) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{what} never came:\n{}", self.text());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).status();
    }
}

fn screen() -> Result<(), Failed> {
    let _load = Load::start(&["stress", "-c", "1", "-t", "600"]);
    let screen = Screen::open("screen", 160, 40, "");
    let text = screen.wait_for("a busy task", |text| {
        text.lines().any(|line| line.contains("stress") && line.contains('█'))
    });
    for part in ["CPU ", "memory ", "network ", "threads", "WHERE ITS TIME WENT", "COMMAND", "? help"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    screen.keys(&["M"]);
    screen.wait_for("sorted by memory", |text| text.contains("MEM▼"));
    screen.keys(&["r"]);
    screen.wait_for("the other way round", |text| text.contains("MEM▲"));
    screen.keys(&["\\", "s", "t", "r", "e", "s", "s", "Enter"]);
    let rows =
        |text: &str| text.lines().skip(5).filter(|line| line.contains(" root") || line.contains('·')).count();
    let text = screen.wait_for("the filter", |text| text.contains("filter \"stress\""));
    assert!(
        text.lines()
            .skip(5)
            .filter(|line| line.contains('█') || line.contains('·'))
            .all(|line| line.contains("stress")),
        "{text}"
    );
    assert!(rows(&text) < 10, "{text}");
    screen.keys(&["Escape", "t"]);
    screen.wait_for("the tree", |text| text.contains("└─ ") || text.contains("├─ "));
    screen.keys(&["t", "/", "s", "t", "r", "e", "Enter"]);
    screen.wait_for("who is followed", |text| text.contains("following"));
    screen.keys(&["F", "g"]);
    screen.wait_for("users", |text| text.lines().count() > 5 && text.contains("root"));
    screen.keys(&["?"]);
    screen.wait_for("help", |text| text.contains("copying write-protected pages"));
    screen.keys(&["Escape", "Enter"]);
    let text = screen.wait_for("one user's tasks", |text| text.contains("only user "));
    assert!(text.contains(" PID"), "{text}");
    screen.keys(&["Escape"]);
    screen.wait_for("everyone's", |text| !text.contains("only user "));
    Ok(())
}

/// What the column shows is what the filter looks at.
fn command_lines() -> Result<(), Failed> {
    let _load = Load::start(&["python3", "-c", "import time; time.sleep(600) # findable"]);
    let screen = Screen::open("lines", 160, 20, "");
    screen.wait_for("tasks", |text| text.contains("whit"));
    screen.keys(&["\\", "f", "i", "n", "d", "a", "b", "l", "e", "Enter"]);
    screen.wait_for("no name like that", |text| {
        !text.contains("import time") && text.contains("filter \"findable\"")
    });
    screen.keys(&["c"]);
    screen.wait_for("a command line like that", |text| text.contains("import time"));
    Ok(())
}

/// A storm of processes that live for less than an interval, in a cgroup of their own.
fn storm_in_cgroup() -> Result<(), Failed> {
    let cgroup = Cgroup::new("memory");
    const STORM: &str = "while :; do sh -c 'j=0; while [ $j -lt 100000 ]; do j=$((j+1)); done'; done";
    let procs = cgroup.directory.join("cgroup.procs");
    let storm = Load::start(&["sh", "-c", &format!("echo $$ > {} && {STORM}", procs.display())]);
    std::thread::sleep(Duration::from_millis(300));
    let path = format!("/{}", cgroup.directory.file_name().ok_or("no name")?.to_string_lossy());
    // Others may compute as well: of all tasks those of the storm.
    let on_cpu = |words: &[&str]| -> u64 {
        let document = documents(&whit(words)).remove(0);
        let rows = document["tasks"].as_array().cloned().unwrap_or_default();
        let of_storm = rows.iter().filter(|row| row["comm"] == "sh");
        of_storm.filter_map(|row| row["on_cpu_ns"].as_u64()).sum()
    };
    let views: [(&str, Vec<&str>); 4] = [
        ("all", vec!["top", "--json", "-n", "1", "-i", "2"]),
        ("cgroup", vec!["top", "--json", "-n", "1", "-i", "2", "-C", &path]),
        ("name", vec!["top", "--json", "-n", "1", "-i", "2", "--comm", "sh"]),
        ("delays", vec!["delays", "--json", "-n", "1", "-i", "2", "-C", &path]),
    ];
    let mut seconds = Vec::new();
    for (name, words) in views {
        let on_cpu_ns = match name {
            // The cgroup's own counts are those of another controller where hierarchies are of version 1.
            "delays" if cgroup.version == 1 => continue,
            "delays" => documents(&whit(&words)).remove(0)["on_cpu_ns"].as_u64().ok_or("unknown")?,
            _ => on_cpu(&words),
        };
        seconds.push((name, on_cpu_ns as f64 / 1e9));
    }
    drop(storm);
    // What still runs of the storm is in the cgroup.
    let _ = shell(&format!("xargs -r kill < {}", procs.display()));
    println!("{seconds:?}");
    let all = seconds[0].1;
    assert!(seconds[1..].iter().all(|(_, narrowed)| *narrowed > all / 2.0), "{seconds:?}");
    Ok(())
}

/// One row for all of them, each of them, and the columns that the sort adds.
fn kernel_threads() -> Result<(), Failed> {
    let screen = Screen::open("kernel-threads", 120, 40, "");
    let text = screen.wait_for("one row for all", |text| text.contains("kernel threads ×"));
    assert!(!text.contains("ksoftirqd/0"), "{text}");
    screen.keys(&["K"]);
    screen
        .wait_for("each of them", |text| text.contains("ksoftirqd/0") && !text.contains("kernel threads ×"));
    screen.keys(&["s"]);
    screen.wait_for("what to sort by", |text| text.contains("sort by"));
    screen.keys(&["Escape", "D"]);
    screen.wait_for("a line for each interface", |text| text.lines().any(|line| line.starts_with("lo ")));
    screen.keys(&["u"]);
    screen.wait_for("users", |text| text.contains("whose tasks") && text.contains("│all"));
    screen.keys(&["Escape"]);
    // A column that is not among those shown is added when it is sorted by.
    let words = ["top", "-b", "-n", "1", "-i", "0.2", "-o", "pid,command", "-s", "cpu_time"];
    let table = whit(&words);
    let heading = table.lines().find(|line| line.contains("PID")).ok_or("no heading")?;
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["PID", "TIME+", "COMMAND"]);
    // Programs get every task.
    let tick = documents(&whit(&["top", "--json", "-n", "1", "-i", "0.2"])).remove(0);
    assert!(tick["tasks"].as_array().unwrap().iter().any(|task| task["comm"] == "ksoftirqd/0"));
    Ok(())
}

/// Without delay accounting, which is how every distribution comes.
fn first_screen() -> Result<(), Failed> {
    let switch = "/proc/sys/kernel/task_delayacct";
    std::fs::write(switch, "0\n")?;
    let explanation = "off CPU: waiting for a disk cannot be told from sleep";
    let screen = Screen::open("first-screen", 80, 24, "");
    let text = screen.wait_for("time that is undivided", |text| text.contains("───"));
    assert!(!text.contains("??"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains(explanation) && text.contains("Press A to enable it"), "{text}");
    // A key does not take the explanation away.
    screen.keys(&["Down", "M"]);
    let text = screen.wait_for("another order", |text| text.contains("MEM▼"));
    assert!(text.contains(explanation), "{text}");
    screen.keys(&["A"]);
    screen.wait_for("the question", |text| text.contains("sure?"));
    screen.keys(&["y"]);
    screen.wait_for("what is counted", |text| text.contains("Tasks that ran before stay uncounted"));
    assert_eq!(std::fs::read_to_string(switch)?.trim(), "1");
    screen.keys(&["N"]);
    screen.wait_for("a table without notes", |text| !text.contains("stay uncounted"));
    Ok(())
}

/// Half a CPU, as a container may have.
fn quota() -> Result<(), Failed> {
    let cgroup = Cgroup::new("cpu");
    match cgroup.version {
        1 => cgroup.set("cpu.cfs_quota_us", "50000"),
        _ => cgroup.set("cpu.max", "50000 100000"),
    }
    let top = format!("{WHIT} top -b -n 1 -i 0.2 --json");
    let document = &documents(&String::from_utf8(cgroup.run(&top).stdout)?)[0];
    assert_eq!(document["machine"]["quota_cpus"], 0.5, "{document}");
    let document = &documents(&whit(&["top", "-b", "-n", "1", "-i", "0.2", "--json"]))[0];
    assert!(document["machine"].get("quota_cpus").is_none(), "{document}");
    Ok(())
}

fn detail() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("detail-load");
    let _load = Load::stress_as(&scratch, "opened", &["-c", "1", "-t", "600"]);
    let screen = Screen::open("detail", 120, 50, "--comm opened --sort cpu");
    screen.wait_for("a busy task", |text| {
        text.lines().any(|line| line.contains("opened") && line.contains('█'))
    });
    screen.keys(&["Enter"]);
    let parts = ["run_queue", "█", "command line  ", "opened -c 1", "limits", "Max open files", "longest"];
    screen.wait_for("the task", |text| parts.iter().all(|part| text.contains(part)));
    screen.keys(&["Escape"]);
    screen.wait_for("the table", |text| text.contains("COMMAND"));
    Ok(())
}

fn narrow() -> Result<(), Failed> {
    let _load = Load::start(&["stress", "-c", "1", "-t", "600"]);
    let screen = Screen::open("narrow", 40, 15, "");
    let text = screen.wait_for("a busy task", |text| text.contains("stress"));
    assert!(text.contains("PID") && text.contains("CPU%") && text.contains("COMMAND"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    Ok(())
}

fn columns() -> Result<(), Failed> {
    let screen = Screen::open("columns", 120, 40, "");
    screen.wait_for("the table", |text| text.contains("COMMAND"));
    // The second one, the user, goes.
    screen.keys(&["C", "Down", "Space", "Enter"]);
    screen.wait_for("without the user", |text| text.contains("COMMAND") && !text.contains("USER"));
    let kept = std::fs::read_to_string(screen.configuration.0.join("whit/top.toml"))?;
    assert!(kept.contains("columns = [\"pid\", \"state\""), "{kept}");
    Ok(())
}

/// A user's tasks together have no number and no state, which the usual columns leave out.
fn empty_columns() -> Result<(), Failed> {
    let scratch = Scratch::new("empty-columns-load");
    let _load = Load::stress_as(&scratch, "several", &["-c", "2", "-t", "600"]);
    let screen = Screen::open("empty-columns", 120, 20, "--comm several --by user");
    let has_heading = |text: &str, is_so: &dyn Fn(&str) -> bool| {
        text.contains("all ×3") && text.lines().any(|line| line.contains("COMMAND") && is_so(line))
    };
    screen.wait_for("the sum without them", |text| {
        has_heading(text, &|line| line.starts_with("USER") && !line.contains(" S ") && line.contains("WRITE"))
    });
    // What was chosen is there in any case: here all but the state.
    screen.keys(&["C", "Down", "Down", "Space", "Enter"]);
    screen.wait_for("a choice", |text| has_heading(text, &|line| line.contains("PID USER")));
    Ok(())
}

fn signal() -> Result<(), Failed> {
    let mut victim = Load::start(&["sleep", "4712"]);
    let screen = Screen::open("signal", 120, 30, &format!("-p {}", victim.0.id()));
    screen.wait_for("the task", |text| text.contains("sleep"));
    screen.keys(&["k", "Enter"]);
    screen.wait_for("the question", |text| text.contains("Send TERM to"));
    assert!(victim.0.try_wait()?.is_none());
    screen.keys(&["n"]);
    screen.wait_for("the table", |text| !text.contains("Send TERM to"));
    assert!(victim.0.try_wait()?.is_none());
    screen.keys(&["k", "Enter", "y"]);
    screen.wait_for("the end", |text| text.contains("TERM sent to"));
    assert!(victim.0.wait()?.code().is_none());
    Ok(())
}

fn given_back() -> Result<(), Failed> {
    let screen = Screen::open("back", 80, 24, "");
    screen.wait_for("the table", |text| text.contains("COMMAND"));
    screen.keys(&["q"]);
    let text = screen.wait_for("the end", |text| text.contains("ended 0"));
    assert!(!text.contains("COMMAND"), "{text}");
    Ok(())
}

/// The first half of a key: the table goes on, other keys are heard, and so is the end.
fn cut_key() -> Result<(), Failed> {
    let screen = Screen::open("cut", 80, 24, "-d 0.2");
    screen.wait_for("the table", |text| text.contains("COMMAND"));
    let type_half = || {
        let typed = Command::new("tmux").args(["-L", &screen.socket, "send-keys", "-H", "1b", "5b"]).status();
        assert!(typed.unwrap().success());
        std::thread::sleep(Duration::from_millis(400));
    };
    type_half();
    screen.keys(&["Down", "/", "x", "y"]);
    screen.wait_for("what was typed", |text| text.contains("xy"));
    screen.keys(&["Escape"]);
    type_half();
    // The shell of the pane has one child.
    let ended = shell(&format!(
        "kill $(cat /proc/$(tmux -L {} display-message -p '#{{pane_pid}}')/task/*/children)",
        screen.socket
    ));
    assert!(ended.status.success(), "{ended:?}");
    screen.wait_for("the end", |text| text.contains("ended 0"));
    Ok(())
}

fn ways() -> Result<(), Failed> {
    enable_accounting();
    let load = Load::start(&["stress", "-c", "1", "-t", "600"]);
    let pid = load.0.id();
    std::thread::sleep(Duration::from_millis(500));
    let worker = String::from_utf8(shell(&format!("pgrep -P {pid}")).stdout)?;
    let row = |way: &str| -> Value {
        let text = whit(&["top", "--json", "-n", "1", "--tasks", way, "-p", worker.trim()]);
        let tick = documents(&text)[0].clone();
        assert_eq!(tick["source"], way);
        assert_eq!(tick["tasks"].as_array().map(Vec::len), Some(1), "{tick}");
        tick["tasks"][0].clone()
    };
    let before = stolen::ticks();
    let rows = ["bpf", "taskstats", "procfs"].map(row);
    // What the hypervisor took from a CPU is neither on it nor in its queue.
    let stolen = stolen::ratio(&before, &stolen::ticks());
    for row in &rows {
        for name in ["pid", "tgid", "ppid", "uid", "comm", "nice", "threads"] {
            assert_eq!(row[name], rows[0][name], "{name}: {row}");
        }
        // It is alone on a CPU, or all but.
        let share =
            |name: &str| row[name].as_u64().unwrap() as f64 / row["thread_time_ns"].as_u64().unwrap() as f64;
        let known = share("on_cpu_ns") + share("run_queue_ns");
        assert!(share("on_cpu_ns") > 0.3 && known + 1.5 * stolen > 0.85, "stolen {stolen:.2}: {row}");
    }
    assert!(
        rows[0]["delays"]["copy"]["total_ns"].is_u64() && rows[2]["delays"]["copy"]["total_ns"].is_null()
    );
    Ok(())
}

/// A reader between two readings of another, which takes nothing over: of a task that is the same in both, everything must be the same in
/// between, for counters do not fall. Its memory is left out, which others change.
fn taken_over() -> Result<(), Failed> {
    enable_accounting();
    let _loads = (
        Load::start(&["stress", "-c", "1", "-i", "1", "-m", "1", "--vm-bytes", "1M", "-t", "600"]),
        [(); 200].map(|()| Load::start(&["sleep", "60"])),
    );
    let request = TaskRequest { sources: &[TaskSource::Bpf], extra: FigureSet::ALL };
    let open = || TaskReader::open(&Roots::live(), &request).unwrap();
    let (mut whole, mut changes) = (open(), open());
    let [mut before, mut now, mut after] = [(); 3].map(|()| TaskStore::default());
    let (mut compared, mut bytes) = (0, usize::MAX);
    let read = |reader: &mut TaskReader, store: &mut TaskStore| {
        reader.read(store).unwrap();
        store.finish(&mut Vec::new());
    };
    let comparable = |row: &TaskRow| {
        let mut row = *row;
        row.figures.set(Figure::RESIDENT_BYTES, None);
        row.figures.set(Figure::VIRTUAL_BYTES, None);
        // That of the time when it was read.
        row.wall = Nanos(0);
        row
    };
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(50));
        read(&mut whole, &mut before);
        whole.forget();
        read(&mut changes, &mut now);
        read(&mut whole, &mut after);
        whole.forget();
        for row in now.rows() {
            let around = [&before, &after].map(|store| store.row(row.key.pid).map(comparable));
            let [Some(before), Some(after)] = around else { continue };
            // It ran meanwhile, or is about to: the kernel counts what it does at several instants.
            if before != after || before.state == Some(b'R') {
                continue;
            }
            let mut found = comparable(row);
            // Reckoned from an age, where the iterator leaves one out.
            assert!(found.key.is_same(&before.key), "{found:?} {before:?}");
            found.key = before.key;
            assert_eq!(found, before);
            compared += 1;
        }
    }
    assert!(compared > 40 * 200, "{compared}");
    // And it is not that everything is read each time.
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(50));
        bytes = bytes.min(changes.read_bare().unwrap());
    }
    assert!(bytes < now.len() * RECORD_BYTES / 2, "{bytes} of {}", now.len());
    Ok(())
}

fn plain() -> Result<(), Failed> {
    let text = whit(&[]);
    assert!(text.contains("WHERE ITS TIME WENT") && text.contains("whit"), "{text}");
    Ok(())
}
