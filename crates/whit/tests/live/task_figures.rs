//! Every figure of a task, by each source, against what /proc says of a task that stands still.

use std::collections::HashMap;
use std::fs;

use facts::catalog::TASK_METRICS;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::task::{Accounting, Cause, TaskRow};
use libtest_mimic::Failed;
use probe::Roots;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};

use super::machine::{Load, Scratch, enable_accounting, peer, shell, wait_for_state};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Root, Need::Accounting, Need::Program("python3"), Need::Program("cc")];
    vec![exact("every_figure_agrees_with_proc", &needs, every_figure)]
}

/// What /proc says of a thread, with the words as the kernel's documentation names them.
struct Proc {
    stat: Vec<String>,
    numbers: HashMap<String, u64>,
}

impl Proc {
    fn read(pid: u32) -> Result<Self, Failed> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/task/{pid}/{name}"));
        let stat = read("stat")?;
        let (_, behind_name) = stat.rsplit_once(')').ok_or("no name")?;
        let mut numbers = HashMap::new();
        for line in format!("{}{}", read("status")?, read("io")?).lines() {
            let (name, value) = line.split_once(':').ok_or("no colon")?;
            let first = value.split_whitespace().next().and_then(|word| word.parse().ok());
            numbers.extend(first.map(|number| (name.to_owned(), number)));
        }
        for (name, value) in
            ["on_cpu", "run_delay", "timeslices"].into_iter().zip(read("schedstat")?.split(' '))
        {
            numbers.insert(name.to_owned(), value.trim().parse()?);
        }
        for (name, value) in
            ["size", "resident"].into_iter().zip(fs::read_to_string(format!("/proc/{pid}/statm"))?.split(' '))
        {
            numbers.insert(name.to_owned(), value.parse()?);
        }
        Ok(Self { stat: behind_name.split_whitespace().map(str::to_owned).collect(), numbers })
    }

    /// A field of stat by its number in proc_pid_stat(5), from 3 on.
    fn field(&self, number: usize) -> u64 {
        self.stat[number - 3].parse().unwrap()
    }

    fn number(&self, name: &str) -> u64 {
        self.numbers[name]
    }
}

fn every_figure() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("figures");
    // Runs in both modes, faults, writes to a disk and waits for it, sleeps, and copies pages after a fork. Then it stands still.
    let program = format!(
        "import os, signal, time\n\
         end = time.process_time() + 0.3\n\
         with open({:?}, 'wb') as file:\n    \
             while time.process_time() < end:\n        \
                 sum(range(20000)); file.write(b'x' * 65536); file.flush(); os.fsync(file.fileno())\n\
         data = bytearray(8 << 20)\n\
         child = os.fork()\n\
         if child == 0: os._exit(0)\n\
         data[::4096] = b'y' * len(data[::4096])\n\
         os.waitpid(child, 0)\n\
         os.nice(5)\n\
         for _ in range(20): time.sleep(0.001)\n\
         print('ready', flush=True)\n\
         os.kill(os.getpid(), signal.SIGSTOP)\n",
        scratch.0.join("file")
    );
    let mut python = Load(
        std::process::Command::new("python3")
            .args(["-c", &program])
            .stdout(std::process::Stdio::piped())
            .spawn()?,
    );
    let mut line = [0; 6];
    std::io::Read::read_exact(python.0.stdout.as_mut().unwrap(), &mut line)?;
    let pid = python.0.id();
    wait_for_state(pid, 'T');
    // Whatever comes of it: a stopped process does not end.
    let compared = std::panic::catch_unwind(|| compare(pid));
    let process = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::CONT)?;
    compared.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn compare(pid: u32) -> Result<(), Failed> {
    let proc = Proc::read(pid)?;
    let of_peer = String::from_utf8(shell(&format!("{} -t {pid}", peer("taskstats_one").display())).stdout)?;
    let of_peer: HashMap<&str, u64> = of_peer
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect();
    let constant = |name: &str| -> Result<u64, Failed> {
        Ok(String::from_utf8(shell(&format!("getconf {name}")).stdout)?.trim().parse()?)
    };
    let (page, tick_ns) = (constant("PAGE_SIZE")?, 1_000_000_000 / constant("CLK_TCK")?);
    for source in [TaskSource::Bpf, TaskSource::Taskstats, TaskSource::Procfs] {
        let request = TaskRequest { sources: &[source], extra: FigureSet::ALL };
        let mut reader = TaskReader::open(&Roots::live(), &request).map_err(|error| format!("{error:?}"))?;
        let mut store = TaskStore::default();
        reader.read(&mut store).map_err(|absence| absence.to_string())?;
        let row = *store.row(pid).ok_or("the task was not read")?;
        identity(&row, source, &proc);
        let is_procfs = source == TaskSource::Procfs;
        // What is expected, and how far it may be off.
        let mut expected: HashMap<Figure, (Option<u64>, u64)> = HashMap::new();
        let mut expect = |figure, value: u64, tolerance| expected.insert(figure, (Some(value), tolerance));
        expect(Figure::ON_CPU, proc.number("on_cpu"), 0);
        if is_procfs {
            expect(Figure::USER, proc.field(14) * tick_ns, 0);
            expect(Figure::SYSTEM, proc.field(15) * tick_ns, 0);
        } else {
            // /proc scales the ticks to the precise time, which is much longer where a hypervisor takes ticks away. taskstats gives them
            // in microseconds.
            expect(Figure::USER, of_peer["ticks.user"], 999);
            expect(Figure::SYSTEM, of_peer["ticks.system"], 999);
        }
        expect(Figure::VOLUNTARY_SWITCHES, proc.number("voluntary_ctxt_switches"), 0);
        expect(Figure::INVOLUNTARY_SWITCHES, proc.number("nonvoluntary_ctxt_switches"), 0);
        expect(Figure::MINOR_FAULTS, proc.field(10), 0);
        expect(Figure::MAJOR_FAULTS, proc.field(12), 0);
        expect(Figure::READ_BYTES, proc.number("read_bytes"), 0);
        expect(Figure::WRITTEN_BYTES, proc.number("write_bytes"), 0);
        // BPF reads what each CPU has handed in, with up to 64 pages in each of three counters left out.
        let approximate = if source == TaskSource::Bpf { 3 * 64 * page } else { 0 };
        expect(Figure::RESIDENT_BYTES, proc.number("resident") * page, approximate);
        expect(Figure::VIRTUAL_BYTES, proc.number("size") * page, 0);
        expect(Figure::delay(Cause::RunQueue), proc.number("run_delay"), 0);
        expect(Figure::count(Cause::RunQueue), proc.number("timeslices"), 0);
        if is_procfs {
            expect(Figure::delay(Cause::BlockIo), proc.field(42) * tick_ns, 0);
            expect(Figure::CPU_TICKS, (proc.field(14) + proc.field(15)) * tick_ns, 0);
        } else {
            for cause in Cause::ALL {
                for (figure, word) in [(Figure::delay(cause), "total"), (Figure::count(cause), "count")] {
                    if let Some(value) = of_peer.get(format!("{}.{word}", cause.name()).as_str()) {
                        expect(figure, *value, 0);
                    }
                }
            }
        }
        if source == TaskSource::Taskstats {
            expect(Figure::CPU_TICKS, of_peer["ticks.real"], 0);
            // The same counters, and /proc adds up what each CPU has kept.
            expect(Figure::PEAK_RESIDENT_BYTES, proc.number("VmHWM") * 1024, 3 * 64 * page);
            expect(Figure::PEAK_VIRTUAL_BYTES, proc.number("VmPeak") * 1024, 0);
        }
        let mut checked = 0;
        for figure in Figure::all() {
            let value = row.figures.get(figure);
            let Some((wanted, tolerance)) = expected.get(&figure) else { continue };
            let is_near =
                value.zip(*wanted).is_some_and(|(value, wanted)| value.abs_diff(wanted) <= *tolerance);
            assert!(is_near, "{} {figure:?}: {value:?}, /proc says {wanted:?}", source.name());
            checked += 1;
        }
        println!("{}: {checked} figures as /proc or another reader has them", source.name());
        assert!(checked >= if is_procfs { 15 } else { 20 });
        // The load did what makes the figures differ.
        for figure in [Figure::WRITTEN_BYTES, Figure::MINOR_FAULTS, Figure::delay(Cause::BlockIo)] {
            assert!(row.figures.get(figure) > Some(0), "{} {figure:?}", source.name());
        }
        // The catalogue says which source contains what, as far as this kernel counts it.
        for metric in &TASK_METRICS {
            let is_there = row.figures.get(metric.figure).is_some();
            let is_said = metric.sources.contains(&source);
            // This kernel is newer than all of them.
            assert_eq!(is_there, is_said, "{} {}", source.name(), metric.exported);
        }
        // A maximum is a part of the total.
        for cause in Cause::ALL {
            let [total, max] =
                [Figure::delay(cause), Figure::maximum(cause)].map(|figure| row.figures.get(figure));
            assert!(max <= total || max.is_none(), "{} {cause:?}: {max:?} of {total:?}", source.name());
        }
    }
    Ok(())
}

/// Who it is.
fn identity(row: &TaskRow, source: TaskSource, proc: &Proc) {
    let name = source.name();
    assert_eq!((row.comm.as_str(), row.nice), ("python3", 5), "{name}");
    assert_eq!((row.process(), row.ppid), (row.key.pid, Some(proc.field(4) as u32)), "{name}");
    assert_eq!(row.uid.map(u64::from), Some(proc.number("Uid")), "{name}");
    assert_eq!(row.policy.map(u64::from), Some(proc.field(41)), "{name}");
    assert_eq!(row.accounting, Accounting::On, "{name}");
    let state = if source == TaskSource::Taskstats { None } else { Some(b'T') };
    assert_eq!(row.state, state, "{name}");
    let started_ns = proc.field(22) * 10_000_000;
    assert!(row.key.start.0.abs_diff(started_ns) <= 20_000_000, "{name}: {:?} {started_ns}", row.key);
}
