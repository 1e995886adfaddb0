//! The past through the commands that otherwise show the present.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Running, Scratch, WHIT, busiest_program, documents, is_load, wait_for, whit};
use super::top::Screen;
use super::trials::{Need, Trial, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let with = [Need::Root, Need::Accounting, Need::Program("stress")];
    vec![
        timed("the_past_is_what_was", &with, "half a tick of 500 ms at each end of a window", figures),
        timed(
            "the_screen_walks_through_time",
            &[with[0], with[1], with[2], Need::Program("tmux")],
            "a load of 5 s must be the tallest in 21 s",
            screen,
        ),
    ]
}

fn agent(scratch: &Scratch) -> Result<Running, Failed> {
    let directory = &scratch.0;
    // An alert fires as long as the load is there.
    let config = directory.join("agent.toml");
    std::fs::write(
        &config,
        "[alerts]\ninterval = \"1s\"\n[[alert]]\nname = \"busy\"\n\
         expression = 'sum(rate(node_cpu_seconds_total{mode=~\"user|system\"}[3s])) > 0.7'\n",
    )?;
    let mut command = Command::new(WHIT);
    command.args(["agent", "--interval", "500ms", "--http", "127.0.0.1:0", "--config"]).arg(config);
    command.arg("--data").arg(directory.join("data")).arg("--now").arg(directory.join("now"));
    command.arg("--socket").arg(directory.join("socket")).stderr(Stdio::null());
    Ok(Running(command.spawn()?))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// The value of an expression at a time.
fn asked(expression: &str, at: &str, data: &str) -> f64 {
    let text = whit(&["query", expression, "--at", at, "--json", "--data", data]);
    let result = &documents(&text)[0]["data"]["result"];
    let value = if result[0]["value"].is_array() { &result[0]["value"][1] } else { &result[1] };
    value.as_str().and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
}

fn only<'d>(document: &'d Value, comm: &str) -> Vec<&'d Value> {
    let tasks = document["tasks"].as_array().map_or(&[][..], Vec::as_slice);
    tasks.iter().filter(|task| task["comm"] == comm).collect()
}

/// The time on a CPU of the only worker of a stress(1), as schedstat has it each 20 ms.
fn on_cpu_of_worker(load: &Load, span: Duration) -> Result<Vec<(f64, f64)>, Failed> {
    let id = load.id();
    let children = format!("/proc/{id}/task/{id}/children");
    wait_for("stress has a worker", || std::fs::read_to_string(&children).is_ok_and(|ids| !ids.is_empty()));
    let schedstat = format!("/proc/{}/schedstat", std::fs::read_to_string(&children)?.trim());
    let end = Instant::now() + span;
    let mut seen = Vec::new();
    while Instant::now() < end {
        let text = std::fs::read_to_string(&schedstat)?;
        let on_cpu_ns: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).ok_or("schedstat")?;
        seen.push((SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64(), on_cpu_ns / 1e9));
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(seen)
}

/// The counter at a time, on the line between the readings around it.
fn at_time(seen: &[(f64, f64)], time: f64) -> Result<f64, Failed> {
    let after = seen.partition_point(|reading| reading.0 < time);
    let (Some(before), Some(after)) = (after.checked_sub(1).map(|index| seen[index]), seen.get(after)) else {
        return Err(format!("{time} is outside what was seen").into());
    };
    Ok(before.1 + (after.1 - before.1) * (time - before.0) / (after.0 - before.0))
}

/// Views of one instant agree with expressions about it, and with what the load was.
fn figures() -> Result<(), Failed> {
    let scratch = Scratch::new("past-figures");
    let child = agent(&scratch)?;
    std::thread::sleep(Duration::from_secs(2));
    let load = Load::stress_as(&scratch, "walker", &["-c", "1", "-t", "60"]);
    let seen = on_cpu_of_worker(&load, Duration::from_secs(6))?;
    load.kill();
    std::thread::sleep(Duration::from_secs(4));
    drop(child);
    let data = scratch.0.join("data");
    let data = data.to_str().ok_or("the path")?;
    let last = number(&documents(&whit(&["history", "--json", "--data", data]))[0]["last_realtime_ns"]) / 1e9;
    let (under_load, after) = (format!("@{:.3}", last - 5.8), format!("@{:.3}", last - 0.3));
    let at = under_load.as_str();

    let free = documents(&whit(&["free", "--at", at, "--json", "--data", data])).remove(0);
    let available = asked("node_memory_MemAvailable_bytes", at, data);
    assert_eq!(number(&free["available_bytes"]), available, "{free}");
    let total = asked("node_memory_MemTotal_bytes", at, data);
    assert_eq!(number(&free["total_bytes"]), total, "{free}");

    let top = documents(&whit(&["top", "--at", at, "--json", "--data", data])).remove(0);
    assert_eq!(top["source"], "history");
    assert_eq!(number(&top["machine"]["memory"]["available_bytes"]), available);
    assert_eq!(number(&top["machine"]["load_averages"][0]), asked("node_load1", at, data));
    let busy: f64 = only(&top, "walker").iter().map(|task| number(&task["on_cpu_ns"])).sum();
    // How much a CPU gave the load depends on what else runs; the trial read the same counter itself.
    let (end, interval) = (number(&top["realtime_ns"]) / 1e9, number(&top["interval_ns"]) / 1e9);
    let used = at_time(&seen, end)? - at_time(&seen, end - interval)?;
    assert!((busy / 1e9 - used).abs() < 0.15 * interval, "{busy} ns, the trial saw {used} of {interval} s");
    let top = documents(&whit(&["top", "--at", &after, "--json", "--data", data])).remove(0);
    assert!(only(&top, "walker").is_empty());
    // Tick by tick to the end.
    let walked = documents(&whit(&["top", "--at", at, "--json", "-n", "5", "--data", data]));
    let times: Vec<f64> = walked.iter().map(|document| number(&document["realtime_ns"]) / 1e9).collect();
    assert_eq!(times.len(), 5);
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (0.3..0.7).contains(step)), "{steps:?}");
    let to_the_end = documents(&whit(&["top", "--at", at, "--json", "-n", "1000", "--data", data]));
    assert!((11..15).contains(&to_the_end.len()), "{}", to_the_end.len());

    // Between two instants as the expression has it: 4 of the 6 seconds.
    let from = format!("@{:.3}", last - 8.0);
    let words = ["delays", "--comm", "walker", "--since", &from, "--at", "@0", "--json", "--data", data];
    let until = format!("@{:.3}", last - 4.0 - 0.6);
    let words = words.map(|word| if word == "@0" { until.as_str() } else { word });
    let rows = documents(&whit(&words));
    let on_cpu: f64 = rows.iter().map(|row| number(&row["on_cpu_ns"])).sum::<f64>() / 1e9;
    let expression = "sum(whit_task_on_cpu_seconds_total{comm=\"walker\"})";
    let increase = asked(expression, &until, data) - asked(expression, &from, data);
    let used = at_time(&seen, last - 4.6)? - at_time(&seen, last - 8.0)?;
    assert!((on_cpu - increase).abs() < 0.6 && (on_cpu - used).abs() < 0.6, "{on_cpu} {increase} {used}");
    let rows = documents(&whit(&["delays", "--comm", "walker", "--at", &until, "--json", "--data", data]));
    assert!(rows.iter().all(|row| row["interval_ns"].is_null()), "{rows:?}");

    // The line has the time of the tick.
    let line = whit(&["bar", "--once", "--for", "plain", "--at", at, "--data", data]);
    let load = asked("node_load1", at, data);
    assert!(line.contains(&format!("load {load:5.2}")), "{line} {load}");
    refusals(data)
}

/// What cannot be is said.
fn refusals(data: &str) -> Result<(), Failed> {
    let says = |words: &[&str], wanted: &str| {
        let output = Command::new(WHIT).args(words).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(wanted), "{words:?}: {text}");
    };
    for command in [&["free"][..], &["top", "-b"], &["delays", "-a"], &["bar", "--once"]] {
        let at = |at: &'static str| [command, &["--at", at, "--data", data]].concat();
        says(&at("2001-02-03 04:05"), "nothing was recorded at 2001-02-03 04:05:00: the history is from");
        says(&at("soon"), "expected an instant");
        let elsewhere = [command, &["--at", "-1m", "--data", "/nonexistent"]].concat();
        says(&elsewhere, "there is none yet; whit agent makes it");
    }
    says(&["bar", "--at", "-1m", "--data", data], "it goes with --once");
    says(&["free", "--at", "-1m", "-n", "2", "--data", data], "it goes without");
    says(&["top", "--at", "-1m", "--direct", "--data", data], "it goes without");
    assert!(Path::new(data).exists());
    Ok(())
}

/// Keys go back and forth; the time line has the alert; nothing can be done to a task of the past.
fn screen() -> Result<(), Failed> {
    let scratch = Scratch::new("past-screen");
    let (_, others) = busiest_program();
    let child = agent(&scratch)?;
    std::thread::sleep(Duration::from_secs(6));
    let load = Load::stress_as(&scratch, "walker", &["-c", "2", "-t", "60"]);
    std::thread::sleep(Duration::from_secs(5));
    load.kill();
    std::thread::sleep(Duration::from_secs(10));
    let data = scratch.0.join("data");
    let screen = Screen::open("past", 150, 30, &format!("--at -3s --data {}", data.display()));
    let time_of = |text: &str| {
        let line = text.lines().rev().find(|line| line.contains('▲')).unwrap_or_default().to_owned();
        line.chars().take(19).collect::<String>()
    };
    let first = screen.wait_for("the time line", |text| text.contains('▲') && text.contains("[ ] tick"));
    assert!(first.contains('!'), "the alert:\n{first}");
    let here = time_of(&first);
    screen.keys(&["[", "[", "[", "["]);
    let back = screen.wait_for("earlier", |text| time_of(text) < here);
    screen.keys(&["]", "]", "]", "]"]);
    screen.wait_for("the same again", |text| time_of(text) == here);
    // Beside a constant load of others, the load of this trial is not a spike.
    let is_alone = !is_load(others);
    let back_to_it: &[&str] = if is_alone { &[","] } else { &["[", "[", "[", "["] };
    screen.keys(back_to_it);
    let spike = screen.wait_for("the spike", |text| {
        let is_there = text.lines().any(|line| line.contains("walker") && line.contains('█'));
        if is_alone { is_there } else { time_of(text) < here }
    });
    assert!(!is_alone || time_of(&spike) < time_of(&back), "{spike}");
    screen.keys(&["k"]);
    screen.wait_for("no signals into the past", |text| text.contains("this is the past"));
    screen.keys(&["(", "{"]);
    screen.wait_for("the beginning", |text| text.contains("the oldest tick"));
    screen.keys(&["@", "-", "2", "s", "Enter"]);
    screen.wait_for("a time", |text| time_of(text) >= here);
    screen.keys(&["w"]);
    screen.wait_for("now", |text| text.contains("F follow") && !text.contains('▲'));
    screen.keys(&["["]);
    screen.wait_for("the past from now", |text| text.contains('▲') || text.contains("none yet"));
    screen.keys(&["q"]);
    screen.wait_for("the end", |text| text.contains("ended 0"));
    drop(child);
    Ok(())
}
