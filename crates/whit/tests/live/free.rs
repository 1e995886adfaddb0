//! `whit free` against the very bytes that it read, and against procps.

use std::collections::HashMap;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Scratch, WHIT, documents, shell, whit};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("free_shows_what_meminfo_gave_in_the_same_read", &[Need::Program("strace")], same_read),
        timed(
            "free_agrees_with_procps",
            &[Need::Program("free"), Need::Program("vmstat")],
            "1 % of the memory: the machine goes on between two readings",
            procps,
        ),
        timed(
            "available_is_emulated_within_a_thousandth",
            &[],
            "0.1 % of the memory outside of two readings around it",
            emulation,
        ),
        exact("free_tells_the_limit_of_its_own_cgroup", &[Need::Root, Need::Controller("memory")], limit),
    ]
}

/// The fields of a meminfo text in bytes.
fn meminfo(text: &str) -> HashMap<String, i128> {
    let field = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let mut words = rest.split_whitespace();
        let number: i128 = words.next()?.parse().ok()?;
        Some((name.to_owned(), if words.next() == Some("kB") { number * 1024 } else { number }))
    };
    text.lines().filter_map(field).collect()
}

fn number(document: &Value, field: &str) -> i128 {
    i128::from(document[field].as_i64().unwrap_or_else(|| panic!("no {field} in {document}")))
}

fn same_read() -> Result<(), Failed> {
    let scratch = Scratch::new("same-read");
    let trace = scratch.0.join("trace");
    let output = Command::new("strace")
        .args(["-e", "trace=pread64", "-s", "100000", "-o"])
        .arg(&trace)
        .args([WHIT, "free", "-b", "--json"])
        .output()?;
    let trace = std::fs::read_to_string(trace)?;
    let read = trace.lines().rfind(|line| line.contains("MemTotal:")).ok_or("meminfo was not read")?;
    let (_, rest) = read.split_once('"').ok_or("no text in the trace")?;
    let (text, _) = rest.rsplit_once('"').ok_or("no end of the text in the trace")?;
    let fields = meminfo(&text.replace("\\n", "\n").replace("\\t", "\t"));
    let get = |name: &str| fields.get(name).copied().unwrap_or(0);

    let shown = &documents(&String::from_utf8(output.stdout)?)[0];
    let reclaimable = fields.get("KReclaimable").copied().unwrap_or(get("SReclaimable"));
    let expected = [
        ("total_bytes", get("MemTotal")),
        ("used_bytes", get("MemTotal") - get("MemAvailable")),
        ("free_bytes", get("MemFree")),
        ("anonymous_bytes", get("AnonPages") + get("Shmem")),
        (
            "kernel_bytes",
            get("SUnreclaim") + get("KernelStack") + get("PageTables") + get("SecPageTables") + get("Percpu"),
        ),
        ("buffers_bytes", get("Buffers")),
        ("file_cache_bytes", get("Cached") - get("Shmem")),
        ("reclaimable_slab_bytes", reclaimable),
        ("available_bytes", get("MemAvailable")),
    ];
    for (field, bytes) in expected {
        assert_eq!(number(shown, field), bytes, "{field}");
    }
    let parts = ["anonymous_bytes", "kernel_bytes", "caches_bytes", "others_bytes"];
    let not_free = get("MemTotal") - get("MemFree");
    assert_eq!(parts.iter().map(|part| number(shown, part)).sum::<i128>(), not_free);
    assert_eq!(number(&shown["swap"], "total_bytes"), get("SwapTotal"));
    assert_eq!(number(&shown["swap"], "free_bytes"), get("SwapFree"));
    let extended = &shown["extended"];
    assert_eq!(number(extended, "dirty_and_writeback_bytes"), get("Dirty") + get("Writeback"));
    assert_eq!(number(extended, "unevictable_bytes"), get("Unevictable"));
    assert_eq!(number(extended, "mlocked_bytes"), get("Mlocked"));
    Ok(())
}

/// The table and the JSON are one: the table's row is checked against procps' own.
fn procps() -> Result<(), Failed> {
    let row = |text: &str| -> Vec<i128> {
        let line = text.lines().find(|line| line.starts_with("Mem:")).unwrap();
        line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect()
    };
    // procps: total used free shared buff/cache available.
    let ours = row(&whit(&["free", "-b"]));
    let theirs = row(&String::from_utf8(shell("LC_ALL=C free -b").stdout)?);
    assert_eq!(ours[0], theirs[0], "total");
    let near = |a: i128, b: i128| (a - b).abs() < ours[0] / 100;
    println!("free {} and {}, available {} and {}", ours[2], theirs[2], ours[7], theirs[5]);
    assert!(near(ours[2], theirs[2]) && near(ours[7], theirs[5]), "{ours:?} {theirs:?}");
    let vmstat = String::from_utf8(shell("LC_ALL=C vmstat -s -S k").stdout)?;
    let total: i128 = vmstat.split_whitespace().next().ok_or("vmstat says nothing")?.parse()?;
    assert!((total * 1000 - ours[0]).abs() < 1024 * 1000, "total: {total} k and {}", ours[0]);
    Ok(())
}

fn emulation() -> Result<(), Failed> {
    let differs_by = || -> Result<f64, Failed> {
        // The kernel's counters move between two reads, so a figure between two readings of the other is exact.
        let read = |words: &[&str]| documents(&whit(words))[0].clone();
        let before = read(&["free", "--json"]);
        let emulated = read(&["free", "--json", "--emulate"]);
        let after = read(&["free", "--json"]);
        assert_eq!(emulated["available_source"], "emulated");
        let (low, high) = (number(&before, "available_bytes"), number(&after, "available_bytes"));
        let (low, high) = (low.min(high), low.max(high));
        let emulated = number(&emulated, "available_bytes");
        let distance = (low - emulated).max(emulated - high).max(0);
        Ok(distance as f64 / number(&before, "total_bytes") as f64)
    };
    let idle = differs_by()?;
    // The page cache filled with half a gigabyte of clean and dirty pages.
    let scratch = Scratch::new("page-cache");
    let file = scratch.0.join("file");
    std::fs::write(&file, vec![7u8; 512 << 20])?;
    std::fs::read(&file)?;
    let full = differs_by()?;
    println!(
        "emulated MemAvailable differs by {idle:.5} of MemTotal idle and {full:.5} with the cache filled"
    );
    assert!(idle <= 0.001 && full <= 0.001, "{idle} and {full}");
    Ok(())
}

fn limit() -> Result<(), Failed> {
    let cgroup = super::machine::Cgroup::new("memory");
    cgroup.set(if cgroup.version == 1 { "memory.limit_in_bytes" } else { "memory.max" }, "268435456");
    let output = cgroup.run(&format!("{WHIT} free --json"));
    let limit = &documents(&String::from_utf8(output.stdout)?)[0]["limit"];
    assert_eq!(number(limit, "total_bytes"), 268_435_456);
    assert_eq!(number(limit, "used_bytes") + number(limit, "free_bytes"), 268_435_456);
    Ok(())
}
