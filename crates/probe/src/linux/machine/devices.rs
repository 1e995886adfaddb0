//! Devices that come and go and have one file each.

use facts::linux::backlight::{self, Backlight};
use facts::linux::cpufreq::{self, scaling_kilohertz};
use facts::linux::power_supply::PowerSupply;
use facts::linux::zram::Zram;
use facts::name::Name;
use facts::sample::{Absence, Sample};

use crate::linux::directories::KeptDirectory;
use crate::linux::files::{Buffer, Extent, KeptFile};
use crate::linux::part::{Changes, Part};
use crate::roots::MachineDirectory;

/// /sys/class/power_supply.
#[derive(Debug)]
pub(super) struct PowerSupplies(Option<KeptDirectory<SupplyFile>>);

impl PowerSupplies {
    pub(super) fn open(root: &MachineDirectory) -> Self {
        Self(KeptDirectory::open(root, "sys/class/power_supply"))
    }
}

impl Part for PowerSupplies {
    fn rescan(&mut self, buffer: &mut Buffer) {
        if let Some(supplies) = &mut self.0 {
            supplies
                .rescan(buffer, |buffer, directory, name| Some(SupplyFile::open(buffer, directory, name)));
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.power.fill(|list| fill_list(&mut self.0, list, |file| file.read(buffer)));
    }
}

/// /sys/class/backlight.
#[derive(Debug)]
pub(super) struct Backlights(Option<KeptDirectory<BacklightFiles>>);

impl Backlights {
    pub(super) fn open(root: &MachineDirectory) -> Self {
        Self(KeptDirectory::open(root, "sys/class/backlight"))
    }
}

impl Part for Backlights {
    fn rescan(&mut self, buffer: &mut Buffer) {
        if let Some(backlights) = &mut self.0 {
            backlights.rescan(buffer, BacklightFiles::open);
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.backlights.fill(|list| fill_list(&mut self.0, list, |files| files.read(buffer)));
    }
}

/// /sys/devices/system/cpu/cpu*/cpufreq, or else /proc/cpuinfo.
#[derive(Debug)]
pub(super) struct Frequencies {
    directory: Option<KeptDirectory<FrequencyFile>>,
    cpuinfo: KeptFile,
}

impl Frequencies {
    pub(super) fn open(root: &MachineDirectory) -> Self {
        Self {
            directory: KeptDirectory::open(root, "sys/devices/system/cpu"),
            cpuinfo: KeptFile::open(root, "proc/cpuinfo", Extent::Records),
        }
    }
}

impl Part for Frequencies {
    fn rescan(&mut self, buffer: &mut Buffer) {
        if let Some(directory) = &mut self.directory {
            directory.rescan(buffer, |_, directory, name| FrequencyFile::open(directory, name));
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.frequencies_khz.fill(|list| {
            list.clear();
            if let Some(directory) = &mut self.directory {
                directory.read(|file| file.read(buffer).map(|kilohertz| list.extend(kilohertz)));
            }
            if list.is_empty() {
                self.cpuinfo.parse(buffer, |bytes| {
                    cpufreq::cpuinfo_kilohertz(bytes, list);
                    Ok(())
                })?;
            }
            if list.is_empty() { Err(Absence::Unsupported) } else { Ok(()) }
        });
    }
}

/// /sys/block/zram*.
#[derive(Debug)]
pub(super) struct ZramDevices(Option<KeptDirectory<ZramFile>>);

impl ZramDevices {
    pub(super) fn open(root: &MachineDirectory) -> Self {
        Self(KeptDirectory::open(root, "sys/block"))
    }
}

impl Part for ZramDevices {
    fn rescan(&mut self, buffer: &mut Buffer) {
        if let Some(devices) = &mut self.0 {
            devices.rescan(buffer, |_, directory, name| ZramFile::open(directory, name));
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.zram.fill(|sum| {
            *sum = Zram::default();
            let devices = self.0.as_mut().ok_or(Absence::Unsupported)?;
            devices.read(|file| file.add_to(buffer, sum));
            Ok(())
        });
    }
}

/// Fills a list with one entry of each device that still answers.
fn fill_list<E, T>(
    directory: &mut Option<KeptDirectory<E>>,
    list: &mut Vec<T>,
    mut read: impl FnMut(&mut E) -> Result<T, Absence>,
) -> Result<(), Absence> {
    list.clear();
    let directory = directory.as_mut().ok_or(Absence::Unsupported)?;
    directory.read(|device| read(device).map(|value| list.push(value)));
    Ok(())
}

/// /sys/class/power_supply/NAME/uevent.
#[derive(Debug)]
struct SupplyFile {
    name: Name,
    /// The content of the file `type`, which uevent does not contain before Linux 5.8.
    kind: Option<Name>,
    uevent: KeptFile,
}

impl SupplyFile {
    fn open(buffer: &mut Buffer, directory: &MachineDirectory, name: &str) -> Self {
        let uevent = KeptFile::open(directory, &format!("{name}/uevent"), Extent::Whole);
        let kind = buffer.read_once(directory, &format!("{name}/type")).ok();
        let kind = kind.map(|kind| Name::new(kind.trim_ascii()));
        Self { name: Name::new(name.as_bytes()), kind, uevent }
    }

    fn read(&self, buffer: &mut Buffer) -> Result<PowerSupply, Absence> {
        let mut supply = PowerSupply { name: self.name, ..PowerSupply::default() };
        let kind = self.kind.as_ref().map(|kind| kind.as_bytes());
        self.uevent.parse(buffer, |bytes| supply.parse_of_type(bytes, kind))?;
        Ok(supply)
    }
}

/// /sys/block/zramN/mm_stat.
#[derive(Debug)]
struct ZramFile(KeptFile);

impl ZramFile {
    fn open(directory: &MachineDirectory, name: &str) -> Option<Self> {
        let path = format!("{name}/mm_stat");
        name.starts_with("zram").then(|| Self(KeptFile::open(directory, &path, Extent::Whole)))
    }

    fn add_to(&self, buffer: &mut Buffer, sum: &mut Zram) -> Result<(), Absence> {
        self.0.parse(buffer, |bytes| sum.add(bytes))
    }
}

/// /sys/class/backlight/NAME.
#[derive(Debug)]
struct BacklightFiles {
    name: Name,
    maximum: u64,
    brightness: KeptFile,
}

impl BacklightFiles {
    fn open(buffer: &mut Buffer, directory: &MachineDirectory, name: &str) -> Option<Self> {
        let file = |attribute| KeptFile::open(directory, &format!("{name}/{attribute}"), Extent::Whole);
        let maximum = file("max_brightness").parse(buffer, backlight::steps).ok()?;
        Some(Self { name: Name::new(name.as_bytes()), maximum, brightness: file("brightness") })
    }

    fn read(&self, buffer: &mut Buffer) -> Result<Backlight, Absence> {
        let brightness = self.brightness.parse(buffer, backlight::steps)?;
        Ok(Backlight { name: self.name, brightness, maximum: self.maximum })
    }
}

/// /sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq.
#[derive(Debug)]
struct FrequencyFile(KeptFile);

impl FrequencyFile {
    fn open(directory: &MachineDirectory, name: &str) -> Option<Self> {
        let number = name.strip_prefix("cpu")?;
        let is_cpu = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let path = format!("{name}/cpufreq/scaling_cur_freq");
        is_cpu.then(|| KeptFile::open(directory, &path, Extent::Whole)).filter(KeptFile::is_open).map(Self)
    }

    fn read(&self, buffer: &mut Buffer) -> Result<Option<u64>, Absence> {
        self.0.parse(buffer, scaling_kilohertz)
    }
}
