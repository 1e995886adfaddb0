//! Exporters and files with metrics: the same series as Debian's Prometheus makes of them, and hostile ones.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formats::series_name::SeriesName;
use libtest_mimic::Failed;
use serde_json::Value;

use super::certificates::issue;
use super::machine::{Running, Scratch, WHIT, document, documents, port, wait_for, whit};
use super::prometheus::Prometheus;
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact(
            "exporters_are_read_as_prometheus_reads_them",
            &[Need::Program("prometheus")],
            as_prometheus_reads_them,
        ),
        exact("hostile_exporters_disturb_nothing", &[], hostile_exporters),
        exact("targets_come_go_and_are_late", &[], come_and_go),
        exact("exporters_show_and_want_certificates", &[Need::Program("openssl")], certificates),
    ]
}

/// What a good exporter says.
const METRICS: &str = "# HELP test_requests_total All of them.\n# TYPE test_requests_total counter\n\
    test_requests_total{method=\"get\",code=\"200\"} 81\ntest_requests_total{method=\"get\",code=\"500\",}  3\n\
    # A comment.\n\ntest_path{path=\"C:\\\\x {y} # z\",text=\"two\\nlines, \\\"quoted\\\"\"} 1.5e3\n\
    # TYPE test_seconds histogram\ntest_seconds_bucket{le=\"0.1\"} 5\ntest_seconds_bucket{le=\"+Inf\"} 7\n\
    test_seconds_sum 0.8\ntest_seconds_count 7\n\
    # TYPE test_size summary\ntest_size{quantile=\"0.5\"} NaN\ntest_size_sum 0\ntest_size_count 0\n\
    test_infinite +Inf\ntest_negative -0.25\ntest_empty{label=\"\"} 4\ntest_largest 1.7976931348623157e308\n\
    test_theirs{job=\"theirs\",instance=\"there\",exported_job=\"other\"} 6\ntest_dropped 1\ntest_secret{secret=\"s\",a=\"b\"} 2\n\
    test:rule{a=\"\\u00e4\"} 9\n";

/// Exporters, and how often each was asked, by the path.
#[derive(Clone)]
struct Exporters {
    port: u16,
    requests: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl Exporters {
    /// Answers requests as their paths say, until the process ends.
    fn listen() -> Result<Self, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let exporters = Self { port: listener.local_addr()?.port(), requests: Arc::default() };
        let served = exporters.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                std::thread::spawn(move || answer(stream, &served));
            }
        });
        Ok(exporters)
    }

    /// How often a path was asked for.
    fn requests(&self, path: &str) -> u32 {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(path).copied().unwrap_or_default()
    }
}

/// The other end closes when it has enough.
fn answer(mut stream: TcpStream, exporters: &Exporters) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut request, mut line) = (String::new(), String::new());
    reader.read_line(&mut request).ok()?;
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    const OK: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    let mut whole = |body: &str| {
        let head = format!("{OK}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()
    };
    let path = request.split(' ').nth(1)?;
    let number = {
        let mut requests = exporters.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let number = requests.entry(path.to_owned()).or_default();
        *number += 1;
        *number
    };
    match path {
        "/good" => whole(METRICS),
        "/nan" => whole("test_a NaN\ntest_b nan\ntest_c -Inf\n"),
        "/broken" => whole("test_a 1\ntest_b one\n"),
        "/long" => whole(&format!("test_a{{b=\"{}\"}} 1\n", "x".repeat(70_000))),
        "/latin" => stream.write_all(format!("{OK}\r\ntest_a{{b=\"").as_bytes()).and_then(|()| stream.write_all(b"\xe4\"} 1\n")).ok(),
        "/many" => {
            stream.write_all(format!("{OK}\r\n").as_bytes()).ok()?;
            (0..10_000_000).try_for_each(|number| writeln!(stream, "test_many{{n=\"{number}\"}} 1")).ok()
        }
        "/endless" => {
            stream.write_all(format!("{OK}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).ok()?;
            loop {
                stream.write_all(b"9\r\ntest_a 1\n\r\n").ok()?;
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        "/changing" => {
            let now_ns = probe::clock_now().realtime.0;
            let lines: String = (0..300).map(|number| format!("test_changing{{at=\"{now_ns}-{number}\"}} 1\n")).collect();
            whole(&lines)
        }
        "/circle" => stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /circle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok(),
        "/file" => stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok(),
        "/late" => {
            // Longer than the interval, and often enough for the trial to see it.
            if number < 8 {
                std::thread::sleep(Duration::from_millis(3500));
            }
            whole(METRICS)
        }
        "/silent" => {
            std::thread::sleep(Duration::from_secs(600));
            None
        }
        "/gone" => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok(),
        _ => None,
    }
}

fn agent(scratch: &Scratch, configuration: &str) -> Result<Running, Failed> {
    agent_with(scratch, configuration, &[])
}

/// Starts an agent with a configuration and more variables of its environment. Its log is the file `log`.
fn agent_with(scratch: &Scratch, configuration: &str, variables: &[(&str, &str)]) -> Result<Running, Failed> {
    let path = |name: &str| scratch.0.join(name);
    fs::write(path("agent.toml"), configuration)?;
    let mut command = Command::new(WHIT);
    command.envs(variables.iter().copied());
    command
        .args(["agent", "--interval", "200ms", "--http", "127.0.0.1:0", "--config"])
        .arg(path("agent.toml"));
    for (option, file) in [("--data", "data"), ("--now", "now"), ("--socket", "socket")] {
        command.arg(option).arg(path(file));
    }
    Ok(Running(command.stderr(Stdio::from(fs::File::create(path("log"))?)).spawn()?))
}

/// The series of an answer, with the texts of their values.
fn series(answer: &Value) -> BTreeMap<String, String> {
    let result = answer["data"]["result"].as_array().cloned().unwrap_or_default();
    let read = |series: &Value| {
        let mut name = SeriesName::default();
        for (label, value) in series["metric"].as_object()? {
            name.set(label, value.as_str()?);
        }
        let value: f64 = series["value"][1].as_str()?.parse().ok()?;
        Some((name.to_string(), value.to_string()))
    };
    result.iter().filter_map(read).collect()
}

fn ask(data: &Path, expression: &str) -> BTreeMap<String, String> {
    let data = data.display().to_string();
    series(&document(&["query", expression, "--json", "--data", &data]))
}

const COMPARED: &str = "{__name__=~\"test.*|up|scrape_samples.*\"}";

fn as_prometheus_reads_them() -> Result<(), Failed> {
    let scratch = Scratch::new("exporters");
    let exporters = Exporters::listen()?;
    let port = exporters.port;
    let host = format!("127.0.0.1:{port}");
    let job = |name: &str, path: &str, more: &str| {
        format!(
            "- job_name: {name}\n  metrics_path: /{path}\n  {more}\n  static_configs: [{{targets: ['{host}']}}]\n  \
             metric_relabel_configs: [{{source_labels: [__name__], regex: '.*dropped', action: drop}}, {{regex: secret, action: labeldrop}}]\n"
        )
    };
    let jobs = [
        job("own", "good", ""),
        job("kept", "good", "honor_labels: true"),
        job("broken", "broken", ""),
        job("gone", "gone", ""),
    ];
    let prometheus = Prometheus::start(
        &scratch,
        &format!("global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs:\n{}", jobs.concat()),
        &[],
    )?;
    let job = |name: &str, path: &str, more: &str| {
        format!(
            "[[scrape]]\nname = \"{name}\"\nurl = \"http://{host}/{path}\"\ninterval = \"1s\"\nlabels = {{ instance = \"{host}\" }}\n{more}\n\
             [[scrape.relabel]]\nsource_labels = [\"__name__\"]\nregex = \".*dropped\"\naction = \"drop\"\n\
             [[scrape.relabel]]\nregex = \"secret\"\naction = \"labeldrop\"\n"
        )
    };
    let jobs = [
        job("own", "good", ""),
        job("kept", "good", "honor_labels = true"),
        job("broken", "broken", ""),
        job("gone", "gone", ""),
    ];
    let _agent = agent(&scratch, &jobs.concat())?;
    let data = scratch.0.join("data");
    let query = "/api/v1/query?query=%7B__name__%3D~%22test.*%7Cup%7Cscrape_samples.*%22%7D";
    let theirs = || series(&prometheus.get(query).unwrap_or_default());
    wait_for("prometheus has read all", || {
        theirs().keys().filter(|name| name.starts_with("up{")).count() == 4
    });
    wait_for("whit has read all", || ask(&data, "up").len() == 4);
    let differences = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        one.iter()
            .filter(|(name, value)| other.get(*name) != Some(value))
            .map(|pair| format!("{pair:?}"))
            .collect::<Vec<_>>()
    };
    // Either may have been late once.
    let mut found = [const { Vec::new() }; 2];
    wait_for("both have the same", || {
        let (own, theirs) = (ask(&data, COMPARED), theirs());
        let differ = [differences(&own, &theirs), differences(&theirs, &own)];
        let is_same = theirs.len() > 40 && differ.iter().all(Vec::is_empty);
        if differ != found && !is_same {
            println!("{} series, these differ: {differ:?}", theirs.len());
        }
        found = differ;
        is_same
    });
    Ok(())
}

fn hostile_exporters() -> Result<(), Failed> {
    let scratch = Scratch::new("hostile-exporters");
    let exporters = Exporters::listen()?;
    let port = exporters.port;
    let hostile = [
        ("broken", "line 2: expected a number, found one"),
        ("long", "line 1: more than 8192 bytes"),
        ("latin", "the answer is not UTF-8"),
        ("many", "the answer has more than 100000 bytes"),
        ("endless", "no whole answer in 1 s (the option timeout)"),
        ("circle", "redirect"),
        ("file", "file"),
        ("silent", "no whole answer in 1 s (the option timeout)"),
        ("gone", "the status is 404 Not Found"),
    ];
    let mut configuration =
        format!("[textfile]\ndirectory = \"{}\"\ninterval = \"1s\"\n", scratch.0.join("text").display());
    for name in hostile.iter().map(|(name, _)| *name).chain(["good", "nan", "changing"]) {
        configuration += &format!(
            "[[scrape]]\nname = \"{name}\"\nurl = \"http://127.0.0.1:{port}/{name}\"\ninterval = \"3s\"\nsize = \"100kB\"\n{}",
            if ["endless", "silent"].contains(&name) { "timeout = \"1s\"\n" } else { "" }
        );
    }
    let text = scratch.0.join("text");
    fs::create_dir(&text)?;
    fs::write(text.join("good.prom"), "test_file 1\n")?;
    fs::write(text.join("half.prom"), "test_half 1\ntest_ha")?;
    fs::write(text.join("other.txt"), "test_other 1\n")?;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        text.join("fifo.prom"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )?;
    let mut agent = agent(&scratch, &configuration)?;
    let data = scratch.0.join("data");
    wait_for("all were read several times", || {
        hostile.iter().all(|(name, _)| exporters.requests(&format!("/{name}")) > 3)
    });
    wait_for("the good ones have values", || ask(&data, "up{job=~\"good|nan|changing\"} == 1").len() == 3);
    let up = ask(&data, "up");
    for (name, _) in hostile {
        assert_eq!(up.get(&format!("up{{job=\"{name}\"}}")).map(String::as_str), Some("0"), "{name}: {up:?}");
    }
    let of_files = ask(&data, "{__name__=~\"test_file|test_half|test_other|node_textfile_scrape_error\"}");
    assert_eq!(of_files.keys().collect::<Vec<_>>(), ["node_textfile_scrape_error", "test_file"]);
    assert_eq!(of_files["node_textfile_scrape_error"], "1");
    let nan = ask(&data, "{job=\"nan\",__name__=~\"test.*\"}");
    assert_eq!(nan.values().map(String::as_str).collect::<Vec<_>>(), ["NaN", "NaN", "-inf"]);
    // Each has its reason, once.
    let log = fs::read_to_string(scratch.0.join("log"))?;
    for (name, reason) in hostile {
        let said: Vec<&str> =
            log.lines().filter(|line| line.contains(&format!("exporter {name}: "))).collect();
        assert!(said.len() == 1 && said[0].contains(reason), "{name}: {said:?}");
    }
    assert!(log.contains("fifo.prom: is not a regular file, and 1 more"), "{log}");
    // The recorder and the server go on as if there were none.
    assert!(agent.0.try_wait()?.is_none());
    assert_eq!(
        ask(&data, "whit_agent_server_starts_total").values().map(String::as_str).collect::<Vec<_>>(),
        ["1"]
    );
    Ok(())
}

/// Each target of its own: one that is late is read again, one that is not configured any more has no values, and the others go on.
fn come_and_go() -> Result<(), Failed> {
    let scratch = Scratch::new("exporters-come-and-go");
    let exporters = Exporters::listen()?;
    let target = |name: &str| {
        format!(
            "[[scrape]]\nurl = \"http://127.0.0.1:{}/{name}\"\nname = \"{name}\"\ninterval = \"1s\"\n",
            exporters.port
        )
    };
    let agent = agent(&scratch, &target("late"))?;
    let data = scratch.0.join("data");
    let reload = |configuration: &str| -> Result<(), Failed> {
        fs::write(scratch.0.join("agent.toml"), configuration)?;
        let pid = rustix::process::Pid::from_raw(agent.0.id().cast_signed()).ok_or("a pid")?;
        Ok(rustix::process::kill_process(pid, rustix::process::Signal::HUP)?)
    };
    let words = ["history", "exporters", "--json", "--data", data.to_str().ok_or("a path")?];
    let targets = || -> Vec<Value> {
        let output = Command::new(WHIT).args(words).output().unwrap();
        documents(&String::from_utf8_lossy(&output.stdout))
    };
    wait_for("it is late", || targets().iter().any(|target| target["fault"].is_string()));
    wait_for("up is 0", || ask(&data, "up").values().any(|up| up == "0"));
    wait_for("it is read again", || exporters.requests("/late") > 8);
    wait_for("up is 1", || ask(&data, "up").values().any(|up| up == "1"));
    let failures = targets()[0]["failures_count"].as_u64().ok_or("a number")?;
    assert!(failures > 0);
    // The other one goes on as it is.
    reload(&(target("late") + &target("good")))?;
    wait_for("both are read", || ask(&data, "up == 1").len() == 2);
    assert!(targets()[0]["failures_count"].as_u64() >= Some(failures));
    reload(&target("good"))?;
    wait_for("one has no values", || ask(&data, "up").into_keys().eq(["up{job=\"good\"}".to_owned()]));
    reload("")?;
    wait_for("none has values", || ask(&data, "up").is_empty());
    wait_for("none is listed", || targets().is_empty());
    assert!(
        whit(&words[..2].iter().chain(&words[3..]).copied().collect::<Vec<_>>())
            .starts_with("nothing is read: ")
    );
    Ok(())
}

/// A server that wants a certificate of its clients, and one of its own that the system does not know.
fn certificates() -> Result<(), Failed> {
    let scratch = Scratch::new("exporter-certificates");
    let (place, port) = (scratch.0.display(), port());
    fs::write(scratch.0.join("metrics"), "test_safe 1\n")?;
    issue(&scratch, "localhost client");
    let mut server = Command::new("openssl");
    server.args([
        "s_server",
        "-quiet",
        "-WWW",
        "-Verify",
        "1",
        "-verify_return_error",
        "-cert",
        "localhost.pem",
    ]);
    server
        .args(["-key", "localhost.key", "-CAfile", "ca.pem", "-accept", &port.to_string()])
        .current_dir(&scratch.0);
    let _server = Running(server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let target = |name: &str, more: &str| {
        format!(
            "[[scrape]]\nname = \"{name}\"\nurl = \"https://localhost:{port}/metrics\"\ninterval = \"1s\"\n{more}"
        )
    };
    let identity = format!("certificate_file = \"{place}/client.pem\"\nkey_file = \"{place}/client.key\"\n");
    let authority = format!("ca_file = \"{place}/ca.pem\"\n");
    let both = format!("{authority}{identity}");
    let configuration =
        target("known", &both) + &target("anonymous", &authority) + &target("unknown", &identity);
    let data = scratch.0.join("data");
    let first = agent(&scratch, &configuration)?;
    wait_for("all were read", || ask(&data, "up").len() == 3);
    wait_for("the server answers", || ask(&data, "up{job=\"known\"} == 1").len() == 1);
    let ups = || -> Vec<String> { ask(&data, "max_over_time(up[1m]) == 1").into_keys().collect() };
    assert_eq!(ups(), ["{job=\"known\"}"]);
    let words = ["history", "exporters", "--json", "--data", data.to_str().ok_or("a path")?];
    let is_meant = |target: &Value| {
        target["name"] == "unknown"
            && target["fault"].as_str().is_some_and(|fault| fault.contains("certificate"))
    };
    wait_for("its reason", || {
        let output = Command::new(WHIT).args(words).output().unwrap();
        documents(&String::from_utf8_lossy(&output.stdout)).iter().any(is_meant)
    });
    drop(first);
    fs::remove_dir_all(&data)?;
    // What the system trusts is trusted.
    let _second = agent_with(&scratch, &configuration, &[("SSL_CERT_FILE", &format!("{place}/ca.pem"))])?;
    wait_for("the system's certificates are used", || ask(&data, "up{job=\"unknown\"} == 1").len() == 1);
    wait_for("and so does the other", || ups() == ["{job=\"known\"}", "{job=\"unknown\"}"]);
    Ok(())
}
