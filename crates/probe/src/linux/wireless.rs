//! Wireless networks and their signal, by nl80211.

use facts::linux::genetlink::Message;
use facts::linux::net_attributes::LinkKind;
use facts::linux::nl80211::{ATTR_IFINDEX, CMD_GET_INTERFACE, CMD_GET_STATION, Station};
use facts::sample::{Absence, Sample};
use rustix::io::Errno;

use super::files::{Buffer, absence};
use super::netlink::GenericSocket;
use super::part::{Changes, Part};

/// Opened when the first radio is seen: most machines have none.
#[derive(Default)]
pub(crate) struct Wireless {
    socket: Option<(GenericSocket, u16)>,
}

impl std::fmt::Debug for Wireless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wireless").finish_non_exhaustive()
    }
}

impl Part for Wireless {
    /// Asks for each radio among the links that is up.
    fn read(&mut self, buffer: &mut Buffer, _: Changes, sample: &mut Sample) {
        let links = sample.links.get().map_or(&[][..], Vec::as_slice);
        let radios = || links.iter().filter(|link| link.kind == LinkKind::Wireless && link.is_up());
        sample.stations.fill(|stations| {
            stations.clear();
            if radios().next().is_none() {
                return Ok(());
            }
            if self.socket.is_none() {
                buffer.calls += 4;
                let mut socket = GenericSocket::open_for_long_replies().map_err(absence)?;
                let family = socket.family("nl80211").map_err(absence)?;
                self.socket = Some((socket, family));
            }
            let Some((socket, family)) = &mut self.socket else { return Err(Absence::Unsupported) };
            for index in radios().filter_map(|link| link.index) {
                buffer.calls += 4;
                // One that went meanwhile takes nothing from the others.
                stations.extend(station(socket, *family, index));
            }
            Ok(())
        });
    }
}

fn station(socket: &mut GenericSocket, family: u16, interface_index: u32) -> Result<Station, Errno> {
    let mut station = Station { interface_index, ..Station::default() };
    let index = interface_index.to_ne_bytes();
    socket.push(family, CMD_GET_INTERFACE, ATTR_IFINDEX, &index);
    socket.exchange(|_, reply| {
        if let Ok(message) = reply {
            station.take_interface(message.attributes());
        }
    })?;
    socket.dump(family, CMD_GET_STATION, (ATTR_IFINDEX, &index), |message: Message<'_>| {
        station.take_station(message.attributes());
    })?;
    Ok(station)
}
