//! Remote write: a store that fails in every way has each sample of the history in the end, once.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use formats::series_name::SeriesName;
use libtest_mimic::Failed;
use prost::Message;
use query::Answer;
use remote_store::{Asked, RemoteStore};
use serde_json::Value;

use super::machine::{Running, Scratch, WHIT, documents, port, wait_for, whit};
use super::prometheus::Prometheus;
use super::recording_rules::{RULES, assert_rules};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let peers = [Need::Program("prometheus"), Need::Program("victoria-metrics")];
    vec![
        exact("every_sample_arrives_once_over_faults_and_kills", &[], faults),
        exact("a_store_that_refuses_what_it_has_misses_nothing", &[], strict),
        exact("stores_have_what_was_recorded", &peers, peer_stores),
    ]
}

/// The request of remote write, version 1.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(message, repeated, tag = "1")]
    pub(crate) series: Vec<Sent>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sent {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(int64, tag = "2")]
    pub(crate) at_ms: i64,
}

/// Samples by series and time in milliseconds: the bits of their values.
pub(crate) type Samples = BTreeMap<(String, i64), u64>;

/// A store whose answers are bad, in turn, and which refuses one series.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    /// It refuses requests with samples that are no newer than those of their series, as Prometheus does.
    is_strict: bool,
    /// The newest sample of each series.
    newest_ms: BTreeMap<String, i64>,
    samples: Samples,
    requests: usize,
    /// What no sender may do.
    faults: Vec<String>,
}

const REFUSED: &str = "node_load5";

impl Store {
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self) -> Result<u16, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let store = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let store = store.clone();
                std::thread::spawn(move || while store.answer(&stream).is_some() {});
            }
        });
        Ok(port)
    }

    /// Answers a request. `None`: the connection ends.
    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let (_, body) = read_request(stream)?;
        let mut taken = self.lock();
        taken.requests += 1;
        if taken.is_strict {
            return taken.answer_strictly(&body, stream);
        }
        // One after another they would only make the sender wait for longer.
        let (is_taken, answer) = match taken.requests % 60 {
            1 => (false, "503 Busy\r\nRetry-After: 1"),
            // The data are there, and the sender does not know.
            3 => (true, ""),
            5 => (true, "502 Bad gateway"),
            7 => (false, "429 Slower"),
            9 => (false, ""),
            _ => (true, "204 Taken"),
        };
        let request = decode(&body)?;
        let is_refused = request.has(|metric| metric == REFUSED);
        let answer = match answer {
            "204 Taken" if is_refused => "400 Bad request",
            answer => answer,
        };
        if is_taken && !is_refused {
            taken.take(&request);
        }
        match answer {
            "" => None,
            answer => {
                stream.write_all(format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").as_bytes()).ok()
            }
        }
    }
}

/// Reads the lines before the body of a request, and the body. `None`: the connection ended.
pub(crate) fn read_request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut length, mut head, mut line) = (0, String::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

pub(crate) fn decode(body: &[u8]) -> Option<Request> {
    let bytes = snap::raw::Decoder::new().decompress_vec(body).ok()?;
    Request::decode(bytes.as_slice()).ok()
}

impl Request {
    fn has(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        self.series.iter().any(|sent| is_meant(name(&sent.labels).metric()))
    }
}

/// Returns whether the body of a request has a series whose metric is meant; `None`: it is not one of remote write.
pub(crate) fn has_series(body: &[u8], is_meant: impl Fn(&str) -> bool) -> Option<bool> {
    decode(body).map(|request| request.has(is_meant))
}

pub(crate) fn name(labels: &[Label]) -> SeriesName {
    let mut name = SeriesName::default();
    labels.iter().for_each(|label| name.set(&label.name, &label.value));
    name
}

impl Taken {
    /// Every third answer is lost.
    fn answer_strictly(&mut self, body: &[u8], mut stream: &TcpStream) -> Option<()> {
        let request = decode(body)?;
        let times = request.series.iter().map(|sent| (name(&sent.labels).to_string(), &sent.samples));
        let is_late = times.clone().any(|(name, samples)| {
            let newest_ms = self.newest_ms.get(&name);
            newest_ms.is_some_and(|newest_ms| samples[0].at_ms <= *newest_ms)
        });
        if is_late {
            let text = "out of order sample";
            return stream
                .write_all(
                    format!("HTTP/1.1 400 No\r\nContent-Length: {}\r\n\r\n{text}", text.len()).as_bytes(),
                )
                .ok();
        }
        let newest = times.map(|(name, samples)| (name, samples.last().map_or(0, |sample| sample.at_ms)));
        self.newest_ms.extend(newest);
        self.take(&request);
        match self.requests.is_multiple_of(3) {
            true => None,
            false => stream.write_all(b"HTTP/1.1 204 Taken\r\nContent-Length: 0\r\n\r\n").ok(),
        }
    }

    fn take(&mut self, request: &Request) {
        for Sent { labels, samples } in &request.series {
            let mut name = name(labels);
            if name.take("instance") != "web1" || name.take("job") != "whit" {
                self.faults.push(format!("{name}: other labels"));
            }
            if labels.windows(2).any(|pair| pair[0].name >= pair[1].name) {
                self.faults.push(format!("{name}: its labels are in no order"));
            }
            if samples.windows(2).any(|pair| pair[0].at_ms >= pair[1].at_ms) {
                self.faults.push(format!("{name}: its samples are in no order"));
            }
            for Sample { value, at_ms } in samples {
                let bits = value.to_bits();
                let known = self.samples.insert((name.to_string(), *at_ms), bits);
                if known.is_some_and(|known| known != bits) {
                    self.faults.push(format!("{name}: two values at {at_ms}"));
                }
            }
        }
    }
}

pub(crate) fn start(directory: &Path) -> Result<Running, Failed> {
    let mut command = Command::new(WHIT);
    command
        .args(["agent", "--interval", "100ms", "--http", "127.0.0.1:0", "--config"])
        .arg(directory.join("agent.toml"));
    command.arg("--data").arg(directory.join("data")).arg("--now").arg(directory.join("now"));
    command.arg("--socket").arg(directory.join("socket")).stderr(Stdio::null());
    Ok(Running(command.spawn()?))
}

/// How far receivers are, by name.
pub(crate) fn progress(directory: &Path) -> BTreeMap<String, Value> {
    let data = directory.join("data");
    if !data.join("remote-write").exists() {
        return BTreeMap::new();
    }
    let text = whit(&["history", "remote", "--json", "--data", data.to_str().unwrap()]);
    let named = |receiver: Value| (receiver["name"].as_str().unwrap_or_default().to_owned(), receiver);
    documents(&text).into_iter().map(named).collect()
}

/// Returns the last whole millisecond before a place in nanoseconds since 1970. Samples are sent with times in milliseconds: two samples, one
/// before the place and one behind it, may have the same time.
pub(crate) fn last_ms(place_ns: i64) -> i64 {
    place_ns / 1_000_000 - 1
}

/// All samples of the machine up to a millisecond since 1970.
pub(crate) fn recorded(directory: &Path, last_ms: i64) -> Samples {
    let data = directory.join("data");
    let text = whit(&["history", "export", "--format", "json", "--data", data.to_str().unwrap()]);
    let mut samples = Samples::new();
    for series in documents(&text) {
        let name = series["series"].as_str().unwrap();
        let times = series["realtimes_ns"].as_array().unwrap().iter().map(|at| at.as_i64().unwrap());
        for (at_ns, value) in times.zip(series["values"].as_array().unwrap()) {
            let at_ms = at_ns / 1_000_000;
            if at_ms <= last_ms {
                samples.insert((name.to_owned(), at_ms), value.as_f64().expect("a number").to_bits());
            }
        }
    }
    samples
}

/// Sends to a store with an agent that is killed so many times, each after so many requests, until another one is two seconds further. Returns
/// that one, and how far the store is.
fn send_over_kills(
    scratch: &Scratch,
    store: &Store,
    kills: usize,
    requests: usize,
) -> Result<(Running, Value), Failed> {
    let port = store.listen()?;
    let config = format!(
        "[[remote_write]]\nurl = \"http://127.0.0.1:{port}/write\"\nname = \"store\"\ninterval = \"1s\"\nfirst = \"1h\"\n\
         labels = {{ instance = \"web1\" }}\n[recording]\nstarter = false\n"
    );
    let rules = RULES.map(|(name, expression)| {
        format!("[[record]]\nname = \"{name}\"\nexpression = \"{expression}\"\ninterval = \"1s\"\n")
    });
    fs::write(scratch.0.join("agent.toml"), config + &rules.concat())?;
    for _ in 0..kills {
        let before = store.lock().requests;
        let mut agent = start(&scratch.0)?;
        wait_for("the store is asked", || store.lock().requests >= before + requests);
        agent.0.kill()?;
        agent.0.wait()?;
    }
    let agent = start(&scratch.0)?;
    let places = || {
        let store = progress(&scratch.0).remove("store").unwrap_or_default();
        ["place_ns", "rules_place_ns"].map(|place| store[place].as_i64().unwrap_or(0))
    };
    let begun = places();
    wait_for("it is two seconds further", || {
        places().iter().zip(begun).all(|(place, begun)| *place >= begun + 2_000_000_000)
    });
    Ok((agent, progress(&scratch.0)["store"].clone()))
}

/// Asserts that a store has all samples that it should have.
fn assert_complete<'s>(taken: &Taken, expected: impl Iterator<Item = (&'s (String, i64), &'s u64)> + Clone) {
    assert!(taken.faults.is_empty(), "{:?}", taken.faults);
    let missing: Vec<_> =
        expected.clone().filter(|(key, bits)| taken.samples.get(*key) != Some(*bits)).collect();
    let count = expected.count();
    assert!(missing.is_empty(), "{} of {count} are missing: {:?}", missing.len(), missing.first());
}

/// Answers are bad or get lost, one series is refused, and the agent is killed again and again.
fn faults() -> Result<(), Failed> {
    let scratch = Scratch::new("remote-write");
    let store = Store::default();
    // A program that starts and ends again and again.
    let mut words = Command::new("sh");
    words.args(["-c", "while sleep 0.5; do head -c 40000000 /dev/zero | md5sum; done"]).stdout(Stdio::null());
    let _programs = Running(words.spawn()?);
    let (_agent, seen) = send_over_kills(&scratch, &store, 3, 5)?;
    let last_ms = last_ms(seen["place_ns"].as_i64().unwrap());
    let expected = recorded(&scratch.0, last_ms);
    let taken = store.lock();
    let of_rules = |name: &str| name.starts_with("test:");
    let rules_place_ns = seen["rules_place_ns"].as_i64().unwrap();
    let found = taken
        .samples
        .iter()
        .filter(|((name, at_ms), _)| of_rules(name) && *at_ms <= rules_place_ns / 1_000_000);
    let found: Samples = found.map(|(key, bits)| (key.clone(), *bits)).collect();
    assert_rules(&scratch.0, rules_place_ns, &found)?;
    assert!(found.len() > 10, "{found:?}");
    let is_refused = |name: &str| name.starts_with(REFUSED);
    assert_complete(&taken, expected.iter().filter(|(key, _)| !is_refused(&key.0)));
    let is_stale = |bits: &u64| f64::from_bits(*bits).is_nan();
    let more: Vec<_> = taken
        .samples
        .iter()
        .filter(|(key, bits)| {
            key.1 <= last_ms && !is_stale(bits) && !of_rules(&key.0) && !expected.contains_key(*key)
        })
        .collect();
    assert!(more.is_empty(), "{} are not in the history: {:?}", more.len(), more.first());
    assert!(!taken.samples.keys().any(|key| is_refused(&key.0)));
    let refused = seen["refused"].as_array().unwrap();
    assert!(refused.len() == 1 && refused[0]["series"].as_str().unwrap().starts_with(REFUSED), "{refused:?}");
    assert!(seen["failures_count"].as_u64() > Some(0));
    let data = scratch.0.join("data");
    let taken = whit(&["get", "whit_remote_write_samples_total", "--data", data.to_str().unwrap()]);
    assert!(taken.trim().parse::<f64>().is_ok_and(|taken| taken > 1000.0), "{taken}");
    Ok(())
}

/// Answers are lost, and the agent is killed while it sends: what it sends then is what it has sent before, which the store has.
fn strict() -> Result<(), Failed> {
    let scratch = Scratch::new("remote-strict");
    let store = Store::default();
    store.lock().is_strict = true;
    // Right behind a request that was taken, or whose answer was lost.
    let (_agent, seen) = send_over_kills(&scratch, &store, 4, 2)?;
    let expected = recorded(&scratch.0, last_ms(seen["place_ns"].as_i64().unwrap()));
    assert_complete(&store.lock(), expected.iter());
    Ok(())
}

/// Real stores answer with what was recorded.
fn peer_stores() -> Result<(), Failed> {
    let scratch = Scratch::new("remote-stores");
    let prometheus = Prometheus::start(&scratch, "{}", &["--web.enable-remote-write-receiver"])?;
    let victoria = format!("127.0.0.1:{}", port());
    let mut words = Command::new("victoria-metrics");
    words.arg("-storageDataPath").arg(scratch.0.join("victoria")).args(["-httpListenAddr", &victoria]);
    words.args(["-search.latencyOffset", "0s"]).stdout(Stdio::null()).stderr(Stdio::null());
    let _victoria = Running(words.spawn()?);
    let urls = [("prometheus", prometheus.url()), ("victoria", format!("http://{victoria}"))];
    let receivers = urls.iter().map(|(name, url)| {
        format!(
            "[[remote_write]]\nname = \"{name}\"\nurl = \"{url}/api/v1/write\"\ninterval = \"1s\"\nfirst = \"1h\"\n\
             match = ['{{__name__=~\"node_(cpu|memory|load).*\"}}']\nlabels = {{ instance = \"\", job = \"\" }}\n"
        )
    });
    fs::write(scratch.0.join("agent.toml"), receivers.collect::<String>())?;
    let agent = start(&scratch.0)?;
    for (name, url) in &urls {
        let taken = || progress(&scratch.0).get(*name).and_then(|receiver| receiver["taken_count"].as_u64());
        wait_for("samples are taken", || taken() > Some(2000));
        let last_ms = last_ms(progress(&scratch.0)[*name]["place_ns"].as_i64().unwrap());
        let expected = recorded(&scratch.0, last_ms);
        let store = RemoteStore::new(url);
        let expression = "{__name__=~\"node_(cpu|memory|load).*\"}[10m]";
        let compare = || {
            let Ok(Answer::Matrix(series)) = store.ask(expression, Asked::At { at_ms: last_ms }) else {
                return None;
            };
            let samples = series.iter().flat_map(|(name, points)| {
                points.iter().map(|point| ((name.to_string(), point.at_ms), point.value.to_bits()))
            });
            let found: Samples = samples.filter(|(key, _)| key.1 <= last_ms).collect();
            let wanted = |name: &str| {
                ["node_cpu", "node_memory", "node_load"].iter().any(|head| name.starts_with(head))
            };
            let expected: Samples = expected
                .iter()
                .filter(|(key, _)| wanted(&key.0))
                .map(|(key, bits)| (key.clone(), *bits))
                .collect();
            (found == expected).then_some(found.len())
        };
        // It shows some seconds later what it has taken.
        wait_for(&format!("{name} has the same samples"), || compare() > Some(1000));
    }
    drop(agent);
    Ok(())
}
