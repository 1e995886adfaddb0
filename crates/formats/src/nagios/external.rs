//! External commands, which Nagios reads from a FIFO:
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/extcommands.html>

/// The host or service that a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'l> {
    /// The name of a host.
    pub host: &'l str,
    /// One of its services; `None`: the host itself.
    pub service: Option<&'l str>,
}

/// A command that is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalCommand<'l> {
    /// A result: the exit status of a plugin, or for a host 0 if it is up, and the output of a plugin.
    Result(Target<'l>, u8, &'l str),
    /// A problem is acknowledged.
    Acknowledge {
        /// The host or service that has the problem.
        target: Target<'l>,
        /// Until it is over.
        is_sticky: bool,
        /// Contacts are not notified of it.
        is_silent: bool,
        /// By whom.
        author: &'l str,
        /// Why.
        comment: &'l str,
    },
    /// An acknowledgement is withdrawn.
    Unacknowledge(Target<'l>),
    /// A downtime.
    Downtime {
        /// The host or service that is down; a downtime of a host is one of its services, too.
        target: Target<'l>,
        /// From then on, in seconds since 1970.
        since_s: i64,
        /// Until then.
        until_s: i64,
        /// By whom.
        author: &'l str,
        /// Why.
        comment: &'l str,
    },
    /// A downtime ends, by its number.
    EndDowntime(i64),
    /// A check is done at once.
    CheckNow(Target<'l>),
    /// All checks of a host's services are done at once.
    CheckServicesNow(&'l str),
}

/// Reads a line: `[TIME] COMMAND;ARGUMENT;…`. Returns the time in seconds since 1970, too.
///
/// # Errors
/// Returns an error if the line is malformed or the command is not supported.
pub fn external_command(line: &str) -> Result<(i64, ExternalCommand<'_>), String> {
    let (time, command) = line
        .trim_end_matches(['\r', '\n'])
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .ok_or("a command begins with its time: [1700000000] COMMAND;ARGUMENT;…")?;
    let time_s = number(time)?;
    let (name, arguments) = command.trim_start().split_once(';').unwrap_or((command.trim(), ""));
    let (kind, is_of_service) = match name {
        "PROCESS_SERVICE_CHECK_RESULT" | "PROCESS_HOST_CHECK_RESULT" => {
            (Kind::Result, name.contains("SERVICE"))
        }
        "ACKNOWLEDGE_SVC_PROBLEM" | "ACKNOWLEDGE_HOST_PROBLEM" => (Kind::Acknowledge, name.contains("SVC")),
        "REMOVE_SVC_ACKNOWLEDGEMENT" | "REMOVE_HOST_ACKNOWLEDGEMENT" => {
            (Kind::Unacknowledge, name.contains("SVC"))
        }
        "SCHEDULE_SVC_DOWNTIME" => (Kind::Downtime, true),
        "SCHEDULE_HOST_DOWNTIME" | "SCHEDULE_HOST_SVC_DOWNTIME" => (Kind::Downtime, false),
        "SCHEDULE_SVC_CHECK" | "SCHEDULE_FORCED_SVC_CHECK" => (Kind::CheckNow, true),
        "SCHEDULE_HOST_CHECK" | "SCHEDULE_FORCED_HOST_CHECK" => (Kind::CheckNow, false),
        "SCHEDULE_HOST_SVC_CHECKS" | "SCHEDULE_FORCED_HOST_SVC_CHECKS" => {
            let host = arguments.split(';').next().unwrap_or_default();
            return Ok((time_s, ExternalCommand::CheckServicesNow(host)));
        }
        "DEL_SVC_DOWNTIME" | "DEL_HOST_DOWNTIME" => {
            return Ok((time_s, ExternalCommand::EndDowntime(number(arguments)?)));
        }
        _ => return Err(format!("the command {name} is not supported")),
    };
    let mut rest = Arguments(Some(arguments));
    let host = rest.next("a host")?;
    let service = if is_of_service { Some(rest.next("a service")?) } else { None };
    let target = Target { host, service };
    let command = match kind {
        Kind::Result => {
            let status = number(rest.next("a state")?)?;
            let status = u8::try_from(status).map_err(|_| format!("{status} is no state"))?;
            ExternalCommand::Result(target, status, rest.rest())
        }
        Kind::Acknowledge => {
            let is_sticky = number(rest.next("whether it is sticky")?)? == 2;
            let is_silent = number(rest.next("whether contacts are notified")?)? == 0;
            rest.next("whether it is persistent")?;
            ExternalCommand::Acknowledge {
                target,
                is_sticky,
                is_silent,
                author: rest.next("an author")?,
                comment: rest.rest(),
            }
        }
        Kind::Unacknowledge => ExternalCommand::Unacknowledge(target),
        Kind::Downtime => {
            let (since_s, until_s) = (number(rest.next("a start")?)?, number(rest.next("an end")?)?);
            let is_fixed = rest.next("whether it is fixed")? != "0";
            rest.next("a trigger")?;
            rest.next("a duration")?;
            if !is_fixed {
                return Err("a flexible downtime is not supported: write 1 for fixed".to_owned());
            }
            ExternalCommand::Downtime {
                target,
                since_s,
                until_s,
                author: rest.next("an author")?,
                comment: rest.rest(),
            }
        }
        Kind::CheckNow => ExternalCommand::CheckNow(target),
    };
    Ok((time_s, command))
}

enum Kind {
    Result,
    Acknowledge,
    Unacknowledge,
    Downtime,
    CheckNow,
}

/// The arguments that are left.
struct Arguments<'l>(Option<&'l str>);

impl<'l> Arguments<'l> {
    fn next(&mut self, what: &str) -> Result<&'l str, String> {
        let left = self.0.take().ok_or_else(|| format!("{what} is missing"))?;
        let (first, rest) = left.split_once(';').map_or((left, None), |(first, rest)| (first, Some(rest)));
        self.0 = rest;
        Ok(first)
    }

    /// The last argument, which may contain semicolons.
    fn rest(&mut self) -> &'l str {
        self.0.take().unwrap_or_default()
    }
}

fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("\"{text}\" is no number"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_read() {
        let of = |host, service| Target { host, service };
        for (line, expected) in [
            (
                "[7] PROCESS_SERVICE_CHECK_RESULT;web1;http;2;down; really|t=1\n",
                ExternalCommand::Result(of("web1", Some("http")), 2, "down; really|t=1"),
            ),
            ("[7] PROCESS_HOST_CHECK_RESULT;web1;0;", ExternalCommand::Result(of("web1", None), 0, "")),
            (
                "[7] ACKNOWLEDGE_HOST_PROBLEM;web1;2;1;0;ann;on it; soon",
                ExternalCommand::Acknowledge {
                    target: of("web1", None),
                    is_sticky: true,
                    is_silent: false,
                    author: "ann",
                    comment: "on it; soon",
                },
            ),
            (
                "[7] ACKNOWLEDGE_SVC_PROBLEM;web1;http;1;0;0;ann;",
                ExternalCommand::Acknowledge {
                    target: of("web1", Some("http")),
                    is_sticky: false,
                    is_silent: true,
                    author: "ann",
                    comment: "",
                },
            ),
            (
                "[7] SCHEDULE_SVC_DOWNTIME;web1;http;10;20;1;0;10;ann;disk",
                ExternalCommand::Downtime {
                    target: of("web1", Some("http")),
                    since_s: 10,
                    until_s: 20,
                    author: "ann",
                    comment: "disk",
                },
            ),
            ("[7] DEL_HOST_DOWNTIME;3", ExternalCommand::EndDowntime(3)),
            (
                "[7] SCHEDULE_FORCED_SVC_CHECK;web1;http;8",
                ExternalCommand::CheckNow(of("web1", Some("http"))),
            ),
            ("[7] SCHEDULE_HOST_SVC_CHECKS;web1;8", ExternalCommand::CheckServicesNow("web1")),
        ] {
            assert_eq!(external_command(line), Ok((7, expected)), "{line}");
        }
    }

    #[test]
    fn faults_say_what_is_missing() {
        for (line, expected) in [
            ("PROCESS_HOST_CHECK_RESULT;web1;0;", "a command begins with its time"),
            ("[x] DEL_HOST_DOWNTIME;3", "\"x\" is no number"),
            ("[7] SHUTDOWN_PROGRAM", "the command SHUTDOWN_PROGRAM is not supported"),
            ("[7] PROCESS_SERVICE_CHECK_RESULT;web1;http", "a state is missing"),
            ("[7] PROCESS_SERVICE_CHECK_RESULT;web1;http;999;x", "999 is no state"),
            ("[7] SCHEDULE_HOST_DOWNTIME;web1;10;20;0;0;10;ann;disk", "a flexible downtime is not supported"),
        ] {
            let fault = external_command(line).unwrap_err();
            assert!(fault.starts_with(expected), "{line}: {fault}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(line in ".*") {
            let _ = external_command(&line);
            let _ = external_command(&format!("[1] SCHEDULE_SVC_DOWNTIME;{line}"));
        }
    }
}
