//! Troubles that are staged, and what `whit why` says of them.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{
    Cgroup, Load, Scratch, busiest_program, disk_of, documents, enable_accounting, is_load, shell, whit,
};
use super::trials::{Need, Trial, alone, timed};

/// The tolerance of them all.
const LARGEST: &str = "the named trouble is the largest of a window of 4 s";

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        Need::Root,
        Need::Accounting,
        Need::Program("cc"),
        Need::Controller("cpu"),
        Need::Controller("io"),
        Need::Controller("memory"),
        Need::Program("mkfs.ext4"),
    ];
    vec![
        timed("why_names_who_computes", &all, LARGEST, who_computes),
        timed("why_names_the_winner_of_a_nice_fight", &all, LARGEST, || names("cpu", "culprit", nice_fight)),
        timed("why_names_a_cgroup_with_a_quota", &all, LARGEST, who_is_held_by_a_quota),
        timed("why_names_the_neighbour_that_writes", &all, LARGEST, || names("disk", "culprit", disk)),
        timed("why_names_who_squeezes_memory", &all, LARGEST, || names("memory", "culprit", memory)),
        timed("why_says_that_a_limit_was_reached", &all, LARGEST, who_reached_a_limit),
        timed("why_names_who_causes_a_swap_storm", &all, LARGEST, || names("swapping", "culprit", swapping)),
        timed("why_names_who_forks", &all, LARGEST, || names("forks", "culprit", forks)),
        timed("why_names_who_floods_the_network", &all, LARGEST, || names("network", "culprit", network)),
        timed("why_names_who_fills_a_disk", &all, LARGEST, || names("full_filesystem", "culprit", full)),
        timed("why_names_a_lock_convoy", &all, LARGEST, || names("locks", "culprit", locks)),
        alone("why_names_nobody_on_a_quiet_machine", &[Need::Root, Need::Accounting], quiet),
        timed("a_process_has_a_why_of_its_own", &all, LARGEST, own),
    ]
}

/// What keeps a trouble going. The last is ended first.
type Staged = Vec<Box<dyn Any>>;

/// Does one thing until it is ended.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;
static void *take_turns(void *own) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (turn != (int)(long)own) pthread_cond_wait(&condition, &mutex);
        turn = !turn;
        pthread_cond_broadcast(&condition);
    }
}
int main(int count, char **words) {
    const char *what = words[1];
    long megabytes = count > 3 ? atol(words[3]) : 1;
    size_t size = megabytes << 20;
    if (!strcmp(what, "spin")) for (;;) ;
    if (!strcmp(what, "fork")) for (;;) { pid_t child = fork(); if (!child) _exit(0); waitpid(child, 0, 0); }
    if (!strcmp(what, "locks")) {
        pthread_t thread;
        pthread_create(&thread, 0, take_turns, (void *)1L);
        take_turns((void *)0L);
    }
    if (!strcmp(what, "flood")) {
        int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof address;
        bind(in, (void *)&address, length);
        getsockname(in, (void *)&address, &length);
        for (;;) sendto(out, "x", 1, 0, (void *)&address, length);
    }
    if (!strcmp(what, "touch")) {
        volatile char *memory = malloc(size);
        for (;;) for (size_t place = 0; place < size; place += 4096) memory[place]++;
    }
    int file = open(words[2], O_RDWR | O_CREAT, 0600);
    char *buffer = calloc(1, 1 << 20);
    if (!strcmp(what, "write")) for (;;) { pwrite(file, buffer, 1 << 20, 0); fdatasync(file); }
    if (!strcmp(what, "log")) for (;;) { pwrite(file, buffer, 4096, 0); fdatasync(file); }
    if (!strcmp(what, "fill")) {
        while (write(file, buffer, 1 << 16) > 0) ;
        for (;;) { pwrite(file, buffer, 1 << 20, 0); fdatasync(file); usleep(20000); }
    }
    if (!strcmp(what, "map")) {
        volatile char *memory = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
        volatile char sum = 0;
        for (;;) for (size_t place = 0; place < size; place += 4096) sum += memory[place];
    }
    return 1;
}
"#;

/// The program under two names: who causes a trouble, and who suffers from it.
fn programs(scratch: &Scratch) -> (String, String) {
    let source = scratch.0.join("program.c");
    fs::write(&source, PROGRAM).unwrap();
    let culprit = scratch.0.join("culprit");
    let output = shell(&format!("cc -O1 -w -pthread -o {} {}", culprit.display(), source.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let victim = scratch.0.join("victim");
    fs::copy(&culprit, &victim).unwrap();
    (culprit.display().to_string(), victim.display().to_string())
}

/// Starts a program in a cgroup.
fn start_in(cgroup: &Path, words: &str) -> Load {
    Load::start(&["sh", "-c", &format!("echo $$ > {}/cgroup.procs && exec {words}", cgroup.display())])
}

/// The sentences about a window of two seconds.
fn why(target: &[&str]) -> Vec<Value> {
    // There is no history there, so that the machine is observed.
    let mut words = vec!["why", "--json", "--observe", "2s", "--data", "/nowhere"];
    words.extend(target);
    let document = documents(&whit(&words)).remove(0);
    document["sentences"].as_array().cloned().unwrap_or_default()
}

/// The sentences about a trouble, and how busy others were before it was staged.
fn staged(trouble: &str, stage: fn(&Scratch) -> Staged) -> (Vec<Value>, f64) {
    enable_accounting();
    let scratch = Scratch::new(&format!("why-{trouble}"));
    let (_, others) = busiest_program();
    let staged = stage(&scratch);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let sentences = why(&[]);
    for one in staged.into_iter().rev() {
        drop(one);
    }
    (sentences, others)
}

fn names(trouble: &str, culprit: &str, stage: fn(&Scratch) -> Staged) -> Result<(), Failed> {
    let (sentences, others) = staged(trouble, stage);
    let is_named = |sentence: &Value| {
        let named = sentence["culprit"].as_str().unwrap_or_default();
        sentence["trouble"] == trouble && named.contains(culprit)
    };
    // Beside a load of others there may be a larger trouble.
    let first = if is_load(others) { sentences.len() } else { 1 };
    assert!(sentences.iter().take(first).any(is_named), "{others}: {sentences:#?}");
    for sentence in &sentences {
        assert!(!sentence["evidence"].as_array().unwrap().is_empty(), "{sentence}");
    }
    Ok(())
}

/// A quota shows itself in waits for a CPU while one is idle. Where a load of others leaves none idle, all wait for CPUs.
fn who_is_held_by_a_quota() -> Result<(), Failed> {
    let (sentences, others) = staged("quota", quota);
    let first = sentences.first().ok_or("nothing is wrong")?;
    let is_named = first["culprit"].as_str().is_some_and(|culprit| culprit.contains("whit-why"));
    let is_held = first["trouble"] == "quota" && is_named;
    assert!(is_held || is_load(others) && first["trouble"] == "cpu", "{others}: {sentences:#?}");
    Ok(())
}

/// A sentence about CPU time that names the busiest program.
fn is_about(sentence: &Value, busiest: &str) -> bool {
    let is_of_cpu = ["computing", "cpu"].iter().any(|trouble| sentence["trouble"] == *trouble);
    is_of_cpu && sentence["culprit"].as_str().unwrap_or_default().contains(busiest)
}

/// On a quiet machine the busiest program is the one that is staged; beside a load of others it may be theirs.
fn who_computes() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("why-computing");
    let (_, others) = busiest_program();
    let (culprit, _) = programs(&scratch);
    let load = Load::start(&[&culprit, "spin"]);
    let (busiest, _) = busiest_program();
    let sentences = why(&[]);
    drop(load);
    let first = sentences.first().ok_or("nothing is wrong")?;
    assert!(is_about(first, &busiest), "{busiest}: {sentences:#?}");
    assert!(is_load(others) || busiest == "culprit" && first["trouble"] == "computing", "{sentences:#?}");
    Ok(())
}

fn nice_fight(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut staged: Staged = vec![Box::new(Load::start(&["nice", "-n", "19", &victim, "spin"]))];
    for _ in 0..cpus + 1 {
        staged.push(Box::new(Load::start(&[&culprit, "spin"])));
    }
    staged
}

/// A directory that goes with the trial.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let _ = fs::remove_dir(&self.0);
    }
}

fn quota(scratch: &Scratch) -> Staged {
    let (_, victim) = programs(scratch);
    let limit = Cgroup::new("cpu");
    match limit.version {
        1 => {
            limit.set("cpu.cfs_period_us", "100000");
            limit.set("cpu.cfs_quota_us", "20000");
        }
        _ => limit.set("cpu.max", "20000 100000"),
    }
    // Names are those of version 2, wherever the controller is.
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some("cgroup2"))
        .map(|line| line.split(' ').nth(1).unwrap());
    let named =
        PathBuf::from(mount.expect("a mount of cgroup2")).join(format!("whit-why-{}", std::process::id()));
    fs::create_dir(&named).unwrap();
    let words = format!(
        "echo $$ > {}/cgroup.procs; echo $$ > {}/cgroup.procs; exec {victim} spin",
        limit.directory.display(),
        named.display()
    );
    vec![Box::new(Directory(named)), Box::new(limit), Box::new(Load::start(&["sh", "-c", &words]))]
}

fn disk(scratch: &Scratch) -> Staged {
    let (culprit, victim) = programs(scratch);
    let limit = Cgroup::new("io");
    let device = disk_of(&scratch.0);
    match limit.version {
        1 => limit.set("blkio.throttle.write_bps_device", &format!("{device} 4194304")),
        _ => limit.set("io.max", &format!("{device} wbps=4194304")),
    }
    let writer =
        start_in(&limit.directory, &format!("{culprit} write {}", scratch.0.join("written").display()));
    let logger = start_in(&limit.directory, &format!("{victim} log {}", scratch.0.join("log").display()));
    vec![Box::new(limit), Box::new(writer), Box::new(logger)]
}

fn limit_memory(megabytes: u64) -> Cgroup {
    let limit = Cgroup::new("memory");
    let file = if limit.version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
    limit.set(file, &(megabytes << 20).to_string());
    limit
}

fn memory(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let file = scratch.0.join("mapped");
    let output = shell(&format!(
        "dd if=/dev/urandom of={} bs=1M count=200 && sync && echo 1 > /proc/sys/vm/drop_caches",
        file.display()
    ));
    assert!(output.status.success());
    let limit = limit_memory(32);
    let load = start_in(&limit.directory, &format!("{culprit} map {} 200", file.display()));
    vec![Box::new(limit), Box::new(load)]
}

/// Processes that grow until the kernel kills them, beside which the machine has memory.
fn limit_that_kills(_: &Scratch) -> Staged {
    let limit = limit_memory(16);
    let load = start_in(&limit.directory, "sh -c 'while :; do tail /dev/zero; done'");
    vec![Box::new(limit), Box::new(load)]
}

/// The largest process of the machine has no part in it.
fn who_reached_a_limit() -> Result<(), Failed> {
    let (sentences, _) = staged("limit", limit_that_kills);
    let killed = sentences.iter().find(|sentence| sentence["trouble"] == "out_of_memory");
    let killed = killed.ok_or_else(|| format!("{sentences:#?}"))?;
    let text = killed["text"].as_str().unwrap_or_default();
    assert!(text.contains("a cgroup reached its limit") && killed["culprit"].is_null(), "{killed}");
    Ok(())
}

/// A file that is swapped to.
struct Swap(PathBuf);

impl Drop for Swap {
    fn drop(&mut self) {
        shell(&format!("swapoff {}", self.0.display()));
    }
}

fn swapping(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    let file = scratch.0.join("swap");
    let words = "dd if=/dev/zero of=FILE bs=1M count=400 && chmod 600 FILE && mkswap FILE && swapon FILE";
    let output = shell(&words.replace("FILE", &file.display().to_string()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let limit = limit_memory(48);
    let load = start_in(&limit.directory, &format!("{culprit} touch - 200"));
    vec![Box::new(Swap(file)), Box::new(limit), Box::new(load)]
}

fn forks(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "fork"]))]
}

fn network(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "flood"]))]
}

/// A filesystem in a file.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        shell(&format!("umount {}", self.0.display()));
    }
}

fn full(scratch: &Scratch) -> Staged {
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

fn locks(scratch: &Scratch) -> Staged {
    let (culprit, _) = programs(scratch);
    vec![Box::new(Load::start(&[&culprit, "locks"]))]
}

fn quiet() -> Result<(), Failed> {
    enable_accounting();
    let (busiest, others) = busiest_program();
    for window in 0..8 {
        let words = ["why", "--json", "--observe", "1s", "--data", "/nowhere"];
        let document = documents(&whit(&words)).remove(0);
        let sentences = document["sentences"].as_array().ok_or("no sentences")?;
        // Beside a load of others that is what there is to say.
        let is_right = |sentence| is_load(others) && is_about(sentence, &busiest);
        assert!(sentences.iter().all(is_right), "window {window}, {busiest} {others}: {sentences:#?}");
    }
    Ok(())
}

/// The time of one process, and what explains it.
fn own() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("why-own");
    let (culprit, victim) = programs(&scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let slow = Load::start(&["nice", "-n", "19", &victim, "spin"]);
    let _load: Vec<Load> = (0..=cpus).map(|_| Load::start(&[&culprit, "spin"])).collect();
    std::thread::sleep(std::time::Duration::from_secs(1));
    for target in [slow.id().to_string(), "victim".to_owned()] {
        let sentences = why(&[&target]);
        let text = sentences[0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("It waited for a CPU"), "{sentences:#?}");
        assert_eq!(sentences[1]["culprit"], "culprit", "{sentences:#?}");
    }
    Ok(())
}
