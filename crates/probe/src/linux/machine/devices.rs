//! Files of devices that come and go.

use facts::cursor::Cursor;
use facts::linux::backlight::{self, Backlight};
use facts::linux::cpufreq::scaling_kilohertz;
use facts::linux::net_attributes::{self, Link, LinkKind};
use facts::linux::power_supply::PowerSupply;
use facts::linux::sensors::{Temperature, millidegrees};
use facts::linux::zram::Zram;
use facts::name::Name;
use facts::sample::Absence;
use rustix::fs::RawDir;

use crate::linux::directories::{KeptDirectory, natural_order};
use crate::linux::files::{Buffer, Extent, KeptFile};
use crate::roots::MachineDirectory;

/// Fills the list of links. A link that was removed and added again under its name between two samples is found at once: the
/// directory is listed again if one is gone.
pub(super) fn fill_links(
    buffer: &mut Buffer,
    directory: &mut Option<KeptDirectory<LinkFiles>>,
    list: &mut Vec<Link>,
    is_due: bool,
    with_speed: bool,
) -> Result<(), Absence> {
    let directory = directory.as_mut().ok_or(Absence::Unsupported)?;
    for _ in 0..2 {
        list.clear();
        let has_gone = directory.read(|files| files.read(buffer, is_due).map(|link| list.push(link)));
        if !has_gone {
            break;
        }
        directory.rescan(buffer, |buffer, directory, name| {
            Some(LinkFiles::open(buffer, directory, name, with_speed))
        });
    }
    Ok(())
}

/// Fills a list with one entry of each device that still answers.
pub(super) fn fill_list<E, T>(
    directory: &mut Option<KeptDirectory<E>>,
    list: &mut Vec<T>,
    mut read: impl FnMut(&mut E) -> Result<T, Absence>,
) -> Result<(), Absence> {
    list.clear();
    let directory = directory.as_mut().ok_or(Absence::Unsupported)?;
    directory.read(|device| read(device).map(|value| list.push(value)));
    Ok(())
}

/// /sys/class/net/NAME/{operstate,carrier,speed}.
#[derive(Debug)]
pub(super) struct LinkFiles {
    last: Link,
    state: KeptFile,
    carrier: Option<KeptFile>,
    speed: Option<KeptFile>,
}

impl LinkFiles {
    pub(super) fn open(
        buffer: &mut Buffer,
        directory: &MachineDirectory,
        name: &str,
        with_speed: bool,
    ) -> Self {
        let file = |attribute| KeptFile::open(directory, &format!("{name}/{attribute}"), Extent::Whole);
        let index = file("ifindex").parse(buffer, |bytes| Ok(Cursor::new(bytes).number()));
        let index = index.ok().flatten().and_then(|index| u32::try_from(index).ok());
        let mut read = |attribute| {
            buffer
                .read_once(directory, &format!("{name}/{attribute}"))
                .map(<[u8]>::to_vec)
                .unwrap_or_default()
        };
        let is_radio = directory.look_at(&format!("{name}/phy80211")).is_ok();
        let kind = match LinkKind::new(&read("type"), &read("uevent"), is_radio) {
            LinkKind::Ethernet if name == "lo" => LinkKind::Loopback,
            kind => kind,
        };
        Self {
            last: Link { name: Name::new(name.as_bytes()), index, kind, ..Link::default() },
            state: file("operstate"),
            carrier: with_speed.then(|| file("carrier")),
            speed: with_speed.then(|| file("speed")),
        }
    }

    /// Its state, looked at again where that is due.
    pub(super) fn read(&mut self, buffer: &mut Buffer, is_due: bool) -> Result<Link, Absence> {
        if !is_due {
            return Ok(self.last);
        }
        let link = &mut self.last;
        // A loopback's state never says anything.
        if !link.is_loopback() {
            link.state = self.state.parse(buffer, |bytes| Ok(net_attributes::operational_state(bytes)))?;
        }
        // Both are EINVAL while the interface is down: absent, not an error.
        link.carrier =
            self.carrier.as_ref().and_then(|file| file.parse(buffer, net_attributes::carrier).ok());
        link.speed_mbit =
            self.speed.as_ref().and_then(|file| file.parse(buffer, net_attributes::speed_mbit).ok()?);
        Ok(*link)
    }
}

/// /sys/class/power_supply/NAME/uevent.
#[derive(Debug)]
pub(super) struct SupplyFile {
    name: Name,
    uevent: KeptFile,
}

impl SupplyFile {
    pub(super) fn open(directory: &MachineDirectory, name: &str) -> Self {
        let uevent = KeptFile::open(directory, &format!("{name}/uevent"), Extent::Whole);
        Self { name: Name::new(name.as_bytes()), uevent }
    }

    pub(super) fn read(&self, buffer: &mut Buffer) -> Result<PowerSupply, Absence> {
        let mut supply = PowerSupply { name: self.name, ..PowerSupply::default() };
        self.uevent.parse(buffer, |bytes| supply.parse(bytes))?;
        Ok(supply)
    }
}

/// The temperatures of one chip or zone.
#[derive(Debug)]
pub(super) struct SensorFiles(Vec<SensorFile>);

#[derive(Debug)]
struct SensorFile {
    device: Name,
    chip: Name,
    label: Name,
    input: KeptFile,
}

impl SensorFiles {
    /// /sys/class/hwmon/NAME/temp*_input.
    pub(super) fn open_hwmon(
        buffer: &mut Buffer,
        directory: &MachineDirectory,
        name: &str,
        cpu_only: bool,
    ) -> Option<Self> {
        let chip = first_line(buffer, directory, &format!("{name}/name"))?;
        let mut inputs = temperature_inputs(directory, name);
        inputs.sort_by(|a, b| natural_order(a.as_bytes(), b.as_bytes()));
        let sensor = |input: &String| SensorFile {
            device: Name::new(name.as_bytes()),
            chip,
            label: first_line(
                buffer,
                directory,
                &format!("{name}/{}_label", input.trim_end_matches("_input")),
            )
            .unwrap_or_else(|| Name::new(input.trim_end_matches("_input").as_bytes())),
            input: KeptFile::open(directory, &format!("{name}/{input}"), Extent::Whole),
        };
        Self::chosen(inputs.iter().map(sensor).collect(), cpu_only)
    }

    /// /sys/class/thermal/thermal_zoneN/temp.
    pub(super) fn open_thermal(
        buffer: &mut Buffer,
        directory: &MachineDirectory,
        name: &str,
        cpu_only: bool,
    ) -> Option<Self> {
        if !name.starts_with("thermal_zone") {
            return None;
        }
        let label = first_line(buffer, directory, &format!("{name}/type"))?;
        let input = KeptFile::open(directory, &format!("{name}/temp"), Extent::Whole);
        Self::chosen(
            vec![SensorFile {
                device: Name::new(name.as_bytes()),
                chip: Name::new(b"thermal_zone"),
                label,
                input,
            }],
            cpu_only,
        )
    }

    /// All of a chip's sensors, or of a CPU's those that stand for the whole of it.
    fn chosen(mut sensors: Vec<SensorFile>, cpu_only: bool) -> Option<Self> {
        if cpu_only {
            sensors.retain(|sensor| sensor.unread().is_cpu());
            if sensors.iter().any(|sensor| sensor.unread().is_package()) {
                sensors.retain(|sensor| sensor.unread().is_package());
            }
        }
        (!sensors.is_empty()).then_some(Self(sensors))
    }

    /// A sensor that does not answer (a disk that sleeps, a GPU that is off) is listed without a value.
    pub(super) fn read(&self, buffer: &mut Buffer, list: &mut Vec<Temperature>) -> Result<(), Absence> {
        for sensor in &self.0 {
            let read = sensor.input.parse(buffer, millidegrees);
            if read == Err(Absence::Gone) {
                return Err(Absence::Gone);
            }
            list.push(Temperature { millidegrees: read.ok(), ..sensor.unread() });
        }
        Ok(())
    }
}

impl SensorFile {
    fn unread(&self) -> Temperature {
        Temperature { device: self.device, chip: self.chip, label: self.label, millidegrees: None }
    }
}

/// The names `temp*_input` in a chip's directory.
fn temperature_inputs(directory: &MachineDirectory, name: &str) -> Vec<String> {
    let Ok(chip) = directory.directory_at(name) else { return Vec::new() };
    let mut memory = Vec::with_capacity(4096);
    let mut listing = RawDir::new(chip, memory.spare_capacity_mut());
    let mut inputs = Vec::new();
    while let Some(Ok(entry)) = listing.next() {
        let name = entry.file_name().to_str().unwrap_or_default();
        if name.starts_with("temp") && name.ends_with("_input") {
            inputs.push(name.to_owned());
        }
    }
    inputs
}

fn first_line(buffer: &mut Buffer, directory: &MachineDirectory, path: &str) -> Option<Name> {
    let bytes = buffer.read_once(directory, path).ok()?;
    Some(Name::new(bytes.trim_ascii())).filter(|name| !name.as_bytes().is_empty())
}

/// /sys/block/zramN/mm_stat.
#[derive(Debug)]
pub(super) struct ZramFile(KeptFile);

impl ZramFile {
    pub(super) fn open(directory: &MachineDirectory, name: &str) -> Option<Self> {
        let path = format!("{name}/mm_stat");
        name.starts_with("zram").then(|| Self(KeptFile::open(directory, &path, Extent::Whole)))
    }

    pub(super) fn add_to(&self, buffer: &mut Buffer, sum: &mut Zram) -> Result<(), Absence> {
        self.0.parse(buffer, |bytes| sum.add(bytes))
    }
}

/// /sys/class/backlight/NAME.
#[derive(Debug)]
pub(super) struct BacklightFiles {
    name: Name,
    maximum: u64,
    brightness: KeptFile,
}

impl BacklightFiles {
    pub(super) fn open(buffer: &mut Buffer, directory: &MachineDirectory, name: &str) -> Option<Self> {
        let file = |attribute| KeptFile::open(directory, &format!("{name}/{attribute}"), Extent::Whole);
        let maximum = file("max_brightness").parse(buffer, backlight::steps).ok()?;
        Some(Self { name: Name::new(name.as_bytes()), maximum, brightness: file("brightness") })
    }

    pub(super) fn read(&self, buffer: &mut Buffer) -> Result<Backlight, Absence> {
        let brightness = self.brightness.parse(buffer, backlight::steps)?;
        Ok(Backlight { name: self.name, brightness, maximum: self.maximum })
    }
}

/// /sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq.
#[derive(Debug)]
pub(super) struct FrequencyFile(KeptFile);

impl FrequencyFile {
    pub(super) fn open(directory: &MachineDirectory, name: &str) -> Option<Self> {
        let number = name.strip_prefix("cpu")?;
        let is_cpu = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let path = format!("{name}/cpufreq/scaling_cur_freq");
        is_cpu.then(|| KeptFile::open(directory, &path, Extent::Whole)).filter(KeptFile::is_open).map(Self)
    }

    pub(super) fn read(&self, buffer: &mut Buffer) -> Result<Option<u64>, Absence> {
        self.0.parse(buffer, scaling_kilohertz)
    }
}
