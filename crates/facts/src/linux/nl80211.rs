//! Wireless links over generic netlink, family `nl80211`: linux/nl80211.h.

use crate::linux::genetlink::Attributes;
use crate::name::Name;

/// Asks for an interface: its network and frequency.
pub const CMD_GET_INTERFACE: u8 = 5;
/// Asks for stations: of a client, the access point it is with.
pub const CMD_GET_STATION: u8 = 17;
/// The interface that is meant, by its number.
pub const ATTR_IFINDEX: u16 = 3;

const ATTR_STA_INFO: u16 = 21;
const ATTR_WIPHY_FREQ: u16 = 38;
const ATTR_SSID: u16 = 52;
const STA_INFO_SIGNAL: u16 = 7;
const STA_INFO_TX_BITRATE: u16 = 8;
const STA_INFO_SIGNAL_AVG: u16 = 13;
const RATE_INFO_BITRATE: u16 = 1;
const RATE_INFO_BITRATE32: u16 = 5;

/// A wireless interface and what it is connected with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Station {
    /// The interface's number.
    pub interface_index: u32,
    /// The network's name; empty where it is with none.
    pub ssid: Name,
    /// Signal strength.
    pub signal_dbm: Option<i8>,
    /// The rate at which it sends, in bits per second.
    pub bitrate: Option<u64>,
    /// Megahertz.
    pub frequency_mhz: Option<u32>,
}

impl Station {
    /// Takes what the answer to [`CMD_GET_INTERFACE`] says.
    pub fn take_interface(&mut self, attributes: Attributes<'_>) {
        for (kind, value) in attributes {
            match kind {
                ATTR_SSID => self.ssid = Name::new(value),
                ATTR_WIPHY_FREQ => self.frequency_mhz = number(value),
                _ => {}
            }
        }
    }

    /// Takes what an answer to [`CMD_GET_STATION`] says.
    pub fn take_station(&mut self, mut attributes: Attributes<'_>) {
        let Some((_, info)) = attributes.find(|(kind, _)| *kind == ATTR_STA_INFO) else { return };
        let mut average = None;
        for (kind, value) in Attributes(info) {
            match kind {
                STA_INFO_SIGNAL => self.signal_dbm = value.first().map(|byte| byte.cast_signed()),
                STA_INFO_SIGNAL_AVG => average = value.first().map(|byte| byte.cast_signed()),
                STA_INFO_TX_BITRATE => self.bitrate = bitrate(Attributes(value)),
                _ => {}
            }
        }
        self.signal_dbm = average.or(self.signal_dbm);
    }

    /// The signal from 0 to 100: nothing at −100 dBm, all at −50, as network managers calculate it.
    pub fn quality_percent(&self) -> Option<f64> {
        self.signal_dbm.map(|dbm| (2.0 * (f64::from(dbm) + 100.0)).clamp(0.0, 100.0))
    }
}

/// In units of 100 kbit/s; the 16-bit value if there is none of 32 bits.
fn bitrate(attributes: Attributes<'_>) -> Option<u64> {
    let mut units = None;
    for (kind, value) in attributes {
        match kind {
            RATE_INFO_BITRATE32 => units = number(value).map(u64::from).or(units),
            RATE_INFO_BITRATE => {
                let short = value.first_chunk().map(|bytes| u64::from(u16::from_ne_bytes(*bytes)));
                units = units.or(short);
            }
            _ => {}
        }
    }
    units.map(|units| units * 100_000)
}

fn number(value: &[u8]) -> Option<u32> {
    value.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = (4 + value.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn a_station_is_put_together_from_two_answers() {
        let mut station = Station::default();
        let interface = [
            attribute(4, b"wlan0\0"),
            attribute(ATTR_SSID, b"caf\xc3\xa9"),
            attribute(ATTR_WIPHY_FREQ, &5180u32.to_ne_bytes()),
        ]
        .concat();
        station.take_interface(Attributes(&interface));
        let rate = [
            attribute(RATE_INFO_BITRATE32, &8667u32.to_ne_bytes()),
            attribute(RATE_INFO_BITRATE, &1u16.to_ne_bytes()),
        ]
        .concat();
        let info = [attribute(STA_INFO_SIGNAL, &[0xc4]), attribute(STA_INFO_TX_BITRATE, &rate)].concat();
        station.take_station(Attributes(&attribute(ATTR_STA_INFO, &info)));
        assert_eq!((station.ssid.as_str(), station.frequency_mhz), ("café", Some(5180)));
        assert_eq!((station.signal_dbm, station.quality_percent()), (Some(-60), Some(80.0)));
        assert_eq!(station.bitrate, Some(866_700_000));
    }

    #[test]
    fn cut_answers_leave_it_as_it_was() {
        let mut station = Station::default();
        station.take_station(Attributes(&attribute(ATTR_STA_INFO, &[4, 0, 7])));
        station.take_interface(Attributes(&[200, 0, 52, 0, 1]));
        assert_eq!(station, Station::default());
    }
}
