//! `whit bench`: pairs are told with their spread, what is missing by its name, and the page stands by itself.

use std::fs;
use std::process::Command;

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, documents, wait_for, whit};
use super::prometheus::Prometheus;
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("the_posts_are_measured_again", &[Need::Program("python3"), Need::Program("strace")], bench),
        exact("the_datastore_is_measured_on_prometheus_too", &[Need::Program("prometheus")], datastore),
        exact("what_an_interrupted_measurement_made_is_taken_away", &[], interrupted),
    ]
}

/// Every side puts in and gives back what it should, or its measurement fails.
fn datastore() -> Result<(), Failed> {
    let scratch = Scratch::new("bench-datastore");
    let prometheus = Prometheus::start(&scratch, "{}", &["--web.enable-remote-write-receiver"])?;
    let text = whit(&[
        "bench",
        "--only",
        "datastore-add-100",
        "--only",
        "datastore-get-100",
        "--only",
        "datastore-delete-100",
        "--only",
        "datastore-samples-out",
        "-n",
        "1",
        "--json",
        "--url",
        &prometheus.url(),
    ]);
    for measured in documents(&text) {
        let sides = measured["sides"].as_array().ok_or("sides")?;
        let is_remote = sides.iter().any(|side| side["name"] == "the store at the URL");
        let name = measured["name"].as_str().ok_or("a name")?;
        assert_eq!(is_remote, !name.contains("delete"), "{name}");
        for side in sides {
            assert!(side["wall"]["median_ns"].as_f64().is_some_and(|median| median > 0.0), "{side}");
        }
    }
    Ok(())
}

fn interrupted() -> Result<(), Failed> {
    let scratch = Scratch::new("bench-interrupted");
    let directory = scratch.0.to_str().ok_or("the path")?;
    let mut bench = Command::new(WHIT).args(["bench", "--only", "scan-10k", "-C", directory]).spawn()?;
    wait_for("its first file", || fs::read_dir(directory).is_ok_and(|mut files| files.next().is_some()));
    let pid = rustix::process::Pid::from_raw(bench.id().cast_signed()).ok_or("no pid")?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    assert_eq!(bench.wait()?.code(), Some(143));
    assert_eq!(fs::read_dir(directory)?.count(), 0);
    Ok(())
}

fn bench() -> Result<(), Failed> {
    let scratch = Scratch::new("bench");
    let page = scratch.0.join("bench.html");
    let directory = scratch.0.to_str().unwrap();
    let names = ["figure", "mail", "sieve-100k", "pids-1k", "tasks-1k", "memory", "send", "sink", "lock"];
    let only: Vec<&str> = names.iter().flat_map(|name| ["--only", *name]).collect();
    let words = [
        &["bench", "--count", "1", "--json", "--directory", directory, "--html", page.to_str().unwrap()],
        &only[..],
    ]
    .concat();
    let told = documents(&whit(&words));
    assert_eq!(told.len(), names.len() + 1, "memory is two");
    for measurement in &told {
        let sides = measurement["sides"].as_array().unwrap();
        assert!(sides.len() > 1, "{measurement}");
        for (place, side) in sides.iter().enumerate() {
            let is_missing =
                side["not_measured"].as_str().is_some_and(|why| why.ends_with("is not installed"));
            assert!(is_missing || side["not_measured"].is_null(), "{measurement}");
            assert_eq!(side["relative"].is_object(), place > 0 && !is_missing, "{side}");
        }
        // That there is a ratio. Its size means nothing for a debug build on a busy machine.
        let ratio = sides[1]["relative"]["median_ratio"].as_f64().unwrap_or(0.0);
        match measurement["name"].as_str().unwrap() {
            "figure" | "tasks-1k" => assert!(ratio > 0.0, "{measurement}"),
            _ => {}
        }
    }
    let page = fs::read_to_string(page)?;
    assert!(page.contains("<section id=\"figure\">") && page.ends_with("</html>\n"));
    for foreign in ["<script", "http://", "https://", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    // Nothing of its files is left.
    assert_eq!(fs::read_dir(&scratch.0)?.count(), 1);
    let unknown = Command::new(WHIT).args(["bench", "--only", "nothing"]).output()?;
    assert_eq!(unknown.status.code(), Some(2));
    Ok(())
}
