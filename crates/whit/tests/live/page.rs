//! What the page asks of the agent, without a browser (`make test-page` has one).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::api::{Api, output};
use super::machine::{Load, Running, Scratch, wait_for};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Root, Need::Program("curl"), Need::Program("stress"), Need::Program("setpriv")];
    vec![
        exact("the_page_is_served_with_what_it_asks_for", &needs, page),
        timed(
            "the_stream_says_what_the_history_says",
            &needs,
            "0.01 CPUs: the same ticks, asked twice",
            stream,
        ),
        timed(
            "all_tasks_together_did_what_each_did",
            &needs,
            "1 %: one instant of a history, by totals that are recorded and by sums of tasks",
            sums,
        ),
        exact("others_see_nothing_of_tasks_on_the_page", &needs, others),
        timed("expensive_streams_delay_no_tick", &needs, "no tick of 100 ms is missed", flood),
    ]
}

fn newest_ms(api: &Api) -> Result<i64, Failed> {
    let status = api.get("/api/page/status?span_ms=1000").ok_or("no status")?;
    status["data"]["last_ms"].as_i64().ok_or_else(|| format!("no last tick: {status}").into())
}

/// As a part of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn page() -> Result<(), Failed> {
    let scratch = Scratch::new("page");
    let api = Api::start(&scratch, &[])?;
    for (path, within) in [("/", "page.js"), ("/page.js", "why"), ("/style.css", "--ground")] {
        let reply = output("curl", &["-si", &format!("{}{path}", api.url())])?;
        let wanted = ["200 OK", "default-src 'none'", within];
        assert!(wanted.iter().all(|wanted| reply.contains(wanted)), "{path}: {reply}");
        let small = output("curl", &["-si", "--compressed", &format!("{}{path}", api.url())])?;
        assert_eq!(small.contains("content-encoding: gzip"), reply.len() > 3000, "{path}: {small}");
        let tag = reply.lines().find_map(|line| line.strip_prefix("etag: ")).ok_or("no tag")?;
        let known = format!("If-None-Match: {}", tag.trim());
        let again = output("curl", &["-si", "-H", &known, &format!("{}{path}", api.url())])?;
        assert!(again.starts_with("HTTP/1.1 304"), "{path}: {again}");
    }
    let ended = Command::new("sh").args(["-c", "exit 3"]).spawn()?.wait_with_output()?;
    assert_eq!(ended.status.code(), Some(3));
    let of_sh = encoded("{comm=\"sh\"}");
    let (mut last_ms, mut window) = (0, String::new());
    wait_for("its exit is recorded", || {
        last_ms = newest_ms(&api).unwrap_or(0);
        window = format!("from_ms={}&to_ms={last_ms}", last_ms - 3000);
        let exits = api.get(&format!("/api/page/exits?{window}&of={of_sh}")).unwrap_or_default();
        let rows = exits["data"]["rows"].as_array().cloned().unwrap_or_default();
        rows.iter().any(|row| row["status"] == 3 && row["name"] == "sh")
    });
    let own = std::process::id();
    for by in ["process", "thread"] {
        let tasks = api.get(&format!("/api/page/tasks?at_ms={last_ms}&by={by}")).ok_or("no tasks")?;
        let rows = tasks["data"]["rows"].as_array().ok_or("no rows")?;
        let row = rows.iter().find(|row| row["pid"] == own).ok_or("this process is not there")?;
        assert!(row["user"] == "root" && row["resident_bytes"].as_u64() > Some(0), "{row}");
    }
    let why = api.get(&format!("/api/page/why?{window}")).ok_or("no why")?;
    assert!(why["data"]["sentences"].is_array(), "{why}");
    let language = api.get("/api/page/language").ok_or("no language")?;
    let metrics = language["data"]["metrics"].as_array().ok_or("no metrics")?;
    let labels = metrics.iter().find(|metric| metric["name"] == "node_cpu_seconds_total");
    assert_eq!(labels.map(|metric| &metric["labels"]), Some(&json!(["cpu", "mode"])));
    let plots = format!("/api/page/plots?{window}&step_ms=1000&query=node_load1&query={}", encoded("sum(é"));
    let plots = api.get(&plots).ok_or("no plots")?;
    let answers = &plots["data"]["answers"];
    assert_eq!(answers[0]["curves"][0]["values"].as_array().map(Vec::len), Some(4), "{plots}");
    assert_eq!(answers[1]["fault"]["place"], 3, "{plots}");
    for wrong in [
        "tasks",
        "tasks?at_ms=soon",
        "tasks?at_ms=1&by=nobody",
        "why?from_ms=2&to_ms=1",
        "plots?from_ms=2&to_ms=1&step_ms=1",
        "plots?from_ms=1&to_ms=2&step_ms=0",
        "plots?from_ms=-9223372036854775808&to_ms=9223372036854775807&step_ms=9223372036854775807",
        "plots?from_ms=0&to_ms=1000000000&step_ms=1",
        "why?from_ms=-9223372036854775808&to_ms=9223372036854775807",
        "download/svg?query=1&from_ms=-9223372036854775808&to_ms=-9223372036854775807&step_ms=1",
        "exits?from_ms=1&to_ms=2&of=%7B",
        "live?query=sum(",
        "marks?from_ms=1",
    ] {
        let refused = api.get(&format!("/api/page/{wrong}")).ok_or(wrong)?;
        assert_eq!(refused["errorType"], "bad_data", "{wrong}: {refused}");
    }
    Ok(())
}

/// The first value of each tick's first answer.
fn stream() -> Result<(), Failed> {
    const EXPRESSION: &str = "sum(rate(node_cpu_seconds_total{mode=~\"user|system\"}[4s]))";
    let scratch = Scratch::new("page-stream");
    let api = Api::start(&scratch, &[])?;
    let load = Load::start(&["stress", "-c", "1", "-t", "60"]);
    std::thread::sleep(Duration::from_secs(5));
    let address = format!("{}/api/page/live?query={}", api.url(), encoded(EXPRESSION));
    let mut reader = Running(Command::new("curl").args(["-sN", &address]).stdout(Stdio::piped()).spawn()?);
    let lines = BufReader::new(reader.0.stdout.take().ok_or("no output")?).lines();
    let (mut values, mut has_load, mut name): (Vec<(i64, f64)>, bool, String) = Default::default();
    for line in lines {
        let line = line?;
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let data: Value = serde_json::from_str(data)?;
        if name == "tasks" {
            let rows = data["rows"].as_array().ok_or("no rows")?;
            has_load |= rows.iter().any(|row| row["name"] == "stress" && row["on_cpu"].as_f64() > Some(0.3));
        } else {
            let at_ms = data["from_ms"].as_i64().ok_or("no time")?;
            // One that waited for a CPU for so long that the tick was over says so.
            if data["answers"][0]["fault"].is_object() {
                continue;
            }
            // The first one, too: it goes back to what was recorded before.
            let value = data["answers"][0]["curves"][0]["values"][0].as_f64();
            let value = value.ok_or_else(|| format!("no value after {} others: {data}", values.len()))?;
            values.push((at_ms, value));
        }
        if values.len() == 20 {
            break;
        }
    }
    drop(reader);
    assert!(has_load, "the load is no row");
    std::thread::sleep(Duration::from_millis(500));
    for (at_ms, value) in values {
        let plots = format!(
            "/api/page/plots?from_ms={at_ms}&to_ms={at_ms}&step_ms=1000&query={}",
            encoded(EXPRESSION)
        );
        let plots = api.get(&plots).ok_or("no plots")?;
        let known = plots["data"]["answers"][0]["curves"][0]["values"][0].as_f64();
        let known = known.ok_or_else(|| format!("no value at {at_ms}: {plots}"))?;
        assert!((known - value).abs() < 0.01, "at {at_ms}: {value} came, {known} was recorded");
    }
    load.kill();
    Ok(())
}

fn sums() -> Result<(), Failed> {
    let scratch = Scratch::new("page-sums");
    let api = Api::start(&scratch, &[])?;
    let load = Load::start(&["stress", "-c", "3", "-t", "60"]);
    // Some that end within a tick, too.
    let mut forks =
        Running(Command::new("bash").args(["-c", "for i in {1..500}; do (:); sleep 0.01; done"]).spawn()?);
    std::thread::sleep(Duration::from_secs(6));
    // Between two ticks: tasks are read some milliseconds after the machine, so that of a tick at the edge of a range one may be in it, and
    // the other not.
    let last_s = newest_ms(&api)? as f64 / 1e3 - 0.5;
    let ask = |expression: &str| -> Result<f64, Failed> {
        let path = format!("/api/v1/query?time={last_s:.3}&query={}", encoded(expression));
        let reply = api.get(&path).ok_or("no answer")?;
        let value = reply["data"]["result"][0]["value"][1].as_str().and_then(|value| value.parse().ok());
        value.ok_or_else(|| format!("{expression}: {reply}").into())
    };
    for state in ["on_cpu", "run_queue"] {
        let together = ask(&format!("increase(whit_tasks_seconds_total{{state=\"{state}\"}}[4s])"))?;
        let each = ask(&format!("sum(increase(whit_task_{state}_seconds_total[4s]))"))?;
        println!("{state}: {together:.2} s together, {each:.2} s each by itself");
        assert!((together - each).abs() < 0.01 * each, "{state}: {together} s together, {each} s each");
    }
    let _ = forks.0.kill();
    load.kill();
    Ok(())
}

fn others() -> Result<(), Failed> {
    let scratch = Scratch::new("page-others");
    let api = Api::start(&scratch, &[])?;
    std::thread::sleep(Duration::from_secs(1));
    let last_ms = newest_ms(&api)?;
    let window = format!("from_ms={}&to_ms={last_ms}", last_ms - 3000);
    let rows = |path: &str| -> Result<Value, Failed> { Ok(api.as_nobody(path)?["data"]["rows"].clone()) };
    assert_eq!(rows(&format!("/api/page/tasks?at_ms={last_ms}"))?, json!([]));
    assert_eq!(rows(&format!("/api/page/exits?{window}&of=%7Bcomm%3D%22sh%22%7D"))?, json!([]));
    let status = api.as_nobody("/api/page/status")?;
    assert_eq!(status["data"]["sees_all"], false, "{status}");
    let together = encoded("whit_tasks_seconds_total or ALERTS or sum(whit_task_on_cpu_seconds_total)");
    let plots = api.as_nobody(&format!("/api/page/plots?{window}&step_ms=1000&query={together}"))?;
    assert_eq!(plots["data"]["answers"][0]["curves"], json!([]), "{plots}");
    // The first events of a stream, as bash reads them.
    let script = format!(
        "exec 3<>/dev/tcp/{}; printf 'GET /api/page/live?query={} HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n' >&3; timeout 60 awk '{{ print }} /\"rows\"/ {{ r = 1 }} /\"curves\"/ {{ c = 1 }} r && c {{ exit }}' <&3",
        api.url().trim_start_matches("http://").replace(':', "/"),
        together.replace('%', "%%"),
    );
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", &script];
    let events = String::from_utf8_lossy(&Command::new("setpriv").args(nobody).output()?.stdout).into_owned();
    assert!(events.contains("\"curves\":[]") && events.contains("\"rows\":[]"), "{events}");
    assert!(!events.contains("\"name\""), "{events}");
    // Who does not see everything sets no marks.
    let text = format!("at_ms={last_ms}&text=seen");
    let post = ["-s", "-X", "POST", "-d", &text, &format!("{}/api/page/marks", api.url())];
    let refused = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "curl"])
        .args(post)
        .output()?;
    assert!(String::from_utf8_lossy(&refused.stdout).contains("forbidden"), "{refused:?}");
    assert!(output("curl", &post)?.contains("seen"));
    let marks = api.as_nobody(&format!("/api/page/marks?{window}"))?;
    assert_eq!(marks["data"][0]["text"], "seen", "{marks}");
    Ok(())
}

/// Pages that are none: each with other expensive expressions, and who reads nothing.
fn flood() -> Result<(), Failed> {
    let scratch = Scratch::new("page-flood");
    let api = Api::start(&scratch, &[])?;
    let missed = api.now("whit_agent_missed_ticks_total");
    let mut streams = Vec::new();
    for number in 0..70 {
        let expression = format!(
            "sum_over_time((sum(rate(node_cpu_seconds_total[30s])) + {number} * vector(1))[30s:10ms])"
        );
        let queries = format!("query={}&", encoded(&expression)).repeat(10);
        let mut stream = TcpStream::connect(api.url().trim_start_matches("http://"))?;
        write!(stream, "GET /api/page/live?{queries} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        streams.push(stream);
    }
    std::thread::sleep(Duration::from_secs(5));
    assert!(api.get("/api/page/status").is_some_and(|status| status["status"] == "success"));
    assert_eq!(api.now("whit_agent_missed_ticks_total"), missed, "ticks were missed");
    let mut begins = [0; 12];
    let begun = streams.iter_mut().map(|stream| stream.read_exact(&mut begins).map(|()| begins));
    let replies: Vec<[u8; 12]> = begun.collect::<Result<_, _>>()?;
    let refused = replies.iter().filter(|reply| reply.ends_with(b"503")).count();
    assert_eq!(refused, 6, "of 70 streams 64 are served");
    drop(streams);
    // Who has gone makes room.
    let address = format!("{}/api/page/live?query=1", api.url());
    let mut is_served = false;
    for _ in 0..50 {
        let reply = Command::new("curl").args(["-si", "--max-time", "1", &address]).output()?;
        is_served |= reply.stdout.starts_with(b"HTTP/1.1 200");
        if is_served {
            break;
        }
    }
    assert!(is_served, "there is no room");
    Ok(())
}
