//! One segment, one file: what it wants, what it says.

mod battery;
mod cpu;
mod date;
mod disk;
mod load;
mod memory;
mod net;

use super::Segment;

/// What a bar shows, of the network these interfaces or all that are up.
pub(crate) fn default_segments(nets: &[String]) -> Vec<Box<dyn Segment>> {
    vec![
        Box::new(net::Net::new(nets)),
        Box::new(memory::Memory),
        Box::new(cpu::Cpu),
        Box::new(load::Load),
        Box::new(disk::Disk),
        Box::new(battery::Battery),
        Box::new(date::Date::default()),
    ]
}
