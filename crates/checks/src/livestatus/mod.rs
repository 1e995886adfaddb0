//! Livestatus at a Unix socket, for dashboards of Nagios: GET requests, and commands.

mod rows;
mod tables;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use facts::task::rounds::Scope;
use formats::livestatus::{Request, refuse};
use jiff::tz::TimeZone;
use probe::background_job::Notifier;
use probe::sockets;
use probe::wait::{Waiter, Watch};
use rustix::fd::AsFd as _;

use self::rows::Inventory;
use crate::{CheckLedger, SharedChecks, external_requests};
use service::Privileged;
use service::unix_socket;

/// Connections at a time; others are closed.
const MAX_CONNECTIONS: usize = 64;
/// A longer request is refused.
const MAX_REQUEST_BYTES: u64 = 1 << 20;
/// A connection on which nothing comes or goes for so long is closed.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause after a connection that could not be accepted: without descriptors the socket would be ready all the time.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
const LISTENER: u64 = 0;
const END: u64 = 1;

/// The server, as long as this is kept.
#[derive(Debug)]
pub struct Livestatus {
    path: PathBuf,
    end: Notifier,
}

/// The state that connections share.
#[derive(Debug)]
struct Shared {
    privileged: Privileged,
    registry: SharedChecks,
    /// The data directory.
    data: PathBuf,
    machine: String,
    /// The zone of times of the week.
    zone: TimeZone,
    /// When this began, in milliseconds since 1970.
    started_ms: i64,
}

impl Livestatus {
    /// Listens.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn start(
        path: &Path,
        privileged: Privileged,
        registry: SharedChecks,
        data: PathBuf,
        zone: TimeZone,
    ) -> io::Result<Self> {
        let listener = unix_socket::listen(path)?;
        let end = Notifier::new()?;
        let ended = end.clone();
        let machine = probe::host_name();
        let started_ms = jiff::Timestamp::now().as_millisecond();
        let shared = Arc::new(Shared { privileged, registry, data, machine, zone, started_ms });
        let mut waiter = Waiter::open(&[])?;
        waiter.watch(LISTENER, Watch::Readable(listener.as_fd()))?;
        waiter.watch(END, Watch::Readable(ended.as_fd()))?;
        std::thread::Builder::new().name("livestatus".to_owned()).spawn(move || {
            // Its descriptor is waited for.
            let _ended = ended;
            let mut ready = Vec::new();
            loop {
                if waiter.wait(None, &mut ready).is_err() || ready.iter().any(|one| one.token == END) {
                    return;
                }
                accept(&listener, &shared);
            }
        })?;
        Ok(Self { path: path.to_owned(), end })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Livestatus {
    fn drop(&mut self) {
        let _ = unix_socket::remove(&self.path);
        self.end.notify();
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                if error.kind() != io::ErrorKind::WouldBlock {
                    std::thread::sleep(AFTER_FAILURE);
                }
                return;
            }
        };
        let is_full = Arc::strong_count(shared) > MAX_CONNECTIONS;
        let peer = sockets::peer(&stream);
        let is_permitted = peer.is_ok_and(|peer| {
            peer.uid == probe::own_uid() || shared.privileged.scope(peer.uid, Some(peer.gid)) == Scope::All
        });
        if is_full || !is_permitted {
            continue;
        }
        let shared = Arc::clone(shared);
        // Without a thread the connection is closed.
        let _ = std::thread::Builder::new()
            .name("livestatus".to_owned())
            .spawn(move || drop(serve(&stream, &shared)));
    }
}

/// Answers requests until there are none.
fn serve(stream: &UnixStream, shared: &Shared) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    loop {
        let text = read_request(&mut reader)?;
        if text.is_empty() {
            return Ok(());
        }
        if let Some(command) = text.strip_prefix("COMMAND ") {
            // There is no answer, as the protocol has it.
            command.lines().for_each(|line| ask(line, shared));
            continue;
        }
        let (reply, is_last) = match Request::parse(&text) {
            Ok(request) => {
                let inventory = Arc::new(inventory(&request, shared));
                (tables::reply(&request, &inventory), !request.keeps_alive)
            }
            Err(fault) => (refuse(text.contains("ResponseHeader: fixed16"), &fault), true),
        };
        { stream }.write_all(&reply)?;
        if is_last {
            return Ok(());
        }
    }
}

/// A request ends with an empty line, or with the stream. Empty: there is none.
fn read_request(reader: &mut BufReader<&UnixStream>) -> io::Result<String> {
    let mut text = Vec::new();
    loop {
        let begin = text.len();
        let left = MAX_REQUEST_BYTES.saturating_sub(begin as u64);
        let length = reader.take(left).read_until(b'\n', &mut text)?;
        let is_empty = text[begin..].trim_ascii().is_empty();
        if length == 0 && left == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Empty lines before a request are left out.
        if length == 0 || (is_empty && begin > 0) {
            return Ok(String::from_utf8_lossy(&text).trim_end().to_owned());
        }
        if is_empty {
            text.clear();
        }
    }
}

/// Returns the objects that a request is answered from. Long texts are in the file alone, and are read for requests that want them.
fn inventory(request: &Request, shared: &Shared) -> Inventory {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let ledger = CheckLedger::open_for_reading(&shared.data).ok();
    let downtimes = ledger.as_ref().and_then(|ledger| ledger.downtimes().ok()).unwrap_or_default();
    let times_ms = [shared.started_ms, now_ms];
    let mut inventory =
        Inventory::new(&shared.registry.lock(), downtimes, &shared.machine, &shared.zone, times_ms);
    if request.needs_column("long_plugin_output")
        && let Some(ledger) = &ledger
    {
        for status in inventory.statuses.iter_mut().filter(|status| status.has_long_text) {
            status.long_text = ledger.long_text(&status.name).unwrap_or_default();
        }
    }
    inventory
}

fn ask(line: &str, shared: &Shared) {
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let requests = external_requests(line, &shared.registry.lock(), &shared.machine, now_ms);
    if let Ok(requests) = requests {
        let _ = CheckLedger::open(&shared.data).and_then(|mut ledger| ledger.request(&requests));
    }
}
