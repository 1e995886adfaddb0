//! whit against the running kernel and against other tools.
//!
//! Each trial names what it needs. What is not there is said in a line and the trial counted as ignored; with
//! WHIT_NO_SKIP set (as CI does) it fails instead. Trials run one after the other: they load the machine.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

mod age;
mod agent;
mod agent_faults;
mod agent_socket;
mod alerts;
mod api;
mod bar;
mod bench;
#[path = "../schema/check.rs"]
mod check;
mod check_ways;
mod checks;
mod delays;
mod demonstrations;
mod desktop;
mod feeds;
mod figures;
mod free;
mod history;
mod http;
mod import;
mod leftovers;
mod machine;
mod mail;
mod namespaces;
mod needs;
mod page;
mod past;
mod privilege;
mod prometheus;
mod query;
mod query_expressions;
mod relabel;
mod run;
mod sockets;
mod stalls;
mod storms;
mod supervision;
mod system_calls;
mod task_figures;
mod tmpfiles;
mod top;
mod traffic;
mod why;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let rooms = [
        age::trials(),
        agent::trials(),
        agent_faults::trials(),
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
        privilege::trials(),
        query::trials(),
        alerts::trials(),
        checks::trials(),
        check_ways::trials(),
        feeds::trials(),
        api::trials(),
        page::trials(),
        why::trials(),
        relabel::trials(),
        namespaces::trials(),
        run::trials(),
        supervision::trials(),
        past::trials(),
        top::trials(),
        traffic::trials(),
        history::trials(),
        http::trials(),
        sockets::trials(),
        stalls::trials(),
        storms::trials(),
    ];
    let trials: Vec<Trial> = rooms.into_iter().flatten().collect();
    // Trials switch delay accounting on; the machine gets back what it had.
    let switch = "/proc/sys/kernel/task_delayacct";
    let before = std::fs::read(switch);
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Ok(before) = before {
        let _ = std::fs::write(switch, before);
    }
    conclusion.exit();
}
