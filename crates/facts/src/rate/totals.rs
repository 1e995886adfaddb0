//! The disks and interfaces that a total over all of them includes. One rule for every view, because most machines show the same
//! bytes several times: on a disk and its partition, on a bridge and the interfaces in it.
//!
//! - Disks: every device of its own. Left out are partitions, and devices that pass requests on to others
//!   ([`Disk::is_whole`](crate::linux::diskstats::Disk::is_whole)).
//! - Interfaces: those with hardware behind them. If there is none (in a container, or on a captured machine), all but the
//!   loopback and those whose names are given to tunnels, bridges and other virtual interfaces.
//!
//! A rate that is not known is left out of the sum. A sum of nothing is absent.

use super::Rates;
use crate::unit::Ratio;

/// The traffic of all of a kind in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes read or received.
    pub inwards: Option<f64>,
    /// Bytes written or sent.
    pub outwards: Option<f64>,
    /// The busiest disk's share of the time; for disks only.
    pub busy: Option<Ratio>,
}

impl Traffic {
    fn add(&mut self, inwards: Option<f64>, outwards: Option<f64>) {
        let add = |sum: &mut Option<f64>, value: Option<f64>| {
            *sum = value.map(|value| sum.unwrap_or(0.0) + value).or(*sum);
        };
        add(&mut self.inwards, inwards);
        add(&mut self.outwards, outwards);
    }
}

impl Rates {
    /// Returns the traffic of all disks.
    pub fn all_disks(&self) -> Traffic {
        let mut all = Traffic::default();
        for disk in self.disks.iter().filter(|disk| disk.is_whole) {
            all.add(disk.read_bytes_per_second, disk.written_bytes_per_second);
            all.busy = if disk.busy > all.busy { disk.busy } else { all.busy };
        }
        all
    }

    /// Returns the traffic of all interfaces; `has_hardware` says of a name whether there is a device behind it.
    pub fn all_interfaces(&self, has_hardware: impl Fn(&str) -> bool) -> Traffic {
        let has_any = self.interfaces.iter().any(|interface| has_hardware(interface.name.as_str()));
        let mut all = Traffic::default();
        for interface in &self.interfaces {
            let name = interface.name.as_str();
            if if has_any { has_hardware(name) } else { !has_virtual_name(name) } {
                all.add(interface.received_bytes_per_second, interface.sent_bytes_per_second);
            }
        }
        all
    }
}

/// Returns true if a name is one of those that Linux and common tools give to interfaces without hardware.
fn has_virtual_name(name: &str) -> bool {
    const STARTS: [&str; 22] = [
        "veth", "docker", "br-", "virbr", "vnet", "tun", "tap", "wg", "bond", "team", "dummy", "ifb", "sit",
        "gre", "ip6tnl", "ipip", "vxlan", "geneve", "macv", "cali", "flannel", "cni",
    ];
    let is_loopback =
        name.strip_prefix("lo").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    // eth0.5 is a VLAN on eth0.
    is_loopback || name.contains('.') || STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;
    use crate::rate::{DiskRates, InterfaceRates};

    fn interfaces(names: &[&str]) -> Rates {
        let of_name = |(index, name): (usize, &&str)| InterfaceRates {
            name: Name::new(name.as_bytes()),
            received_bytes_per_second: Some(10_f64.powi(index as i32)),
            sent_bytes_per_second: None,
        };
        Rates { interfaces: names.iter().enumerate().map(of_name).collect(), ..Rates::default() }
    }

    #[test]
    fn what_passes_through_several_interfaces_counts_once() {
        let rates = interfaces(&["eth0", "docker0", "veth12ab", "eth0.5", "lo", "wlan0"]);
        let hardware = |name: &str| ["eth0", "wlan0"].contains(&name);
        assert_eq!(rates.all_interfaces(hardware).inwards, Some(100_001.0));
        // In a container there is none.
        assert_eq!(rates.all_interfaces(|_| false).inwards, Some(100_001.0));
        assert_eq!(interfaces(&["lo", "eth0"]).all_interfaces(|_| false).inwards, Some(10.0));
        assert_eq!(interfaces(&["lo"]).all_interfaces(|_| false), Traffic::default());
    }

    #[test]
    fn a_disk_counts_and_its_partitions_do_not() {
        let disk = |read, is_whole, busy| DiskRates {
            read_bytes_per_second: Some(read),
            is_whole,
            busy: Some(Ratio(busy)),
            ..DiskRates::default()
        };
        let disks = vec![disk(5.0, true, 0.1), disk(5.0, false, 0.9), disk(7.0, true, 0.3)];
        let all = Rates { disks, ..Rates::default() }.all_disks();
        assert_eq!((all.inwards, all.outwards, all.busy), (Some(12.0), None, Some(Ratio(0.3))));
    }
}
