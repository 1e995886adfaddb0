//! The unit of `deploy` under a systemd of its own: what an administrator configures is done, with the privileges that it needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, copy_program, wait_for};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [
        Need::Root,
        Need::Program("systemd-nspawn"),
        Need::Program("nsenter"),
        Need::Program("python3"),
        Need::Program("/usr/lib/nagios/plugins/check_icmp"),
    ];
    vec![exact("the_unit_runs_under_systemd", &needs, unit)]
}

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");

/// A machine with a systemd, the programs of this one, and nothing else: its files are in memory, its network has only loopback.
struct Machine {
    container: Child,
    /// Its first process, as this machine numbers it.
    init: u32,
    log: PathBuf,
}

impl Machine {
    /// Boots it. `files` are directories of this machine, and where it has them.
    fn boot(scratch: &Path, files: &[(&Path, &str)]) -> Result<Self, Failed> {
        let log = scratch.join("console");
        let console = fs::File::create(&log)?;
        let mut command = Command::new("systemd-nspawn");
        command.args([
            "--directory=/",
            "--volatile=yes",
            "--register=no",
            "--keep-unit",
            "--private-network",
        ]);
        command.arg(format!("--machine=whit-{}", std::process::id())).arg("--console=pipe");
        for (here, there) in files {
            command.arg(format!("--bind-ro={}:{there}", here.display()));
        }
        command.args(["--boot", "systemd.unit=basic.target", "systemd.firstboot=off"]);
        let container = command.stdin(Stdio::null()).stdout(console.try_clone()?).stderr(console).spawn()?;
        let mut machine = Self { container, init: 0, log };
        wait_for("the machine has a first process", || {
            let nspawn = machine.container.id();
            let children = fs::read_to_string(format!("/proc/{nspawn}/task/{nspawn}/children"));
            // Before it there is another child, which makes it.
            let is_first = |pid: &u32| {
                let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
                status.lines().any(|line| line.starts_with("NSpid:") && line.ends_with("\t1"))
            };
            let children = children.unwrap_or_default();
            let init = children.split(' ').filter_map(|pid| pid.parse().ok()).find(is_first);
            machine.init = init.unwrap_or_default();
            machine.init != 0
        });
        wait_for("the machine has booted", || {
            let state = machine.run(&["systemctl", "is-system-running"]).map(|output| output.stdout);
            state.is_ok_and(|state| state.starts_with(b"running") || state.starts_with(b"degraded"))
        });
        Ok(machine)
    }

    fn inside(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["60", "nsenter", "--all", "--target"]).arg(self.init.to_string()).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> std::io::Result<Output> {
        self.inside(words).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output()
    }

    /// What a command prints.
    fn prints(&self, words: &[&str]) -> Result<String, Failed> {
        let output = self.run(words)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(text),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(format!("{words:?}: {text}{said}{}", self.journal()).into())
            }
        }
    }

    fn journal(&self) -> String {
        let output = self.run(&["journalctl", "--unit=whit", "--no-pager", "--lines=30"]);
        let console = fs::read_to_string(&self.log).unwrap_or_default();
        let journal = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        format!("\n{console}\n{}", journal.unwrap_or_default())
    }

    /// Waits until all of these texts are in what a command prints.
    fn wait_to_print(&self, words: &[&str], texts: &[&str]) {
        let mut last = String::new();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
        while !texts.iter().all(|text| last.contains(text)) {
            assert!(std::time::Instant::now() < deadline, "{words:?}: {last}{}", self.journal());
            last = self.prints(words).unwrap_or_else(|error| format!("{error:?}"));
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // All of its processes end with the first.
        if let Some(init) = rustix::process::Pid::from_raw(self.init.cast_signed()) {
            let _ = rustix::process::kill_process(init, rustix::process::Signal::KILL);
        }
        if self.init == 0 {
            let _ = self.container.kill();
        }
        let _ = self.container.wait();
    }
}

/// First as it is; then with plugins, by the same user, who has what was recorded.
fn unit() -> Result<(), Failed> {
    let scratch = Scratch::new("service");
    let here = |name: &str| scratch.0.join(name);
    let [programs, units, users, configuration, pages] = ["bin", "units", "users", "whit", "pages"].map(here);
    let drop_ins = units.join("whit.service.d");
    for directory in [&programs, &drop_ins, &users, &configuration, &pages] {
        fs::create_dir_all(directory)?;
    }
    copy_program(WHIT, programs.join("whit"));
    fs::copy(format!("{DEPLOY}/whit.service"), units.join("whit.service"))?;
    fs::copy(format!("{DEPLOY}/whit.sysusers"), users.join("whit.conf"))?;
    fs::write(
        pages.join("feed"),
        "<rss version='2.0'><channel><title>News</title><item><guid>1</guid><title>First</title></item></channel></rss>",
    )?;
    let feeds = "[feeds]\nallow = [\"127.0.0.1:8000\"]\n";
    fs::write(configuration.join("agent.toml"), feeds)?;
    let machine = Machine::boot(
        &scratch.0,
        &[
            (&programs, "/usr/local/bin"),
            (&units, "/etc/systemd/system"),
            (&users, "/etc/sysusers.d"),
            (&configuration, "/etc/whit"),
            (&pages, "/srv"),
        ],
    )?;
    let web = ["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", "/srv"];
    // It ends with the machine.
    let mut web = machine.inside(&web).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;

    machine.prints(&["systemd-sysusers"])?;
    machine.prints(&["systemctl", "start", "whit"])?;
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "whit"];
    machine.wait_to_print(&[&nobody[..], &["query", "node_load1"]].concat(), &["node_load1"]);
    let page = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8000/feed').read())";
    machine.wait_to_print(&["python3", "-c", page], &["News"]);
    // It is made by the agent, whose user can write it then.
    machine.wait_to_print(&["ls", "/var/lib/whit/"], &["feeds.sqlite"]);
    machine.prints(&["sh", "-c", "printf 'correct horse\\n' | whit feeds user add ann"])?;
    machine.prints(&["whit", "feeds", "add", "http://127.0.0.1:8000/feed"])?;
    machine.wait_to_print(&["whit", "feeds"], &["News"]);
    machine.prints(&["systemctl", "stop", "whit"])?;
    let first = |text: &str| text.lines().next().map(str::to_owned);
    let since = first(&machine.prints(&["whit", "history"])?);

    fs::copy(format!("{DEPLOY}/checks.conf"), drop_ins.join("checks.conf"))?;
    let check = |name: &str, command: &str, user: &str| {
        format!(
            "[[check]]\nname = \"{name}\"\ncommand = [{command}]\ninterval = \"2s\"\nattempts = 1\n{user}"
        )
    };
    let sleeper = "\"sh\", \"-c\", \"env -i setsid -f sleep 1000; echo left\"";
    let configured = [
        feeds.to_owned(),
        check("privileged", "\"/usr/lib/nagios/plugins/check_icmp\", \"-H\", \"127.0.0.1\"", ""),
        check("other", "\"id\"", "user = \"nobody\"\n"),
        check("own", "\"id\"", ""),
        check("leaves", sleeper, "user = \"nobody\"\n"),
    ]
    .concat();
    fs::write(configuration.join("agent.toml"), &configured)?;
    machine.prints(&["systemctl", "daemon-reload"])?;
    machine.prints(&["systemctl", "start", "whit"])?;
    assert_eq!(first(&machine.prints(&["whit", "history"])?), since, "{}", machine.journal());
    machine.wait_to_print(&["whit", "feeds"], &["News"]);
    let list = ["whit", "check", "--all"];
    let fine = ["OK - 127.0.0.1: rta", "uid=65534(nobody)", "(_whit) gid=", "left"];
    machine.wait_to_print(&list, &fine);
    for (property, value) in [("User", "_whit"), ("MemoryMax", "1073741824"), ("TasksMax", "1024")] {
        assert_eq!(
            machine.prints(&["systemctl", "show", "--value", "--property", property, "whit"])?.trim(),
            value
        );
    }

    // What a plugin leaves behind ends with it, though nothing says whose it is and it is another user's.
    let sleepers = || machine.run(&["pgrep", "--exact", "--count", "sleep"]).map(|output| output.stdout);
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_secs(2));
        let count = String::from_utf8(sleepers()?)?.trim().parse::<u32>()?;
        assert!(count <= 2, "{count} were left behind");
    }

    // No plugin may take the socket that orders them, nor look into who has it.
    let steal = "import os,sys\nfor pid in sys.argv[1:]:\n  for what in ('mem','environ'):\n    try: open(f'/proc/{pid}/{what}','rb').read(1); print('read',pid,what)\n    except OSError: pass\n  try: os.listdir(f'/proc/{pid}/fd'); print('listed',pid)\n  except OSError: pass";
    let own = machine.prints(&["pgrep", "--full", "agent.*serve|check runner"])?;
    let theirs: Vec<&str> = own.split_whitespace().collect();
    let as_whit = ["setpriv", "--reuid=_whit", "--regid=_whit", "--clear-groups", "python3", "-c", steal];
    assert!(theirs.len() >= 2, "{own}");
    assert_eq!(machine.prints(&[&as_whit[..], &theirs].concat())?, "");

    // Who runs plugins is started again with its privileges, by another server.
    // A child of it has its name until it executes the plugin.
    let runner = ["pgrep", "--oldest", "--full", "check runner"];
    let before = machine.prints(&runner)?;
    machine.prints(&["kill", "-KILL", before.trim()])?;
    wait_for("another process runs plugins", || {
        machine.prints(&runner).is_ok_and(|now| !now.trim().is_empty() && now != before)
    });
    fs::write(
        configuration.join("agent.toml"),
        configured + &check("later", "\"id\"", "user = \"nobody\"\n"),
    )?;
    machine.prints(&["systemctl", "reload", "whit"])?;
    machine.wait_to_print(&["whit", "check", "list", "later"], &["OK", "uid=65534(nobody)"]);
    machine.wait_to_print(&list, &fine);

    machine.prints(&["systemctl", "stop", "whit"])?;
    assert_eq!(String::from_utf8(sleepers()?)?.trim(), "0");
    let _ = web.kill();
    web.wait()?;
    Ok(())
}
