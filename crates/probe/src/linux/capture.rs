//! Captures Linux: copies of the files that whit reads.

use std::mem::MaybeUninit;

use rustix::fs::RawDir;

use super::cgroup;
use super::files::Buffer;
use crate::capture_directory::{Capture, CaptureError};
use crate::roots::{MachineDirectory, Roots};

const FILES: [&str; 23] = [
    "proc/cpuinfo",
    "proc/diskstats",
    "proc/loadavg",
    "proc/meminfo",
    "proc/net/dev",
    "proc/net/netstat",
    "proc/net/snmp",
    "proc/net/snmp6",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/irq",
    "proc/pressure/memory",
    "proc/self/cgroup",
    "proc/self/mounts",
    "proc/spl/kstat/zfs/arcstats",
    "proc/stat",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/random/boot_id",
    "proc/sys/kernel/task_delayacct",
    "proc/sys/vm/min_free_kbytes",
    "proc/uptime",
    "proc/vmstat",
    "proc/zoneinfo",
];

/// Directories of /sys whose entries are devices, and the files of each; `*` stands for anything.
const DEVICES: [(&str, &[&str]); 7] = [
    ("sys/block", &["mm_stat"]),
    ("sys/class/backlight", &["brightness", "max_brightness"]),
    ("sys/class/hwmon", &["name", "temp*_input", "temp*_label"]),
    ("sys/class/net", &["carrier", "ifindex", "operstate", "speed", "type", "uevent"]),
    ("sys/class/power_supply", &["uevent"]),
    ("sys/class/thermal", &["temp", "type"]),
    ("sys/devices/system/cpu", &["cpufreq/scaling_cur_freq"]),
];

const BTF: &str = "sys/kernel/btf/vmlinux";
const OF_PROCESS: [&str; 3] = ["cgroup", "stat", "statm"];
const OF_THREAD: [&str; 4] = ["io", "schedstat", "stat", "status"];
/// The kernel options that whit looks for. Text after the kernel's options belongs to the first process. It may contain anything.
const KERNEL_OPTIONS: [&str; 2] = ["delayacct", "nodelayacct"];
const SERIAL_NUMBER: &[u8] = b"POWER_SUPPLY_SERIAL_NUMBER=";

/// Copies what exists.
pub(crate) fn write(roots: &Roots, capture: &mut Capture) -> Result<(), CaptureError> {
    let mut copy = Copy { root: roots.open()?, buffer: Buffer::new(), capture };
    for path in FILES {
        copy.file(path)?;
    }
    copy.kernel_options()?;
    for path in cgroup::paths(&copy.root, &mut copy.buffer) {
        copy.file(&path)?;
    }
    // Megabytes of types.
    copy.presence(BTF)?;
    for (class, names) in DEVICES {
        for device in copy.list(class) {
            copy.presence(&format!("{class}/{device}/phy80211"))?;
            for name in names {
                let directory = format!("{class}/{device}");
                match name.split_once('*') {
                    None => copy.file(&format!("{directory}/{name}"))?,
                    Some((before, after)) => {
                        let all = copy.list(&directory);
                        for name in
                            all.iter().filter(|name| name.starts_with(before) && name.ends_with(after))
                        {
                            copy.file(&format!("{directory}/{name}"))?;
                        }
                    }
                }
            }
        }
    }
    for pid in copy.list("proc").iter().filter(|name| is_number(name)) {
        for name in OF_PROCESS {
            copy.file(&format!("proc/{pid}/{name}"))?;
        }
        for tid in copy.list(&format!("proc/{pid}/task")).iter().filter(|name| is_number(name)) {
            for name in OF_THREAD {
                copy.file(&format!("proc/{pid}/task/{tid}/{name}"))?;
            }
        }
    }
    Ok(())
}

struct Copy<'a> {
    root: MachineDirectory,
    buffer: Buffer,
    capture: &'a mut Capture,
}

impl Copy<'_> {
    /// Copies a file; one that cannot be read (a link that is down has no speed) is left out, as on the machine.
    fn file(&mut self, path: &str) -> Result<(), CaptureError> {
        match self.buffer.read_once(&self.root, path) {
            Ok(bytes) if path.ends_with("/uevent") => {
                let lines = bytes.split_inclusive(|byte| *byte == b'\n');
                let kept: Vec<&[u8]> = lines.filter(|line| !line.starts_with(SERIAL_NUMBER)).collect();
                self.capture.write(path, &kept.concat())
            }
            Ok(bytes) => self.capture.write(path, bytes),
            Err(_) => Ok(()),
        }
    }

    /// An empty file in place of one whose existence is all that is looked at.
    fn presence(&mut self, path: &str) -> Result<(), CaptureError> {
        if self.root.look_at(path).is_ok() { self.capture.write(path, b"") } else { Ok(()) }
    }

    fn kernel_options(&mut self) -> Result<(), CaptureError> {
        let Ok(bytes) = self.buffer.read_once(&self.root, "proc/cmdline") else { return Ok(()) };
        let text = String::from_utf8_lossy(bytes);
        let kept: Vec<&str> = text.split_whitespace().filter(|word| KERNEL_OPTIONS.contains(word)).collect();
        self.capture.write("proc/cmdline", format!("{}\n", kept.join(" ")).as_bytes())
    }

    /// The entries of a directory, sorted.
    fn list(&self, path: &str) -> Vec<String> {
        let mut names = Vec::new();
        let Ok(directory) = self.root.directory_at(path) else { return names };
        let mut memory = [MaybeUninit::uninit(); 8 * 1024];
        let mut listing = RawDir::new(&directory, &mut memory);
        while let Some(Ok(entry)) = listing.next() {
            names.extend(
                entry.file_name().to_str().ok().filter(|name| !name.starts_with('.')).map(str::to_owned),
            );
        }
        names.sort();
        names
    }
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}
