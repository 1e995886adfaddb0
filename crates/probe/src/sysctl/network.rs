//! Interfaces: rows of `net.link.generic`.

use facts::freebsd::ifmibdata;
use facts::linux::net_attributes::Link;
use facts::linux::net_dev::NetDev;
use facts::sample::Absence;

use super::{Node, Sysctl};

/// More rows than machines have.
const MAX_ROWS: u32 = 65_536;

/// Fills both lists with the interfaces. One that is removed between the count and its row is a hole, as one that was removed
/// long ago.
pub(super) fn fill(sysctl: &mut Sysctl, net: &mut NetDev, links: &mut Vec<Link>) -> Result<(), Absence> {
    net.interfaces.clear();
    links.clear();
    // The highest row, and not how many there are.
    let rows = sysctl.number("net.link.generic.system.ifcount")?;
    let rows = u32::try_from(rows).ok().filter(|rows| *rows <= MAX_ROWS).ok_or(Absence::Malformed)?;
    for row in 1..=rows {
        let bytes = match sysctl.read(Node::Interface(row)) {
            Err(Absence::Gone) => continue,
            read => read?,
        };
        let (interface, link) = ifmibdata::parse(bytes, row).map_err(|_| Absence::Malformed)?;
        net.interfaces.push(interface);
        links.push(link);
    }
    Ok(())
}
