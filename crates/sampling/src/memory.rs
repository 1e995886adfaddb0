//! Memory as every view shows it: if the kernel does not report available memory, by the kernel's formula.

use facts::linux::meminfo::MemInfoField;
use facts::linux::version::KernelVersion;
use facts::memory::{Available, Emulation, MemoryReport, available};
use facts::sample::{Absence, Sample};
use facts::source::{Source, Wanted};
use facts::unit::Bytes;
use probe::roots::RootError;
use probe::survey::Survey;
use probe::{Probe, Request, Roots};

/// When available memory is computed by the kernel's formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formula {
    /// If the kernel does not report it (before 3.14).
    #[default]
    IfNeeded,
    /// Always.
    Always,
}

/// Makes reports of samples.
#[derive(Debug)]
pub(crate) struct MemoryReader {
    emulator: Option<Emulator>,
    formula: Formula,
}

/// The values of the machine that the formula needs and no sample holds.
#[derive(Clone, Copy, Debug)]
struct Emulator {
    version: KernelVersion,
    min_free: Option<Bytes>,
    page_bytes: u64,
}

impl MemoryReader {
    /// Opens what `request` wants and takes the first reading, which shows if the kernel says what is available. If it does not
    /// (before 3.14), or if the formula is wanted anyway, what the formula needs is read as well.
    ///
    /// # Errors
    /// If the root cannot be opened.
    pub(crate) fn open(
        roots: &Roots,
        request: Request,
        formula: Formula,
        sample: &mut Sample,
    ) -> Result<(Self, Probe), RootError> {
        let wants_memory = request.wanted.has_any([Source::MemInfo, Source::AvailableMemory]);
        let with_formula = || Request {
            wanted: request.wanted.union(Wanted::from([Source::MemInfo, Source::ZoneInfo, Source::VmStat])),
            ..request.clone()
        };
        let is_forced = formula == Formula::Always && wants_memory;
        let mut probe =
            if is_forced { Probe::open(roots, &with_formula())? } else { Probe::open(roots, &request)? };
        probe.sample(sample);
        if !is_forced {
            let says_available =
                || sample.memory.get().is_ok_and(|memory| memory.get(MemInfoField::MemAvailable).is_some());
            if !wants_memory || says_available() {
                return Ok((Self { emulator: None, formula }, probe));
            }
            probe = Probe::open(roots, &with_formula())?;
            probe.sample(sample);
        }
        let mut survey = Survey::open(roots)?;
        // If the release cannot be read, the newest formula is used.
        let version = survey.kernel_version().unwrap_or(KernelVersion::new(u16::MAX, 0));
        let emulator = Emulator { version, min_free: survey.min_free(), page_bytes: survey.page_bytes() };
        Ok((Self { emulator: Some(emulator), formula }, probe))
    }

    /// For samples that were recorded: what is available is among them.
    pub(crate) fn of_past() -> Self {
        Self { emulator: None, formula: Formula::IfNeeded }
    }

    /// Returns the available memory; none if neither the kernel nor the formula says it.
    pub(crate) fn available(&self, sample: &Sample) -> Option<Available> {
        available(sample.memory.get().ok()?, self.emulation(sample), self.formula == Formula::Always)
    }

    /// Everything that is known of a sample's memory.
    pub(crate) fn report(&self, sample: &Sample) -> Result<MemoryReport, Absence> {
        MemoryReport::new(sample, self.emulation(sample), self.formula == Formula::Always)
    }

    fn emulation<'a>(&self, sample: &'a Sample) -> Option<Emulation<'a>> {
        self.emulator.map(|Emulator { version, min_free, page_bytes }| Emulation {
            version,
            zones: sample.zones.get().ok(),
            vmstat: sample.vmstat.get().ok(),
            min_free,
            page_bytes,
        })
    }
}
