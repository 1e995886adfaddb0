//! Downtimes.

use jiff::Zoned;
use serde::{Deserialize, Serialize};

use super::period::Period;

/// A time in which some checks send no notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Downtime {
    /// A check's name, its host's for all of that host, or a pattern of these: `web*`.
    pub pattern: String,
    /// From when on, in milliseconds since 1970.
    pub since_ms: i64,
    /// Until when.
    pub until_ms: i64,
    /// Only at these times of the week; empty: always.
    pub every: String,
    /// Its author.
    pub author: String,
    /// The comment.
    pub comment: String,
}

/// Returns whether a pattern, in which `*` and `?` stand for anything but a slash, matches the name of a check or of its host.
pub fn is_selected(pattern: &str, name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    // A name may have letters that mean something in a pattern, as in "Disk [C:]".
    [name, host].into_iter().any(|name| pattern == name || fast_glob::glob_match(pattern, name))
}

impl Downtime {
    /// Returns whether it is for a check of this name.
    pub fn is_of(&self, name: &str) -> bool {
        is_selected(&self.pattern, name)
    }

    /// Returns whether it is now.
    pub fn is_now(&self, now: &Zoned) -> bool {
        let now_ms = now.timestamp().as_millisecond();
        let is_at_its_time = || match self.every.parse::<Period>() {
            Ok(period) => period.contains(now),
            // One that is not valid holds always.
            Err(_) => true,
        };
        (self.since_ms..self.until_ms).contains(&now_ms) && (self.every.is_empty() || is_at_its_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_for_checks_hosts_and_patterns() {
        let is_of = |pattern: &str, name: &str| {
            Downtime { pattern: pattern.to_owned(), ..Downtime::default() }.is_of(name)
        };
        for (pattern, name, expected) in [
            ("web1/http", "web1/http", true),
            ("web1/http", "web1/ssh", false),
            ("web1", "web1/http", true),
            ("web1", "web1", true),
            ("web1", "web10/http", false),
            ("web?", "web1/http", true),
            ("*/http", "web1/http", true),
            ("w*1/*t*p", "web1/http", true),
            ("*", "load", true),
            ("win1/Disk [C:]", "win1/Disk [C:]", true),
            ("win1/Disk C:\\", "win1/Disk C:\\", true),
            ("", "load", false),
        ] {
            assert_eq!(is_of(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn it_recurs_within_its_time() {
        let at = |text: &str| -> Zoned { text.parse().unwrap() };
        let monday = at("2026-11-23T02:30+00:00[+00:00]");
        let since_ms = monday.timestamp().as_millisecond() - 1000;
        let downtime = Downtime {
            since_ms,
            until_ms: since_ms + 8 * 86_400_000,
            every: "mon 02:00-04:00".to_owned(),
            ..Downtime::default()
        };
        assert!(downtime.is_now(&monday) && downtime.is_now(&at("2026-11-30T03:59+00:00[+00:00]")));
        assert!(
            !downtime.is_now(&at("2026-11-23T04:00+00:00[+00:00]"))
                && !downtime.is_now(&at("2026-12-07T02:30+00:00[+00:00]"))
        );
    }
}
