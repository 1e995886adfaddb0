//! The agent's HTTP: other programs against it, and those that mean it harm.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Running, Scratch, WHIT, port, wait_for, whit};
use super::prometheus::Prometheus;
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let prometheus = [Need::Program("prometheus"), Need::Program("promtool")];
    vec![
        exact("promtool_and_prometheus_ask_the_agent", &prometheus, peers),
        exact("calls_of_grafana_are_answered", &[], grafana),
        timed(
            "hostile_requests_get_an_error_and_delay_no_tick",
            &[Need::Root],
            "no tick of 100 ms is missed",
            hostile,
        ),
        exact("others_see_no_tasks_over_http", &[Need::Root], others),
        exact("a_proxy_asks_at_a_unix_socket", &[Need::Root, Need::Program("curl")], unix_socket),
        exact("plots_are_drawn_of_a_history_and_of_a_server", &[], plots),
        exact("every_series_is_documented", &[], documented),
    ]
}

/// An agent with HTTP on a free port of loopback.
pub(crate) struct Api {
    child: Child,
    port: u16,
    directory: PathBuf,
}

impl Api {
    pub(crate) fn start(scratch: &Scratch, words: &[&str]) -> Result<Self, Failed> {
        let port = port();
        let directory = scratch.0.clone();
        let child = Command::new(WHIT)
            .args(["agent", "--interval", "100ms", "--http"])
            .arg(format!("127.0.0.1:{port}"))
            .arg("--data")
            .arg(&directory)
            .arg("--now")
            .arg(directory.join("now"))
            .arg("--socket")
            .arg(directory.join("socket"))
            .args(words)
            .stderr(Stdio::null())
            .spawn()?;
        let api = Self { child, port, directory };
        wait_for("the agent answers", || {
            let reply = api.get("/api/v1/query?query=node_load1");
            reply.is_some_and(|reply| !reply["data"]["result"][0].is_null())
        });
        Ok(api)
    }

    /// The recorder.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The status and the body of a reply; nothing if the connection was closed.
    fn send(&self, request: &[u8]) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        // What is refused early may not be read to its end.
        let _ = stream.write_all(request);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let (head, body) = reply.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
    }

    pub(crate) fn get(&self, target: &str) -> Option<Value> {
        let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        serde_json::from_str(&self.send(request.as_bytes())?.1).ok()
    }

    /// The same as a user who has no tasks.
    pub(crate) fn as_nobody(&self, target: &str) -> Result<Value, Failed> {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'GET {} HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3; cat <&3",
            self.port,
            target.replace('%', "%%")
        );
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", &script])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        body.and_then(|body| serde_json::from_str(body).ok()).ok_or(format!("{script}: {text}").into())
    }

    /// A figure of the last tick.
    pub(crate) fn now(&self, name: &str) -> f64 {
        let text = fs::read_to_string(self.directory.join("now")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn output(program: &str, words: &[&str]) -> Result<String, Failed> {
    let output = Command::new(program).args(words).output()?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{program} {words:?}: {text}").into()),
    }
}

fn peers() -> Result<(), Failed> {
    let scratch = Scratch::new("api-peers");
    let api = Api::start(&scratch, &[])?;
    let url = api.url();
    let text = output("promtool", &["query", "instant", &url, "node_load1"])?;
    assert!(text.starts_with("node_load1 => "), "{text}");
    let text =
        output("promtool", &["query", "range", "--step=1s", &url, "count(node_cpu_seconds_total) > bool 0"])?;
    assert!(text.contains("1 @["), "{text}");
    let text = output("promtool", &["query", "series", "--match=node_load1", "--match=node_load5", &url])?;
    assert!(text.contains("node_load5"), "{text}");
    let text = output("promtool", &["query", "labels", &url, "mode"])?;
    assert!(text.lines().any(|line| line == "iowait"), "{text}");
    // Debian's Prometheus scrapes the last tick, and federates it in OpenMetrics.
    let configuration = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs: [{{job_name: whit, static_configs: [{{targets: ['127.0.0.1:{}']}}]}}]\n",
        api.port
    );
    let prometheus = Prometheus::start(&scratch, &configuration, &[])?;
    let mut scraped = String::new();
    wait_for("a scrape", || {
        let reply = prometheus.get("/api/v1/query?query=node_boot_time_seconds").unwrap_or_default();
        reply["data"]["result"][0]["value"][1].as_str().unwrap_or_default().clone_into(&mut scraped);
        !scraped.is_empty()
    });
    let own = api.get("/api/v1/query?query=node_boot_time_seconds").unwrap_or_default();
    assert_eq!(own["data"]["result"][0]["value"][1], Value::from(scraped));
    let reply = prometheus.get("/api/v1/targets/metadata?metric=node_load1").unwrap_or_default();
    assert_eq!(reply["data"][0]["type"], "gauge", "{reply}");
    Ok(())
}

/// What Grafana's data source of Prometheus asks when it is saved, explored and drawn.
fn grafana() -> Result<(), Failed> {
    let scratch = Scratch::new("api-grafana");
    let api = Api::start(&scratch, &[])?;
    let now = jiff::Timestamp::now().as_second();
    let times = format!("start={}&end={now}", now - 300);
    for target in [
        "/api/v1/status/buildinfo".to_owned(),
        "/api/v1/query?query=1%2B1&time=0".to_owned(),
        "/api/v1/metadata?limit=5000".to_owned(),
        format!("/api/v1/labels?{times}"),
        format!("/api/v1/labels?{times}&match[]=%7B__name__%3D%22node_load1%22%7D"),
        format!("/api/v1/label/__name__/values?{times}"),
        format!("/api/v1/label/device/values?{times}&match[]=node_disk_read_bytes_total"),
        format!("/api/v1/series?{times}&match[]=node_load1"),
        format!("/api/v1/query_exemplars?query=node_load1&{times}"),
        "/api/v1/rules".to_owned(),
        "/api/v1/alerts".to_owned(),
    ] {
        let reply = api.get(&target).ok_or(format!("{target}: no answer"))?;
        assert_eq!(reply["status"], "success", "{target}: {reply}");
    }
    let form = format!("query=rate%28node_cpu_seconds_total%5B1m%5D%29&{times}&step=15");
    let request = format!(
        "POST /api/v1/query_range HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        api.port,
        form.len()
    );
    let (status, body) = api.send(request.as_bytes()).ok_or("no answer")?;
    assert_eq!(status, 200, "{body}");
    let reply: Value = serde_json::from_str(&body)?;
    assert_eq!(reply["data"]["resultType"], "matrix", "{body}");
    Ok(())
}

fn hostile() -> Result<(), Failed> {
    let scratch = Scratch::new("api-hostile");
    let api = Api::start(&scratch, &[])?;
    let missed = api.now("whit_agent_missed_ticks_total");
    let request = |line: &str, headers: &str, body: &str| {
        let length = body.len();
        format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
            .into_bytes()
    };
    let host = "Host: localhost\r\n";
    let form = "Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    let long = "a".repeat(200_000);
    let deep = "(".repeat(5000);
    let sums = vec!["sum(node_load1)"; 2000].join("%2B");
    let refused: Vec<(Vec<u8>, u16)> = vec![
        (request("GET /metrics", "Host: evil.example\r\n", ""), 403),
        (request("GET /metrics", "Host: 127.0.0.1.evil.example\r\n", ""), 403),
        (request("GET /metrics", "", ""), 403),
        (request("GET /metrics", "Host: localhost\r\nOrigin: http://evil.example\r\n", ""), 403),
        (request("GET /metrics", "Host: localhost\r\nOrigin: null\r\n", ""), 403),
        (request("GET /../../etc/passwd", host, ""), 404),
        (request("GET /%2e%2e/etc/passwd", host, ""), 404),
        (request("GET /api/v1/label/..%2f..%2fetc/values", host, ""), 400),
        (request("POST /api/v1/query", form, &format!("query={long}")), 413),
        (request("POST /api/v1/query", form, &format!("query={deep}")), 400),
        (request("POST /api/v1/query", form, &format!("query={sums}")), 400),
        (request("POST /api/v1/query", form, "query="), 400),
        (request("GET /api/v1/query?query=node_load1&time=x", host, ""), 400),
        (request("GET /api/v1/query?query=node_load1&time=1e300", host, ""), 400),
        (request("GET /api/v1/query_range?query=node_load1&start=0&end=1e9&step=1", host, ""), 400),
        (request("GET /api/v1/query_range?query=node_load1&start=5&end=0&step=1", host, ""), 400),
        (request("GET /api/v1/query_range?query=node_load1&start=0&end=5&step=0", host, ""), 400),
        (request("GET /api/v1/query?query=sum_over_time%28vector%281%29%5B1000y%3A1ms%5D%29", host, ""), 422),
        (request("GET /api/v1/query?query=rate%28node_load1%5B5m%5D%29&timeout=0", host, ""), 503),
        (
            request(
                "GET /api/v1/query?query=x%7Ba%3D~%22%28%28%28a%7B1000%7D%29%7B1000%7D%29%7B1000%7D%29%22%7D",
                host,
                "",
            ),
            400,
        ),
        (b"\x00\xff\xfe\r\n\r\n".to_vec(), 400),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes(), 414),
    ];
    for (request, expected) in &refused {
        let shown = String::from_utf8_lossy(&request[..request.len().min(120)]).into_owned();
        let (status, body) = api.send(request).ok_or(format!("{shown}: no answer"))?;
        assert_eq!(status, *expected, "{shown}: {body}");
    }
    // 1,000 that connect and say nothing, or next to nothing.
    let mut idle = Vec::new();
    for number in 0..1000 {
        let mut stream = TcpStream::connect(("127.0.0.1", api.port))?;
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET /metrics HT");
        }
        idle.push(stream);
    }
    std::thread::sleep(Duration::from_secs(2));
    drop(idle);
    wait_for("it answers again", || api.get("/api/v1/query?query=1").is_some());
    assert_eq!(api.now("whit_agent_missed_ticks_total"), missed, "ticks were missed");
    Ok(())
}

/// Another user sees the machine, and none of root's tasks.
fn others() -> Result<(), Failed> {
    let scratch = Scratch::new("api-others");
    let api = Api::start(&scratch, &[])?;
    let reply = api.as_nobody("/api/v1/query?query=node_load1")?;
    assert!(reply["data"]["result"][0]["value"][1].is_string(), "{reply}");
    let query = "/api/v1/query?query=count%28whit_task_on_cpu_seconds_total%7Buser%3D%22root%22%7D%29";
    let reply = api.as_nobody(query)?;
    assert_eq!(reply["data"]["result"], serde_json::json!([]), "{reply}");
    let reply = api.get(query).ok_or("no answer")?;
    assert!(reply["data"]["result"][0]["value"][1].is_string(), "{reply}");
    Ok(())
}

/// In the terminal, as SVG and as PNG; here the history, there the same by HTTP.
fn plots() -> Result<(), Failed> {
    let scratch = Scratch::new("api-plots");
    let api = Api::start(&scratch, &[])?;
    std::thread::sleep(Duration::from_secs(2));
    let data = scratch.0.to_str().ok_or("the path")?;
    const EXPRESSION: &str = "sum by (mode) (rate(node_cpu_seconds_total[1m]))";
    let whole = [EXPRESSION, "--since", "-1m", "--step", "1s"];
    let here = whit(&[&["plot"], &whole[..], &["--data", data]].concat());
    let there = whit(&[&["plot"], &whole[..], &["--from", &api.url()]].concat());
    for text in [&here, &there] {
        assert!(text.contains("{mode=\"idle\"}") && text.contains(" %") && text.contains("LEAST"), "{text}");
        assert!(text.chars().any(|letter| ('\u{2801}'..='\u{28ff}').contains(&letter)), "{text}");
    }
    let (svg, png) = (scratch.0.join("plot.svg"), scratch.0.join("plot.png"));
    for (option, path) in [("--svg", &svg), ("--png", &png)] {
        let path = path.to_str().ok_or("the path")?;
        whit(&["plot", "node_load1", "--since", "-1m", "--data", data, option, path]);
    }
    let svg = fs::read_to_string(svg)?;
    assert!(svg.starts_with("<svg ") && svg.contains("node_load1") && svg.contains("<polyline"), "{svg}");
    let png = fs::read(png)?;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 2000, "{}", png.len());
    Ok(())
}

/// Behind a proxy: who asks is who connects to the socket, by whatever name.
fn unix_socket() -> Result<(), Failed> {
    let scratch = Scratch::new("api-unix");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755))?;
    let path = scratch.0.join("http.sock");
    let mut agent = Command::new(WHIT);
    agent.args(["agent", "--interval", "100ms", "--http"]).arg(format!("unix:{}", path.display()));
    agent.arg("--data").arg(scratch.0.join("data")).arg("--now").arg(scratch.0.join("now"));
    agent.arg("--socket").arg(scratch.0.join("socket")).stderr(Stdio::null());
    // What an agent that was killed leaves.
    drop(UnixListener::bind(&path)?);
    let agent = Running(agent.spawn()?);
    let ask = |before: &[&str]| -> Option<Value> {
        let url = "http://whit.example.org/api/v1/query?query=count%28whit_task_on_cpu_seconds_total%7Buser%3D%22root%22%7D%29";
        let words = [before, &["curl", "-s", "--unix-socket", path.to_str()?, url]].concat();
        let output = Command::new(words[0]).args(&words[1..]).output().ok()?;
        serde_json::from_slice(&output.stdout).ok()
    };
    let is_there =
        |reply: Option<Value>| reply.is_some_and(|reply| reply["data"]["result"][0]["value"][1].is_string());
    wait_for("root sees tasks", || is_there(ask(&[])));
    let reply = ask(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]).ok_or("no answer")?;
    assert_eq!(reply["data"]["result"], serde_json::json!([]), "{reply}");
    let pid = rustix::process::Pid::from_raw(agent.0.id().cast_signed()).ok_or("a pid")?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    wait_for("the socket is removed", || !path.exists());
    Ok(())
}

/// An agent with everything: what it records, and what it shows a scraper, is in docs/metrics.md; and what is there of the agent is served.
fn documented() -> Result<(), Failed> {
    // In the now file, and where there are containers.
    const SERVED_ELSEWHERE: [&str; 2] = ["whit_feed_unread", "whit_container_info"];
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md"))?;
    let scratch = Scratch::new("documented");
    let config = scratch.0.join("agent.toml");
    fs::write(scratch.0.join("whit.prom"), "whit_build_info 1\n")?;
    let more = "[[scrape]]\nurl = \"http://127.0.0.1:1/\"\n[feeds]\n[[remote_write]]\nurl = \"http://127.0.0.1:1/\"\ninterval = \"1s\"\n\
         [[alert]]\nname = \"always\"\nexpression = \"vector(1)\"\n\
         [[check]]\nname = \"plugin\"\ninterval = \"1s\"\ncommand = [\"sh\", \"-c\", \"echo 'fine | a=1;2;3'\"]\n";
    fs::write(&config, format!("[textfile]\ndirectory = \"{}\"\n{more}", scratch.0.display()))?;
    let api = Api::start(&scratch, &["--config", config.to_str().ok_or("the path")?])?;
    let served = || -> BTreeSet<String> {
        let values = api.get("/api/v1/label/__name__/values").unwrap_or_default();
        let recorded = values["data"].as_array().cloned().unwrap_or_default();
        let recorded = recorded.iter().filter_map(Value::as_str).map(str::to_owned);
        let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let metrics = api.send(request).map(|(_, text)| text).unwrap_or_default();
        let shown = metrics.lines().filter(|line| !line.starts_with('#'));
        let shown = shown.filter_map(|line| line.split(['{', ' ']).next()).filter(|name| !name.is_empty());
        recorded.chain(shown.map(str::to_owned)).collect()
    };
    wait_for("checks, alerts and receivers are recorded", || {
        let served = served();
        [
            "ALERTS",
            "whit_check_threshold",
            "whit_check_wait_seconds_total",
            "whit_remote_write_behind_seconds",
            "up",
        ]
        .iter()
        .all(|name| served.contains(*name))
    });
    let served = served();
    for name in &served {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is served and not in docs/metrics.md");
    }
    let (_, of_agent) = page.split_once("## The agent").ok_or("no part about the agent")?;
    let rows = of_agent.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let missing: Vec<&str> =
        rows.filter(|name| !served.contains(*name) && !SERVED_ELSEWHERE.contains(name)).collect();
    assert!(missing.is_empty(), "in docs/metrics.md, and not served: {missing:?}");
    Ok(())
}
