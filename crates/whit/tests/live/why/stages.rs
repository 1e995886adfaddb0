//! Troubles that are staged. Each goes on until what it returns is dropped.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::machine::{Cgroup, Load, Scratch, copy_program, disk_of, peer, shell, wait_for_state};

/// What keeps a trouble going. The last is ended first.
pub(super) type Staged = Vec<Box<dyn Any>>;

/// The program that makes troubles, under two names: who causes one, and who suffers from it.
pub(super) fn programs(scratch: &Scratch) -> (String, String) {
    let made = peer("trouble");
    let [culprit, victim] = ["culprit", "victim"].map(|name| {
        let program = scratch.0.join(name);
        copy_program(&made, &program);
        program.display().to_string()
    });
    (culprit, victim)
}

/// Starts a program in a cgroup.
fn start_in(cgroup: &Path, words: &str) -> Load {
    Load::start(&["sh", "-c", &format!("echo $$ > {}/cgroup.procs && exec {words}", cgroup.display())])
}

pub(super) fn nice_fight(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut staged: Staged = vec![Box::new(Load::start(&["nice", "-n", "19", &victim, "spin"]))];
    for _ in 0..cpus + 1 {
        staged.push(Box::new(Load::start(&[&culprit, "spin"])));
    }
    staged
}

/// Tasks of low priority that wait only for one another.
pub(super) fn nice_tasks(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let start = |_| -> Box<dyn Any> { Box::new(Load::start(&["nice", "-n", "19", &culprit, "spin"])) };
    (0..2 * cpus).map(start).collect()
}

/// A task that waits in io_uring, for no disk.
pub(super) fn ring(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let load = Load::start(&[&culprit, "ring"]);
    wait_for_state(load.id(), 'S');
    let waited = || -> f64 {
        let text = fs::read_to_string("/proc/pressure/io").unwrap();
        text.split(['=', '\n']).nth(4).and_then(|total| total.parse().ok()).unwrap()
    };
    let before = waited();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(waited() - before > 300e3, "the kernel does not count io_uring as a wait for disks");
    vec![Box::new(load)]
}

/// A directory that goes with the trial.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let _ = fs::remove_dir(&self.0);
    }
}

/// A cgroup that may use a fifth of a CPU.
pub(super) fn limit_cpu() -> Cgroup {
    let limit = Cgroup::new("cpu");
    match limit.version {
        1 => {
            limit.set("cpu.cfs_period_us", "100000");
            limit.set("cpu.cfs_quota_us", "20000");
        }
        _ => limit.set("cpu.max", "20000 100000"),
    }
    limit
}

pub(super) fn quota(scratch: &Scratch) -> Staged {
    let (_, victim) = programs(scratch);
    let limit = limit_cpu();
    // Names are those of version 2, wherever the controller is.
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some("cgroup2"))
        .map(|line| line.split(' ').nth(1).unwrap());
    let named = PathBuf::from(mount.expect("a mount of cgroup2")).join(limit.directory.file_name().unwrap());
    // Of version 2 it is the limited one.
    if !named.exists() {
        fs::create_dir(&named).unwrap();
    }
    let words = format!(
        "echo $$ > {}/cgroup.procs; echo $$ > {}/cgroup.procs; exec {victim} spin",
        limit.directory.display(),
        named.display()
    );
    vec![Box::new(Directory(named)), Box::new(limit), Box::new(Load::start(&["sh", "-c", &words]))]
}

/// The same beside others that nothing limits.
pub(super) fn quota_elsewhere(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let mut staged = quota(scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..cpus + 1 {
        staged.push(Box::new(Load::start(&[&culprit, "spin"])));
    }
    staged
}

/// Two that use as much, and no third one that waits longer.
pub(super) fn equal_hogs(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut staged: Staged = Vec::new();
    for program in [&culprit, &victim].repeat(cpus) {
        staged.push(Box::new(Load::start(&[program, "spin"])));
    }
    staged
}

/// Two that share a CPU while another one is idle.
pub(super) fn one_cpu(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let spin = |program: &str| Load::start(&["taskset", "-c", "0", program, "spin"]);
    vec![Box::new(spin(&culprit)), Box::new(spin(&victim))]
}

/// A writer that keeps a disk busy, beside one that waits for it.
pub(super) fn disk(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let [written, log] = ["written", "log"].map(|name| scratch.0.join(name).display().to_string());
    vec![
        Box::new(Load::start(&[&culprit, "direct", &written])),
        Box::new(Load::start(&[&victim, "log", &log])),
    ]
}

/// Short reads between pauses, of which the kernel charges some twice, while CPUs are wanted.
pub(super) fn sips(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let file = scratch.0.join("read").display().to_string();
    fs::write(&file, [1; 4096]).unwrap();
    let mut staged: Staged = vec![Box::new(Load::start(&[&victim, "sip", &file]))];
    for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
        staged.push(Box::new(Load::start(&[&culprit, "spin"])));
    }
    staged
}

/// A reader whose limit lets each read take four seconds.
pub(super) fn long_reads(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let file = scratch.0.join("read").display().to_string();
    fs::write(&file, vec![1; 1 << 16]).unwrap();
    let limit = Cgroup::new("io");
    let device = disk_of(&scratch.0);
    match limit.version {
        1 => limit.set("blkio.throttle.read_bps_device", &format!("{device} 16384")),
        _ => limit.set("io.max", &format!("{device} rbps=16384")),
    }
    let reader = start_in(&limit.directory, &format!("{culprit} gulp {file}"));
    vec![Box::new(limit), Box::new(reader)]
}

/// A cgroup that may write 4 MiB in each second to the disk of a directory.
pub(super) fn limit_writes(directory: &Path) -> Cgroup {
    Cgroup::with_write_limit(directory, 4 << 20)
}

/// Writers in a cgroup that may write little, beside one outside that moves something as well.
pub(super) fn throttled_disk(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let limit = limit_writes(&scratch.0);
    let writer =
        start_in(&limit.directory, &format!("{victim} write {}", scratch.0.join("written").display()));
    let logger = start_in(&limit.directory, &format!("{victim} log {}", scratch.0.join("log").display()));
    let bystander = Load::start(&[&culprit, "trickle", &scratch.0.join("trickled").display().to_string()]);
    vec![Box::new(limit), Box::new(writer), Box::new(logger), Box::new(bystander)]
}

pub(super) fn limit_memory(megabytes: u64) -> Cgroup {
    let limit = Cgroup::new("memory");
    let file = if limit.version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
    limit.set(file, &(megabytes << 20).to_string());
    limit
}

/// A reader whose pages do not fit into its cgroup, beside one outside that grows.
pub(super) fn memory(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let file = scratch.0.join("mapped");
    let output = shell(&format!(
        "dd if=/dev/urandom of={} bs=1M count=200 && sync && echo 1 > /proc/sys/vm/drop_caches",
        file.display()
    ));
    assert!(output.status.success());
    let limit = limit_memory(32);
    let load = start_in(&limit.directory, &format!("{victim} map {} 200", file.display()));
    let bystander = Load::start(&[&culprit, "grow", "-", "200"]);
    vec![Box::new(limit), Box::new(load), Box::new(bystander)]
}

/// Processes that grow until the kernel kills them, beside which the machine has memory.
pub(super) fn limit_that_kills(_: &Scratch) -> Staged {
    let limit = limit_memory(16);
    let load = start_in(&limit.directory, "sh -c 'while :; do tail /dev/zero; done'");
    vec![Box::new(limit), Box::new(load)]
}

/// A file that is swapped to.
struct Swap(PathBuf);

impl Drop for Swap {
    fn drop(&mut self) {
        shell(&format!("swapoff {}", self.0.display()));
    }
}

pub(super) fn swapping(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let file = scratch.0.join("swap");
    let words = "dd if=/dev/zero of=FILE bs=1M count=400 && chmod 600 FILE && mkswap FILE && swapon FILE";
    let output = shell(&words.replace("FILE", &file.display().to_string()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let limit = limit_memory(48);
    let load = start_in(&limit.directory, &format!("{culprit} touch - 200"));
    vec![Box::new(Swap(file)), Box::new(limit), Box::new(load)]
}

pub(super) fn forks(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "fork"]))]
}

pub(super) fn network(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "flood"]))]
}

/// A server that accepts no connection.
pub(super) fn unaccepted(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "unaccepted"]))]
}

/// A program that reads no datagram.
pub(super) fn unread(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "unread"]))]
}

/// A filesystem in a file.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        shell(&format!("umount {}", self.0.display()));
    }
}

pub(super) fn full(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let (image, mount) = (scratch.0.join("image"), scratch.0.join("mount"));
    fs::create_dir(&mount).unwrap();
    let words = format!(
        "truncate -s 40M {0} && mkfs.ext4 -q -m 0 {0} && mount -o loop {0} {1}",
        image.display(),
        mount.display()
    );
    let output = shell(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let load = Load::start(&[&culprit, "fill", &mount.join("file").display().to_string()]);
    vec![Box::new(Mounted(mount)), Box::new(load)]
}

pub(super) fn polling(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "poll"]))]
}

pub(super) fn locks(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "locks"]))]
}
