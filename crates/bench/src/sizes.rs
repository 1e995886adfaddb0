//! "Use the right size": a sieve in three widths, and where whit lives by it.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;

use facts::sample::Clock;
use facts::task::figure::Figure;
use facts::task::store::TaskStore;
use facts::task::{TaskKey, TaskRow};
use facts::unit::Nanos;

use super::measurement::{Measurement, Unit, own_cpu};

pub(super) fn measurements() -> Vec<Measurement> {
    let sieves = [
        ("sieve-100k", "Primes below 100,000: all widths within the caches of a core", 100_000),
        ("sieve-2M", "Primes below 2,000,000: bits within, 32-bit integers beyond", 2_000_000),
        ("sieve-50M", "Primes below 50,000,000: beyond every cache but for bits", 50_000_000),
    ];
    let tables = [
        ("tasks-1k", "A tick's differences of 1,000 tasks", 1_000),
        ("tasks-100k", "A tick's differences of 100,000 tasks", 100_000),
    ];
    let memory =
        [("memory-1k", "Memory of 1,000 tasks", 1_000), ("memory-100k", "Memory of 100,000 tasks", 100_000)];
    let pids = [
        ("pids-1k", "The set of 1,000 living pids, made and asked for each", 1_000),
        ("pids-100k", "The set of 100,000 living pids, made and asked for each", 100_000),
    ];
    let sieves = sieves.into_iter().map(|(name, title, limit)| sieve(name, title, limit));
    let tables = tables.into_iter().map(|(name, title, count)| table(name, title, count));
    let memory = memory.into_iter().map(|(name, title, count)| store_memory(name, title, count));
    let pids = pids.into_iter().map(|(name, title, count)| pid_set(name, title, count));
    sieves.chain(pids).chain(tables).chain(memory).collect()
}

/// The storage in which a sieve crosses numbers out.
trait Crossed {
    fn new(limit: usize) -> Self;
    fn cross_out(&mut self, number: usize);
    fn is_crossed_out(&self, number: usize) -> bool;
}

impl<T: Copy + Default + PartialEq + From<bool>> Crossed for Vec<T> {
    fn new(limit: usize) -> Self {
        vec![T::default(); limit]
    }
    fn cross_out(&mut self, number: usize) {
        self[number] = true.into();
    }
    fn is_crossed_out(&self, number: usize) -> bool {
        self[number] != T::default()
    }
}

/// One bit a number.
struct Bits(Vec<u64>);

impl Crossed for Bits {
    fn new(limit: usize) -> Self {
        Self(vec![0; limit.div_ceil(64)])
    }
    fn cross_out(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }
    fn is_crossed_out(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 != 0
    }
}

/// How many primes there are below a limit: Eratosthenes.
fn primes<C: Crossed>(limit: usize) -> usize {
    let mut crossed = C::new(limit);
    let mut count = 0;
    for number in 2..limit {
        if crossed.is_crossed_out(number) {
            continue;
        }
        count += 1;
        let mut multiple = number * number;
        while multiple < limit {
            crossed.cross_out(multiple);
            multiple += number;
        }
    }
    count
}

fn sieve(name: &'static str, title: &'static str, limit: usize) -> Measurement {
    let units = (2_000_000 / limit).max(1) as u32;
    let measured = move |primes: fn(usize) -> usize| {
        move || {
            Ok(own_cpu(units, || {
                black_box(primes(black_box(limit)));
            }))
        }
    };
    Measurement::new(
        name,
        title,
        Unit::Cpu("a sieve"),
        "CPU time of a sieve of Eratosthenes, memory and all, by one bit, one byte and four bytes a number; the same code in \
         three widths.",
    )
    .at_most(5)
    .side("bits", &[], measured(primes::<Bits>))
    .side("bytes", &[], measured(primes::<Vec<u8>>))
    .side("32-bit integers", &[], measured(primes::<Vec<u32>>))
}

fn row(pid: u32, tick: u64) -> TaskRow {
    let mut row = TaskRow {
        key: TaskKey { pid, start: Nanos(u64::from(pid)) },
        state: Some(b'S'),
        ..TaskRow::default()
    };
    for (figure, place) in Figure::all().zip(0..) {
        // One in a hundred did anything.
        let grown = if is_busy(pid) { tick } else { 0 };
        row.figures.set(figure, Some(1_000 + place + grown));
    }
    row
}

fn rows(count: u32, tick: u64) -> impl Iterator<Item = TaskRow> {
    (1..=count).map(move |pid| row(pid, tick))
}

fn is_busy(pid: u32) -> bool {
    pid.is_multiple_of(100)
}

/// A round in which all tasks are put, or those that did something.
fn round(store: &mut TaskStore, count: u32, tick: u64, is_whole: bool) {
    let seconds = Nanos((1_000 + tick) * Nanos::SECOND.0);
    store.begin(Clock { monotonic: seconds, boottime: seconds, realtime: seconds });
    let pids = (1..=count).filter(|pid| is_whole || is_busy(*pid));
    pids.for_each(|pid| store.put(&row(pid, tick)));
    store.finish(&mut Vec::new());
}

fn filled(count: u32) -> TaskStore {
    let mut store = TaskStore::default();
    round(&mut store, count, 0, true);
    store
}

fn hash_map(count: u32, tick: u64) -> HashMap<TaskKey, TaskRow> {
    rows(count, tick).map(|row| (row.key, row)).collect()
}

fn table(name: &'static str, title: &'static str, count: u32) -> Measurement {
    let units = (100_000 / count).max(1);
    let in_a_store = {
        let mut store = None;
        let mut tick = 0;
        move || {
            let store = store.get_or_insert_with(|| filled(count));
            Ok(own_cpu(units, || {
                tick += 1;
                round(store, count, tick, false);
            }))
        }
    };
    let in_a_map = {
        let mut maps = None;
        move || {
            let (before, now) = maps.get_or_insert_with(|| (hash_map(count, 0), hash_map(count, 1)));
            Ok(own_cpu(units, || {
                let mut differences = HashMap::with_capacity(now.len());
                for (key, row) in now.iter() {
                    let Some(old) = before.get(key) else { continue };
                    let mut difference = *row;
                    for figure in Figure::all().filter(|figure| figure.is_counter()) {
                        let grown = row.figures.get(figure).zip(old.figures.get(figure));
                        difference.figures.set(figure, grown.map(|(new, old)| new.saturating_sub(old)));
                    }
                    differences.insert(*key, difference);
                }
                black_box(differences.len());
            }))
        }
    };
    Measurement::new(
        name,
        title,
        Unit::Cpu("a tick"),
        "CPU time of subtracting every counter of every task from what it was, of which one in a hundred did anything: whit's \
         store, into which these are put, and a hash map of structs.",
    )
    .at_most(5)
    .side("whit's store", &[], in_a_store)
    .side("a hash map of structs", &[], in_a_map)
}

/// By what the two reserve; both are counted by the same allocator's rules, so without its own share.
fn store_memory(name: &'static str, title: &'static str, count: u32) -> Measurement {
    Measurement::new(
        name,
        title,
        Unit::Count("bytes a task"),
        "Bytes reserved for a task: the store's slots and what they did, and the map's slots, each of which is a key, a struct and a byte.",
    )
    .at_most(1)
    .side("whit's store", &[], move || Ok(filled(count).reserved_bytes() as f64 / f64::from(count)))
    .side("a hash map of structs", &[], move || {
        // hashbrown keeps an eighth of its slots, a power of two, free.
        let slots = (hash_map(count, 0).capacity() * 8 / 7).next_power_of_two();
        Ok((slots * (size_of::<(TaskKey, TaskRow)>() + 1)) as f64 / f64::from(count))
    })
}

fn pid_set(name: &'static str, title: &'static str, count: u32) -> Measurement {
    let units = (1_000_000 / count).max(1);
    // As /proc lists them: in order, with holes.
    let pids: Vec<u32> = (0..count).map(|place| place * 3 + 1).collect();
    let asked: Vec<u32> = (0..count).map(|place| place.wrapping_mul(7_919) % (count * 3)).collect();
    let (others, others_asked) = (pids.clone(), asked.clone());
    Measurement::new(
        name,
        title,
        Unit::Cpu("a set"),
        "CPU time of making the set of living pids from a list in their order, and of asking for as many, a third of which \
         are there: a sorted list as whit has it, and a hash set.",
    )
    .at_most(5)
    .side("whit's sorted list", &[], move || {
        Ok(own_cpu(units, || {
            let set = pids.clone();
            black_box(asked.iter().filter(|pid| set.binary_search(pid).is_ok()).count());
        }))
    })
    .side("a hash set", &[], move || {
        Ok(own_cpu(units, || {
            let set: HashSet<u32> = others.iter().copied().collect();
            black_box(others_asked.iter().filter(|pid| set.contains(pid)).count());
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_widths_find_the_same_primes() {
        assert_eq!(primes::<Bits>(100_000), 9_592);
        assert_eq!(primes::<Vec<u8>>(100_000), 9_592);
        assert_eq!(primes::<Vec<u32>>(100_000), 9_592);
    }
}
