//! Files of earlier versions: they are opened, and say what they said; those of a later one are left alone (docs/VERSIONS.md).

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where SQLite's header has `PRAGMA user_version` and `PRAGMA application_id`, big-endian, 4 bytes each (sqlite.org/fileformat.html).
const USER_VERSION: usize = 60;
const APPLICATION_ID: usize = 68;

/// A copy of the data directory and the configuration of a version, removed at its end.
struct Installation(PathBuf);

impl Installation {
    fn of(version: &str, name: &str) -> Self {
        let new = Self(std::env::temp_dir().join(format!("whit-versions-{name}-{}", std::process::id())));
        fs::create_dir_all(new.data()).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions").join(version);
        for entry in fs::read_dir(from.join("data")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), new.data().join(entry.file_name())).unwrap();
        }
        fs::copy(from.join("agent.toml"), new.0.join("agent.toml")).unwrap();
        new
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut whit = Command::new(env!("CARGO_BIN_EXE_whit"));
        whit.args(words).env_clear().env("TZ", "UTC").env("WHIT_DATA", self.data());
        whit.env("WHIT_CONFIG", self.0.join("agent.toml")).output().unwrap()
    }

    fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_of_version_0_1_are_read() {
    let machine = Installation::of("0.1", "read");
    let has = |words: &[&str], texts: &[&str]| {
        let said = machine.says(words);
        assert!(texts.iter().all(|text| said.contains(text)), "{words:?}: {said}");
    };
    has(&["agent", "--check"], &["good"]);
    has(&["history"], &["2026-11-28 02:12:19", "ticks    85"]);
    has(&["history", "verify"], &[]);
    let most = "topk(1, sum by (comm) (increase(whit_task_on_cpu_seconds_total[80s])))";
    has(&["query", "--at", "2026-11-28 02:13:40", most], &["4.08 s", "sh"]);
    has(&["check", "list", "--all"], &["web1/nothing", "backup", "3 GB"]);
    has(&["feeds"], &["News"]);
    has(&["alert"], &["always"]);
    has(&["mark", "--since", "2026-11-28"], &["deployed 1.0"]);
}

#[test]
fn files_of_a_later_version_are_left_alone() {
    let machine = Installation::of("0.1", "later");
    let commands: [(&str, &[&str]); 6] = [
        ("history.sqlite", &["history"]),
        ("checks.sqlite", &["check", "list"]),
        ("feeds.sqlite", &["feeds"]),
        ("alerts.sqlite", &["alert"]),
        ("marks.sqlite", &["mark"]),
        ("checks-history.sqlite", &["query", "whit_check_state"]),
    ];
    for (name, command) in commands {
        let path = machine.data().join(name);
        let own = fs::read(&path).unwrap();
        let mut file = own.clone();
        for at in [USER_VERSION, APPLICATION_ID] {
            // The library of feeds has no application's number.
            let number = u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
            let later = if number == 0 { 0 } else { number + 1 };
            file[at..at + 4].copy_from_slice(&later.to_be_bytes());
        }
        fs::write(&path, &file).unwrap();
        let output = machine.run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("newer version"), "{name}: {said}");
        assert!(fs::read(&path).unwrap() == file, "{name} was written");
        // The next one is the only one of a later version.
        fs::write(&path, own).unwrap();
    }
}
