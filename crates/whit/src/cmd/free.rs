//! `whit free`.

use std::process::ExitCode;

use facts::linux::meminfo::MemInfoField;
use facts::memory::{Emulation, MemoryReport};
use facts::sample::Sample;
use facts::source::{Source, Wanted};
use probe::survey::Survey;
use probe::{Probe, Request, Roots};

use crate::args::FreeArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::show::{memory, memory_json::MemoryJson};

/// Reads the memory and prints it, once or every so often.
pub(crate) fn run(args: &FreeArgs) -> Result<ExitCode, Failure> {
    let mut wanted = Wanted::from([
        Source::MemInfo,
        Source::PressureMemory,
        Source::Cgroup,
        Source::ArcStats,
        Source::Zram,
    ]);
    if args.layout.is_one_line && !args.is_json {
        wanted = Wanted::from([Source::MemInfo]);
    }
    let request = |wanted| Request { wanted, ..Request::default() };
    let mut probe = Probe::open(&args.roots, &request(wanted))?;
    let mut sample = Sample::default();
    probe.sample(&mut sample);
    // Only a kernel that does not say MemAvailable, or a question for it, makes the watermarks worth their price.
    let says_available =
        sample.memory.get().is_ok_and(|memory| memory.get(MemInfoField::MemAvailable).is_some());
    let emulator = if args.emulate || !says_available {
        wanted = wanted.union(Wanted::from([Source::ZoneInfo, Source::VmStat]));
        probe = Probe::open(&args.roots, &request(wanted))?;
        probe.sample(&mut sample);
        Some(Emulator::open(&args.roots)?)
    } else {
        None
    };

    let mut output = Output::stdout();
    let mut ticker = args.repeat.interval.map(crate::ticker::Ticker::start);
    let mut remaining = args.repeat.count;
    loop {
        let emulation = emulator.as_ref().map(|emulator| emulator.emulation(&sample));
        let report = MemoryReport::new(&sample, emulation, args.emulate)
            .map_err(|absence| Failure::unreadable("/proc/meminfo", absence))?;
        let mut text = String::with_capacity(1024);
        if args.is_json {
            text = serde_json::to_string(&MemoryJson::new(&report, sample.clock.realtime))
                .map_err(Failure::internal)?;
            text.push('\n');
        } else {
            memory::write(&report, args.layout, &mut text);
        }
        remaining = remaining.map(|remaining| remaining - 1);
        let is_last = remaining == Some(0) || ticker.is_none();
        if !is_last && !args.is_json && !args.layout.is_one_line {
            text.push('\n');
        }
        output.write(text.as_bytes())?;
        match &mut ticker {
            Some(ticker) if !is_last => ticker.wait(),
            _ => return Ok(ExitCode::SUCCESS),
        }
        probe.sample(&mut sample);
    }
}

/// What the formula needs of the machine and no sample holds.
struct Emulator {
    version: facts::linux::version::KernelVersion,
    min_free: Option<facts::unit::Bytes>,
    page_bytes: u64,
}

impl Emulator {
    fn open(roots: &Roots) -> Result<Self, Failure> {
        let mut survey = Survey::open(roots)?;
        // A kernel whose release cannot be read is taken for one of today.
        let newest = facts::linux::version::KernelVersion::new(u16::MAX, 0);
        let version = survey.kernel_version().unwrap_or(newest);
        Ok(Self { version, min_free: survey.min_free(), page_bytes: survey.page_bytes() })
    }

    fn emulation<'a>(&self, sample: &'a Sample) -> Emulation<'a> {
        Emulation {
            version: self.version,
            zones: sample.zones.get().ok(),
            vmstat: sample.vmstat.get().ok(),
            min_free: self.min_free,
            page_bytes: self.page_bytes,
        }
    }
}
