//! A server with a thread for each of its connections: who waits for it waits for one of those threads.

use std::fs;

use libtest_mimic::Failed;

use super::chains::expect_chain;
use super::machine::{Load, Scratch, WHIT, wait_for};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [Need::Root, Need::Program("python3"), Need::Program("flock")];
    vec![exact("idle_clients_do_not_hold_a_server_up", &all, threaded_server)]
}

/// Answers at once; what is asked to be slow, once it has a lock.
const SERVER: &str = "import fcntl, socket, sys, threading\n\
    server = socket.create_server(('127.0.0.1', 0))\n\
    open(sys.argv[1], 'w').write(str(server.getsockname()[1]) + '\\n')\n\
    def serve(client):\n    \
        while question := client.recv(100):\n        \
            if question == b'slow': fcntl.flock(open(sys.argv[2], 'w'), fcntl.LOCK_EX)\n        \
            client.sendall(b'answer')\n\
    while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()\n";

/// Asks, says that it has, and sleeps once it has the answer.
const CLIENT: &str = "import socket, sys, time\n\
    client = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
    client.sendall(sys.argv[2].encode())\n\
    open(sys.argv[3], 'w').close()\n\
    client.recv(100)\n\
    open(sys.argv[3] + '.answered', 'w').close()\n\
    time.sleep(600)\n";

fn threaded_server() -> Result<(), Failed> {
    let scratch = Scratch::new("threaded-server");
    let path = |name: &str| scratch.0.join(name).display().to_string();
    let (port_file, lock) = (path("port"), path("lock"));
    let holder = Load::start(&["flock", &lock, "sleep", "600"]);
    let holds =
        || fs::read_to_string("/proc/locks").unwrap_or_default().contains(&format!(" {} ", holder.id()));
    wait_for("the lock is held", holds);
    let _server = Load::start(&["python3", "-c", SERVER, &port_file, &lock]);
    let port = || fs::read_to_string(&port_file).unwrap_or_default();
    wait_for("a port", || port().ends_with('\n'));
    let port = port().trim().to_owned();
    let ask = |what: &str, name: &str| Load::start(&["python3", "-c", CLIENT, &port, what, &path(name)]);
    let idle = ["first", "second", "third"].map(|name| ask("quick", name));
    for name in ["first", "second", "third"] {
        wait_for("an answer", || scratch.0.join(format!("{name}.answered")).exists());
    }
    let slow = ask("slow", "fourth");
    wait_for("a question", || scratch.0.join("fourth").exists());

    let chain = ["0 python3 socket -", "1 python3 file lock -", "2 flock child -", "3 sleep timer explained"];
    expect_chain(slow.id(), &chain);
    let idle: Vec<String> = idle.iter().map(|client| format!("({})", client.id())).collect();
    let said =
        std::process::Command::new(WHIT).args(["why", "--observe", "2s", "--data", "/nowhere"]).output()?;
    let said = String::from_utf8(said.stdout)?;
    assert!(idle.iter().all(|client| !said.contains(client)), "{said}");
    Ok(())
}
