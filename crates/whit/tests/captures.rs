//! `whit doctor --capture`: what is captured of a captured machine is that machine again.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut all: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn output(arguments: &[&str], root: &Path) -> String {
    let output =
        Command::cargo_bin("whit").unwrap().args(arguments).arg("--root").arg(root).output().unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// Into a directory of the test's own: tests run at the same time.
fn capture(machine: &Path, test: &str) -> PathBuf {
    let name = machine.file_name().unwrap().to_str().unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capture-{test}-{name}"));
    let _ = fs::remove_dir_all(&directory);
    let text = output(&["doctor", "--capture", directory.to_str().unwrap()], machine);
    assert!(text.contains("files in"), "{text}");
    directory
}

#[test]
fn a_capture_reads_as_its_machine() {
    for machine in fixtures() {
        let captured = capture(&machine, "reads");
        for arguments in [
            &["free", "--json"][..],
            &["doctor"],
            &["doctor", "--metrics", "--json"],
            &["delays", "-a", "--json"],
            &["top", "-b", "-n", "1", "--json"],
            &["bar", "--once"],
        ] {
            // whit's own cost differs from run to run.
            let text = |root: &Path| {
                let text = output(arguments, root);
                text.split("\"whit\":").next().unwrap().to_owned()
            };
            assert_eq!(text(&captured), text(&machine), "{} {arguments:?}", machine.display());
        }
        fs::remove_dir_all(captured).unwrap();
    }
}

/// FreeBSD's code captures FreeBSD here: the replies are the same to the byte.
#[test]
fn every_reply_that_is_read_is_captured() {
    let freebsd = fixtures().into_iter().filter(|machine| machine.join("sysctl").is_dir());
    let mut compared = 0;
    for machine in freebsd {
        let captured = capture(&machine, "replies");
        let files = |root: &Path| {
            let mut names: Vec<String> = fs::read_dir(root.join("sysctl"))
                .unwrap()
                .map(|entry| format!("sysctl/{}", entry.unwrap().file_name().to_str().unwrap()))
                .collect();
            names.extend(["statfs".to_owned(), "uptime".to_owned()]);
            names.sort();
            names
        };
        assert_eq!(files(&captured), files(&machine), "{}", machine.display());
        for file in files(&machine) {
            assert_eq!(
                fs::read(captured.join(&file)).unwrap(),
                fs::read(machine.join(&file)).unwrap(),
                "{file}"
            );
            compared += 1;
        }
        fs::remove_dir_all(captured).unwrap();
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_capture_overwrites_nothing() {
    let machine = &fixtures()[0];
    let existing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture-existing");
    fs::create_dir_all(&existing).unwrap();
    fs::write(existing.join("uptime"), "mine").unwrap();
    let text = output(&["doctor", "--capture", existing.to_str().unwrap()], machine);
    assert!(text.contains("File exists"), "{text}");
    assert_eq!(fs::read_to_string(existing.join("uptime")).unwrap(), "mine");
    fs::remove_dir_all(existing).unwrap();
}

/// A mount or a cgroup whose name leads out of the capture writes nothing there.
#[test]
fn a_capture_stays_in_its_directory() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture-hostile");
    let _ = fs::remove_dir_all(&place);
    let (machine, outside) = (place.join("machine"), place.join("outside"));
    fs::create_dir_all(machine.join("proc/self")).unwrap();
    for (mount, path, files) in [
        ("/", outside.to_str().unwrap().to_owned(), outside.to_str().unwrap().to_owned()),
        ("/../../outside", "/".to_owned(), "/outside".to_owned()),
    ] {
        fs::write(machine.join("proc/self/mounts"), format!("cgroup2 {mount} cgroup2 rw 0 0\n")).unwrap();
        fs::write(machine.join("proc/self/cgroup"), format!("0::{path}\n")).unwrap();
        let files = machine.join(files.trim_start_matches('/'));
        fs::create_dir_all(&files).unwrap();
        fs::write(files.join("memory.max"), "1000000\n").unwrap();
        let captured = place.join("captured");
        let text = output(&["doctor", "--capture", captured.to_str().unwrap()], &machine);
        assert!(text.contains("files in"), "{text}");
        assert!(!outside.exists(), "{mount} {path}");
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&captured), mode(&captured.join("proc/self/mounts"))), (0o700, 0o600));
        fs::remove_dir_all(captured).unwrap();
    }
    fs::remove_dir_all(place).unwrap();
}
