//! What `why` says of a machine in a store, which may refuse a question.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::*;
use crate::FleetOptions;

const NOW_S: i64 = 1_700_000_000;

#[test]
fn a_counter_rises_as_rates_say() {
    let rate = |at_ms, value| Point { at_ms, value };
    let rates = [rate(60_000, 0.5), rate(120_000, 1.0), rate(300_000, 2.0)];
    let counter = counted(&rates, 30_000, 270_000);
    let at = |at_ms: i64| counter.iter().find(|point| point.at_ms == at_ms).unwrap().value;
    assert_eq!((at(30_000), at(60_000), at(120_000)), (0.0, 15.0, 75.0));
    // Nothing is known of the two minutes in between.
    assert_eq!((at(240_000), at(270_000), counter.len()), (75.0, 135.0, 241));
}

/// A store that has a machine on which processes were killed, and refuses questions about metrics that begin with a word.
fn store_that_refuses(word: &'static str) -> Fleet {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || while answer(&stream, word).is_some() {});
        }
    });
    let options = FleetOptions { url, ..FleetOptions::default() };
    Fleet::new(&options, Duration::from_secs(10))
}

/// Answers a request. `None`: the connection has ended.
fn answer(mut stream: &TcpStream, word: &str) -> Option<()> {
    let (mut reader, mut line, mut length) = (BufReader::new(stream), String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let is_about = |metric: &str| body.contains(metric);
    let samples = |from: i64, step: i64| {
        let values = (0..60).map(|place| format!("[{},\"{}\"]", NOW_S - 59 + place, from + step * place));
        values.collect::<Vec<_>>().join(",")
    };
    let series = |metric: &str, values: &str| {
        format!(r#"{{"metric":{{"__name__":"{metric}","instance":"web"}},"values":[{values}]}}"#)
    };
    let (status, result) = if is_about(word) {
        ("422 Refused", None)
    } else if is_about(SIGN_OF_LIFE) {
        let sample = format!(r#"{{"metric":{{"instance":"web","version":"1"}},"value":[{NOW_S},"1"]}}"#);
        ("200 OK", Some(("vector", sample)))
    } else if is_about("node_vmstat_oom_kill") {
        ("200 OK", Some(("matrix", series("node_vmstat_oom_kill", &samples(3, 1)))))
    } else if is_about(EACH_TICK) {
        ("200 OK", Some(("matrix", series(EACH_TICK, &samples(0, 0)))))
    } else {
        ("200 OK", Some(("matrix", String::new())))
    };
    let reply = result.map_or_else(
        || r#"{"status":"error","error":"too many series"}"#.to_owned(),
        |(kind, result)| {
            format!(r#"{{"status":"success","data":{{"resultType":"{kind}","result":[{result}]}}}}"#)
        },
    );
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", reply.len());
    stream.write_all(format!("{head}{reply}").as_bytes()).ok()
}

fn why(fleet: &Fleet) -> Result<Findings, String> {
    let window = Window { from_ms: (NOW_S - 60) * 1000, to_ms: NOW_S * 1000 };
    fleet.why("web", window, Instant::now() + Duration::from_secs(60), 1_000_000)
}

#[test]
fn a_question_without_an_answer_loses_only_what_rests_on_it() {
    let all = why(&store_that_refuses("nothing")).unwrap();
    assert!(all.sentences.iter().any(|sentence| sentence.text.contains("killed")), "{all:?}");
    for metric in
        ["node_cpu_seconds_total", "whit_task_block_io_seconds", "whit_cgroup_throttled_seconds_total"]
    {
        let some = why(&store_that_refuses(metric)).unwrap();
        assert_eq!(format!("{:?}", some.sentences), format!("{:?}", all.sentences));
        assert!(some.missing[0].contains(metric) && some.missing[0].ends_with("too many series"), "{some:?}");
        assert_eq!(some.missing[1..], all.missing, "{metric}");
    }
    // A kill by a limit would be said to be one for want of memory.
    let refused = why(&store_that_refuses("node_memory_MemAvailable_bytes")).unwrap_err();
    assert!(
        refused.starts_with("nothing is known of what rests on node_memory_MemAvailable_bytes"),
        "{refused}"
    );
}

#[test]
fn nothing_is_wrong_only_if_all_was_answered() {
    for metric in ["node_vmstat_oom_kill", "whit_task_on_cpu_seconds", "node_", EACH_TICK] {
        let refused = why(&store_that_refuses(metric)).unwrap_err();
        assert!(refused.ends_with("too many series"), "{metric}: {refused}");
    }
}
