//! `hw.acpi.battery.*`: all batteries taken together. acpi(4), acpi_battery(4).

use super::integer;
use crate::linux::power_supply::{BatteryStatus, PowerSupply};
use crate::name::Name;

const DISCHARGING: i32 = 1;
const CHARGING: i32 = 2;
const CRITICAL: i32 = 4;
/// All bits: there is no battery.
const NOT_PRESENT: i32 = DISCHARGING | CHARGING | CRITICAL;

/// The nodes `state`, `life` (per cent), `time` (minutes, −1 for unknown) and `rate` (milliwatts, −1), as far as they are
/// there. None where there is no battery.
pub fn parse(state: &[u8], life: &[u8], time: &[u8], rate: &[u8]) -> Option<PowerSupply> {
    let state = integer(state).ok().filter(|state| *state != NOT_PRESENT)?;
    let positive = |bytes| integer(bytes).ok().and_then(|value| u64::try_from(value).ok());
    let percent = positive(life).filter(|percent| *percent <= 100);
    Some(PowerSupply {
        name: Name::new(b"acpi"),
        is_battery: true,
        present: true,
        status: match state {
            _ if state & DISCHARGING != 0 => BatteryStatus::Discharging,
            _ if state & CHARGING != 0 => BatteryStatus::Charging,
            // At rest: full, or held below it.
            _ if percent == Some(100) => BatteryStatus::Full,
            _ => BatteryStatus::NotCharging,
        },
        capacity_percent: percent,
        minutes_left: positive(time),
        power_now_uw: positive(rate).map(|milliwatts| milliwatts.saturating_mul(1000)),
        ..PowerSupply::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::BatteryTotal;

    fn supply(state: i32, life: i32, time: i32) -> Option<PowerSupply> {
        parse(&state.to_le_bytes(), &life.to_le_bytes(), &time.to_le_bytes(), &[])
    }

    #[test]
    fn bits_are_states_and_minus_one_is_unknown() {
        let discharging = supply(1, 74, 155).unwrap();
        let total = BatteryTotal::new(&[discharging]).unwrap();
        assert_eq!((total.status, total.minutes_left), (BatteryStatus::Discharging, Some(155)));
        assert_eq!(total.charge.map(|charge| charge.percent().round()), Some(74.0));
        assert_eq!(supply(2, 74, -1).unwrap().minutes_left, None);
        assert_eq!(supply(0, 100, -1).unwrap().status, BatteryStatus::Full);
        assert_eq!(supply(7, 0, -1), None);
        assert_eq!(supply(2, -1, 0).unwrap().capacity_percent, None);
        assert_eq!(parse(&[], &[], &[], &[]), None);
    }
}
