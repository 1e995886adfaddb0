//! The memory that a tick of the bar touches: distinct cache lines and pages of code and data, counted by valgrind's lackey.
//!
//! At one tick a second caches are cold, and what is touched costs more than what is executed. A line is read from memory once, however
//! often it is used in the tick.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const LINE_BYTES: u64 = 64;
const PAGE_BYTES: u64 = 4096;
/// Ticks of a run; a number that no loop of the program has by chance.
const TICKS: usize = 13;
/// The first ones still fill what is kept.
const WARM_UP: usize = 3;

/// What a tick touches, with names.
pub(crate) type Footprint = [(&'static str, u64); 4];

/// Memory that an instruction or an access touches.
#[derive(Clone, Copy)]
struct Access {
    is_code: bool,
    address: u64,
    bytes: u64,
}

/// What a usual tick of a bar touches.
pub(crate) fn of_tick(program: &str, words: &[&str]) -> Result<Footprint, String> {
    let tick = tick_of_bar(program, words)?;
    let touched = |is_code: bool, unit: u64| {
        let of_kind = tick.iter().filter(|access| access.is_code == is_code);
        let units =
            of_kind.flat_map(|access| [access.address / unit, (access.address + access.bytes - 1) / unit]);
        units.collect::<HashSet<u64>>().len() as u64
    };
    Ok([
        ("code_lines", touched(true, LINE_BYTES)),
        ("code_pages", touched(true, PAGE_BYTES)),
        ("data_lines", touched(false, LINE_BYTES)),
        ("data_pages", touched(false, PAGE_BYTES)),
    ])
}

/// The addresses of the instructions of a usual tick of a bar, in the order in which they are executed.
pub(crate) fn code_of_tick(program: &str, words: &[&str]) -> Result<Vec<u64>, String> {
    let tick = tick_of_bar(program, words)?;
    Ok(tick.iter().filter(|access| access.is_code).map(|access| access.address).collect())
}

/// A usual tick of a bar that is drawn so many times.
fn tick_of_bar(program: &str, words: &[&str]) -> Result<Vec<Access>, String> {
    let count = TICKS.to_string();
    let trace = trace(&[&[program, "bar"], words, &["--count", &count]].concat())?;
    let tick = usual_tick(&trace).ok_or("no instruction is executed once a tick")?;
    Ok(tick.to_vec())
}

/// From one execution of an instruction to the next, of the one that is executed once a tick and at the most regular distance. Of the later
/// ticks it is the median: which of them also reads what is read every ten seconds depends on how busy the machine is.
fn usual_tick(trace: &[Access]) -> Option<&[Access]> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, access) in trace.iter().enumerate().filter(|(_, access)| access.is_code) {
        let places = places.entry(access.address).or_default();
        // More often than once a tick: of no interest.
        if places.len() <= TICKS {
            places.push(place);
        }
    }
    let regular = places.values().filter(|places| places.len() == TICKS);
    let shortest = |places: &[usize]| places.windows(2).map(|pair| pair[1] - pair[0]).min();
    let best = regular.max_by_key(|places| (shortest(places), std::cmp::Reverse(places[0])))?;
    let mut ticks: Vec<&[usize]> = best.windows(2).skip(WARM_UP).collect();
    ticks.sort_by_key(|tick| tick[1] - tick[0]);
    let median = ticks.get(ticks.len() / 2)?;
    Some(&trace[median[0]..median[1]])
}

/// Runs a program under lackey.
fn trace(words: &[&str]) -> Result<Vec<Access>, String> {
    let fail = |error: std::io::Error| format!("valgrind: {error}");
    let mut child = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes"])
        .args(words)
        .env("TZ", "UTC0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    let report = child.stderr.take().ok_or("no output of valgrind")?;
    let mut accesses = Vec::new();
    for line in BufReader::new(report).lines() {
        // "I  0403f000,3", " L 1ffeffe7e,8", " S …", " M …", and sentences of valgrind's own.
        let line = line.map_err(fail)?;
        let Some((kind, rest)) = line.split_at_checked(3) else { continue };
        if !matches!(kind, "I  " | " L " | " S " | " M ") {
            continue;
        }
        let Some((address, bytes)) = rest.split_once(',') else { continue };
        if let (Ok(address), Ok(bytes)) = (u64::from_str_radix(address, 16), bytes.trim().parse()) {
            accesses.push(Access { is_code: kind == "I  ", address, bytes });
        }
    }
    let status = child.wait().map_err(fail)?;
    if status.success() { Ok(accesses) } else { Err(format!("{words:?} under valgrind: {status}")) }
}
