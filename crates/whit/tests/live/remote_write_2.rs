//! Remote write 2.0 to a receiver that takes it, and to an older one that comes in its place.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use formats::series_name::SeriesName;
use libtest_mimic::Failed;
use prost::Message;

use super::machine::{Scratch, wait_for};
use super::remote_write::{Sample, Samples, decode, last_ms, name, progress, read_request, recorded, start};
use super::trials::{Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("a_receiver_gets_the_newest_version_that_it_takes", &[], versions)]
}

/// The request of version 2.
#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, repeated, tag = "4")]
    symbols: Vec<String>,
    #[prost(message, repeated, tag = "5")]
    series: Vec<Sent>,
}

#[derive(Clone, PartialEq, Message)]
struct Sent {
    #[prost(uint32, repeated, tag = "1")]
    labels: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, optional, tag = "5")]
    metadata: Option<Metadata>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Metadata {
    #[prost(uint32, tag = "1")]
    kind: u32,
    #[prost(uint32, tag = "3")]
    help: u32,
}

/// A receiver that is replaced by an older one, which answers what it does not understand as if it had taken it.
#[derive(Default)]
struct Receiver {
    is_old: bool,
    /// How many requests with samples there were of each version.
    requests: [usize; 2],
    samples: Samples,
    /// The kind and the help of metrics.
    metadata: BTreeMap<String, (u32, String)>,
}

impl Receiver {
    fn take(&mut self, name: &SeriesName, samples: &[Sample]) {
        for sample in samples {
            let known = self.samples.insert((name.to_string(), sample.at_ms), sample.value.to_bits());
            assert!(known.is_none(), "{name} at {} twice", sample.at_ms);
        }
    }

    /// Takes a request, and returns the headers of the answer.
    fn answer(&mut self, head: &str, body: &[u8]) -> Option<String> {
        let is_new = head.contains("proto=io.prometheus.write.v2.Request");
        if !is_new {
            let request = decode(body)?;
            self.requests[0] += 1;
            request.series.iter().for_each(|sent| self.take(&name(&sent.labels), &sent.samples));
        }
        if !is_new || self.is_old {
            return Some(String::new());
        }
        let bytes = snap::raw::Decoder::new().decompress_vec(body).ok()?;
        let Request { symbols, series } = Request::decode(bytes.as_slice()).ok()?;
        let count: usize = series.iter().map(|sent| sent.samples.len()).sum();
        self.requests[1] += usize::from(count > 0);
        for Sent { labels, samples, metadata } in series {
            let symbol = |place: u32| symbols[place as usize].clone();
            let mut name = SeriesName::default();
            labels.chunks(2).for_each(|pair| name.set(&symbol(pair[0]), &symbol(pair[1])));
            self.take(&name, &samples);
            if let Some(Metadata { kind, help }) = metadata {
                self.metadata.insert(name.metric().to_owned(), (kind, symbol(help)));
            }
        }
        // Of the first request one sample less was written.
        let written = count - usize::from(self.requests[1] == 1 && count > 0);
        Some(format!("X-Prometheus-Remote-Write-Samples-Written: {written}\r\n"))
    }
}

fn lock(receiver: &Mutex<Receiver>) -> MutexGuard<'_, Receiver> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(receiver: &Mutex<Receiver>, mut stream: &TcpStream) -> Option<()> {
    let (head, body) = read_request(stream)?;
    let headers = lock(receiver).answer(&head, &body)?;
    stream.write_all(format!("HTTP/1.1 204 Taken\r\n{headers}Content-Length: 0\r\n\r\n").as_bytes()).ok()
}

fn versions() -> Result<(), Failed> {
    let scratch = Scratch::new("remote-versions");
    let receiver = Arc::new(Mutex::new(Receiver::default()));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let served = Arc::clone(&receiver);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            while answer(&served, &stream).is_some() {}
        }
    });
    fs::write(
        scratch.0.join("agent.toml"),
        format!(
            "[recording]\nstarter = false\n[[remote_write]]\nurl = \"http://127.0.0.1:{port}/write\"\nname = \"store\"\n\
             interval = \"1s\"\nfirst = \"1h\"\nlabels = {{ instance = \"\", job = \"\" }}\n"
        ),
    )?;
    let _agent = start(&scratch.0)?;
    wait_for("version 2 is taken", || lock(&receiver).requests[1] > 3);
    let store = progress(&scratch.0).remove("store").ok_or("no receiver")?;
    assert_eq!(
        (store["version"].as_str(), store["refused_count"].as_u64()),
        (Some("2.0"), Some(1)),
        "{store}"
    );
    assert_eq!(lock(&receiver).requests[0], 0);
    let metadata = lock(&receiver).metadata.clone();
    let kinds = ["node_load1", "node_cpu_seconds_total"].map(|metric| metadata[metric].0);
    assert_eq!(kinds, [2, 1], "{metadata:?}");
    assert!(metadata.values().all(|(_, help)| !help.is_empty()), "{metadata:?}");
    lock(&receiver).is_old = true;
    wait_for("version 1 is taken", || lock(&receiver).requests[0] > 3);
    let store = progress(&scratch.0).remove("store").ok_or("no receiver")?;
    assert_eq!(store["version"], "1.0", "{store}");
    let last_ms = last_ms(store["place_ns"].as_i64().ok_or("no place")?);
    let is_stale = |bits: &u64| f64::from_bits(*bits).is_nan();
    let samples = lock(&receiver).samples.clone();
    let found: Samples =
        samples.into_iter().filter(|(key, bits)| key.1 <= last_ms && !is_stale(bits)).collect();
    let expected = recorded(&scratch.0, last_ms);
    assert!(found == expected, "{} of {} samples", found.len(), expected.len());
    Ok(())
}
