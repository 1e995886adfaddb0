//! A machine's batteries taken together.

use crate::linux::power_supply::{BatteryStatus, PowerSupply};
use crate::unit::Ratio;

/// All batteries that are in their bays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatteryTotal {
    /// Charging if one is, else discharging if one is, else what the first says.
    pub status: BatteryStatus,
    /// Energy left of energy when full; where the drivers count charge instead, of that; else the firmware's per cent,
    /// averaged.
    pub charge: Option<Ratio>,
    /// Until empty or full, at the power drawn now; `None` if no power flows or it is not known.
    pub minutes_left: Option<u64>,
    /// Power drawn or taken.
    pub power_uw: Option<u64>,
}

/// The content of one battery, in one unit: micro-watt-hours, or micro-ampere-hours where only those are known.
struct Content {
    now: u64,
    full: u64,
    /// Per hour.
    flow: Option<u64>,
}

impl BatteryTotal {
    /// From the entries of /sys/class/power_supply; `None` if there is no battery.
    pub fn new(supplies: &[PowerSupply]) -> Option<Self> {
        let batteries = || supplies.iter().filter(|supply| supply.is_battery && supply.present);
        let first = batteries().next()?;
        let any = |status| batteries().any(|battery| battery.status == status).then_some(status);
        let status = any(BatteryStatus::Charging).or(any(BatteryStatus::Discharging)).unwrap_or(first.status);

        // All in energy if all have it, else all in charge: the two are never added.
        let energies = || batteries().map(energy);
        let charges = || batteries().map(charge);
        let sum = if energies().all(|content| content.is_some()) {
            energies().flatten().reduce(add)
        } else if charges().all(|content| content.is_some()) {
            charges().flatten().reduce(add)
        } else {
            None
        };
        let power_uw = batteries().filter_map(power_uw).reduce(u64::saturating_add);
        let from_content = sum.as_ref().and_then(|sum| Ratio::of(sum.now.min(sum.full), sum.full));
        let minutes_left = sum.and_then(|sum| {
            let to_go = match status {
                BatteryStatus::Discharging => sum.now,
                BatteryStatus::Charging => sum.full.saturating_sub(sum.now),
                _ => return None,
            };
            let flow = sum.flow.filter(|flow| *flow > 0)?;
            Some(to_go.saturating_mul(60) / flow)
        });
        let minutes_left = minutes_left.or_else(|| batteries().find_map(|battery| battery.minutes_left));
        let percents = || batteries().filter_map(|battery| battery.capacity_percent);
        let from_firmware = Ratio::of(percents().sum::<u64>(), percents().count() as u64 * 100);
        Some(Self { status, charge: from_content.or(from_firmware), minutes_left, power_uw })
    }
}

fn energy(battery: &PowerSupply) -> Option<Content> {
    Some(Content { now: battery.energy_now_uwh?, full: battery.energy_full_uwh?, flow: power_uw(battery) })
}

/// As the driver reports it, otherwise voltage × current.
fn power_uw(battery: &PowerSupply) -> Option<u64> {
    let product = battery.voltage_now_uv.zip(battery.current_now_ua);
    battery.power_now_uw.or(product.map(|(uv, ua)| product_of_micros(uv, ua)))
}

/// The current as the driver reports it, otherwise power / voltage.
fn charge(battery: &PowerSupply) -> Option<Content> {
    let voltage = battery.voltage_now_uv.filter(|voltage| *voltage > 0);
    let quotient = battery.power_now_uw.zip(voltage);
    let quotient = quotient.map(|(uw, uv)| narrowed(u128::from(uw) * 1_000_000 / u128::from(uv)));
    Some(Content {
        now: battery.charge_now_uah?,
        full: battery.charge_full_uah?,
        flow: battery.current_now_ua.or(quotient),
    })
}

/// Micros of a product of two figures in micros.
fn product_of_micros(a: u64, b: u64) -> u64 {
    narrowed(u128::from(a) * u128::from(b) / 1_000_000)
}

fn narrowed(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn add(a: Content, b: Content) -> Content {
    // A battery at rest says no flow or 0; then the other's is the machine's.
    let flow = match (a.flow, b.flow) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    Content { now: a.now.saturating_add(b.now), full: a.full.saturating_add(b.full), flow }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn battery(now: u64, full: u64, power: u64, status: BatteryStatus) -> PowerSupply {
        PowerSupply {
            is_battery: true,
            present: true,
            status,
            energy_now_uwh: Some(now),
            energy_full_uwh: Some(full),
            power_now_uw: Some(power),
            ..PowerSupply::default()
        }
    }

    #[test]
    fn two_batteries_are_one_and_the_idle_one_counts() {
        let supplies = [
            battery(20_000_000, 25_000_000, 0, BatteryStatus::Unknown),
            battery(10_000_000, 50_000_000, 10_000_000, BatteryStatus::Discharging),
        ];
        let total = BatteryTotal::new(&supplies).unwrap();
        assert_eq!(total.charge, Some(Ratio(0.4)));
        assert_eq!((total.status, total.minutes_left), (BatteryStatus::Discharging, Some(180)));
    }

    /// Tests all combinations of what drivers count: a battery of 50 Wh or 4.166 Ah at 12 V, half full, from which 10 W or 0.833 A are
    /// drawn.
    #[test]
    fn whatever_a_driver_counts_the_figures_are_the_same() {
        let energy = "ENERGY_NOW=25000000\nENERGY_FULL=50000000\n";
        let charge = "CHARGE_NOW=2083333\nCHARGE_FULL=4166666\n";
        let design = "CHARGE_NOW=2083333\nCHARGE_FULL_DESIGN=4166666\n";
        let percent = "CAPACITY=50\n";
        let (power, current, voltage) =
            ("POWER_NOW=10000000\n", "CURRENT_NOW=833333\n", "VOLTAGE_NOW=12000000\n");
        let negative = "CURRENT_NOW=-833333\n";
        for content in [energy, charge, design] {
            for (flow, has_watts) in [
                (power.to_owned() + voltage, true),
                (current.to_owned() + voltage, true),
                (negative.to_owned() + voltage, true),
                (power.to_owned() + current + voltage, true),
                (power.replace('=', "=-") + voltage, true),
                (String::new(), false),
            ] {
                for more in ["", percent] {
                    let lines = format!("TYPE=Battery\nSTATUS=Discharging\n{content}{flow}{more}");
                    let text: String = lines.lines().map(|line| format!("POWER_SUPPLY_{line}\n")).collect();
                    let mut supply = PowerSupply::default();
                    supply.parse(text.as_bytes()).unwrap();
                    let total = BatteryTotal::new(&[supply]).unwrap();
                    assert_eq!(total.charge, Some(Ratio(0.5)), "{text}");
                    // 150 minutes and 10 W, but for what integers round off.
                    let is_near = |value: Option<u64>, wanted: u64| {
                        value.is_some_and(|value| value.abs_diff(wanted) <= 10)
                    };
                    assert_eq!(is_near(total.power_uw, 10_000_000), has_watts, "{text}{total:?}");
                    assert_eq!(
                        total.minutes_left.is_some_and(|minutes| (149..=151).contains(&minutes)),
                        has_watts,
                        "{text}{total:?}"
                    );
                    assert_eq!(total.power_uw.is_some(), has_watts);
                }
            }
        }
    }

    #[test]
    fn energy_and_charge_are_not_added() {
        let charge = PowerSupply {
            is_battery: true,
            present: true,
            charge_now_uah: Some(1),
            charge_full_uah: Some(2),
            capacity_percent: Some(50),
            ..PowerSupply::default()
        };
        let mixed = [battery(5, 10, 1, BatteryStatus::Full), charge];
        let total = BatteryTotal::new(&mixed).unwrap();
        assert_eq!((total.charge, total.minutes_left), (Some(Ratio(0.5)), None));
        assert_eq!(BatteryTotal::new(&[charge]).unwrap().charge, Some(Ratio(0.5)));
        assert_eq!(BatteryTotal::new(&[PowerSupply::default()]), None);
    }
}
