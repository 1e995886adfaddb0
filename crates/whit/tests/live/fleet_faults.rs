//! Three agents and a store between which everything goes wrong: in the end the store has each sample of each history, once, and no other.
//!
//! WHIT_FLEET_SECONDS says how long it lasts. With WHIT_THANOS, the path of that program, the store is two of its receivers with a
//! replication of two, and each of them is killed in turn.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use query::Answer;
use remote_store::{Asked, RemoteStore};

use super::machine::{PATIENCE, Running, Scratch, WHIT, port, wait_for};
use super::remote_write::{Samples, has_series, last_ms, progress, read_request, recorded};
use super::trials::{Need, Trial, exact, times};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("a_fleet_has_each_sample_once_over_faults", &[Need::Program("victoria-metrics")], faults)]
}

const MACHINES: [&str; 3] = ["web1", "web2", "db1"];
/// The series that is refused.
const REFUSED: &str = "node_load5";

/// What stands between the agents and the store.
struct Gate {
    /// Where requests go on to.
    store: String,
    /// One request of so many is answered badly in each of five ways.
    round: usize,
    requests: AtomicUsize,
    /// While it is, requests arrive and get no answer, as when a link is cut.
    is_cut: AtomicBool,
}

impl Gate {
    fn listen(self: &Arc<Self>) -> Result<u16, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let gate = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || while gate.pass(&stream).is_some() {});
            }
        });
        Ok(port)
    }

    /// Passes a request on. `None`: the connection ends.
    fn pass(&self, mut stream: &TcpStream) -> Option<()> {
        let (head, body) = read_request(stream)?;
        if self.is_cut.load(Ordering::Relaxed) {
            while self.is_cut.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
            }
            return None;
        }
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let answer = match number % self.round {
            3 => "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n".to_owned(),
            9 => "HTTP/1.1 429 Slower\r\nContent-Length: 0\r\n\r\n".to_owned(),
            15 => return None,
            _ if has_series(&body, |metric| metric == REFUSED)? => {
                "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            of_round => {
                let answer = self.forward(&head, &body)?;
                match of_round {
                    // The data are there, and the sender does not know.
                    21 => return None,
                    27 => "HTTP/1.1 502 Bad gateway\r\nContent-Length: 0\r\n\r\n".to_owned(),
                    _ => answer,
                }
            }
        };
        stream.write_all(answer.as_bytes()).ok()
    }

    /// What the store answers; `None` if it cannot be reached.
    fn forward(&self, head: &str, body: &[u8]) -> Option<String> {
        let mut store = TcpStream::connect(&self.store).ok()?;
        store.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
        let is_of_connection =
            |line: &&str| ["connection:", "host:"].iter().any(|name| line.to_lowercase().starts_with(name));
        for line in head.lines().filter(|line| !is_of_connection(line)) {
            write!(store, "{line}\r\n").ok()?;
        }
        write!(store, "Host: store\r\nConnection: close\r\n\r\n").ok()?;
        store.write_all(body).ok()?;
        let mut answer = String::new();
        store.read_to_string(&mut answer).ok()?;
        let (status, rest) = answer.split_once("\r\n")?;
        let text = rest.split_once("\r\n\r\n")?.1;
        Some(format!("{status}\r\nContent-Length: {}\r\n\r\n{text}", text.len()))
    }
}

/// A store of one program or more, which can be killed one by one.
struct Store {
    /// Each with its arguments.
    programs: Vec<(PathBuf, Vec<String>)>,
    running: Vec<Option<Running>>,
    /// Where it takes samples, and by which path.
    takes: (String, &'static str),
    asked_at: String,
    /// The option `again` of the agents that send to it.
    again: &'static str,
    /// How often requests to it are answered badly: [`Gate::round`].
    round: usize,
}

impl Store {
    fn victoria(scratch: &Scratch) -> Self {
        let address = format!("127.0.0.1:{}", port());
        let words = [
            format!("-storageDataPath={}", scratch.0.join("store").display()),
            format!("-httpListenAddr={address}"),
            "-search.latencyOffset=0s".to_owned(),
            "-dedup.minScrapeInterval=1ms".to_owned(),
        ];
        Self {
            programs: vec![("victoria-metrics".into(), words.into())],
            running: vec![None],
            asked_at: format!("http://{address}"),
            takes: (address, "/api/v1/write"),
            again: "20s",
            round: 40,
        }
    }

    /// Two receivers that give each other what they take, and who answers for both.
    fn thanos(scratch: &Scratch, program: &Path) -> Self {
        let address = || format!("127.0.0.1:{}", port());
        let [first, second] = [address(), address()];
        let ring = format!("[{{\"endpoints\": [\"{first}\", \"{second}\"]}}]");
        let takes = address();
        let receiver = |replica: &str, grpc: &str, takes: &str| {
            let words = [
                "receive".to_owned(),
                format!("--tsdb.path={}", scratch.0.join(replica).display()),
                format!("--grpc-address={grpc}"),
                format!("--http-address={}", address()),
                format!("--remote-write.address={takes}"),
                format!("--receive.capnproto-address={}", address()),
                format!("--label=replica=\"{replica}\""),
                format!("--receive.local-endpoint={grpc}"),
                format!("--receive.hashrings={ring}"),
                "--receive.replication-factor=2".to_owned(),
            ];
            (program.to_owned(), Vec::from(words))
        };
        let asked_at = address();
        let words = [
            "query".to_owned(),
            format!("--http-address={asked_at}"),
            format!("--grpc-address={}", address()),
            format!("--endpoint={first}"),
            format!("--endpoint={second}"),
        ];
        Self {
            programs: vec![
                receiver("one", &first, &takes),
                receiver("two", &second, &address()),
                (program.to_owned(), words.into()),
            ],
            running: vec![None, None, None],
            takes: (takes, "/api/v1/receive"),
            asked_at: format!("http://{asked_at}"),
            again: "0s",
            // It refuses what it has already, one series after the other, and each of these requests may be answered badly, too.
            round: 400,
        }
    }

    fn start(&mut self, index: usize) -> Result<(), Failed> {
        let (program, words) = &self.programs[index];
        let child = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        self.running[index] = Some(Running(child));
        Ok(())
    }

    /// All samples of a machine up to an instant, from the beginning of a trial on. Where two have one, they agree.
    fn samples(&self, machine: &str, from_ms: i64, to_ms: i64) -> Result<Samples, String> {
        const WINDOW_MS: i64 = 30_000;
        let client = RemoteStore::new(&self.asked_at);
        let mut samples = Samples::new();
        let mut end_ms = to_ms;
        while end_ms > from_ms - WINDOW_MS {
            let expression = format!("{{instance=\"{machine}\"}}[30s]");
            let Answer::Matrix(series) = client.ask(&expression, Asked::At { at_ms: end_ms })? else {
                return Err("expected a matrix".to_owned());
            };
            for (mut name, points) in series {
                for label in ["instance", "job", "replica", "tenant_id"] {
                    name.take(label);
                }
                // Where a series ends there is a mark, which is not in the history.
                for point in points.iter().filter(|point| !point.value.is_nan()) {
                    let bits = point.value.to_bits();
                    let known = samples.insert((name.to_string(), point.at_ms), bits);
                    if known.is_some_and(|known| known != bits) {
                        return Err(format!("{name} has two values at {}", point.at_ms));
                    }
                }
            }
            end_ms -= WINDOW_MS;
        }
        Ok(samples)
    }
}

struct Agent {
    directory: PathBuf,
    running: Option<Running>,
    gate: Arc<Gate>,
}

impl Agent {
    fn prepare(scratch: &Scratch, machine: &str, store: &Store) -> Result<Self, Failed> {
        let directory = scratch.0.join(machine);
        fs::create_dir(&directory)?;
        let (address, path) = &store.takes;
        let gate = Arc::new(Gate {
            store: address.clone(),
            round: store.round,
            requests: AtomicUsize::new(0),
            is_cut: AtomicBool::new(false),
        });
        let port = gate.listen()?;
        let config = format!(
            "[[remote_write]]\nurl = \"http://127.0.0.1:{port}{path}\"\nname = \"store\"\ninterval = \"1s\"\nfirst = \"1h\"\n\
             again = \"{}\"\nlabels = {{ instance = \"{machine}\" }}\n[recording]\nstarter = false\n",
            store.again
        );
        fs::write(directory.join("agent.toml"), config)?;
        let mut agent = Self { directory, running: None, gate };
        agent.start()?;
        Ok(agent)
    }

    fn start(&mut self) -> Result<(), Failed> {
        let mut command = Command::new(WHIT);
        command.args(["agent", "--http", "127.0.0.1:0", "--config"]).arg(self.directory.join("agent.toml"));
        for (option, file) in [("--data", "data"), ("--now", "now"), ("--socket", "socket")] {
            command.arg(option).arg(self.directory.join(file));
        }
        self.running = Some(Running(command.stderr(Stdio::null()).spawn()?));
        Ok(())
    }

    fn kill_and_start(&mut self) -> Result<(), Failed> {
        self.running = None;
        self.start()
    }

    /// Up to when the store has everything, in nanoseconds since 1970.
    fn place_ns(&self) -> i64 {
        progress(&self.directory).get("store").and_then(|store| store["place_ns"].as_i64()).unwrap_or(0)
    }
}

fn now_ns() -> i64 {
    probe::clock_now().realtime.0.cast_signed()
}

fn faults() -> Result<(), Failed> {
    let scratch = Scratch::new("fleet-faults");
    let thanos = std::env::var_os("WHIT_THANOS").map(PathBuf::from);
    let mut store = match &thanos {
        Some(program) => Store::thanos(&scratch, program),
        None => Store::victoria(&scratch),
    };
    for index in 0..store.programs.len() {
        store.start(index)?;
    }
    wait_for("the store listens", || TcpStream::connect(&store.takes.0).is_ok());
    let begun_ms = now_ns() / 1_000_000;
    let prepare = |machine: &&str| Agent::prepare(&scratch, machine, &store);
    let mut agents = MACHINES.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
    let hundredth = Duration::from_millis(times("WHIT_FLEET_SECONDS", 40) * 10);
    let begun = Instant::now();
    // At this hundredth part of the time.
    let until = |part: u32| std::thread::sleep((hundredth * part).saturating_sub(begun.elapsed()));
    until(10);
    agents[0].kill_and_start()?;
    until(20);
    // The first part of a store is the one that takes samples.
    let last = if thanos.is_some() { 1 } else { 0 };
    store.running[last] = None;
    until(35);
    agents[1].kill_and_start()?;
    until(50);
    store.start(last)?;
    until(55);
    agents[2].gate.is_cut.store(true, Ordering::Relaxed);
    until(60);
    if thanos.is_some() {
        store.running[0] = None;
    }
    until(70);
    agents[2].gate.is_cut.store(false, Ordering::Relaxed);
    agents[2].kill_and_start()?;
    if thanos.is_some() {
        store.start(0)?;
    }
    until(100);
    for running in store.running.iter_mut().flatten() {
        assert!(running.0.try_wait()?.is_none(), "a part of the store has ended by itself");
    }
    let end_ns = now_ns();
    let mut compared = 0;
    for (agent, machine) in agents.iter().zip(MACHINES) {
        wait_for(&format!("the store has all of {machine}"), || agent.place_ns() >= end_ns);
        compared += compare(&store, agent, machine, begun_ms, last_ms(end_ns))?;
    }
    println!("{compared} samples of {} machines, each there once", MACHINES.len());
    Ok(())
}

/// VictoriaMetrics rounds a number with a fraction to twelve decimal digits.
fn is_same_value(one: u64, other: u64) -> bool {
    let [one_value, other_value] = [one, other].map(f64::from_bits);
    one == other || (one_value - other_value).abs() <= 1e-12 * one_value.abs()
}

/// What differs: how many samples are missing or have another value, and how many are more; with the seconds of the first and the last.
fn differences(expected: &Samples, found: &Samples, begun_ms: i64) -> Option<String> {
    let is_there =
        |key: &(String, i64), bits| found.get(key).is_some_and(|found| is_same_value(*found, bits));
    let missing = expected.iter().filter(|(key, bits)| !is_there(key, **bits)).map(|(key, _)| key);
    let more = found.keys().filter(|key| !expected.contains_key(*key));
    let said = |what, keys: Vec<&(String, i64)>| {
        let (first, last) = (keys.iter().map(|key| key.1).min()?, keys.iter().map(|key| key.1).max()?);
        let [first, last] = [first, last].map(|at_ms| (at_ms - begun_ms) as f64 / 1000.0);
        Some(format!("{} {what}, from {first} to {last} s: {:?}", keys.len(), keys.first()?))
    };
    let parts = [said("are missing", missing.collect()), said("are more", more.collect())];
    parts.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"))
}

/// Holds what the store has of a machine against its history, sample by sample. Returns how many there are.
fn compare(store: &Store, agent: &Agent, machine: &str, begun_ms: i64, end_ms: i64) -> Result<usize, Failed> {
    let mut expected = recorded(&agent.directory, end_ms);
    expected.retain(|(name, _), _| !name.starts_with(REFUSED));
    // It shows some seconds later what it has taken.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut found = store.samples(machine, begun_ms, end_ms)?;
        found.retain(|(_, at_ms), _| *at_ms <= end_ms);
        let Some(said) = differences(&expected, &found, begun_ms) else { return Ok(expected.len()) };
        if Instant::now() > deadline {
            return Err(format!("{machine}, of {} samples {said}", expected.len()).into());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
