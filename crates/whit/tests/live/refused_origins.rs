//! Remote write to a receiver that refuses all that one origin has.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::Failed;

use super::machine::{Scratch, wait_for};
use super::remote_write::{has_series, progress, read_request, start};
use super::trials::{Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("an_origin_that_is_refused_holds_no_other_up", &[], refused)]
}

/// The requests of a receiver that takes nothing of files with metrics.
#[derive(Default)]
struct Counts {
    refused: AtomicUsize,
    taken: AtomicUsize,
}

impl Counts {
    /// Answers a request. `None`: the connection ends.
    fn answer(&self, mut stream: &TcpStream) -> Option<()> {
        let (_, body) = read_request(stream)?;
        let is_of_files = |metric: &str| metric.starts_with("job_") || metric.starts_with("node_textfile_");
        let (count, answer) = match has_series(&body, is_of_files)? {
            true => (&self.refused, "400 There are too many labels"),
            false => (&self.taken, "204 Taken"),
        };
        count.fetch_add(1, Ordering::Relaxed);
        stream.write_all(format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").as_bytes()).ok()
    }

    /// Returns how many requests were refused, and how many taken.
    fn get(&self) -> (usize, usize) {
        (self.refused.load(Ordering::Relaxed), self.taken.load(Ordering::Relaxed))
    }
}

fn refused() -> Result<(), Failed> {
    let scratch = Scratch::new("refused-origin");
    let files = scratch.0.join("files");
    fs::create_dir(&files)?;
    let metrics: String = (0..30).map(|number| format!("job_{number} 1\n")).collect();
    fs::write(files.join("jobs.prom"), metrics)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let counts = Arc::new(Counts::default());
    let served = Arc::clone(&counts);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            std::thread::spawn(move || while served.answer(&stream).is_some() {});
        }
    });
    fs::write(
        scratch.0.join("agent.toml"),
        format!(
            "[textfile]\ndirectory = \"{}\"\ninterval = \"1s\"\n[recording]\nstarter = false\n\
             [[remote_write]]\nurl = \"http://127.0.0.1:{port}/write\"\nname = \"store\"\ninterval = \"1s\"\n",
            files.display()
        ),
    )?;
    let _agent = start(&scratch.0)?;
    wait_for("files are refused", || counts.get().0 > 20);
    let (_, before) = counts.get();
    wait_for("the machine goes on", || counts.get().1 > before + 5);
    let place = || progress(&scratch.0)["store"]["exporters_place_ns"].as_i64();
    wait_for("the files have a place", || place().is_some());
    let first = place();
    wait_for("the files go on", || place() > first);
    let store = progress(&scratch.0).remove("store").ok_or("no receiver")?;
    let refused = store["refused"].as_array().ok_or("none is refused")?;
    assert!(
        refused.iter().any(|one| one["series"].as_str().is_some_and(|name| name.starts_with("job_"))),
        "{store}"
    );
    Ok(())
}
