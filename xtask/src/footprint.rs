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

/// The memory that a tick touches: names and numbers of units.
pub(crate) type Footprint = [(&'static str, u64); 4];

/// Why memory is touched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Read,
    /// Or changed in place.
    Written,
}

/// Memory that an instruction or an access touches.
#[derive(Clone, Copy)]
struct Access {
    kind: Kind,
    address: u64,
    bytes: u64,
}

impl Access {
    /// The lines or pages in which it begins and ends.
    fn units(self, unit_bytes: u64) -> [u64; 2] {
        [self.address / unit_bytes, (self.address + self.bytes - 1) / unit_bytes]
    }
}

/// Returns the footprint of a usual tick of a bar. Pages of data are those that the program writes to, now or earlier: in which pages the
/// constants of a tick stand is decided by all other code of the executable, and says nothing about the tick. Their lines are counted.
pub(crate) fn of_tick(program: &str, words: &[&str]) -> Result<Footprint, String> {
    let trace = trace_of_bar(program, words)?;
    let tick = usual_tick(&trace)?;
    let touched = |is_code: bool, unit_bytes: u64| -> HashSet<u64> {
        let of_kind = tick.iter().filter(|access| (access.kind == Kind::Code) == is_code);
        of_kind.flat_map(|access| access.units(unit_bytes)).collect()
    };
    let writes = trace.iter().filter(|access| access.kind == Kind::Written);
    let written: HashSet<u64> = writes.flat_map(|access| access.units(PAGE_BYTES)).collect();
    Ok([
        ("code_lines", touched(true, LINE_BYTES).len() as u64),
        ("code_pages", touched(true, PAGE_BYTES).len() as u64),
        ("data_lines", touched(false, LINE_BYTES).len() as u64),
        ("data_pages", touched(false, PAGE_BYTES).intersection(&written).count() as u64),
    ])
}

/// The addresses of the instructions of a usual tick of a bar, in the order in which they are executed.
pub(crate) fn code_of_tick(program: &str, words: &[&str]) -> Result<Vec<u64>, String> {
    let trace = trace_of_bar(program, words)?;
    let tick = usual_tick(&trace)?;
    Ok(tick.iter().filter(|access| access.kind == Kind::Code).map(|access| access.address).collect())
}

/// A bar that is drawn [`TICKS`] times.
fn trace_of_bar(program: &str, words: &[&str]) -> Result<Vec<Access>, String> {
    let count = TICKS.to_string();
    trace(&[&[program, "bar"], words, &["--count", &count]].concat())
}

/// From one execution of an instruction to the next, of the one that is executed once a tick and at the most regular distance. Of the later
/// ticks it is the first quartile by length: which of them also reads what is read every ten seconds depends on how busy the machine is, and
/// on one that is very busy those are most of them.
fn usual_tick(trace: &[Access]) -> Result<&[Access], String> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, access) in trace.iter().enumerate().filter(|(_, access)| access.kind == Kind::Code) {
        let places = places.entry(access.address).or_default();
        // More often than once a tick: of no interest.
        if places.len() <= TICKS {
            places.push(place);
        }
    }
    let regular = places.values().filter(|places| places.len() == TICKS);
    let shortest = |places: &[usize]| places.windows(2).map(|pair| pair[1] - pair[0]).min();
    let best = regular
        .max_by_key(|places| (shortest(places), std::cmp::Reverse(places[0])))
        .ok_or("no instruction is executed once a tick")?;
    let mut ticks: Vec<&[usize]> = best.windows(2).skip(WARM_UP).collect();
    ticks.sort_by_key(|tick| tick[1] - tick[0]);
    let usual = ticks[ticks.len() / 4];
    Ok(&trace[usual[0]..usual[1]])
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
        let kind = match kind {
            "I  " => Kind::Code,
            " L " => Kind::Read,
            " S " | " M " => Kind::Written,
            _ => continue,
        };
        let Some((address, bytes)) = rest.split_once(',') else { continue };
        if let (Ok(address), Ok(bytes)) = (u64::from_str_radix(address, 16), bytes.trim().parse()) {
            accesses.push(Access { kind, address, bytes });
        }
    }
    let status = child.wait().map_err(fail)?;
    if status.success() { Ok(accesses) } else { Err(format!("{words:?} under valgrind: {status}")) }
}
