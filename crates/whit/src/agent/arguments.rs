//! Options of `whit agent`.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ::agent::{AgentOptions, HttpOptions, Listen, Privileged, Retention};
use clap::{Arg, ArgMatches, Command, value_parser};
use facts::unit::Ratio;
use formats::relabel::Relabelling;
use recorder::RecorderOptions;

use super::configuration::{NEEDS_TOKEN, Origin};
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    agent_configuration, count, data, data_directory, interval, option, paragraphs, switch,
};
use command::paths;

/// For this machine alone.
const USUAL_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9140);

/// `whit agent`, validated.
#[derive(Debug)]
pub(crate) enum AgentCommand {
    Record(Box<AgentArgs>),
    /// The process that the recorder starts.
    Serve(Box<AgentArgs>),
    /// Says whether the configuration is good.
    Check(Option<PathBuf>),
    PrintDefaults,
}

/// The arguments of the command line, which go before the configuration.
#[derive(Clone, Debug)]
pub(crate) struct AgentArgs {
    pub(super) config: Option<PathBuf>,
    defaults: AgentOptions,
    data: Option<PathBuf>,
    now: Option<PathBuf>,
    socket: Option<PathBuf>,
    http: Option<Listen>,
    interval: Option<Duration>,
}

pub(crate) fn command() -> Command {
    Command::new("agent").about("Record what this machine and its tasks do, always").defer(|command| {
        command
            .arg(agent_configuration())
            .arg(switch("check", "Say whether the configuration is good, and end"))
            .arg(switch("print-defaults", "Print the default configuration, and end").conflicts_with("check"))
            .arg(data())
            .arg(interval("Time between two ticks [default: 1s]"))
            .arg(count("End after N ticks"))
            .arg(option("now", Kind::Path, "The file with the last tick, for scripts [default: whit/now in $XDG_RUNTIME_DIR, for root /run/whit/now]"))
            .arg(option("socket", Kind::Path, "The socket for whit's other commands [default: whit/agent.sock beside that file]"))
            .arg(Arg::new("http").long("http").value_name("HOST:PORT").value_parser(value_parser!(Listen)).help("Where HTTP is served, also unix:PATH [default: 127.0.0.1:9140]"))
            .arg(switch(SERVE, "Run the server process, with the recorder at standard input").hide(true))
            .after_help(paragraphs(EXPLANATION))
    })
}

/// The option that the recorder adds to its own command line.
const SERVE: &str = "serve";

/// The command that serves: this one, with its options.
fn server() -> Vec<OsString> {
    let own = std::env::args_os().skip(1).chain([format!("--{SERVE}").into()]);
    std::iter::once(probe::spawn::own_program()).chain(own).collect()
}

const EXPLANATION: &str = "\
Runs in the foreground and ends on Ctrl-C or SIGTERM. SIGHUP lets it read its configuration again.
If it is killed, no finished tick is lost. whit history shows what was recorded. Without
privileges it records what it may read.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AgentCommand, Failure> {
    let config = matches.get_one::<PathBuf>("config").cloned();
    if matches.get_flag("print-defaults") {
        return Ok(AgentCommand::PrintDefaults);
    }
    if matches.get_flag("check") {
        return Ok(AgentCommand::Check(config));
    }
    let usual = usual();
    let recorder = RecorderOptions {
        data: data_directory(matches)?,
        count: matches.get_one("count").copied(),
        ..usual.recorder
    };
    let defaults = AgentOptions { recorder, ..usual };
    let args = Box::new(AgentArgs {
        config,
        defaults,
        data: matches.get_one("data").cloned(),
        now: matches.get_one("now").cloned(),
        socket: matches.get_one("socket").cloned(),
        http: matches.get_one("http").cloned(),
        interval: matches.get_one("interval").copied(),
    });
    Ok(match matches.get_flag(SERVE) {
        true => AgentCommand::Serve(args),
        false => AgentCommand::Record(args),
    })
}

/// Without a configuration.
pub(super) fn usual() -> AgentOptions {
    let recorder = RecorderOptions {
        data: PathBuf::new(),
        fallback: paths::runtime_directory().map(|directory| directory.join("history")),
        now: paths::runtime_directory().map(|directory| directory.join("now")),
        now_metrics: Vec::new(),
        interval: Duration::from_secs(1),
        slow_interval: Duration::from_secs(10),
        count: None,
        records_tasks: true,
        command_lines: None,
        relabelling: Relabelling::default(),
        retention: Retention::default(),
        server: None,
        cpu_limit: Some(Ratio(0.01)),
    };
    AgentOptions {
        configuration: None,
        recorder,
        socket: paths::runtime_directory().map(|directory| directory.join(paths::AGENT_SOCKET)),
        privileged: Privileged::default(),
        http: Some(HttpOptions { listen: Listen::Tcp(USUAL_ADDRESS), token: None }),
        alerts: Some(alerts::tables::usual()),
        checks: None,
        exporters: None,
        remote_write: Vec::new(),
        fleet: None,
        #[cfg(feature = "feeds")]
        feeds: None,
        requests_cpu_limit: Ratio(0.1),
    }
}

impl AgentArgs {
    /// The configuration, and what was said on the command line over it.
    ///
    /// # Errors
    /// What is wrong with the configuration, and where.
    pub(super) fn options(&self) -> Result<AgentOptions, Failure> {
        let origin = Origin::find(self.config.as_deref());
        let mut options = origin.read(self.defaults.clone())?;
        // A reload may come from another directory.
        options.configuration = origin.path().and_then(|path| std::path::absolute(path).ok());
        let data = self.data.clone().or_else(paths::data_of_environment);
        options.recorder.data = data.unwrap_or(options.recorder.data);
        options.recorder.now = self.now.clone().or(options.recorder.now);
        options.socket = self.socket.clone().or(options.socket);
        if let Some(listen) = self.http.clone() {
            let token = options.http.and_then(|http| http.token);
            if !listen.is_local() && token.is_none() {
                return Err(Failure::usage(format!(
                    "--http {listen}: {NEEDS_TOKEN}: token or token_file in [http] of the configuration"
                )));
            }
            options.http = Some(HttpOptions { listen, token });
        }
        options.recorder.interval = self.interval.unwrap_or(options.recorder.interval);
        options.recorder.server = Some(server());
        Ok(options)
    }
}
