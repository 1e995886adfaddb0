//! Files whose server does not answer any more: whit names it, and does not wait for it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use libtest_mimic::Failed;

use super::chains::expect_chain;
use super::machine::{Load, Scratch, shell, wait_for};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [Need::Root, Need::Path("/dev/fuse"), Need::Program("python3"), Need::Program("flock")];
    vec![exact("a_server_of_files_that_is_dead_is_named", &all, dead_server)]
}

/// Mounts a FUSE filesystem at the path that is the first argument, and says that it has.
const MOUNT: &str = r#"
import ctypes, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
"#;

/// Its other side never answers.
pub(crate) const DEAD: &str = "signal.pause()";

/// It has one file, and its other side answers until that is read (linux/fuse.h). Attributes are not remembered, so that each stat(2) asks it.
const MORTAL: &str = r#"
INITIALISE, LOOK_UP, ATTRIBUTES, OPEN, READ = 26, 1, 3, 14, 15

def attributes(node):
    mode = 0o40755 if node == 1 else 0o100644
    return struct.pack("<6Q10I", node, 4096, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

while True:
    _, call, unique, node = struct.unpack_from("<IIQQ", os.read(device, 1 << 18))
    error, body = 0, b""
    if call == INITIALISE:
        body = struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 0, 0, 65536, 1, 0, 0, *[0] * 8)
    elif call == LOOK_UP:
        body = struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes(2)
    elif call == ATTRIBUTES:
        body = struct.pack("<QII", 0, 0, 0) + attributes(node)
    elif call == OPEN:
        body = struct.pack("<QII", 1, 0, 0)
    elif call == READ:
        break
    else:
        error = -38
    os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
print("dead", flush=True)
signal.pause()
"#;

/// The other side of a filesystem, and where that is mounted.
pub(crate) struct Server {
    process: Child,
    pub(crate) mount: Scratch,
}

impl Server {
    /// Starts one, and waits until it is mounted. Returns what it says after that.
    pub(crate) fn start(does: &str) -> Result<(Self, impl Iterator<Item = String>), Failed> {
        let mount = Scratch::new("dead-files");
        let mut process = Command::new("python3")
            .args(["-c", &format!("{MOUNT}{does}")])
            .arg(&mount.0)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let server = Self { process, mount };
        let mut said = BufReader::new(output).lines().map_while(Result::ok);
        assert_eq!(said.next().as_deref(), Some("mounted"));
        Ok((server, said))
    }
}

/// What waits for a server. The server ends first: nothing else lets go of them.
struct Stage {
    server: Server,
    waiting: Vec<Load>,
}

impl Stage {
    /// Starts a program with the file. Returns its number.
    fn start(&mut self, words: &[&str], more: &[&str]) -> u32 {
        let file = self.server.mount.0.join("file").display().to_string();
        let load = Load::start(&[words, &[file.as_str()], more].concat());
        let pid = load.id();
        self.waiting.push(load);
        pid
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its end lets go of who waits for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        shell(&format!("umount --lazy {}", self.mount.0.display()));
    }
}

fn dead_server() -> Result<(), Failed> {
    let (server, mut said) = Server::start(MORTAL)?;
    let mut stage = Stage { server, waiting: Vec::new() };
    // One who holds the file's lock and one who waits for it: whose lock it is can be seen by what the kernel remembers of the file.
    let is_in_locks =
        |pid: u32| fs::read_to_string("/proc/locks").unwrap_or_default().contains(&format!(" {pid} "));
    let holder = stage.start(&["flock"], &["sleep", "600"]);
    wait_for("the lock is held", || is_in_locks(holder));
    let second = stage.start(&["flock"], &["true"]);
    wait_for("a process waits for the lock", || is_in_locks(second));
    let reader = stage.start(&["cat"], &[]);
    assert_eq!(said.next().as_deref(), Some("dead"));

    expect_chain(reader, &["0 cat filesystem -", "1 python3 signal explained"]);
    expect_chain(second, &["0 flock file lock -", "1 flock child -", "2 sleep timer explained"]);
    Ok(())
}
