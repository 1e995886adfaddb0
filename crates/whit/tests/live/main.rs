//! whit against the running kernel and against other tools.
//!
//! Each trial names what it needs. What is not there is said in a line and the trial counted as ignored; with
//! WHIT_NO_SKIP set (as CI does) it fails instead. [`trials`] says which of them run beside others, and when one is repeated.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

mod absences;
mod age;
mod agent;
mod agent_faults;
mod agent_server;
mod agent_socket;
mod alerts;
mod api;
mod bar;
mod bench;
mod certificates;
mod chains;
#[path = "../schema/check.rs"]
mod check;
mod check_ways;
mod checks;
mod containers;
mod dead_files;
mod delays;
mod demonstrations;
mod desktop;
mod exporters;
mod feeds;
mod figures;
mod fleet;
mod fleet_faults;
mod free;
mod history;
mod http;
mod import;
mod leftovers;
mod machine;
mod mail;
mod nagios_import;
mod name_service;
mod namespaces;
mod page;
mod past;
mod privilege;
mod prometheus;
mod query;
mod query_expressions;
mod random;
mod recording_rules;
mod refused_origins;
mod relabel;
mod remote_write;
mod remote_write_2;
mod run;
mod running_agent;
mod scheduler_clock;
mod service;
mod sockets;
mod stalls;
mod stolen;
mod storms;
mod supervision;
mod system_calls;
mod task_figures;
mod threaded_server;
mod tmpfiles;
mod top;
mod traffic;
mod traffic_echoes;
mod trials;
mod tutorials;
mod waits;
mod why;

use libtest_mimic::Arguments;

use trials::{Kind, Trial};

/// What runs, by the name of the part in WHIT_TRIALS, and how many of it at once: most of those that run beside others wait.
const GROUPS: [(&str, &[Kind], usize); 2] =
    [("beside", &[Kind::Exact], 8), ("alone", &[Kind::Alone, Kind::Timed], 1)];

fn main() {
    let rooms = [
        age::trials(),
        agent::trials(),
        agent_faults::trials(),
        agent_server::trials(),
        agent_socket::trials(),
        leftovers::trials(),
        tmpfiles::trials(),
        free::trials(),
        figures::trials(),
        delays::trials(),
        task_figures::trials(),
        system_calls::trials(),
        demonstrations::trials(),
        bar::trials(),
        bench::trials(),
        mail::trials(),
        desktop::trials(),
        import::trials(),
        nagios_import::trials(),
        privilege::trials(),
        query::trials(),
        alerts::trials(),
        chains::trials(),
        dead_files::trials(),
        threaded_server::trials(),
        containers::trials(),
        checks::trials(),
        check_ways::trials(),
        exporters::trials(),
        feeds::trials(),
        absences::trials(),
        api::trials(),
        page::trials(),
        waits::trials(),
        why::trials(),
        refused_origins::trials(),
        relabel::trials(),
        remote_write::trials(),
        remote_write_2::trials(),
        fleet::trials(),
        fleet_faults::trials(),
        name_service::trials(),
        namespaces::trials(),
        run::trials(),
        running_agent::trials(),
        service::trials(),
        supervision::trials(),
        past::trials(),
        top::trials(),
        traffic::trials(),
        traffic_echoes::trials(),
        history::trials(),
        http::trials(),
        sockets::trials(),
        stalls::trials(),
        tutorials::trials(),
        storms::trials(),
    ];
    let mut trials: Vec<Trial> = rooms.into_iter().flatten().collect();
    let wanted = std::env::var("WHIT_TRIALS").ok();
    // Trials switch delay accounting on; the machine gets back what it had.
    let switch = "/proc/sys/kernel/task_delayacct";
    let before = std::fs::read(switch);
    let mut arguments = Arguments::from_args();
    let mut conclusions = Vec::new();
    for (part, kinds, threads) in GROUPS {
        if wanted.as_ref().is_none_or(|wanted| wanted == part) {
            arguments.test_threads = Some(threads);
            let group = trials.extract_if(.., |trial| kinds.contains(&trial.kind));
            conclusions.push(libtest_mimic::run(&arguments, group.map(|trial| trial.test).collect()));
        }
    }
    if let Ok(before) = before {
        let _ = std::fs::write(switch, before);
    }
    conclusions.iter().for_each(libtest_mimic::Conclusion::exit_if_failed);
}
