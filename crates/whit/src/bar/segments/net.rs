//! Interfaces: their traffic, their addresses, the network they are in.

use std::net::IpAddr;
use std::time::Duration;

use facts::linux::net_attributes::{Link, LinkKind};
use facts::linux::net_dev::Interface;
use facts::linux::nl80211::Station;
use facts::linux::rtnetlink::Address;
use facts::name::Name;
use facts::rate::InterfaceRates;
use facts::source::{Source, Wanted};

use super::field;
use crate::bar::appearance::ItemRenderer;
use crate::bar::kind::Kind;
use crate::bar::{Segment, SegmentInput};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "net",
    about: "Interfaces that are up, or those that are named, up or down.",
    fields: &[
        field("name", "the interface's"),
        field("received", "per second"),
        field("sent", "per second"),
        field("state", "up or down"),
        field("kind", "ethernet, wireless, vpn, virtual, loopback"),
        field("ipv4", "its first address that reaches beyond the link"),
        field("ipv6", "likewise; not a temporary one where there is another"),
        field("address", "the IPv4 address, else the IPv6 one"),
        field("speed", "of the link, bits per second"),
        field("ssid", "the wireless network's name"),
        field("signal", "of the wireless network, dBm"),
        field("quality", "of its signal, per cent: none at −100 dBm, all at −50"),
        field("bitrate", "that the radio sends at, bits per second"),
        field("frequency", "of the radio"),
        field("received_total", "since the interface came up"),
        field("sent_total", "likewise"),
    ],
    format: "{name}[ {ssid}][ {quality}] ↓{received} ↑{sent}",
    variants: &[("state == down", "{name} down")],
    options: &[
        ("interfaces", "names, a * at the end stands for the rest: [\"eth0\", \"wl*\"]; all that are up"),
        ("kinds", "of these kinds alone: [\"wireless\", \"vpn\"]"),
        ("first", "true: only the first that is up, or else the first"),
        ("none", "what is shown where there is nothing to show; \"no network\""),
    ],
    make: |options| {
        let mut kinds = Vec::new();
        for word in options.texts("kinds")? {
            let kind = KINDS.iter().find(|(name, _)| *name == word);
            let message =
                || format!("no such kind: \"{word}\"; there are ethernet, wireless, vpn, virtual, loopback");
            kinds.push(kind.ok_or_else(|| options.fault_of("kinds", message()))?.1);
        }
        Ok(Box::new(Net {
            names: options.texts("interfaces")?,
            kinds,
            is_first: options.flag("first")?,
            none: options.text("none")?.unwrap_or("no network").to_owned(),
            with_traffic: options.mentions(KIND.format, &TRAFFIC),
            with_addresses: options.mentions(KIND.format, &["ipv4", "ipv6", "address"]),
            with_speed: options.mentions(KIND.format, &["speed"]),
            with_station: options
                .mentions(KIND.format, &["ssid", "signal", "quality", "bitrate", "frequency"]),
            texts: Texts::default(),
        }))
    },
    ..Kind::DEFAULT
};

const KINDS: [(&str, LinkKind); 5] = [
    ("ethernet", LinkKind::Ethernet),
    ("wireless", LinkKind::Wireless),
    ("vpn", LinkKind::Tunnel),
    ("virtual", LinkKind::Virtual),
    ("loopback", LinkKind::Loopback),
];

/// The fields that change all the time.
const TRAFFIC: [&str; 4] = ["received", "sent", "received_total", "sent_total"];
/// How often the others are read, beside when the kernel reports changes.
const STATE_INTERVAL: Duration = Duration::from_secs(5);

struct Net {
    /// Empty: all.
    names: Vec<String>,
    /// Empty: all but the loopback.
    kinds: Vec<LinkKind>,
    is_first: bool,
    none: String,
    with_traffic: bool,
    with_addresses: bool,
    with_speed: bool,
    with_station: bool,
    texts: Texts,
}

/// Kept for their memory.
#[derive(Default)]
struct Texts {
    ipv4: String,
    ipv6: String,
}

impl Segment for Net {
    fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::from([Source::LinkState]);
        for (is_wanted, source) in [
            (self.with_traffic, Source::NetDev),
            (self.with_addresses, Source::Addresses),
            (self.with_speed, Source::LinkSpeed),
            (self.with_station, Source::Wireless),
        ] {
            wanted = if is_wanted { wanted.with(source) } else { wanted };
        }
        wanted
    }

    fn usual_interval(&self) -> Option<Duration> {
        (!self.with_traffic).then_some(STATE_INTERVAL)
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let links = input.sample.links.get().map_or(&[][..], Vec::as_slice);
        let interfaces = input.sample.net_dev.get().map_or(&[][..], |net| &net.interfaces);
        let mut any = false;
        let mut texts = std::mem::take(&mut self.texts);
        // Without /sys (in a container) all that is known is who has traffic.
        let count = if links.is_empty() { interfaces.len() } else { links.len() };
        let meant = (0..count).map(|index| match links.get(index) {
            Some(link) => (index, &link.name, interface_at(interfaces, index, &link.name), Some(link)),
            None => (index, &interfaces[index].name, Some(&interfaces[index]), None),
        });
        // The first that is up, else the first: two rounds at most.
        for only_up in [true, false] {
            for (index, name, interface, link) in meant.clone() {
                let is_up = link.is_none_or(Link::is_up);
                if !self.is_meant(name.as_str(), link, links.is_empty()) || is_up != only_up {
                    continue;
                }
                if self.is_first && any {
                    break;
                }
                any = true;
                let rates = input.rates.interfaces.get(index).filter(|rates| rates.name == *name);
                let rates = rates.or_else(|| input.rates.interfaces.iter().find(|rates| rates.name == *name));
                let name = name.as_str();
                let totals = interface.map(|interface| (interface.received_bytes, interface.sent_bytes));
                items.named(name, &values(input, name, link, rates, totals, &mut texts));
            }
        }
        // What was asked for by its whole name and is not there is down.
        for name in self.names.iter().filter(|name| !name.ends_with('*')) {
            let is_there = links.iter().any(|link| link.name.as_str() == name)
                || interfaces.iter().any(|interface| interface.name.as_str() == name);
            let is_enough = self.is_first && any;
            if !(is_there || is_enough) {
                any = true;
                let mut absent = [Value::Absent; 16];
                (absent[0], absent[3]) = (Value::Text(name), Value::Text("down"));
                items.named(name, &absent);
            }
        }
        self.texts = texts;
        if !any {
            items.note(&self.none);
        }
    }
}

impl Net {
    /// One that was asked for is shown up or down; else, without /sys (in a container), whatever is not the loopback.
    fn is_meant(&self, name: &str, link: Option<&Link>, without_links: bool) -> bool {
        let is_of_kind = match (self.kinds.as_slice(), link) {
            ([], _) => true,
            (kinds, Some(link)) => kinds.contains(&link.kind),
            (_, None) => false,
        };
        let is_named = self.names.iter().any(|asked| match asked.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => asked == name,
        });
        match link {
            _ if !is_of_kind => false,
            _ if !self.names.is_empty() => is_named,
            Some(link) if self.kinds.is_empty() => !link.is_loopback() && link.is_up(),
            Some(link) => link.is_up() || self.is_first,
            None => without_links && name != "lo",
        }
    }
}

/// Both lists mostly have one order.
fn interface_at<'a>(interfaces: &'a [Interface], index: usize, name: &Name) -> Option<&'a Interface> {
    let is_it = |interface: &&Interface| interface.name == *name;
    interfaces.get(index).filter(is_it).or_else(|| interfaces.iter().find(is_it))
}

fn values<'a>(
    input: &SegmentInput<'a>,
    name: &'a str,
    link: Option<&Link>,
    rates: Option<&InterfaceRates>,
    totals: Option<(u64, u64)>,
    texts: &'a mut Texts,
) -> [Value<'a>; 16] {
    let index = link.and_then(|link| link.index);
    let stations = input.sample.stations.get().map_or(&[][..], Vec::as_slice);
    let station: Option<&'a Station> = stations.iter().find(|station| Some(station.interface_index) == index);
    set_addresses(input, index, texts);
    let texts: &'a Texts = texts;
    let rate = |rate: Option<f64>| Value::number_of(rate, Unit::BytesPerSecond);
    let kind = link.and_then(|link| KINDS.iter().find(|(_, kind)| *kind == link.kind));
    let speed = link.and_then(|link| link.speed_mbit).map(|megabits| megabits as f64 * 1e6);
    let of_station =
        |value: fn(&Station) -> Option<f64>, unit| Value::number_of(station.and_then(value), unit);
    [
        Value::Text(name),
        rate(rates.and_then(|rates| rates.received_bytes_per_second)),
        rate(rates.and_then(|rates| rates.sent_bytes_per_second)),
        Value::Text(if link.is_none_or(Link::is_up) { "up" } else { "down" }),
        kind.map_or(Value::Absent, |(name, _)| Value::Text(name)),
        Value::text(&texts.ipv4),
        Value::text(&texts.ipv6),
        Value::text(if texts.ipv4.is_empty() { &texts.ipv6 } else { &texts.ipv4 }),
        Value::number_of(speed, Unit::BitsPerSecond),
        station.map_or(Value::Absent, |station| Value::text(station.ssid.as_str())),
        of_station(|station| station.signal_dbm.map(f64::from), Unit::DecibelMilliwatts),
        of_station(Station::quality_percent, Unit::Percent),
        of_station(|station| station.bitrate.map(|bits| bits as f64), Unit::BitsPerSecond),
        of_station(|station| station.frequency_mhz.map(|mhz| f64::from(mhz) * 1e6), Unit::Hertz),
        Value::number_of(totals.map(|(received, _)| received as f64), Unit::Bytes),
        Value::number_of(totals.map(|(_, sent)| sent as f64), Unit::Bytes),
    ]
}

/// The addresses that others would use: global ones, of version 6 rather one that stays.
fn set_addresses(input: &SegmentInput<'_>, index: Option<u32>, texts: &mut Texts) {
    use std::fmt::Write as _;
    texts.ipv4.clear();
    texts.ipv6.clear();
    let (Some(index), Ok(addresses)) = (index, input.sample.addresses.get()) else { return };
    let own = || addresses.iter().filter(|address| address.interface_index == index && address.is_global);
    let is_ipv4 = |address: &&Address| address.address.is_ipv4();
    let best = own().filter(|address| !is_ipv4(address)).min_by_key(|address| {
        let is_local = matches!(address.address, IpAddr::V6(v6) if v6.is_unique_local());
        (address.is_deprecated, is_local, address.is_temporary)
    });
    // A String takes whatever is written to it.
    if let Some(address) = own().find(is_ipv4) {
        let _ = write!(texts.ipv4, "{}", address.address);
    }
    if let Some(address) = best {
        let _ = write!(texts.ipv6, "{}", address.address);
    }
}
