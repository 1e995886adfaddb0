//! /sys/class/power_supply/*/uevent: batteries and mains. Documentation/ABI/testing/sysfs-class-power.

use crate::cursor::{Cursor, Malformed, lines};
use crate::name::Name;

/// The state of a battery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatteryStatus {
    /// The driver does not know, or whit does not know the driver's word.
    #[default]
    Unknown,
    /// Giving.
    Discharging,
    /// Taking.
    Charging,
    /// On mains, neither, below full.
    NotCharging,
    /// Full.
    Full,
}

/// One entry of /sys/class/power_supply. Energies in micro-watt-hours, or charges in micro-ampere-hours where the
/// driver counts those; never both added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerSupply {
    /// `BAT0`.
    pub name: Name,
    /// A battery of the machine; false for mains and for the batteries of mice and keyboards (scope "Device").
    pub is_battery: bool,
    /// True if mains is plugged in; none for a battery.
    pub online: Option<bool>,
    /// The state of the battery.
    pub status: BatteryStatus,
    /// A battery is in the bay; true where the driver does not say.
    pub present: bool,
    /// Charge in per cent, as the firmware says.
    pub capacity_percent: Option<u64>,
    /// Energy left.
    pub energy_now_uwh: Option<u64>,
    /// Energy when full, worn as it is.
    pub energy_full_uwh: Option<u64>,
    /// Power drawn or taken; some drivers sign it.
    pub power_now_uw: Option<u64>,
    /// Charge left.
    pub charge_now_uah: Option<u64>,
    /// Charge when full.
    pub charge_full_uah: Option<u64>,
    /// Current drawn or taken.
    pub current_now_ua: Option<u64>,
    /// Voltage now.
    pub voltage_now_uv: Option<u64>,
    /// Time until empty, by the firmware's calculation; only on FreeBSD.
    pub minutes_left: Option<u64>,
}

impl PowerSupply {
    /// Fills from the bytes of a uevent file; `name` stays.
    ///
    /// # Errors
    /// If no line says the type.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.parse_of_type(bytes, None)
    }

    /// Parses it with the content of the file `type` beside it: before Linux 5.8 uevent does not have the type.
    ///
    /// # Errors
    /// If nothing says the type.
    pub fn parse_of_type(&mut self, bytes: &[u8], kind_file: Option<&[u8]>) -> Result<(), Malformed> {
        *self = Self { name: self.name, present: true, ..Self::default() };
        let (mut kind, mut of_device, mut has_status) = (None, false, false);
        let (mut energy_design_uwh, mut charge_design_uah) = (None, None);
        for mut line in lines(bytes) {
            if !line.skip(b"POWER_SUPPLY_") {
                continue;
            }
            let Some(key) = line.until(b'=') else { continue };
            let value = line.rest();
            let mut magnitude = || line.signed().map(i64::unsigned_abs);
            match key {
                b"TYPE" => kind = Some(value),
                b"SCOPE" => of_device = value == b"Device",
                b"ONLINE" => self.online = magnitude().map(|value| value != 0),
                b"PRESENT" => self.present = magnitude() != Some(0),
                b"STATUS" => {
                    self.status = BatteryStatus::from_word(value);
                    has_status = true;
                }
                b"CAPACITY" => self.capacity_percent = magnitude(),
                b"ENERGY_NOW" => self.energy_now_uwh = magnitude(),
                b"ENERGY_FULL" => self.energy_full_uwh = magnitude(),
                b"POWER_NOW" => self.power_now_uw = magnitude(),
                b"CHARGE_NOW" => self.charge_now_uah = magnitude(),
                b"CHARGE_FULL" => self.charge_full_uah = magnitude(),
                b"ENERGY_FULL_DESIGN" => energy_design_uwh = magnitude(),
                b"CHARGE_FULL_DESIGN" => charge_design_uah = magnitude(),
                b"CURRENT_NOW" => self.current_now_ua = magnitude(),
                b"VOLTAGE_NOW" => self.voltage_now_uv = magnitude(),
                _ => {}
            }
        }
        // Some drivers know only what it could hold when it was new.
        self.energy_full_uwh = self.energy_full_uwh.or(energy_design_uwh);
        self.charge_full_uah = self.charge_full_uah.or(charge_design_uah);
        // Without a type a battery shows by what it counts. Chargers have a status, too, and say whether they are plugged in.
        let counts = [self.capacity_percent, self.energy_now_uwh, self.charge_now_uah];
        let is_like_battery =
            counts.iter().any(|count| count.is_some()) || (has_status && self.online.is_none());
        let kind = kind
            .or(kind_file.map(<[u8]>::trim_ascii).filter(|kind| !kind.is_empty()))
            .or(is_like_battery.then_some(b"Battery"));
        self.is_battery = kind == Some(b"Battery") && !of_device;
        if self.is_battery {
            self.online = None;
        }
        let known = kind.is_some() || self.online.is_some();
        if known { Ok(()) } else { Err(Cursor::new(bytes).expected("POWER_SUPPLY_TYPE")) }
    }
}

impl BatteryStatus {
    fn from_word(word: &[u8]) -> Self {
        match word {
            b"Discharging" => Self::Discharging,
            b"Charging" => Self::Charging,
            b"Not charging" => Self::NotCharging,
            b"Full" => Self::Full,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mouse_is_no_battery_of_the_machine() {
        let mut supply = PowerSupply::default();
        supply
            .parse(b"POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_SCOPE=Device\nPOWER_SUPPLY_CAPACITY=50\n")
            .unwrap();
        assert!(!supply.is_battery);
        supply
            .parse(b"POWER_SUPPLY_STATUS=Discharging\nPOWER_SUPPLY_CAPACITY=50\nPOWER_SUPPLY_POWER_NOW=-5\n")
            .unwrap();
        assert!(supply.is_battery);
        assert_eq!((supply.status, supply.power_now_uw), (BatteryStatus::Discharging, Some(5)));
        // Before Linux 5.8, without a type: what it counts, its status, and the file beside it say what it is.
        let is_battery = |uevent: &str, kind: Option<&[u8]>| {
            let mut supply = PowerSupply::default();
            supply.parse_of_type(uevent.as_bytes(), kind).map(|()| supply.is_battery)
        };
        let charger = "POWER_SUPPLY_ONLINE=1\nPOWER_SUPPLY_STATUS=Charging\n";
        assert_eq!(is_battery("POWER_SUPPLY_ENERGY_NOW=5\n", None), Ok(true));
        assert_eq!(is_battery("POWER_SUPPLY_CHARGE_NOW=5\n", None), Ok(true));
        assert_eq!(is_battery("POWER_SUPPLY_STATUS=Full\n", None), Ok(true));
        assert_eq!(is_battery(charger, None), Ok(false));
        assert_eq!(is_battery("POWER_SUPPLY_NAME=BAT0\n", Some(b"Battery\n")), Ok(true));
        assert_eq!(is_battery("POWER_SUPPLY_CAPACITY=5\n", Some(b"UPS\n")), Ok(false));
        assert!(is_battery("POWER_SUPPLY_NAME=BAT0\n", None).is_err());
        supply.parse(b"POWER_SUPPLY_TYPE=Mains\nPOWER_SUPPLY_ONLINE=1\n").unwrap();
        assert_eq!((supply.is_battery, supply.online), (false, Some(true)));
    }
}
