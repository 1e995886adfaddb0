//! Sums as bytes: tables of numbers, deflated. docs/FORMAT.md describes them.

use std::io::{Read as _, Write as _};

use facts::task::comm::Comm;
use facts::task::figure::{Figure, Figures};
use facts::task::rounds::Table;
use facts::varint;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::minute::{BriefSums, MinuteSums, ParentSums, ProcessSums, TaskGroup};

/// The version of this format. Sums of another one are none.
const VERSION: u64 = 2;
/// The most bytes of a minute before they are deflated; more can only be damage.
const MOST_BYTES: u64 = 64 << 20;
/// Numbers of a group, and of its figures: which are known, and their values.
const GROUP: usize = 3;
const COUNTERS: usize = 26;
const FIGURES: usize = 1 + COUNTERS;
const PROCESS: usize = 1 + GROUP + 1 + FIGURES;
const BRIEF: usize = GROUP + 1 + FIGURES + COUNTERS;
const RANGE: usize = 2;
const PARENT: usize = 3;

/// Encodes the sums of a minute.
pub(super) fn encode(sums: &MinuteSums) -> Vec<u8> {
    let mut names: Vec<Comm> = sums.processes.iter().map(|sums| sums.group.comm).collect();
    names.extend(sums.brief.iter().map(|sums| sums.group.comm));
    names.extend(sums.parents.iter().filter_map(|sums| sums.comm));
    names.sort_unstable();
    names.dedup();
    let name = |comm: Comm| names.binary_search(&comm).unwrap_or(0) as u64;
    let group =
        |group: &TaskGroup| [name(group.comm), optional(group.uid.map(u64::from)), optional(group.cgroup)];
    let mut bytes = Vec::new();
    varint::push(&mut bytes, VERSION);
    varint::push(&mut bytes, sums.has_mingled.into());
    let mut times = Table::new(1);
    let mut last_ms = 0;
    for at_ms in &sums.times_ms {
        times.push(&[(at_ms - last_ms).cast_unsigned()]);
        last_ms = *at_ms;
    }
    times.push_rows(&mut bytes);
    let mut table = Table::new(2);
    names.iter().for_each(|name| table.push(&halves(*name)));
    table.push_rows(&mut bytes);
    let mut table = Table::new(PROCESS);
    for one in &sums.processes {
        let mut row = vec![one.process.into()];
        row.extend(group(&one.group));
        row.push(one.is_complete.into());
        push_figures(&mut row, &one.figures);
        table.push(&row);
    }
    table.push_rows(&mut bytes);
    let mut table = Table::new(BRIEF);
    for one in &sums.brief {
        let mut row = group(&one.group).to_vec();
        row.push(one.processes.len() as u64);
        push_figures(&mut row, &one.figures);
        row.extend(counters().map(|figure| one.most.get(figure).unwrap_or(0)));
        table.push(&row);
    }
    table.push_rows(&mut bytes);
    let mut table = Table::new(RANGE);
    for range in sums.brief.iter().flat_map(|one| &one.processes) {
        table.push(&[*range.start(), range.end().saturating_sub(*range.start())].map(u64::from));
    }
    table.push_rows(&mut bytes);
    let mut table = Table::new(PARENT);
    for one in &sums.parents {
        table.push(&[one.process.into(), optional(one.comm.map(name)), one.ended]);
    }
    table.push_rows(&mut bytes);
    varint::push(&mut bytes, sums.cgroups.len() as u64);
    for (id, path) in &sums.cgroups {
        varint::push(&mut bytes, *id);
        varint::push(&mut bytes, path.len() as u64);
        bytes.extend(path.as_bytes());
    }
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    // Into memory, which does not fail.
    let _ = deflated.write_all(&bytes);
    deflated.finish().unwrap_or_default()
}

/// Decodes what [`encode`] made; `None` if the bytes are other ones, or of another version.
pub(super) fn decode(deflated: &[u8]) -> Option<MinuteSums> {
    let mut inflated = Vec::new();
    DeflateDecoder::new(deflated).take(MOST_BYTES).read_to_end(&mut inflated).ok()?;
    let mut bytes = inflated.as_slice();
    varint::take(&mut bytes).filter(|version| *version == VERSION)?;
    let mut sums = MinuteSums { has_mingled: varint::take(&mut bytes)? != 0, ..MinuteSums::default() };
    let times = Table::take_rows(&mut bytes, 1)?;
    let mut last_ms = 0_i64;
    for row in 0..times.rows() {
        last_ms = last_ms.checked_add(times.get(row, 0).cast_signed())?;
        sums.times_ms.push(last_ms);
    }
    let names = Table::take_rows(&mut bytes, 2)?;
    let name = |place: u64| {
        let row = usize::try_from(place).ok().filter(|row| *row < names.rows())?;
        Some(whole([names.get(row, 0), names.get(row, 1)]))
    };
    let group = |row: &[u64]| {
        let uid = present(row[1]).map(u32::try_from).transpose().ok()?;
        Some(TaskGroup { comm: name(row[0])?, uid, cgroup: present(row[2]) })
    };
    let pid = |number: u64| u32::try_from(number).ok();
    let table = Table::take_rows(&mut bytes, PROCESS)?;
    for row in rows(&table) {
        sums.processes.push(ProcessSums {
            process: pid(row[0])?,
            group: group(&row[1..])?,
            is_complete: row[1 + GROUP] != 0,
            figures: figures(row[2 + GROUP], &row[3 + GROUP..]),
        });
    }
    let table = Table::take_rows(&mut bytes, BRIEF)?;
    let ranges = Table::take_rows(&mut bytes, RANGE)?;
    let mut ranges = rows(&ranges).map(|row| {
        let first = pid(row[0])?;
        Some(first..=first.checked_add(pid(row[1])?)?)
    });
    for row in rows(&table) {
        let (known, figures_at) = (row[GROUP + 1], GROUP + 2);
        let count = usize::try_from(row[GROUP]).ok()?;
        let processes: Vec<_> = ranges.by_ref().take(count).collect::<Option<_>>()?;
        sums.brief.push(BriefSums {
            group: group(&row)?,
            processes: Some(processes).filter(|processes| processes.len() == count)?,
            figures: figures(known, &row[figures_at..]),
            most: figures(known, &row[figures_at + COUNTERS..]),
        });
    }
    let table = Table::take_rows(&mut bytes, PARENT)?;
    for row in rows(&table) {
        let comm = match present(row[1]) {
            Some(place) => Some(name(place)?),
            None => None,
        };
        sums.parents.push(ParentSums { process: pid(row[0])?, comm, ended: row[2] });
    }
    for _ in 0..varint::take(&mut bytes)? {
        let id = varint::take(&mut bytes)?;
        let length = usize::try_from(varint::take(&mut bytes)?).ok()?;
        let (path, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        sums.cgroups.push((id, str::from_utf8(path).ok()?.to_owned()));
    }
    bytes.is_empty().then_some(sums)
}

fn rows(table: &Table) -> impl Iterator<Item = Vec<u64>> {
    (0..table.rows()).map(|row| table.row(row).collect())
}

fn counters() -> impl Iterator<Item = Figure> {
    Figure::all().filter(|figure| figure.is_counter()).take(COUNTERS)
}

/// Which figures are known, as bits, and the counters.
fn push_figures(row: &mut Vec<u64>, figures: &Figures) {
    let bit = |figure: Figure| u64::from(figures.get(figure).is_some()) << figure.index();
    row.push(counters().map(bit).sum());
    row.extend(counters().map(|figure| figures.get(figure).unwrap_or(0)));
}

fn figures(known: u64, values: &[u64]) -> Figures {
    let mut figures = Figures::NONE;
    for (figure, value) in counters().zip(values) {
        figures.set(figure, Some(*value).filter(|_| known >> figure.index() & 1 == 1));
    }
    figures
}

/// An optional number: 0 if it is absent.
fn optional(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.wrapping_add(1))
}

fn present(number: u64) -> Option<u64> {
    number.checked_sub(1)
}

fn halves(name: Comm) -> [u64; 2] {
    let (first, second) = name.0.split_at(8);
    [first, second].map(|half| half.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn whole(halves: [u64; 2]) -> Comm {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&halves[0].to_le_bytes());
    bytes[8..].copy_from_slice(&halves[1].to_le_bytes());
    Comm(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute() -> MinuteSums {
        let group = |name: &str, uid, cgroup| TaskGroup { comm: Comm::new(name.as_bytes()), uid, cgroup };
        let mut figures = Figures::NONE;
        figures.set(Figure::ON_CPU, Some(7_000_000));
        figures.set(Figure::WRITTEN_BYTES, Some(0));
        figures.set(Figure::MAJOR_FAULTS, Some(u64::MAX - 1));
        MinuteSums {
            times_ms: vec![60_001, 61_002, 61_003],
            processes: vec![
                ProcessSums { process: 7, group: group("cc1", Some(0), None), figures, is_complete: true },
                ProcessSums {
                    process: u32::MAX,
                    group: group("a name of 15 by", None, Some(u64::MAX - 1)),
                    figures: Figures::NONE,
                    is_complete: false,
                },
            ],
            brief: vec![BriefSums {
                group: group("sh", Some(1000), Some(3)),
                figures,
                most: figures,
                processes: vec![8..=9000, 9002..=9002],
            }],
            has_mingled: true,
            parents: vec![
                ParentSums { process: 1, comm: None, ended: 4 },
                ParentSums { process: 7, comm: Some(Comm::new(b"cc1")), ended: 1 },
            ],
            cgroups: vec![(3, "/system.slice/häuser".to_owned())],
        }
    }

    #[test]
    fn sums_are_decoded() {
        assert_eq!(Figure::all().filter(|figure| figure.is_counter()).count(), COUNTERS);
        for sums in [minute(), MinuteSums::default()] {
            assert_eq!(decode(&encode(&sums)), Some(sums));
        }
    }

    #[test]
    fn damage_is_no_minute() {
        let bytes = encode(&minute());
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                // It may be another minute, which the checksum of the record finds.
                let _ = decode(&damaged);
            }
            assert_eq!(decode(&bytes[..place]), None, "{place} bytes");
        }
    }
}
