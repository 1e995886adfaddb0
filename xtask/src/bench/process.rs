//! CPU time of whole processes, and what many measurements say together.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// The middle half of many figures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) lower: f64,
    pub(crate) median: f64,
    pub(crate) upper: f64,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((values.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
        Self { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

/// Two commands measured in turn.
pub(crate) struct Pairs {
    pub(crate) ours: Spread,
    pub(crate) theirs: Spread,
    pub(crate) ratios: Spread,
}

/// Runs two commands in turn, so that a machine that slows down slows both.
pub(crate) fn pairs(ours: &[&str], theirs: &[&str], count: usize) -> Result<Pairs, String> {
    let (mut all_ours, mut all_theirs) = (Vec::new(), Vec::new());
    // The first pair warms the caches and is not counted.
    for round in 0..=count {
        let (a, b) = (cpu_ns_of_whole(ours)?, cpu_ns_of_whole(theirs)?);
        if round > 0 {
            all_ours.push(a);
            all_theirs.push(b);
        }
    }
    let ratios = all_ours.iter().zip(&all_theirs).map(|(a, b)| a / b).collect();
    Ok(Pairs { ours: Spread::of(all_ours), theirs: Spread::of(all_theirs), ratios: Spread::of(ratios) })
}

/// CPU time of a command of one thread from its start to its end, in nanoseconds.
pub(crate) fn cpu_ns_of_whole(words: &[&str]) -> Result<f64, String> {
    let mut child = start(words)?;
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or("no pid")?;
    // Ended but not reaped, its account still stands in /proc.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .map_err(|error| error.to_string())?;
    let cpu_ns = cpu_ns(&child);
    let status = child.wait().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("{words:?}: {status}"));
    }
    cpu_ns
}

/// Starts a command and discards its output.
fn start(words: &[&str]) -> Result<Child, String> {
    start_with(words, Stdio::null())
}

fn start_with(words: &[&str], input: Stdio) -> Result<Child, String> {
    let [program, arguments @ ..] = words else { return Err("no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("{program}: {error}"))
}

/// Returns the CPU time in nanoseconds: of a process's threads as the scheduler has counted it so far, and of its children that ended, in
/// whole ticks.
fn cpu_ns(child: &Child) -> Result<f64, String> {
    cpu_ns_of(child.id())
}

fn cpu_ns_of(pid: u32) -> Result<f64, String> {
    let threads = format!("/proc/{pid}/task");
    let listing = std::fs::read_dir(&threads).map_err(|error| format!("{threads}: {error}"))?;
    let mut sum = 0.0;
    for thread in listing.flatten() {
        // A thread may end meanwhile.
        let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        sum += text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).map_err(|error| error.to_string())?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // Fields 16 and 17, the state being the third: cutime and cstime, hundredths of a second.
    let ticks: f64 = [13, 14].iter().filter_map(|at| fields.get(*at)?.parse::<f64>().ok()).sum();
    Ok(sum + ticks * 1e7)
}

/// A command that runs on, with what it starts; it ends with this. What it reads never comes and never ends: some
/// (py3status) spin on the end of their input.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(words: &[&str]) -> Result<Self, String> {
        start_with(words, Stdio::piped()).map(Self)
    }

    /// CPU time of its whole family.
    pub(crate) fn cpu_ns(&self) -> Result<f64, String> {
        let own = cpu_ns_of(self.0.id())?;
        Ok(self.descendants().into_iter().filter_map(|pid| cpu_ns_of(pid).ok()).sum::<f64>() + own)
    }

    /// CPU time of one of its family.
    pub(crate) fn cpu_ns_of(&self, pid: u32) -> Result<f64, String> {
        cpu_ns_of(pid)
    }

    /// The process that the command started.
    pub(crate) fn child_of_child(&self) -> Result<u32, String> {
        self.descendants().first().copied().ok_or_else(|| "it started nothing".to_owned())
    }

    /// Resident memory of the command itself.
    pub(crate) fn resident_kib(&self) -> Result<u64, String> {
        self.resident_kib_of(self.0.id())
    }

    /// Resident memory of one of its family.
    pub(crate) fn resident_kib_of(&self, pid: u32) -> Result<u64, String> {
        let path = format!("/proc/{pid}/status");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"));
        let figure = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        figure.ok_or_else(|| format!("{path}: no VmRSS"))
    }

    fn descendants(&self) -> Vec<u32> {
        let mut family = vec![self.0.id()];
        let mut at = 0;
        while let Some(pid) = family.get(at) {
            let path = format!("/proc/{pid}/task/{pid}/children");
            let children = std::fs::read_to_string(path).unwrap_or_default();
            family.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
            at += 1;
        }
        family.split_off(1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // On TERM it ends what it started itself; if it does not, it is killed.
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        for _ in 0..50 {
            if matches!(self.0.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that says when it is ready and ends with this: thousands of sleeping processes and some busy ones, or one that keeps a
/// CPU's caches cold.
pub(crate) struct Crowd(Child);

impl Crowd {
    pub(crate) fn start(program: &str, counts: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .args(counts)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let mut ready = [0; 6];
        let out = child.stdout.as_mut().ok_or("no output")?;
        out.read_exact(&mut ready).map_err(|error| format!("{program}: {error}"))?;
        Ok(Self(child))
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Its children end with it; that they could not be made to is not worth a word here.
        let _ = self.0.kill();
        let _ = self.0.wait();
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}
