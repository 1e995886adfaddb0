//! What trials do to the machine: programs, cgroups, loads. All of it ends with the trial.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
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

/// The JSON document that whit prints; null if it fails, as long as an agent has not begun the file that is asked.
pub(crate) fn document(words: &[&str]) -> Value {
    let output = Command::new(WHIT).args(words).stdin(Stdio::null()).output().unwrap();
    documents(&String::from_utf8(output.stdout).unwrap()).pop().unwrap_or_default()
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

/// Compiles one of the peers and gives the program. Several trials may want it at once: it appears whole, by a rename.
pub(crate) fn peer(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name).with_extension("c");
    let scratch = Scratch::new(&format!("peer-{name}"));
    let (made, program) = (scratch.0.join(name), Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
    let output = Command::new("cc").arg("-O2").arg("-o").arg(&made).arg(&source).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::rename(made, &program).unwrap();
    program
}

/// Copies a program, by a process of its own. A file that this process had open to write it, a process that another trial starts meanwhile
/// would have open as well until its exec, and execve(2) runs no such file: ETXTBSY.
pub(crate) fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    let status = Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
    assert!(status.success(), "install {} {}: {status}", from.display(), to.display());
}

/// The end of everything that a trial waits for. Reaching it is a failure; nothing else is asserted of it, and a busy machine needs it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until something holds. Between two looks it rests longer, if a look takes long: many trials look with a program, and eight that do
/// nothing else would keep the CPUs from what they wait for.
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let begun = Instant::now();
        if holds() {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: not in {} seconds", PATIENCE.as_secs());
        std::thread::sleep(
            (4 * begun.elapsed()).clamp(Duration::from_millis(20), Duration::from_millis(300)),
        );
    }
}

/// Waits for the end of a program.
pub(crate) fn wait_for_end(child: &mut Child) -> std::process::ExitStatus {
    let mut status = None;
    wait_for("the program ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// The processes that the main thread of a process has started (proc_tid_children(5)); none if it is gone.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Waits until a process is in a state, such as 'T' (proc_pid_stat(5)).
pub(crate) fn wait_for_state(pid: u32, state: char) {
    let wanted = format!(") {state} ");
    wait_for(&format!("process {pid} is {state}"), || {
        fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(&wanted)
    });
}

/// A port of loopback that no other trial gets. It lies below the ports that the kernel gives to clients (ip_local_port_range), so that
/// no connection has it by chance.
pub(crate) fn port() -> u16 {
    const FIRST: u16 = 20_000;
    const OF_A_RUN: u16 = 500;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Another run of the trials at the same time has other ones, most of the time.
    let first = FIRST + (std::process::id() % 20) as u16 * OF_A_RUN;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % OF_A_RUN;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() && UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Makes a directory that did not exist, whose name begins so, and returns its path.
fn new_directory(parent: &Path, name: &str) -> PathBuf {
    let paths = (0..).map(|number: u32| parent.join(format!("{name}-{}-{number}", std::process::id())));
    let mut made = paths.filter_map(|path| match fs::create_dir(&path) {
        Ok(()) => Some(path),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => None,
        Err(error) => panic!("{}: {error}", path.display()),
    });
    made.next().unwrap()
}

/// A directory that goes with the trial.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        // On a disk: /tmp may be memory, where nothing waits for block I/O.
        Self(new_directory(Path::new(env!("CARGO_TARGET_TMPDIR")), name))
    }

    /// Where nothing waits for a disk.
    pub(crate) fn in_memory(name: &str) -> Self {
        Self(new_directory(Path::new("/dev/shm"), &format!("whit-{name}")))
    }

    /// Where other users can read and execute what is in it.
    pub(crate) fn for_all(name: &str) -> Self {
        let path = new_directory(&std::env::temp_dir(), &format!("whit-{name}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
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
    /// stress(1) under a name of the trial's own, since others may run it as well.
    pub(crate) fn stress_as(scratch: &Scratch, name: &str, words: &[&str]) -> Self {
        let program = scratch.0.join(name);
        if !program.exists() {
            let found = shell("command -v stress");
            copy_program(String::from_utf8(found.stdout).unwrap().trim(), &program);
        }
        Self::start(&[&[program.to_str().unwrap()], words].concat())
    }

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
        Self { directory: new_directory(&mount, &format!("whit-test-{controller}")), version }
    }

    /// Creates one with a limit on the bytes that are written each second to the disk of a directory.
    pub(crate) fn with_write_limit(directory: &Path, bytes_per_s: u64) -> Self {
        let cgroup = Self::new("io");
        cgroup.limit_writes(directory, Some(bytes_per_s));
        cgroup
    }

    pub(crate) fn limit_writes(&self, directory: &Path, bytes_per_s: Option<u64>) {
        let device = disk_of(directory);
        let limit = |unlimited: &str| bytes_per_s.map_or(unlimited.to_owned(), |limit| limit.to_string());
        match self.version {
            1 => self.set("blkio.throttle.write_bps_device", &format!("{device} {}", limit("0"))),
            _ => self.set("io.max", &format!("{device} wbps={}", limit("max"))),
        }
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
            std::thread::sleep(Duration::from_millis(20));
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

/// CPU time of each program so far in ticks, by its name, as /proc/PID/stat has it.
fn cpu_by_program() -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((head, rest)) = stat.rsplit_once(") ") else { continue };
        let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
        let ticks = |place: usize| rest.split(' ').nth(place).and_then(|word| word.parse::<u64>().ok());
        *sums.entry(name).or_insert(0) += ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0);
    }
    sums
}

/// The program that uses most CPU time now, and how many CPUs that is.
pub(crate) fn busiest_program() -> (String, f64) {
    let (before, begun) = (cpu_by_program(), Instant::now());
    std::thread::sleep(Duration::from_millis(400));
    let (after, seconds) = (cpu_by_program(), begun.elapsed().as_secs_f64());
    // Those that have another name or are new have no difference.
    let grown = after.into_iter().filter_map(|(name, ticks)| {
        let used = ticks.saturating_sub(*before.get(&name)?);
        Some((name, used as f64 / 100.0 / seconds))
    });
    grown.max_by(|(_, one), (_, other)| one.total_cmp(other)).unwrap_or_default()
}

/// Whether so many CPUs, used by one program of others, are a load beside which a trial cannot be the busiest.
pub(crate) fn is_load(cpus: f64) -> bool {
    cpus > 0.3
}

/// Where cgroups of version 2 are.
pub(crate) fn unified_mount() -> Result<&'static str, Failed> {
    let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let mut mounts = mounts.into_iter();
    let found = mounts.find(|mount| fs::metadata(format!("{mount}/cgroup.procs")).is_ok());
    found.ok_or_else(|| "no cgroups of version 2".into())
}
