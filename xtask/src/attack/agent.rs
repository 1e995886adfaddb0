//! Attacks on a running agent by an unprivileged user and by a full disk. During each, root's request is answered; after it, no tick was
//! missed but for what held up a thread without work as well, and tasks were read in every tick.

use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::arena::{Arena, Random, SKIPPED, text};
use super::request::{encoded, get};
use super::witness::Witness;

/// The user id of the attackers. It needs no entry in /etc/passwd.
const ATTACKER: u32 = 60_001;
/// The length of each attack.
const LENGTH: Duration = Duration::from_secs(3);
/// The timeout of root's requests.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The limit of the server's memory: three evaluations at their limit, and what it uses at rest.
const MAX_SERVER_BYTES: f64 = 700e6;
const SOCKETS: usize = 400;
/// More missed ticks than this are a finding, even if the witness missed as many.
const MAX_EXCUSED: u32 = 10;
const MISSED: &str = "whit_agent_missed_ticks_total";
/// How often the agent records.
const INTERVAL: Duration = Duration::from_millis(100);
/// Before whatever else the machine does, builds and other trials, which is none of the attack. The agent's server is still behind its recorder.
const NICE: i32 = -15;

/// An agent that records ten times a second, in memory: a build beside it can hold up what is written to a disk.
struct Agent {
    child: Child,
    port: u16,
    place: PathBuf,
    data: PathBuf,
    witness: Witness,
    /// Ticks that were missed before the attack: the first reads the names of all tasks.
    missed_before: f64,
}

impl Agent {
    /// Starts one that keeps its history in this directory, or in one of its own.
    fn start(arena: &Arena, data: Option<&Path>) -> Result<Self, String> {
        // The port is free again when the listener is dropped.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
        let port = listener.local_addr().map_err(text)?.port();
        drop(listener);
        let place = PathBuf::from(format!("/dev/shm/whit-attack-{port}"));
        fs::create_dir(&place).map_err(text)?;
        let data = data.map_or_else(|| place.join("data"), Path::to_owned);
        let witness = Witness::start(NICE, INTERVAL)?;
        let child = Command::new("nice")
            .args(["-n", &NICE.to_string(), arena.program(), "agent"])
            .args(["--interval", &format!("{}ms", INTERVAL.as_millis())])
            .args(["--http", &format!("127.0.0.1:{port}")])
            .arg("--data")
            .arg(&data)
            .arg("--now")
            .arg(place.join("now"))
            .arg("--socket")
            .arg(place.join("socket"))
            .stderr(Stdio::null())
            .spawn()
            .map_err(text)?;
        let mut agent = Self { child, port, place, data, witness, missed_before: 0.0 };
        let deadline = Instant::now() + Duration::from_secs(30);
        while agent.value("whit_agent_server_starts_total").is_err() {
            if Instant::now() > deadline || agent.child.try_wait().map_err(text)?.is_some() {
                return Err("the agent does not start".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // What the first tick missed is in the second one.
        while agent.value("count_over_time(node_load1[1m])").unwrap_or(0.0) < 3.0 {
            if Instant::now() > deadline {
                return Err("the agent records nothing".to_owned());
            }
            std::thread::sleep(INTERVAL);
        }
        agent.witness.take_missed();
        agent.missed_before = agent.value(MISSED)?;
        Ok(agent)
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Evaluates an expression as root. Returns the response and its duration.
    fn ask(&self, expression: &str) -> Result<(String, Duration), String> {
        let begun = Instant::now();
        let path = format!("/api/v1/query?query={}", encoded(expression));
        let reply = get(self.address(), &path, "", TIMEOUT)?;
        Ok((reply, begun.elapsed()))
    }

    fn value(&self, series: &str) -> Result<f64, String> {
        let (reply, _) = self.ask(series)?;
        // The value is the last string of a response.
        let found = reply.rsplit('"').find_map(|part| part.parse().ok());
        found.ok_or_else(|| format!("{series} is not known"))
    }

    /// Returns the process id of the server.
    fn server(&self) -> Option<u32> {
        let parent = self.child.id();
        let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
        list.split_whitespace().next()?.parse().ok()
    }

    /// Checks that no tick was lost, and none missed that a thread without work would have been in time for, that tasks were read in each,
    /// and the peak of memory.
    fn check(&self) -> Result<(), String> {
        let missed = self.value(MISSED)? - self.missed_before;
        let excused = f64::from(self.witness.take_missed().min(MAX_EXCUSED));
        if missed > excused {
            return Err(format!(
                "{missed} ticks were missed, {excused} of them excused; {} before the attack; {}",
                self.missed_before,
                self.waits()
            ));
        }
        for (series, least, most) in [
            ("whit_agent_lost_ticks_total", 0.0, 0.0),
            ("max_over_time(whit_agent_ticks_between_task_readings[10m])", 1.0, 1.0),
            ("max_over_time(whit_agent_server_peak_bytes[10m])", 0.0, MAX_SERVER_BYTES),
        ] {
            let value = self.value(series)?;
            if !(least..=most).contains(&value) {
                return Err(format!("{series} is {value}; {}", self.waits()));
            }
        }
        match self.data.join("history.sqlite").exists() {
            true => Ok(()),
            false => Err("history.sqlite does not exist".to_owned()),
        }
    }

    /// Says what the thread that records waited for.
    fn waits(&self) -> String {
        let read =
            |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap_or_default();
        let (run, stat) = (read("schedstat"), read("stat"));
        format!(
            "it waited {} ns for a CPU and {} ticks for disks",
            run.split(' ').nth(1).unwrap_or("?"),
            stat.split(' ').nth(41).unwrap_or("?")
        )
    }

    /// Sends requests as root for a while. Returns the sorted durations.
    fn ask_while(&self, length: Duration) -> Result<Vec<Duration>, String> {
        let (begun, mut took) = (Instant::now(), Vec::new());
        while begun.elapsed() < length {
            took.push(self.ask("node_load1")?.1);
            std::thread::sleep(Duration::from_millis(100));
        }
        took.sort_unstable();
        Ok(took)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.place);
    }
}

/// This program as the attacking user. It runs [`attack`] until it is dropped.
struct Attacker(Child);

impl Attacker {
    fn start(agent: &Agent, mode: &str) -> Result<Self, String> {
        let words = ["attack", "attacker", &agent.port.to_string(), mode].map(str::to_owned);
        let mut command = Command::new("/proc/self/exe");
        command.args(words).uid(ATTACKER).gid(ATTACKER).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|error| format!("{SKIPPED}not as another user: {error}"))
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns expressions that need much memory or time.
fn bombs() -> Vec<String> {
    let join = |of: &str| format!("label_join({of},\"a\",\",\"{})", ",\"a\"".repeat(400));
    let replace = |of: &str| format!("label_replace({of},\"a\",\"{}\",\"a\",\"(.*)\")", "$1".repeat(400));
    let seed = format!("label_replace(vector(1),\"a\",\"{}\",\"\",\"\")", "x".repeat(1000));
    let all = "{__name__=~\".+\"}";
    vec![
        join(&join(&join(&seed))),
        replace(&replace(&replace(&seed))),
        "count_values(\"v\",sum_over_time(vector(time())[400000s:1s]))".to_owned(),
        format!("quantile by(__name__)(0.5,rate({all}[1d]))"),
        format!("topk(100,max_over_time({all}[30d]))"),
        format!("sort(quantile_over_time(0.9,{all}[1d]))"),
        "max_over_time((max_over_time(node_load1[1d]))[1d:1s])".to_owned(),
        format!("{all} * on() group_left() vector(1)"),
    ]
}

/// Returns an expression whose patterns take long to compile.
fn patterns() -> String {
    let matchers: Vec<String> =
        (0..30).map(|number| format!("a{number}=~\"(\\\\pL{{3}}{number}){{6}}\"")).collect();
    format!("{{{}}}", matchers.join(","))
}

/// Returns the request of a page that watches expressions which no other one watches.
fn watching(number: usize) -> String {
    let all =
        format!("sum(label_replace({{__name__=~\".+\"}},\"a\",\"$1$1\",\"__name__\",\"(.*)\"))+{number}");
    format!("GET /api/page/live?query={} HTTP/1.1\r\nHost: localhost\r\n\r\n", encoded(&all))
}

/// Runs one mode of attack until the process is killed.
pub(super) fn attack(port: &str, mode: &str) -> Result<(), String> {
    let port: u16 = port.parse().map_err(text)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let large = format!(
        "GET /api/v1/query?query={} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        encoded("{__name__=~\".+\"}[1d]")
    );
    let mut held = Vec::new();
    for round in 0_usize.. {
        match mode {
            "bombs" => {
                let bombs = bombs();
                let bomb = &bombs[round % bombs.len()];
                let _ = get(
                    address,
                    &format!("/api/v1/query?query={}", encoded(bomb)),
                    "",
                    Duration::from_secs(60),
                );
            }
            "leaving" => {
                let bombs = bombs();
                let path = format!("/api/v1/query?query={}", encoded(&bombs[3 + round % 5]));
                let _ = get(address, &path, "", Duration::from_millis(300));
            }
            "patterns" => {
                let path = format!("/api/v1/query?query={}", encoded(&patterns()));
                let _ = get(address, &path, "", Duration::from_secs(60));
            }
            "connecting" => drop(TcpStream::connect(address)),
            // Sockets that send nothing, half a head or half a body, or do not read.
            _ => {
                let request = match mode {
                    "idle" => "",
                    "slow" => "GET / HTTP/1.1\r\nHost: loc",
                    "bodiless" => {
                        "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nq"
                    }
                    "watching" => &watching(held.len()),
                    _ => large.as_str(),
                };
                if held.len() >= SOCKETS {
                    held.clear();
                }
                if let Ok(mut stream) = TcpStream::connect(address) {
                    let _ = stream.write_all(request.as_bytes());
                    held.push(stream);
                }
                if held.len() == SOCKETS {
                    std::thread::sleep(Duration::from_secs(2));
                }
            }
        }
    }
    Ok(())
}

/// Runs attackers in these modes and sends requests as root.
fn run_beside(arena: &Arena, modes: &[&str]) -> Result<(), String> {
    let agent = Agent::start(arena, None)?;
    let attackers = modes.iter().map(|mode| Attacker::start(&agent, mode)).collect::<Result<Vec<_>, _>>()?;
    let took = agent.ask_while(LENGTH)?;
    drop(attackers);
    agent.check()?;
    let of = |part: usize| took.get(took.len() * part / 100).copied().unwrap_or_default().as_millis();
    println!(
        "  {}: root was answered after {} ms, of a hundred the slowest {} ms",
        modes.join(", "),
        of(50),
        of(99)
    );
    Ok(())
}

pub(super) fn expressions_that_grow(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    run_beside(arena, &["bombs"; 4])
}

pub(super) fn clients_that_leave(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    run_beside(arena, &["leaving"; 4])
}

pub(super) fn patterns_that_take_long(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    run_beside(arena, &["patterns"; 4])
}

pub(super) fn pages_that_watch(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    run_beside(arena, &["watching"])
}

pub(super) fn sockets_in_five_modes(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    ["idle", "slow", "bodiless", "unread", "connecting"]
        .iter()
        .try_for_each(|mode| run_beside(arena, &[mode]))
}

/// Requests of pages of other origins are refused; a link to the page is answered.
pub(super) fn other_origins(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    let agent = Agent::start(arena, None)?;
    for (headers, is_answered) in [
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n", false),
        ("Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n", false),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", false),
        ("Origin: http://example.org\r\n", false),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", true),
        ("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n", true),
    ] {
        for path in ["/", "/api/v1/query?query=1", "/metrics"] {
            let reply = get(agent.address(), path, headers, TIMEOUT)?;
            let head = reply.split("\r\n\r\n").next().unwrap_or_default().to_lowercase();
            if head.starts_with("http/1.1 200") != is_answered {
                return Err(format!("{path} with {headers:?}: {}", head.lines().next().unwrap_or_default()));
            }
            for header in ["cross-origin-resource-policy: same-origin", "x-content-type-options: nosniff"] {
                if !head.contains(header) {
                    return Err(format!("{path} without {header}"));
                }
            }
        }
    }
    agent.check()
}

/// Kills the server repeatedly.
pub(super) fn kills_of_the_server(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let agent = Agent::start(arena, None)?;
    let begun = Instant::now();
    while begun.elapsed() < LENGTH {
        std::thread::sleep(random.micros(1_000_000));
        if let Some(server) = agent.server().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()))
        {
            let _ = rustix::process::kill_process(server, rustix::process::Signal::KILL);
        }
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    while agent.value("node_load1").is_err() {
        if Instant::now() > deadline {
            return Err("the server does not come back".to_owned());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    agent.check()
}

/// Fills the disk of the history for a while.
pub(super) fn a_full_disk(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=8m,mode=700", "whit-attack"])
        .arg(&tree)
        .output();
    if !mounted.map_err(text)?.status.success() {
        return Err(format!("{SKIPPED}tmpfs cannot be mounted"));
    }
    let full = || -> Result<(), String> {
        let agent = Agent::start(arena, Some(&tree.join("data")))?;
        let filling = tree.join("filling");
        // Fails when the disk is full.
        let _ = fs::write(&filling, vec![0; 16 << 20]);
        agent.ask_while(LENGTH)?;
        fs::remove_file(&filling).map_err(text)?;
        // The retry delay is at most 16 s.
        let deadline = Instant::now() + Duration::from_secs(40);
        while agent.value("count_over_time(node_load1[4s])").unwrap_or(0.0) < 10.0 {
            if Instant::now() > deadline {
                return Err("nothing is recorded after there was room again".to_owned());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        agent.check()
    };
    let done = full();
    let _ = Command::new("umount").arg(&tree).status();
    done
}
