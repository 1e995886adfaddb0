//! `whit doctor --selftest`: whether what is read on this machine is consistent. For a system on which whit was not
//! tried before, its report is what to send in, with a capture (`whit doctor --capture DIR`).

use std::time::Duration;

use facts::linux::meminfo::MemInfoField;
use facts::memory::MemoryBreakdown;
use facts::rate::{Rates, Width};
use facts::sample::{Absence, Sample};
use facts::source::Wanted;
use facts::unit::Nanos;
use probe::survey::Survey;
use probe::tasks::TaskSource;
use probe::{Probe, Request, Roots, monotonic_now};
use serde::Serialize;

use command::failure::Failure;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Pass,
    /// It cannot be checked here: what it needs is absent.
    Absent,
    Fail,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) detail: String,
}

/// Between the two readings that are compared.
const PAUSE: Duration = Duration::from_millis(300);
/// The most that two clocks may differ by while the pause is measured.
const TOLERANCE: Nanos = Nanos(200_000_000);

type Outcome = Result<String, Trouble>;

enum Trouble {
    Absent(Absence),
    Wrong(String),
}

impl From<Absence> for Trouble {
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::Malformed => Self::Wrong(absence.to_string()),
            absence => Self::Absent(absence),
        }
    }
}

fn wrong<T>(detail: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Wrong(detail.into()))
}

/// Reads everything twice and compares.
pub(crate) fn run(roots: &Roots) -> Result<Vec<Check>, Failure> {
    let mut probe = Probe::open(roots, &Request { wanted: Wanted::all(), ..Request::default() })?;
    let (mut before, mut now, mut rates) = (Sample::default(), Sample::default(), Rates::default());
    probe.sample(&mut before);
    std::thread::sleep(PAUSE);
    probe.sample(&mut now);
    rates.fill(&before, &now, Width::Bits64);
    let mut checks = Vec::new();
    let mut check = |name, outcome: Outcome| {
        let (verdict, detail) = match outcome {
            Ok(detail) => (Verdict::Pass, detail),
            Err(Trouble::Absent(absence)) => (Verdict::Absent, absence.to_string()),
            Err(Trouble::Wrong(detail)) => (Verdict::Fail, detail),
        };
        checks.push(Check { name, verdict, detail });
    };
    let mut survey = Survey::open(roots)?;
    let release = survey.release().unwrap_or_else(|absence| absence.to_string());
    check("system", Ok(format!("{} {release}, whit {}", survey.system(), env!("CARGO_PKG_VERSION"))));
    check("clocks", clocks(&before, &now));
    check("boot time", boot_time(&now));
    check("memory", memory(&now));
    check("cpu", cpu(&now, &rates));
    check("load", load(&now));
    check("interfaces", interfaces(&before, &now));
    check("temperatures", temperatures(&now));
    check("own process", own_process(roots)?);
    check("all processes", all_processes(roots)?);
    Ok(checks)
}

fn clocks(before: &Sample, now: &Sample) -> Outcome {
    let went = |clock: fn(&Sample) -> Nanos| clock(now).saturating_sub(clock(before));
    let monotonic = went(|sample| sample.clock.monotonic);
    let boottime = went(|sample| sample.clock.boottime);
    let pause = Nanos(PAUSE.as_nanos() as u64);
    let is_near = |elapsed: Nanos| elapsed >= pause.saturating_sub(TOLERANCE) && elapsed.0 < 20 * pause.0;
    if is_near(monotonic) && is_near(boottime) {
        return Ok(format!("{} and {} ns in {} ns", monotonic.0, boottime.0, pause.0));
    }
    wrong(format!("{} and {} ns went by in a pause of {} ns", monotonic.0, boottime.0, pause.0))
}

fn boot_time(now: &Sample) -> Outcome {
    let reported = now.stat.get()?.boot_time_s.ok_or(Absence::Unsupported)?;
    let reckoned = now.clock.realtime.saturating_sub(now.clock.boottime).0 / Nanos::SECOND.0;
    // A clock that was set since moves one and not the other.
    let difference = reported.abs_diff(reckoned);
    if difference <= 5 {
        Ok(format!("{reported}"))
    } else {
        wrong(format!("{reported}, but the clocks say {reckoned}"))
    }
}

fn memory(now: &Sample) -> Outcome {
    let memory = now.memory.get()?;
    let parts = MemoryBreakdown::new(memory);
    let available = memory.bytes(MemInfoField::MemAvailable).unwrap_or(parts.free);
    if parts.total.0 < 1 << 20 || parts.free > parts.total || available > parts.total {
        return wrong(format!("total {}, free {}, available {}", parts.total.0, parts.free.0, available.0));
    }
    // Counters are summed lazily, but not by a tenth of all there is.
    if parts.others_bytes < -i64::try_from(parts.total.0 / 10).unwrap_or(i64::MAX) {
        return wrong(format!("the columns add up to {} bytes too many", -parts.others_bytes));
    }
    Ok(format!("total {}, free {}, available {} bytes", parts.total.0, parts.free.0, available.0))
}

fn cpu(now: &Sample, rates: &Rates) -> Outcome {
    let stat = now.stat.get()?;
    let cpus = stat.cpus.len();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < threads {
        return wrong(format!("{cpus} CPUs, but {threads} may be used"));
    }
    let Some(shares) = rates.cpu else { return wrong("no tick went by") };
    Ok(format!("{cpus} CPUs, {:.0} % busy", shares.busy.percent()))
}

fn load(now: &Sample) -> Outcome {
    let load = now.load.get()?;
    let [minute, ..] = load.averages();
    if minute > 1e6 || load.tasks == 0 || load.runnable_tasks > load.tasks {
        return wrong(format!("{minute}, {} of {} tasks runnable", load.runnable_tasks, load.tasks));
    }
    Ok(format!("{minute:.2}, {} of {} tasks runnable", load.runnable_tasks, load.tasks))
}

fn interfaces(before: &Sample, now: &Sample) -> Outcome {
    let (before, now) = (before.net_dev.get()?, now.net_dev.get()?);
    for interface in &now.interfaces {
        let name = interface.name;
        if name.as_str().is_empty() || !name.as_str().is_ascii() {
            return wrong(format!("an interface is called {:?}", name.as_str()));
        }
        let earlier = before.interfaces.iter().find(|earlier| earlier.name == name);
        if earlier.is_some_and(|earlier| earlier.received_bytes > interface.received_bytes) {
            return wrong(format!("{name} received less than before"));
        }
    }
    let names: Vec<_> = now.interfaces.iter().map(|interface| interface.name.to_string()).collect();
    if names.is_empty() { wrong("none, not even the loopback") } else { Ok(names.join(", ")) }
}

fn temperatures(now: &Sample) -> Outcome {
    let temperatures = now.temperatures.get()?;
    let values = temperatures.iter().filter_map(|temperature| temperature.millidegrees);
    if let Some(absurd) = values.clone().find(|value| !(-60_000..=150_000).contains(value)) {
        return wrong(format!("{absurd} thousandths of a °C"));
    }
    if values.clone().next().is_none() {
        Err(Absence::Unsupported.into())
    } else {
        Ok(values.count().to_string())
    }
}

/// The error of a clock that counts in ticks of 10 ms, of several CPUs.
const TICKS_MS: u64 = 30;

/// Compares the CPU time read for whit's own process with that of its CPU clock before and after: a reading takes long under emulation.
fn own_process(roots: &Roots) -> Result<Outcome, Failure> {
    let mut reader = super::tasks::open(roots, &TaskSource::FOR_ONE_READING)?;
    // Long enough for a clock that counts in ticks.
    let start = monotonic_now();
    while monotonic_now().saturating_sub(start) < Nanos(100_000_000) {}
    let ms = |time: Nanos| time.0 / 1_000_000;
    let least_ms = ms(probe::own_cpu_time());
    let read = reader.read_process(std::process::id());
    let most_ms = ms(probe::own_cpu_time());
    Ok(read.map_err(Trouble::from).and_then(|process| {
        let task = process.living;
        let Some(on_cpu) = task.sum.on_cpu() else { return Err(Absence::Unsupported.into()) };
        let on_cpu_ms = ms(on_cpu);
        let used = format!("{on_cpu_ms} ms on a CPU, {least_ms} to {most_ms} by its own clock");
        if !task.comm.as_str().starts_with("whit") {
            return wrong(format!("it is called {:?}", task.comm.as_str()));
        }
        let is_between = on_cpu_ms + TICKS_MS >= least_ms && on_cpu_ms <= most_ms + TICKS_MS;
        if !is_between || task.wall < on_cpu {
            return wrong(used);
        }
        Ok(used)
    }))
}

fn all_processes(roots: &Roots) -> Result<Outcome, Failure> {
    let mut reader = super::tasks::open(roots, &TaskSource::FOR_ONE_READING)?;
    let mut pids = Vec::new();
    if let Err(absence) = reader.processes(&mut pids) {
        return Ok(Err(absence.into()));
    }
    let has_own = pids.contains(&std::process::id());
    Ok(if has_own { Ok(format!("{}, whit among them", pids.len())) } else { wrong("whit is not among them") })
}
