//! Temperatures.

use facts::linux::sensors::{Temperature, millidegrees};
use facts::name::Name;
use facts::sample::{Absence, Sample};
use rustix::fs::RawDir;

use crate::linux::directories::{KeptDirectory, natural_order};
use crate::linux::files::{Buffer, Extent, KeptFile};
use crate::linux::part::{Changes, Part};
use crate::roots::MachineDirectory;

/// /sys/class/hwmon and /sys/class/thermal.
#[derive(Debug)]
pub(super) struct Sensors {
    hwmon: Option<KeptDirectory<SensorFiles>>,
    thermal: Option<KeptDirectory<SensorFiles>>,
    cpu_only: bool,
}

impl Sensors {
    pub(super) fn open(root: &MachineDirectory, cpu_only: bool) -> Self {
        Self {
            hwmon: KeptDirectory::open(root, "sys/class/hwmon"),
            thermal: KeptDirectory::open(root, "sys/class/thermal"),
            cpu_only,
        }
    }
}

impl Part for Sensors {
    fn rescan(&mut self, buffer: &mut Buffer) {
        let cpu_only = self.cpu_only;
        if let Some(hwmon) = &mut self.hwmon {
            hwmon.rescan(buffer, |buffer, directory, name| {
                SensorFiles::open_hwmon(buffer, directory, name, cpu_only)
            });
        }
        if let Some(thermal) = &mut self.thermal {
            thermal.rescan(buffer, |buffer, directory, name| {
                SensorFiles::open_thermal(buffer, directory, name, cpu_only)
            });
        }
    }

    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        sample.temperatures.fill(|list| {
            list.clear();
            if self.hwmon.is_none() && self.thermal.is_none() {
                return Err(Absence::Unsupported);
            }
            read_all(&mut self.hwmon, buffer, list);
            read_all(&mut self.thermal, buffer, list);
            Ok(())
        });
    }
}

fn read_all(
    directory: &mut Option<KeptDirectory<SensorFiles>>,
    buffer: &mut Buffer,
    list: &mut Vec<Temperature>,
) {
    if let Some(directory) = directory {
        directory.read(|files| files.read(buffer, list));
    }
}

/// The temperatures of one chip or zone.
#[derive(Debug)]
struct SensorFiles(Vec<SensorFile>);

#[derive(Debug)]
struct SensorFile {
    device: Name,
    chip: Name,
    label: Name,
    input: KeptFile,
}

impl SensorFiles {
    /// /sys/class/hwmon/NAME/temp*_input.
    fn open_hwmon(
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
    fn open_thermal(
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
    fn read(&self, buffer: &mut Buffer, list: &mut Vec<Temperature>) -> Result<(), Absence> {
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
