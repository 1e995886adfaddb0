//! One segment, one file: what it wants, what it says.

mod battery;
mod cpu;
mod date;
mod disk;
mod load;
mod memory;
mod net;

use super::Segment;

/// What a bar shows that was not told otherwise.
pub(crate) fn default_segments() -> Vec<Box<dyn Segment>> {
    vec![
        Box::new(net::Net),
        Box::new(memory::Memory),
        Box::new(cpu::Cpu),
        Box::new(load::Load),
        Box::new(disk::Disk),
        Box::new(battery::Battery),
        Box::new(date::Date),
    ]
}
