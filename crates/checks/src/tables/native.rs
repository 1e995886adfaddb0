//! Checks that whit does itself, before they have a host.

use std::net::IpAddr;
use std::time::Duration;

use crate::{CertificateCheck, ExpressionCheck, FileCheck, HttpCheck, NameCheck, Native, PingCheck, State};
use ::query::Query;
use text::quantity;

use super::variables::Variables;
use configuration::{Fault, Options, expected, text as text_of};

/// Options of such checks; the first nine say what is looked at.
pub(super) const OPTIONS: [&str; 22] = [
    "expression",
    "tcp",
    "http",
    "dns",
    "ping",
    "certificate",
    "unit",
    "file",
    "process",
    "state",
    "for",
    "status",
    "contains",
    "slow",
    "addresses",
    "packets",
    "warn_before",
    "critical_before",
    "older",
    "smaller",
    "most",
    "least",
];
/// A ping takes a tenth of a second and more.
const MOST_PACKETS: f64 = 100.0;
const USUAL_PACKETS: u16 = 5;
const DAY: Duration = Duration::from_secs(86_400);
const WAYS: usize = 9;

/// What is looked at, with variables in its texts.
#[derive(Clone, Debug)]
pub(super) struct NativeTemplate(Native);

impl NativeTemplate {
    /// Reads a table; `None`: it says nothing of that.
    pub(super) fn read(table: &Options<'_, '_>) -> Result<Option<Self>, Fault> {
        let ways: Vec<&str> =
            OPTIONS[..WAYS].iter().copied().filter(|way| table.get(way).is_some()).collect();
        let [way] = ways.as_slice() else {
            return match ways.get(1) {
                None => Ok(None),
                Some(second) => Err(table.fault_of(second, "a check looks at one thing")),
            };
        };
        let text = table.required_text(way, "\"…\"")?;
        let whole = |key: &str| table.whole_number(key);
        Ok(Some(Self(match *way {
            "expression" => {
                Query::parse(text).map_err(|error| table.fault_of(way, error.to_string()))?;
                let states =
                    [("warning", State::Warning), ("critical", State::Critical), ("unknown", State::Unknown)];
                let state = table.choice("state", &states)?.unwrap_or(State::Critical);
                let hold = table.duration("for")?.unwrap_or_default();
                Native::Expression(ExpressionCheck { expression: text.to_owned(), state, hold })
            }
            "tcp" => {
                check_address(table, way, text)?;
                Native::Tcp(text.to_owned())
            }
            "dns" => Native::Name(NameCheck {
                name: text.to_owned(),
                addresses: addresses(table)?,
                slow: table.duration("slow")?,
            }),
            "ping" => Native::Ping(PingCheck {
                host: text.to_owned(),
                packets: table
                    .number("packets", 1.0, MOST_PACKETS)?
                    .map_or(USUAL_PACKETS, |count| count as u16),
                slow: table.duration("slow")?,
            }),
            "certificate" => {
                check_address(table, way, text)?;
                Native::Certificate(CertificateCheck {
                    address: text.to_owned(),
                    warn_before: table.duration("warn_before")?.unwrap_or(30 * DAY),
                    critical_before: table.duration("critical_before")?.unwrap_or(7 * DAY),
                })
            }
            "unit" => Native::Unit(text.to_owned()),
            "http" => {
                if !["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
                    return Err(
                        table.fault_of(way, "expected an address that begins with https:// or http://")
                    );
                }
                let status = whole("status")?.map(|status| status as u16);
                Native::Http(HttpCheck {
                    url: text.to_owned(),
                    statuses: status.into_iter().collect(),
                    contains: table.text("contains")?.filter(|text| !text.is_empty()).map(str::to_owned),
                    slow: table.duration("slow")?,
                })
            }
            "file" => Native::File(FileCheck {
                path: text.into(),
                older: age(table, "older")?,
                smaller: size(table, "smaller")?,
                most: whole("most")?,
            }),
            _ => Native::Process {
                name: text.to_owned(),
                least: whole("least")?.unwrap_or(1),
                most: whole("most")?,
            },
        })))
    }

    /// With what stands for its variables.
    pub(super) fn native(&self, variables: &Variables) -> Result<Native, String> {
        let fill = |text: &str| variables.fill(text);
        Ok(match self.0.clone() {
            // Its braces are those of selectors.
            expression @ Native::Expression(_) => expression,
            Native::Name(wanted) => Native::Name(NameCheck { name: fill(&wanted.name)?, ..wanted }),
            Native::Ping(wanted) => Native::Ping(PingCheck { host: fill(&wanted.host)?, ..wanted }),
            Native::Certificate(wanted) => {
                Native::Certificate(CertificateCheck { address: fill(&wanted.address)?, ..wanted })
            }
            Native::Unit(pattern) => Native::Unit(fill(&pattern)?),
            Native::Tcp(address) => Native::Tcp(fill(&address)?),
            Native::Http(wanted) => Native::Http(HttpCheck { url: fill(&wanted.url)?, ..wanted }),
            Native::File(wanted) => {
                let path = wanted.path.to_str().unwrap_or_default();
                Native::File(FileCheck { path: fill(path)?.into(), ..wanted })
            }
            Native::Process { name, least, most } => Native::Process { name: fill(&name)?, least, most },
        })
    }
}

fn check_address(table: &Options<'_, '_>, way: &str, text: &str) -> Result<(), Fault> {
    let is_port = |port: &str| port.contains('{') || port.parse::<u16>().is_ok();
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && is_port(port) => Ok(()),
        _ => Err(table.fault_of(way, "expected an address and a port, such as \"{address}:22\"")),
    }
}

fn addresses(table: &Options<'_, '_>) -> Result<Vec<IpAddr>, Fault> {
    let read = |text: &String| {
        let wrong =
            || table.fault_of("addresses", format!("\"{text}\" is no address, such as \"192.0.2.7\""));
        text.parse().map_err(|_| wrong())
    };
    table.texts("addresses")?.iter().map(read).collect()
}

fn age(table: &Options<'_, '_>, key: &str) -> Result<Option<Duration>, Fault> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let nanos = quantity::age(text_of(value)?).map_err(|wanted| expected(value, &wanted))?;
    Ok(Some(Duration::from_nanos(nanos.0)))
}

fn size(table: &Options<'_, '_>, key: &str) -> Result<Option<u64>, Fault> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let bytes = quantity::size(text_of(value)?).map_err(|wanted| expected(value, &wanted))?;
    Ok(Some(bytes.0))
}
