//! Interfaces: their traffic, their addresses, the network they are in.

use std::net::IpAddr;
use std::time::Duration;

use facts::linux::net_attributes::{Link, LinkKind};
use facts::linux::net_dev::Interface;
use facts::linux::nl80211::Station;
use facts::linux::rtnetlink::Address;
use facts::name::Name;
use facts::source::{Source, Wanted};

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::options::SegmentOptions as _;
use crate::{Segment, SegmentInput};
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
        field("ipv4", "its first IPv4 address, rather one that reaches beyond the link"),
        field(
            "ipv6",
            "its IPv6 address that reaches beyond the link; not a temporary one where there is another",
        ),
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
            with_rates: options.mentions(KIND.format, &RATES),
            with_details: options.mentions(KIND.format, &DETAILS),
            with_totals: options.mentions(KIND.format, &TOTALS),
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
const RATES: [&str; 2] = ["received", "sent"];
const TOTALS: [&str; 2] = ["received_total", "sent_total"];
/// The fields that are filled only if one of them is shown.
const DETAILS: [&str; 7] = ["kind", "ipv4", "ipv6", "address", "speed", "received_total", "sent_total"];
/// How often the others are read, beside when the kernel reports changes.
const STATE_INTERVAL: Duration = Duration::from_secs(5);

struct Net {
    /// Empty: all.
    names: Vec<String>,
    /// Empty: all but the loopback.
    kinds: Vec<LinkKind>,
    is_first: bool,
    none: String,
    with_rates: bool,
    /// A field is shown that the default format has not.
    with_details: bool,
    with_totals: bool,
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
            (self.with_rates || self.with_totals, Source::NetDev),
            (self.with_addresses, Source::Addresses),
            (self.with_speed, Source::LinkSpeed),
            (self.with_station, Source::Wireless),
        ] {
            wanted = if is_wanted { wanted.with(source) } else { wanted };
        }
        wanted
    }

    fn usual_interval(&self) -> Option<Duration> {
        (!self.with_rates && !self.with_totals).then_some(STATE_INTERVAL)
    }

    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let links = input.sample.links.get().map_or(&[][..], Vec::as_slice);
        let interfaces = input.sample.net_dev.get().map_or(&[][..], |net| &net.interfaces);
        // Without /sys (in a container) only the interfaces' traffic is known.
        let count = if links.is_empty() { interfaces.len() } else { links.len() };
        let mut any = false;
        // The first that is up, else the first: two rounds at most.
        for only_up in [true, false] {
            for index in 0..count {
                let link = links.get(index);
                let name =
                    link.map(|link| &link.name).or(interfaces.get(index).map(|interface| &interface.name));
                let Some(name) = name else { continue };
                if link.is_none_or(Link::is_up) != only_up || !self.is_meant(name.as_str(), link) {
                    continue;
                }
                if self.is_first && any {
                    break;
                }
                any = true;
                if self.with_addresses {
                    set_addresses(input, link.and_then(|link| link.index), &mut self.texts);
                }
                items.named(name.as_str(), &self.values(input, index, name, link));
            }
        }
        if !self.names.is_empty() {
            any |= self.render_missing(links, interfaces, any, items);
        }
        if !any {
            items.note(&self.none);
        }
    }
}

impl Net {
    /// An interface that was asked for by its whole name and does not exist is shown as down. Whether there is one.
    #[cold]
    fn render_missing(
        &self,
        links: &[Link],
        interfaces: &[Interface],
        mut any: bool,
        items: &mut ItemRenderer<'_>,
    ) -> bool {
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
        any
    }

    /// One that was asked for is shown up or down; else, without /sys (in a container), whatever is not the loopback.
    fn is_meant(&self, name: &str, link: Option<&Link>) -> bool {
        if self.names.is_empty() && self.kinds.is_empty() {
            return link.map_or(name != "lo", |link| !link.is_loopback() && link.is_up());
        }
        self.is_chosen(name, link)
    }

    #[cold]
    fn is_chosen(&self, name: &str, link: Option<&Link>) -> bool {
        let is_of_kind = self.kinds.is_empty() || link.is_some_and(|link| self.kinds.contains(&link.kind));
        let is_named = self.names.iter().any(|asked| match asked.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => asked == name,
        });
        let is_up_or_first = || link.is_some_and(|link| link.is_up() || self.is_first);
        is_of_kind && if self.names.is_empty() { is_up_or_first() } else { is_named }
    }

    /// The values of the fields that are shown.
    fn values<'a>(
        &'a self,
        input: &SegmentInput<'a>,
        index: usize,
        name: &'a Name,
        link: Option<&'a Link>,
    ) -> [Value<'a>; 16] {
        let mut values = [Value::Absent; 16];
        values[0] = Value::Text(name.as_str());
        values[3] = Value::Text(if link.is_none_or(Link::is_up) { "up" } else { "down" });
        if self.with_rates {
            let rates = at_or_named(&input.rates.interfaces, index, name, |rates| &rates.name);
            let rate = |rate: Option<f64>| Value::number_of(rate, Unit::BytesPerSecond);
            values[1] = rate(rates.and_then(|rates| rates.received_bytes_per_second));
            values[2] = rate(rates.and_then(|rates| rates.sent_bytes_per_second));
        }
        if self.with_station {
            set_station(input, link.and_then(|link| link.index), &mut values);
        }
        if self.with_details {
            self.set_details(input, index, name, link, &mut values);
        }
        values
    }

    /// The values of fields that the default format does not show. Not within [`values`](Self::values), where every tick would load them.
    #[inline(never)]
    fn set_details<'a>(
        &'a self,
        input: &SegmentInput<'a>,
        index: usize,
        name: &Name,
        link: Option<&'a Link>,
        values: &mut [Value<'a>; 16],
    ) {
        let kind = link.and_then(|link| KINDS.iter().find(|(_, kind)| *kind == link.kind));
        values[4] = kind.map_or(Value::Absent, |(name, _)| Value::Text(name));
        if let Some(speed) = link.and_then(|link| link.speed_mbit) {
            values[8] = Value::Number(speed as f64 * 1e6, Unit::BitsPerSecond);
        }
        if self.with_totals {
            let interfaces = input.sample.net_dev.get().map_or(&[][..], |net| &net.interfaces);
            let interface = at_or_named(interfaces, index, name, |interface| &interface.name);
            let total = |bytes: Option<u64>| Value::number_of(bytes.map(|bytes| bytes as f64), Unit::Bytes);
            values[14] = total(interface.map(|interface| interface.received_bytes));
            values[15] = total(interface.map(|interface| interface.sent_bytes));
        }
        if self.with_addresses {
            let texts = &self.texts;
            values[5] = Value::text(&texts.ipv4);
            values[6] = Value::text(&texts.ipv6);
            values[7] = Value::text(if texts.ipv4.is_empty() { &texts.ipv6 } else { &texts.ipv4 });
        }
    }
}

/// The entry of an interface, which mostly has the index that it has among the links.
fn at_or_named<'a, T>(
    entries: &'a [T],
    index: usize,
    name: &Name,
    name_of: impl Fn(&T) -> &Name,
) -> Option<&'a T> {
    let is_it = |entry: &&T| name_of(entry) == name;
    entries.get(index).filter(is_it).or_else(|| entries.iter().find(is_it))
}

/// The wireless network that the interface is in.
fn set_station<'a>(input: &SegmentInput<'a>, index: Option<u32>, values: &mut [Value<'a>; 16]) {
    let stations = input.sample.stations.get().map_or(&[][..], Vec::as_slice);
    let is_of_interface = |station: &&Station| Some(station.interface_index) == index;
    let Some(station) = stations.iter().find(is_of_interface) else { return };
    values[9] = Value::text(station.ssid.as_str());
    values[10] = Value::number_of(station.signal_dbm.map(f64::from), Unit::DecibelMilliwatts);
    values[11] = Value::number_of(station.quality_percent(), Unit::Percent);
    values[12] = Value::number_of(station.bitrate.map(|bits| bits as f64), Unit::BitsPerSecond);
    values[13] = Value::number_of(station.frequency_mhz.map(|mhz| f64::from(mhz) * 1e6), Unit::Hertz);
}

/// The addresses that others would use: of version 4 a global one, if there is one; of version 6 only such, rather one that stays.
fn set_addresses(input: &SegmentInput<'_>, index: Option<u32>, texts: &mut Texts) {
    use std::fmt::Write as _;
    texts.ipv4.clear();
    texts.ipv6.clear();
    let (Some(index), Ok(addresses)) = (index, input.sample.addresses.get()) else { return };
    let own = || addresses.iter().filter(|address| address.interface_index == index);
    let is_ipv4 = |address: &&Address| address.address.is_ipv4();
    let best = own().filter(|address| !is_ipv4(address) && address.is_global).min_by_key(|address| {
        let is_local = matches!(address.address, IpAddr::V6(v6) if v6.is_unique_local());
        (address.is_deprecated, is_local, address.is_temporary)
    });
    // A String takes whatever is written to it.
    if let Some(address) = own().filter(is_ipv4).min_by_key(|address| !address.is_global) {
        let _ = write!(texts.ipv4, "{}", address.address);
    }
    if let Some(address) = best {
        let _ = write!(texts.ipv6, "{}", address.address);
    }
}
