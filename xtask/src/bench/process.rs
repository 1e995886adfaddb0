//! CPU time of whole processes, and what many measurements say together.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

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
        let (a, b) = (run(ours)?, run(theirs)?);
        if round > 0 {
            all_ours.push(a);
            all_theirs.push(b);
        }
    }
    let ratios = all_ours.iter().zip(&all_theirs).map(|(a, b)| a / b).collect();
    Ok(Pairs { ours: Spread::of(all_ours), theirs: Spread::of(all_theirs), ratios: Spread::of(ratios) })
}

/// CPU time of a command from its start to its end, in nanoseconds.
fn run(words: &[&str]) -> Result<f64, String> {
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

/// Starts a command whose output nobody reads.
pub(crate) fn start(words: &[&str]) -> Result<Child, String> {
    let [program, arguments @ ..] = words else { return Err("no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("{program}: {error}"))
}

/// What the scheduler has counted for a process of one thread so far.
pub(crate) fn cpu_ns(child: &Child) -> Result<f64, String> {
    let path = format!("/proc/{}/schedstat", child.id());
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    text.split(' ').next().and_then(|word| word.parse().ok()).ok_or_else(|| format!("{path}: {text}"))
}

/// Thousands of sleeping processes, which end with this.
pub(crate) struct Crowd(Child);

impl Crowd {
    pub(crate) fn start(program: &str, count: &str) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg(count)
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
