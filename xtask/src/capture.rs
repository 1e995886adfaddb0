//! Captures the running machine into a directory that `--root` reads: the files that whit reads, and nothing else.
//! Look through it before you give it away: mounts and cgroups name what runs on the machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::Outcome;

const FILES: [&str; 21] = [
    "proc/cmdline",
    "proc/diskstats",
    "proc/loadavg",
    "proc/meminfo",
    "proc/net/dev",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/irq",
    "proc/pressure/memory",
    "proc/self/cgroup",
    "proc/self/mounts",
    "proc/spl/kstat/zfs/arcstats",
    "proc/stat",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/task_delayacct",
    "proc/sys/vm/min_free_kbytes",
    "proc/uptime",
    "proc/vmstat",
    "proc/zoneinfo",
    "proc/1/stat",
    "proc/1/schedstat",
];

/// Directories of /sys whose entries are devices, and the names of the files to take of each (`*` for digits).
const DEVICES: [(&str, &[&str]); 5] = [
    ("sys/class/hwmon", &["name", "temp*_input", "temp*_label"]),
    ("sys/class/thermal", &["type", "temp"]),
    ("sys/class/power_supply", &["uevent"]),
    ("sys/class/net", &["operstate", "carrier", "speed", "type"]),
    ("sys/block", &["mm_stat"]),
];

/// Copies what is there.
pub(crate) fn run(into: &Path) -> Outcome {
    if into.exists() {
        return Err(format!("{} is there already", into.display()));
    }
    for file in FILES {
        copy(Path::new("/").join(file), &into.join(file))?;
    }
    for (class, names) in DEVICES {
        for device in list(&Path::new("/").join(class)) {
            let Some(name) = device.file_name() else { continue };
            for file in list(&device) {
                let Some(file_name) = file.file_name().and_then(|name| name.to_str()) else { continue };
                if names.iter().any(|pattern| matches(pattern, file_name)) {
                    copy(file.clone(), &into.join(class).join(name).join(file_name))?;
                }
            }
        }
    }
    Ok(())
}

fn list(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).is_some()
        }
    }
}

/// What cannot be read (a link that is down has no speed) is left out, as on the machine.
fn copy(from: PathBuf, to: &Path) -> Outcome {
    let Ok(bytes) = fs::read(&from) else { return Ok(()) };
    let fail = |error| format!("{}: {error}", to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(fail)?;
    fs::write(to, bytes).map_err(fail)
}
