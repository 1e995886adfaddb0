//! The feed reader against a server that behaves as servers do.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Running, Scratch, WHIT, documents, port, wait_for};
use super::top::Screen;
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let newsboat = [Need::Program("newsboat"), Need::Program("tmux")];
    vec![
        exact("feeds_are_polled_and_read_by_several", &[Need::Program("curl")], several),
        exact("newsboat_synchronises", &newsboat, newsboat_synchronises),
    ]
}

/// A server on loopback, and the requests that it got: a path, and whether the request was conditional.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<(String, bool)>>>,
}

const FEED: &str = "<rss version='2.0'><channel><title>News</title><link>/page</link>\
    <item><guid>1</guid><title>First</title><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate>\
    <description>&lt;p&gt;hello &lt;img src=x onerror=alert(1)&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description></item>\
    <item><guid>2</guid><title>Second &nbsp; one</title><link>/2</link></item></channel></rss>";

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        // It ends with the trials.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(&stream, &seen));
            }
        });
        Self { address, requests }
    }

    fn count(&self, path: &str, conditional: bool) -> usize {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .filter(|(known, is_conditional)| known == path && *is_conditional == conditional)
            .count()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<(String, bool)>>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_conditional = lines
        .take_while(|line| !line.is_empty())
        .any(|line| line.to_lowercase().starts_with("if-none-match"));
    seen.lock().unwrap().push((path.clone(), is_conditional));
    let (status, headers, body) = match path.as_str() {
        "/feed" if is_conditional => ("304 Not Modified", "ETag: \"1\"\r\n", ""),
        "/feed" => ("200 OK", "ETag: \"1\"\r\nContent-Type: application/rss+xml\r\n", FEED),
        "/moved" => ("301 Moved Permanently", "Location: /feed\r\n", ""),
        "/gone" => ("410 Gone", "", ""),
        "/slow" => ("429 Too Many Requests", "Retry-After: 7200\r\n", ""),
        "/page" => (
            "200 OK",
            "Content-Type: text/html\r\n",
            "<html><link rel=alternate type=application/rss+xml href=feed>",
        ),
        _ => ("404 Not Found", "", ""),
    };
    let length = body.len();
    let mut stream = stream;
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

/// whit, its standard output, and whether it succeeded.
fn whit_at(scratch: &Path, words: &[&str], input: &str) -> (String, bool) {
    let mut command = Command::new(WHIT);
    command.arg("feeds").args(words).arg("--data").arg(scratch.join("data"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.success())
}

fn document(scratch: &Path, words: &[&str]) -> Value {
    let (text, _) = whit_at(scratch, &[words, &["--json"]].concat(), "");
    documents(&text).remove(0)
}

/// curl's answer: the status and the body.
fn curl(words: &[&str]) -> (u16, String) {
    let output = Command::new("curl").args(["-s", "-w", "\n%{http_code}"]).args(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), body.to_owned())
}

fn start(scratch: &Path, http: &str) -> Result<Running, Failed> {
    let mut command = Command::new(WHIT);
    command.args(["agent", "--http", http, "--config"]).arg(scratch.join("agent.toml"));
    command.arg("--data").arg(scratch.join("data")).arg("--now").arg(scratch.join("now"));
    Ok(Running(command.arg("--socket").arg(scratch.join("socket")).stderr(Stdio::null()).spawn()?))
}

fn several() -> Result<(), Failed> {
    let scratch = Scratch::new("feeds");
    let here = scratch.0.as_path();
    fs::create_dir_all(here.join("data"))?;
    let server = Server::start();
    let origin = format!("http://{}", server.address);
    let port = port();
    let http = format!("127.0.0.1:{port}");
    let base = format!("http://{http}/feeds");
    fs::write(here.join("agent.toml"), format!("[feeds]\nallow = [\"{}\"]\n", server.address))?;
    for (name, password) in [("ann", "correct horse\n"), ("bob", "battery staple\n")] {
        assert!(whit_at(here, &["user", "add", name], password).1);
    }
    let config = here.join("agent.toml");
    let added = whit_at(
        here,
        &["add", &format!("{origin}/page"), "--account", "ann", "--config", &config.to_string_lossy()],
        "",
    );
    assert!(added.1 && added.0.contains("News"), "{added:?}");
    let refused = whit_at(
        here,
        &["add", "http://127.0.0.1:1/feed", "--account", "ann", "--config", &config.to_string_lossy()],
        "",
    );
    assert!(!refused.1 && refused.0.contains("not public"), "{refused:?}");
    let outlines: String = ["moved", "gone", "slow"]
        .map(|path| format!("<outline text='{path}' xmlUrl='{origin}/{path}'/>"))
        .concat();
    fs::write(
        here.join("list.opml"),
        format!("<opml><body><outline text='All'>{outlines}</outline></body></opml>"),
    )?;
    assert!(whit_at(here, &["import", &here.join("list.opml").to_string_lossy(), "--account", "bob"], "").1);
    let agent = start(here, &http)?;
    let feeds = |account: &str| document(here, &["list", "--account", account])["feeds"].clone();
    wait_for("all feeds are polled", || {
        let all = feeds("bob");
        let is_done = |one: &Value| !one["fetched_realtime_ns"].is_null() || one["error"] != "";
        feeds("ann")[0]["unread"] == 2 && all.as_array().is_some_and(|all| all.iter().all(is_done))
    });
    // One that moved is the one that ann reads; what is gone is not asked again.
    let all = feeds("bob");
    let of = |url: &str| {
        all.as_array().unwrap().iter().find(|one| one["url"] == format!("{origin}{url}")).cloned()
    };
    assert_eq!(of("/feed").unwrap()["unread"], 2, "{all:#}");
    assert_eq!(of("/gone").unwrap()["is_gone"], true, "{all:#}");
    let slow = of("/slow").unwrap();
    let pause =
        slow["next_realtime_ns"].as_i64().unwrap() - slow["failing_since_realtime_ns"].as_i64().unwrap();
    assert!(pause >= 7_200_000_000_000, "{all:#}");
    assert!(server.count("/feed", true) >= 1, "{:?}", server.requests.lock().unwrap());
    // The Google Reader API.
    let login = |name: &str, password: &str| {
        let form = [format!("Email={name}"), format!("Passwd={password}")];
        curl(&["-d", &form[0], "-d", &form[1], &format!("{base}/accounts/ClientLogin")])
    };
    let token = |answer: &(u16, String)| {
        answer.1.lines().find_map(|line| line.strip_prefix("Auth=")).map(str::to_owned)
    };
    let ann = token(&login("ann", "correct horse")).ok_or("no session")?;
    let bob = token(&login("bob", "battery staple")).ok_or("no session")?;
    let api = |token: &str, path: &str, form: &[&str]| {
        let header = format!("Authorization: GoogleLogin auth={token}");
        let form: Vec<&str> = form.iter().flat_map(|pair| ["-d", *pair]).collect();
        curl(&[&["-H", &header, &format!("{base}/reader/api/0/{path}")], form.as_slice()].concat())
    };
    let ids = |token: &str| {
        let (_, body) = api(
            token,
            "stream/items/ids?s=user/-/state/com.google/reading-list&xt=user/-/state/com.google/read&n=9",
            &[],
        );
        let body: Value = serde_json::from_str(&body).unwrap();
        body["itemRefs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let unread = ids(&ann);
    assert_eq!(unread.len(), 2);
    let first = format!("i={}", unread[0]);
    assert_eq!(api(&ann, "edit-tag", &[&first, "a=user/-/state/com.google/read"]).0, 200);
    assert_eq!(api("0123", "edit-tag", &[&first]).0, 401);
    // Killed at once: what was read stays read, for ann alone.
    drop(agent);
    let _agent = start(here, &http)?;
    wait_for("the agent answers", || api(&ann, "user-info", &[]).0 == 200);
    assert_eq!((ids(&ann).len(), ids(&bob).len()), (1, 2));
    // The page: signed in by a cookie, changed by a form of that session.
    let jar = here.join("jar").to_string_lossy().into_owned();
    let page = |path: &str| curl(&["-b", &jar, &format!("{base}/{path}")]);
    assert_eq!(
        curl(&["-c", &jar, "-d", "name=ann", "-d", "password=correct horse", &format!("{base}/sign-in")]).0,
        303
    );
    let (_, list) = page("");
    assert!(list.contains("First") || list.contains("Second"), "{list}");
    let (_, entry) = page(&format!("entry/{}", unread[1]));
    assert!(!entry.contains("onerror") && !entry.contains("alert(1)"), "{entry}");
    let form = list
        .split("data-form=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .ok_or("no form")?
        .to_owned();
    let mark = |form: &str, origin: &str| {
        let (form, entry) = (format!("form={form}"), format!("entry={}", unread[1]));
        let origin = format!("Origin: {origin}");
        curl(&[
            "-b",
            &jar,
            "-H",
            &origin,
            "-d",
            &form,
            "-d",
            &entry,
            "-d",
            "read=1",
            "-d",
            "quiet=1",
            &format!("{base}/mark"),
        ])
        .0
    };
    let own = format!("http://{http}");
    assert_eq!([mark("wrong", &own), mark(&form, "http://evil.example"), mark(&form, &own)], [403, 403, 200]);
    assert_eq!((ids(&ann).len(), ids(&bob).len()), (0, 2));
    let header = format!("Authorization: GoogleLogin auth={bob}");
    assert!(!curl(&["-H", &header, &format!("{base}/entry/{}", unread[1])]).1.contains("First"));
    assert_eq!(login("ann", "wrong").0, 401);
    // The right password has to come within a second of a wrong one: nothing may come between them.
    let has_to_wait = (0..100).any(|_| {
        let is_refused = login("ann", "correct horse").0 == 429;
        assert!(is_refused || login("ann", "wrong").0 != 200);
        is_refused
    });
    assert!(has_to_wait, "the right one never has to wait");
    Ok(())
}

/// newsboat, which knows the server of another name, reads and stars; whit reads and newsboat sees it.
fn newsboat_synchronises() -> Result<(), Failed> {
    let scratch = Scratch::new("newsboat");
    let here = scratch.0.as_path();
    fs::create_dir_all(here.join("data"))?;
    let server = Server::start();
    let port = port();
    fs::write(here.join("agent.toml"), format!("[feeds]\nallow = [\"{}\"]\n", server.address))?;
    assert!(whit_at(here, &["user", "add", "ann"], "correct horse\n").1);
    let _agent = start(here, &format!("127.0.0.1:{port}"))?;
    let config = here.join("agent.toml").to_string_lossy().into_owned();
    let added = whit_at(here, &["add", &format!("http://{}/feed", server.address), "--config", &config], "");
    assert!(added.1, "{added:?}");
    let unread = || document(here, &["list"])["feeds"][0]["unread"].clone();
    wait_for("the feed is polled", || unread() == 2);
    let options = format!(
        "urls-source \"feedhq\"\nfeedhq-url \"http://127.0.0.1:{port}/feeds\"\nfeedhq-login \"ann\"\n\
         feedhq-password \"correct horse\"\nfeedhq-flag-star \"s\"\nfeedhq-show-special-feeds no\n"
    );
    fs::write(here.join("newsboat"), options)?;
    let place = here.display().to_string();
    let screen = Screen::run("newsboat-screen", 100, 30, |home| {
        format!(
            "HOME={home} newsboat -C {place}/newsboat -c {place}/cache -u {place}/urls; echo ended $?; sleep 60"
        )
    });
    // Not `newsboat -r`: there its thread draws while its main thread ends curses and begins it again.
    screen.wait_for("a feed that was not read", |text| text.contains("(0/0)"));
    screen.keys(&["R"]);
    screen.wait_for("the feed with two entries", |text| text.contains("(2/2) News"));
    screen.keys(&["Enter"]);
    screen.wait_for("its entries", |text| text.contains("First") && text.contains("Second"));
    screen.keys(&["Enter"]);
    screen.wait_for("an entry", |text| text.contains("Title: "));
    screen.keys(&["C-e"]);
    screen.wait_for("flags", |text| text.contains("Flags:"));
    screen.keys(&["s", "Enter"]);
    let starred = || {
        let all = document(here, &["read", "--all"])["entries"].clone();
        all.as_array().map_or(0, |all| all.iter().filter(|entry| entry["is_starred"] == true).count())
    };
    wait_for("whit knows that it was starred", || starred() == 1);
    screen.keys(&["q"]);
    wait_for("whit knows that it was read", || unread() == 1);
    // The other way.
    let left = document(here, &["read"])["entries"][0]["entry"].to_string();
    assert!(whit_at(here, &["read", &left], "").1);
    screen.keys(&["q", "R"]);
    screen.wait_for("nothing is unread", |text| text.contains("(0/2) News"));
    Ok(())
}
