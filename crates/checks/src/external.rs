//! Nagios' external commands as requests.

use formats::nagios::{ExternalCommand, Target, external_command};

use super::definition::CheckName;
use super::downtime::Downtime;
use super::registry::CheckRegistry;
use super::request::CheckRequest;
use super::state::State;

/// Parses the requests of a line; `machine` is the name of this machine, whose checks have no host in whit.
///
/// # Errors
/// What is wrong with the line, or that there is no such check.
pub(crate) fn requests(
    line: &str,
    registry: &CheckRegistry,
    machine: &str,
    now_ms: i64,
) -> Result<Vec<CheckRequest>, String> {
    let (time_s, command) = external_command(line)?;
    let find = |target: Target<'_>| find(target, registry, machine);
    let author = |author: &str| if author.is_empty() { "unknown".to_owned() } else { author.to_owned() };
    Ok(vec![match command {
        ExternalCommand::Result(target, status, output) => CheckRequest::Submit {
            name: find(target)?,
            state: match (target.service, status) {
                (None, 0) => State::Ok,
                (None, _) => State::Critical,
                (Some(_), status) => State::of_number(i32::from(status)).unwrap_or(State::Unknown),
            },
            // Longer texts have `\n` for the ends of lines.
            output: output.replace("\\n", "\n"),
            at_ms: time_s.saturating_mul(1000).min(now_ms),
        },
        ExternalCommand::Acknowledge { target, is_sticky, is_silent, author: by, comment } => {
            CheckRequest::Acknowledge {
                name: find(target)?,
                author: author(by),
                comment: comment.to_owned(),
                is_sticky,
                is_silent,
            }
        }
        ExternalCommand::Unacknowledge(target) => CheckRequest::Unacknowledge { name: find(target)? },
        ExternalCommand::Downtime { target, since_s, until_s, author: by, comment } => {
            let names = || registry.checks.iter().map(|check| &check.name);
            let is_own = |name: &&CheckName| name.host.is_empty();
            let patterns = match target.service {
                // Of a host, its services are meant, too: it may have no check of its own.
                None if names().any(|name| name.host == target.host) => vec![target.host.to_owned()],
                None if target.host == machine && names().any(|name| is_own(&name)) => {
                    names().filter(is_own).map(CheckName::to_string).collect()
                }
                _ => vec![find(target)?],
            };
            let downtime = |pattern| {
                CheckRequest::Downtime(Downtime {
                    pattern,
                    since_ms: since_s.saturating_mul(1000),
                    until_ms: until_s.saturating_mul(1000),
                    every: String::new(),
                    author: author(by),
                    comment: comment.to_owned(),
                })
            };
            return Ok(patterns.into_iter().map(downtime).collect());
        }
        ExternalCommand::EndDowntime(number) => CheckRequest::EndDowntime { number },
        ExternalCommand::CheckNow(target) => CheckRequest::CheckNow { name: find(target)? },
        ExternalCommand::CheckServicesNow(host) => {
            let is_meant = |name: &&CheckName| {
                !name.service.is_empty() && (name.host == host || (name.host.is_empty() && host == machine))
            };
            let names = registry.checks.iter().map(|check| &check.name).filter(is_meant);
            return Ok(names.map(|name| CheckRequest::CheckNow { name: name.to_string() }).collect());
        }
    }])
}

/// The name of a check.
fn find(target: Target<'_>, registry: &CheckRegistry, machine: &str) -> Result<String, String> {
    let (host, service) = (target.host, target.service.unwrap_or_default());
    let own = if host == machine { Some("") } else { None };
    let names = [Some(host), own]
        .into_iter()
        .flatten()
        .map(|host| CheckName { host: host.to_owned(), service: service.to_owned() }.to_string());
    let found = names.into_iter().find(|name| !name.is_empty() && registry.index_of(name).is_some());
    found.ok_or_else(|| match target.service {
        Some(service) => format!("there is no check \"{service}\" of the host \"{host}\""),
        None => format!("there is no check of the host \"{host}\""),
    })
}
