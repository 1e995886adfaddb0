//! Interfaces: rows of `net.link.generic`.

use facts::freebsd::ifmibdata;
use facts::linux::net_attributes::Link;
use facts::linux::net_dev::NetDev;
use facts::sample::Absence;

use super::sysctl::Sysctl;

const ROW: [i32; 6] = [CTL_NET, PF_LINK, NETLINK_GENERIC, IFMIB_IFDATA, 0, IFDATA_GENERAL];
const CTL_NET: i32 = 4;
const PF_LINK: i32 = 18;
const NETLINK_GENERIC: i32 = 0;
const IFMIB_IFDATA: i32 = 2;
const IFDATA_GENERAL: i32 = 1;
/// The row's number is in the path's fifth place.
const ROW_PLACE: usize = 4;

/// Fills both lists with the interfaces there are. One that goes between the count and its row is a hole, as one that
/// went long ago.
pub(super) fn fill(sysctl: &mut Sysctl, net: &mut NetDev, links: &mut Vec<Link>) -> Result<(), Absence> {
    net.interfaces.clear();
    links.clear();
    // The highest row, and not how many there are.
    let rows = sysctl.number("net.link.generic.system.ifcount")?;
    for row in 1..=u32::try_from(rows).unwrap_or(0) {
        let mut path = ROW;
        path[ROW_PLACE] = row.cast_signed();
        let bytes = match sysctl.read_path(&path) {
            Err(Absence::Gone) => continue,
            read => read?,
        };
        let (interface, link) = ifmibdata::parse(bytes, row).map_err(|_| Absence::Malformed)?;
        net.interfaces.push(interface);
        links.push(link);
    }
    Ok(())
}
