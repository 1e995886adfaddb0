//! /etc/resolv.conf: which name servers to ask, and for which names. resolv.conf(5).

use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;

/// As many as the C library has.
const MAX_SERVERS: usize = 3;
/// The C library has no limit since version 2.26.
const MAX_DOMAINS: usize = 32;
const MAX_DOTS: u8 = 15;
const MAX_TIMEOUT_S: u64 = 30;
const MAX_ATTEMPTS: u32 = 5;

/// A name server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameServer {
    /// Its address.
    pub address: IpAddr,
    /// The interface behind `%`, of an address that is valid on one link alone.
    pub scope: Option<String>,
}

/// How names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvConf {
    /// In the order in which they are asked; never none.
    pub servers: Vec<NameServer>,
    /// The domains that complete a name.
    pub domains: Vec<String>,
    /// A name with so many dots is tried as it is before it is completed.
    pub dots: u8,
    /// A server has so long for one question.
    pub timeout: Duration,
    /// How often each server is asked.
    pub attempts: u32,
    /// Questions are sent over TCP.
    pub uses_tcp: bool,
}

impl ResolvConf {
    /// Reads a file. Lines that are not understood are left out. Without `domain` or `search` the domain is that of `host_name`, which is
    /// this machine's.
    pub fn parse(text: &str, host_name: &str) -> Self {
        let own_domain = host_name.split_once('.').map(|(_, domain)| domain.to_owned());
        let mut conf = Self {
            servers: Vec::new(),
            domains: own_domain.into_iter().filter(|domain| !domain.is_empty()).collect(),
            dots: 1,
            timeout: Duration::from_secs(5),
            attempts: 2,
            uses_tcp: false,
        };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") if conf.servers.len() < MAX_SERVERS => {
                    conf.servers.extend(words.next().and_then(server));
                }
                // Of several lines the last one counts.
                Some("domain") => conf.set_domains(words.take(1)),
                Some("search") => conf.set_domains(words),
                Some("options") => conf.set_options(words),
                _ => {}
            }
        }
        if conf.servers.is_empty() {
            conf.servers.push(NameServer { address: Ipv4Addr::LOCALHOST.into(), scope: None });
        }
        conf
    }

    /// Replaces the domains: also what the variable LOCALDOMAIN does.
    pub fn set_domains<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let domains = words.map(|domain| domain.trim_end_matches('.')).filter(|domain| !domain.is_empty());
        self.domains = domains.take(MAX_DOMAINS).map(str::to_owned).collect();
    }

    /// Sets options: also those in the variable RES_OPTIONS. Unknown ones are left out.
    pub fn set_options<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            match word.split_once(':') {
                Some(("ndots", number)) => self.dots = number.parse().unwrap_or(self.dots).min(MAX_DOTS),
                Some(("timeout", number)) => {
                    let seconds = number.parse().unwrap_or(self.timeout.as_secs());
                    self.timeout = Duration::from_secs(seconds.clamp(1, MAX_TIMEOUT_S));
                }
                Some(("attempts", number)) => {
                    self.attempts = number.parse().unwrap_or(self.attempts).clamp(1, MAX_ATTEMPTS);
                }
                None if word == "use-vc" => self.uses_tcp = true,
                _ => {}
            }
        }
    }

    /// Returns the names to ask for, in this order. A name that ends with a dot is complete.
    pub fn names(&self, host: &str) -> Vec<String> {
        if let Some(complete) = host.strip_suffix('.') {
            return vec![complete.to_owned()];
        }
        let mut names: Vec<String> = self.domains.iter().map(|domain| format!("{host}.{domain}")).collect();
        let dots = host.bytes().filter(|byte| *byte == b'.').count();
        let place = if dots >= usize::from(self.dots) { 0 } else { names.len() };
        names.insert(place, host.to_owned());
        names
    }
}

fn server(word: &str) -> Option<NameServer> {
    let (address, scope) = match word.split_once('%') {
        Some((address, scope)) => (address, Some(scope.to_owned())),
        None => (word, None),
    };
    Some(NameServer { address: address.parse().ok()?, scope })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_as_the_c_library_reads_it() {
        let text = "# x\n; y\ndomain c.example d.example\nsearch a.example. b.example\nnameserver 192.0.2.1\n\
                    nameserver fe80::1%eth0\nnameserver nonsense\noptions rotate ndots:2 timeout:99 attempts:0 use-vc\n";
        let conf = ResolvConf::parse(text, "host.own.example");
        let addresses: Vec<String> = conf.servers.iter().map(|server| server.address.to_string()).collect();
        assert_eq!(addresses, ["192.0.2.1", "fe80::1"]);
        assert_eq!(conf.servers[1].scope.as_deref(), Some("eth0"));
        assert_eq!(conf.domains, ["a.example", "b.example"]);
        let limits = (conf.dots, conf.timeout, conf.attempts, conf.uses_tcp);
        assert_eq!(limits, (2, Duration::from_secs(30), 1, true));
    }

    #[test]
    fn names_are_completed() {
        let names = |text: &str, host: &str| ResolvConf::parse(text, "me.own.example").names(host).join(" ");
        assert_eq!(names("", "db"), "db.own.example db");
        assert_eq!(names("", "db.x"), "db.x db.x.own.example");
        assert_eq!(names("", "db.x."), "db.x");
        assert_eq!(names("search a.example b.example", "db"), "db.a.example db.b.example db");
        assert_eq!(names("search a.example\noptions ndots:2", "db.x"), "db.x.a.example db.x");
        assert_eq!(names("search a.example\noptions ndots:0", "db"), "db db.a.example");
        assert_eq!(names("search .", "db"), "db");
        assert_eq!(ResolvConf::parse("", "plain").names("db"), ["db"]);
        assert_eq!(ResolvConf::parse("", "").servers[0].address, IpAddr::from([127, 0, 0, 1]));
    }
}
