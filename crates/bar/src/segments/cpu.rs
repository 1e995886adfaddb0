//! How busy the CPUs are, and how warm.

use facts::rate::CpuShares;
use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::options::SegmentOptions as _;
use crate::{Segment, SegmentInput, Tone};
use text::template::{Unit, Value, push_heights};

pub(crate) const KIND: Kind = Kind {
    name: "cpu",
    about: "How busy the CPUs are, all together or each, and how warm the warmest package is.",
    fields: &[
        field("busy", "neither idle nor waiting for I/O, per cent"),
        field("user", "in user mode, per cent"),
        field("system", "in the kernel, per cent"),
        field("iowait", "idle while a task waited for block I/O, per cent"),
        field("steal", "given to others by the hypervisor, per cent"),
        field("busiest", "of the busiest CPU, per cent"),
        field("heights", "a little bar for each CPU"),
        field("temperature", "of the warmest package"),
        field("number", "with each: the CPU's"),
        field("cpus", "how many are online"),
    ],
    format: "cpu {busy}[ {temperature}]",
    thresholds: &[(Tone::Urgent, "temperature >= 95"), (Tone::Warning, "temperature >= 80")],
    options: &[("each", "true: the format for each CPU")],
    make: |options| {
        let is_each = options.flag("each")?;
        let with_cpus = is_each || options.mentions(KIND.format, &["busiest", "heights", "number", "cpus"]);
        let with_temperature = options.mentions(KIND.format, &["temperature"]);
        Ok(Box::new(Cpu { is_each, with_cpus, with_temperature, heights: String::new() }))
    },
    ..Kind::DEFAULT
};

struct Cpu {
    is_each: bool,
    /// A figure of single CPUs is shown.
    with_cpus: bool,
    with_temperature: bool,
    heights: String,
}

impl Segment for Cpu {
    fn wanted(&self) -> Wanted {
        let wanted = Wanted::from([if self.with_cpus { Source::Stat } else { Source::CpuTotal }]);
        if self.with_temperature { wanted.with(Source::CpuTemperatures) } else { wanted }
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let Ok(stat) = input.sample.stat.get() else { return };
        let warmest = if self.with_temperature { warmest_millidegrees(input) } else { None };
        if !self.with_cpus {
            return items.only(&values_of(input.rates.cpu, warmest));
        }
        let cpus = &input.rates.cpus;
        let busy = |shares: &Option<CpuShares>| shares.map(|shares| shares.busy.percent());
        self.heights.clear();
        push_heights(cpus.iter().map(busy), &mut self.heights);
        let busiest = cpus.iter().filter_map(busy).reduce(f64::max);
        let shown = |shares: Option<CpuShares>, number: Option<u32>| {
            let mut values = values_of(shares, warmest);
            values[5] = Value::number_of(busiest, Unit::Percent);
            values[6] = Value::text(&self.heights);
            values[8] = Value::number_of(number.map(f64::from), Unit::Count);
            values[9] = Value::count(stat.cpus.len() as u64);
            values
        };
        if !self.is_each {
            return items.only(&shown(input.rates.cpu, None));
        }
        for (index, (number, _)) in stat.cpus.iter().enumerate() {
            let shares = cpus.get(index).copied().flatten();
            items.numbered(u64::from(*number), &shown(shares, Some(*number)));
        }
    }
}

/// The values that need no figure of single CPUs.
fn values_of<'a>(shares: Option<CpuShares>, warmest: Option<i64>) -> [Value<'a>; 10] {
    let mut values = [Value::Absent; 10];
    if let Some(shares) = shares {
        let parts = [shares.busy, shares.user, shares.system, shares.iowait, shares.steal];
        for (value, part) in values.iter_mut().zip(parts) {
            *value = Value::percent(part.percent());
        }
    }
    values[7] = Value::number_of(warmest.map(|millidegrees| millidegrees as f64 / 1e3), Unit::Celsius);
    values
}

fn warmest_millidegrees(input: &SegmentInput<'_>) -> Option<i64> {
    let temperatures = input.sample.temperatures.get().ok()?;
    let of_cpus = temperatures.iter().filter(|temperature| temperature.is_cpu());
    of_cpus.filter_map(|temperature| temperature.millidegrees).max()
}
