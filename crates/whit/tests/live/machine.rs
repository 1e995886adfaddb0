//! What trials do to the machine: programs, cgroups, loads. All of it ends with the trial.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use super::check::{check_document, schemas};

/// The program under test; WHIT_PROGRAM at compile time names another, to see a test fail on it.
pub(crate) const WHIT: &str = match option_env!("WHIT_PROGRAM") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_whit"),
};

/// Runs whit and gives what it printed; it must succeed.
pub(crate) fn whit(words: &[&str]) -> String {
    let output = Command::new(WHIT).args(words).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "whit {words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON documents that whit printed, a line each; each must be as its schema says.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let schemas = schemas();
    let read = |line: &str| {
        let document: Value = serde_json::from_str(line).unwrap();
        check_document(&schemas, &document, "whit");
        document
    };
    text.lines().filter(|line| line.starts_with('{')).map(read).collect()
}

/// Runs a shell's words, for what a shell is good at: cgroups and redirections in tests.
pub(crate) fn shell(words: &str) -> Output {
    Command::new("sh").args(["-c", words]).stdin(Stdio::null()).output().unwrap()
}

/// Switches delay accounting on until all trials are done.
pub(crate) fn enable_accounting() {
    fs::write("/proc/sys/kernel/task_delayacct", "1\n").unwrap();
}

/// Compiles one of the peers and gives the program.
pub(crate) fn peer(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name).with_extension("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&source).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    program
}

/// A directory that goes with the trial.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        // On a disk: /tmp may be memory, where nothing waits for block I/O.
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is ended with the trial.
pub(crate) struct Load(pub(crate) Child);

impl Load {
    pub(crate) fn start(words: &[&str]) -> Self {
        let child = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Load {
    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Ends it at once, whatever of it is left.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        std::mem::forget(self);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // stress ends its workers on TERM, and would leave them on KILL.
        let pid = rustix::process::Pid::from_raw(self.0.id().cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

/// A process that is killed with the trial.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A cgroup that goes with the trial.
pub(crate) struct Cgroup {
    pub(crate) directory: PathBuf,
    pub(crate) version: u8,
}

impl Cgroup {
    /// Where a controller is mounted: the mount, and the version.
    pub(crate) fn hierarchy(controller: &str) -> Option<(PathBuf, u8)> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let mut rows = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        // Block I/O is "blkio" in v1 and "io" in v2.
        let legacy = if controller == "io" { "blkio" } else { controller };
        let v1 =
            rows.clone().find(|row| row[2] == "cgroup" && row[3].split(',').any(|option| option == legacy));
        if let Some(row) = v1 {
            return Some((row[1].into(), 1));
        }
        let v2 = rows.find(|row| row[2] == "cgroup2")?;
        let controllers = fs::read_to_string(Path::new(v2[1]).join("cgroup.controllers")).ok()?;
        controllers.split_whitespace().any(|name| name == controller).then(|| (v2[1].into(), 2))
    }

    pub(crate) fn new(controller: &str) -> Self {
        let (mount, version) = Self::hierarchy(controller).unwrap();
        if version == 2 {
            fs::write(mount.join("cgroup.subtree_control"), format!("+{controller}")).unwrap();
        }
        let directory = mount.join(format!("whit-test-{controller}-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        Self { directory, version }
    }

    pub(crate) fn set(&self, file: &str, value: &str) {
        fs::write(self.directory.join(file), value).unwrap();
    }

    /// A shell's words that run in the cgroup from their start.
    pub(crate) fn run(&self, words: &str) -> Output {
        shell(&format!("echo $$ > {}/cgroup.procs && exec {words}", self.directory.display()))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Its last task may still be on its way out.
        for _ in 0..50 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// The whole disk under a path, as "major:minor".
pub(crate) fn disk_of(path: &Path) -> String {
    let device = fs::metadata(path).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let whole = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/../dev")).ok();
    match whole {
        Some(whole) if Path::new(&format!("/sys/dev/block/{major}:{minor}/partition")).exists() => {
            whole.trim().to_owned()
        }
        _ => format!("{major}:{minor}"),
    }
}
