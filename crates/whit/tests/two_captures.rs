//! Rates between two captures of one machine: files of odd machines, and what a bar shows of them.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Where such a machine is met; the file; what it says at 100 s and at 110 s since boot; a segment; what is shown.
const CASES: [(&str, &str, &str, &str, &str, &str); 13] = [
    (
        "any machine",
        "proc/net/dev",
        "head\nhead\n  eth0: 1000000 10 0 0 0 0 0 0 2000000 10 0 0 0 0 0 0\n",
        "head\nhead\n  eth0: 2000000 10 0 0 0 0 0 0 2500000 10 0 0 0 0 0 0\n",
        "type = \"net\"\ninterfaces = [\"eth0\"]\nformat = \"{received:k,.1,bare} {sent:k,.1,bare}\"",
        "100.0 50.0",
    ),
    (
        "a name with a colon, and none between colon and number",
        "proc/net/dev",
        "head\nhead\ntun1:1:1000000 10 0 0 0 0 0 0 0 10 0 0 0 0 0 0\n",
        "head\nhead\ntun1:1:1500000 10 0 0 0 0 0 0 0 10 0 0 0 0 0 0\n",
        "type = \"net\"\ninterfaces = [\"tun1:1\"]\nformat = \"{received:k,.1,bare}\"",
        "50.0",
    ),
    (
        "an interface that came back with new counters",
        "proc/net/dev",
        "head\nhead\n  eth0: 5000000 10 0 0 0 0 0 0 2000000 10 0 0 0 0 0 0\n",
        "head\nhead\n  eth0: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n",
        "type = \"net\"\ninterfaces = [\"eth0\"]\nformat = \"[{received:k,.1,bare}]\"",
        "",
    ),
    (
        "an interface that was not there before",
        "proc/net/dev",
        "head\nhead\n",
        "head\nhead\n  eth0: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n",
        "type = \"net\"\ninterfaces = [\"eth0\"]\nformat = \"[{received:k,.1,bare}]\"",
        "",
    ),
    (
        "any machine: half of all CPUs busy",
        "proc/stat",
        "cpu  1000 0 0 1000 0 0 0 0 0 0\ncpu0 1000 0 0 1000 0 0 0 0 0 0\n",
        "cpu  1500 0 0 1500 0 0 0 0 0 0\ncpu0 1500 0 0 1500 0 0 0 0 0 0\n",
        "type = \"cpu\"\nformat = \"{busy:.0,bare}\"",
        "50",
    ),
    (
        "a counter of I/O waits that decreases, as proc(5) warns: it is no busy time",
        "proc/stat",
        "cpu  1000 0 0 1000 500 0 0 0 0 0\n",
        "cpu  1100 0 0 1900 400 0 0 0 0 0\n",
        "type = \"cpu\"\nformat = \"{busy:.0,bare}\"",
        "10",
    ),
    (
        "CPUs that were switched off meanwhile: a hole in the numbers",
        "proc/stat",
        "cpu  3000 0 0 3000 0 0 0 0 0 0\ncpu0 1000 0 0 1000 0 0 0 0 0 0\ncpu1 1000 0 0 1000 0 0 0 0 0 0\ncpu2 1000 0 0 1000 0 0 0 0 0 0\n",
        "cpu  4000 0 0 4000 0 0 0 0 0 0\ncpu0 1750 0 0 1250 0 0 0 0 0 0\ncpu2 1250 0 0 1750 0 0 0 0 0 0\n",
        "type = \"cpu\"\neach = true\nformat = \"{busy:.0,bare}\"",
        "75  25",
    ),
    (
        "guest time is in user time already",
        "proc/stat",
        "cpu  1000 0 0 1000 0 0 0 0 1000 0\n",
        "cpu  1500 0 0 1500 0 0 0 0 1500 0\n",
        "type = \"cpu\"\nformat = \"{busy:.0,bare}\"",
        "50",
    ),
    (
        "any disk: sectors are of 512 bytes",
        "proc/diskstats",
        "   8       0 sda 10 0 1000 0 10 0 2000 0 0 0 0\n",
        "   8       0 sda 10 0 3000 0 10 0 2000 0 0 5000 0\n",
        "type = \"disk_io\"\ndevices = [\"sda\"]\nformat = \"{read:k,.1,bare} {busy:.0,bare}\"",
        "102.4 50",
    ),
    (
        "another disk under the name of the one before",
        "proc/diskstats",
        "   8       0 sda 10 0 900000 0 10 0 2000 0 0 0 0\n",
        "   8      16 sda 10 0 1000 0 10 0 2000 0 0 0 0\n",
        "type = \"disk_io\"\ndevices = [\"sda\"]\nformat = \"[{read:k,.1,bare}]\"",
        "",
    ),
    (
        "a disk with the fields of 4.18 and 5.5",
        "proc/diskstats",
        " 259 0 nvme0n1 1 0 1000 0 1 0 1000 0 0 0 0 1 0 99999 0 1 0\n",
        " 259 0 nvme0n1 1 0 1000 0 1 0 21000 0 0 0 0 1 0 999999 0 1 0\n",
        "type = \"disk_io\"\ndevices = [\"nvme0n1\"]\nformat = \"{written:k,.1,bare}\"",
        "1024.0",
    ),
    (
        "a clock of milliseconds of 32 bits that wrapped: how long the disk was busy",
        "proc/diskstats",
        "   8 0 sda 1 0 1000 0 1 0 1000 0 0 4294966296 0\n",
        "   8 0 sda 1 0 1000 0 1 0 1000 0 0 4000 0\n",
        "type = \"disk_io\"\ndevices = [\"sda\"]\nformat = \"{busy:.0,bare}\"",
        "50",
    ),
    (
        "a machine of 32 bits whose counter of bytes wrapped",
        "proc/net/dev",
        "head\nhead\n  eth0: 4294467296 10 0 0 0 0 0 0 0 10 0 0 0 0 0 0\n",
        "head\nhead\n  eth0: 500000 10 0 0 0 0 0 0 0 10 0 0 0 0 0 0\n",
        "type = \"net\"\ninterfaces = [\"eth0\"]\nformat = \"[{received:k,.1,bare}]\"",
        "",
    ),
];

fn capture(root: &Path, uptime: &str, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::write(root.join("proc/uptime"), uptime).unwrap();
}

/// What a bar of one segment shows of two captures, and what it says on standard error.
fn bar(place: &Path, segment: &str) -> (String, String, bool) {
    let config = place.join("bar.toml");
    fs::write(&config, format!("[[segment]]\n{segment}\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_whit"))
        .args(["bar", "--for", "plain", "--config"])
        .arg(&config)
        .arg("--root")
        .arg(place.join("after"))
        .arg("--root-before")
        .arg(place.join("before"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

#[test]
fn rates_of_odd_machines() {
    let place = std::env::temp_dir().join(format!("whit-two-captures-{}", std::process::id()));
    let mut wrong = Vec::new();
    for (what, file, before, after, segment, expected) in CASES {
        capture(&place.join("before"), "100.00 1.00\n", file, before);
        capture(&place.join("after"), "110.00 1.00\n", file, after);
        let (shown, said, is_success) = bar(&place, segment);
        if shown != expected || !is_success {
            wrong.push(format!("{what}: {shown:?} instead of {expected:?} {said}"));
        }
        fs::remove_dir_all(&place).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn captures_in_the_wrong_order_are_refused() {
    let place = std::env::temp_dir().join(format!("whit-wrong-order-{}", std::process::id()));
    for (before, after) in
        [("110.00 1.00\n", "100.00 1.00\n"), ("100.00 1.00\n", "100.00 1.00\n"), ("", "1.00\n")]
    {
        capture(&place.join("before"), before, "proc/loadavg", "1 1 1 1/1 1\n");
        capture(&place.join("after"), after, "proc/loadavg", "1 1 1 1/1 1\n");
        let (_, said, is_success) = bar(&place, "type = \"load\"");
        assert!(!is_success && said.contains("not an earlier capture"), "{said}");
        fs::remove_dir_all(&place).unwrap();
    }
}
