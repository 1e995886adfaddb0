//! Sums as bytes: two parts, each of columns of numbers, deflated. An answer that is not about single processes needs the first part alone.
//! docs/FORMAT.md describes them.

use std::io::{Read as _, Write as _};

use facts::task::comm::Comm;
use facts::task::figure::{Figure, FigureSet, Figures};
use facts::task::rounds::Table;
use facts::varint::{self, optional, present};
use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::churn::{AncestorSums, ProgramSums};
use super::columns::{self, Columns};
use super::span_sums::{BriefSums, GroupSums, ProcessSums, SpanGroups, SpanProcesses, SpanSums, TaskGroup};

/// The version of this format. Sums of another one are none.
const VERSION: u64 = 5;
/// The most bytes of a part before they are deflated; more can only be damage.
const MAX_BYTES: u64 = 16 << 20;
/// Columns of figures: which are known, and their values.
const FIGURES: usize = 1 + COUNTERS;
const COUNTERS: usize = 26;
/// Columns before those of figures, and all columns.
const GROUP: usize = 3;
const GROUP_COLUMNS: usize = GROUP + FIGURES;
const PROCESS: usize = 3;
const PROCESS_COLUMNS: usize = PROCESS + FIGURES;
const BRIEF: usize = 2;
const BRIEF_COLUMNS: usize = BRIEF + FIGURES;
const RANGE_COLUMNS: usize = 2;
const PROGRAM_COLUMNS: usize = 2;
const ANCESTOR_COLUMNS: usize = 4;

/// Encodes the sums of a span.
pub(super) fn encode(sums: &SpanSums) -> Vec<u8> {
    let (groups, processes) = (encode_groups(&sums.groups), encode_processes(sums));
    let mut bytes = Vec::with_capacity(groups.len() + processes.len() + 2);
    varint::push(&mut bytes, groups.len() as u64);
    bytes.extend(groups);
    bytes.extend(processes);
    bytes
}

/// Decodes what [`encode`] made, with these figures; `None` if the bytes are other ones, or of another version.
pub(super) fn decode(bytes: &[u8], figures: FigureSet) -> Option<SpanSums> {
    let (groups, processes) = parts(bytes)?;
    let groups = groups_of(&inflate(groups)?, figures)?;
    let processes = processes_of(&inflate(processes)?, &groups, figures)?;
    Some(SpanSums { groups, processes })
}

/// Decodes the first part alone.
pub(super) fn decode_groups(bytes: &[u8], figures: FigureSet) -> Option<SpanGroups> {
    groups_of(&inflate(parts(bytes)?.0)?, figures)
}

fn parts(mut bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::try_from(varint::take(&mut bytes)?).ok()?;
    bytes.split_at_checked(length)
}

fn encode_groups(groups: &SpanGroups) -> Vec<u8> {
    let mut names: Vec<Comm> = groups.sums.iter().map(|sums| sums.group.comm).collect();
    names.extend(groups.programs.iter().map(|sums| sums.comm));
    names.extend(groups.ancestors.iter().map(|sums| sums.comm));
    names.sort_unstable();
    names.dedup();
    let name = |comm: Comm| names.binary_search(&comm).unwrap_or(0) as u64;
    let mut bytes = Vec::new();
    varint::push(&mut bytes, VERSION);
    varint::push(&mut bytes, optional(groups.boot.map(u64::from)));
    let mut times = Table::new(1);
    let mut last_ms = 0;
    for at_ms in &groups.times_ms {
        times.push(&[(at_ms - last_ms).cast_unsigned()]);
        last_ms = *at_ms;
    }
    columns::push(&mut bytes, &times);
    varint::push(&mut bytes, names.len() as u64);
    // What is behind its end as well: two names that differ there are two.
    let length = |name: &Comm| name.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    names.iter().for_each(|name| push_text(&mut bytes, &name.0[..length(name)]));
    let mut table = Table::new(GROUP_COLUMNS);
    for GroupSums { group, figures } in &groups.sums {
        let mut row = vec![name(group.comm), optional(group.uid.map(u64::from)), optional(group.cgroup)];
        push_figures(&mut row, figures);
        table.push(&row);
    }
    columns::push(&mut bytes, &table);
    let mut table = Table::new(PROGRAM_COLUMNS);
    groups.programs.iter().for_each(|program| table.push(&[name(program.comm), program.ended]));
    columns::push(&mut bytes, &table);
    let mut table = Table::new(ANCESTOR_COLUMNS);
    let mut before = 0;
    for AncestorSums { process, comm, ended, generations } in &groups.ancestors {
        let process = u64::from(*process);
        table.push(&[process.wrapping_sub(before), name(*comm), *ended, *generations]);
        before = process;
    }
    columns::push(&mut bytes, &table);
    varint::push(&mut bytes, groups.cgroups.len() as u64);
    for (id, path) in &groups.cgroups {
        varint::push(&mut bytes, *id);
        push_text(&mut bytes, path.as_bytes());
    }
    deflate(&bytes)
}

fn groups_of(mut bytes: &[u8], figures: FigureSet) -> Option<SpanGroups> {
    let bytes = &mut bytes;
    varint::take(bytes).filter(|version| *version == VERSION)?;
    let boot = present(varint::take(bytes)?).map(u32::try_from).transpose().ok()?;
    let mut groups = SpanGroups { boot, ..SpanGroups::default() };
    let times = Columns::take(bytes, 1, |_| true)?;
    let mut last_ms = 0_i64;
    for row in 0..times.rows() {
        last_ms = last_ms.checked_add(times.get(row, 0).cast_signed())?;
        groups.times_ms.push(last_ms);
    }
    let mut names = Vec::new();
    for _ in 0..varint::take(bytes)? {
        let (text, mut name) = (take_text(bytes)?, Comm::default());
        name.0.get_mut(..text.len())?.copy_from_slice(text);
        names.push(name);
    }
    let name = |place: u64| names.get(usize::try_from(place).ok()?).copied();
    let table = Columns::take(bytes, GROUP_COLUMNS, wanted(GROUP, figures))?;
    let figures = columns_of(GROUP, figures);
    groups.sums.reserve_exact(table.rows());
    for row in 0..table.rows() {
        let uid = present(table.get(row, 1)).map(u32::try_from).transpose().ok()?;
        let group = TaskGroup { comm: name(table.get(row, 0))?, uid, cgroup: present(table.get(row, 2)) };
        groups.sums.push(GroupSums { group, figures: figures_of(&table, row, GROUP, &figures) });
    }
    let table = Columns::take(bytes, PROGRAM_COLUMNS, |_| true)?;
    for row in 0..table.rows() {
        groups.programs.push(ProgramSums { comm: name(table.get(row, 0))?, ended: table.get(row, 1) });
    }
    let table = Columns::take(bytes, ANCESTOR_COLUMNS, |_| true)?;
    let mut process = 0_u64;
    for row in 0..table.rows() {
        process = process.wrapping_add(table.get(row, 0));
        let comm = name(table.get(row, 1))?;
        let process = u32::try_from(process).ok()?;
        let (ended, generations) = (table.get(row, 2), table.get(row, 3));
        groups.ancestors.push(AncestorSums { process, comm, ended, generations });
    }
    for _ in 0..varint::take(bytes)? {
        let id = varint::take(bytes)?;
        let path = str::from_utf8(take_text(bytes)?).ok()?;
        groups.cgroups.push((id, path.to_owned()));
    }
    bytes.is_empty().then_some(groups)
}

fn encode_processes(sums: &SpanSums) -> Vec<u8> {
    let SpanProcesses { seen, brief, has_mingled } = &sums.processes;
    let groups = &sums.groups.sums;
    let place = |group: &TaskGroup| {
        groups.binary_search_by_key(group, |sums| sums.group).unwrap_or(usize::MAX) as u64
    };
    let lone = lone_groups(
        groups.len(),
        seen.iter().map(|one| place(&one.group)),
        brief.iter().map(|one| place(&one.group)),
    );
    let mut bytes = Vec::new();
    varint::push(&mut bytes, (*has_mingled).into());
    let mut table = Table::new(PROCESS_COLUMNS);
    let mut before = 0;
    for one in seen {
        let (process, group) = (u64::from(one.process), place(&one.group));
        let mut row = vec![process.wrapping_sub(before), group, one.is_complete.into()];
        push_figures(&mut row, if is_lone(&lone, group) { &Figures::NONE } else { &one.figures });
        table.push(&row);
        before = process;
    }
    columns::push(&mut bytes, &table);
    let (mut table, mut ranges) = (Table::new(BRIEF_COLUMNS), Table::new(RANGE_COLUMNS));
    for one in brief {
        let mut row = vec![place(&one.group), one.processes.len() as u64];
        push_figures(&mut row, &one.most);
        table.push(&row);
        let mut before = 0;
        for range in &one.processes {
            let (first, last) = (u64::from(*range.start()), u64::from(*range.end()));
            ranges.push(&[first.wrapping_sub(before), last.wrapping_sub(first)]);
            before = last;
        }
    }
    columns::push(&mut bytes, &table);
    columns::push(&mut bytes, &ranges);
    deflate(&bytes)
}

fn processes_of(mut bytes: &[u8], groups: &SpanGroups, figures: FigureSet) -> Option<SpanProcesses> {
    let bytes = &mut bytes;
    let has_mingled = varint::take(bytes)? != 0;
    let seen = Columns::take(bytes, PROCESS_COLUMNS, wanted(PROCESS, figures))?;
    let brief = Columns::take(bytes, BRIEF_COLUMNS, wanted(BRIEF, figures))?;
    let ranges = Columns::take(bytes, RANGE_COLUMNS, |_| true)?;
    let group = |place: u64| groups.sums.get(usize::try_from(place).ok()?);
    let lone = lone_groups(
        groups.sums.len(),
        (0..seen.rows()).map(|row| seen.get(row, 1)),
        (0..brief.rows()).map(|row| brief.get(row, 0)),
    );
    let (of_seen, of_brief) = (columns_of(PROCESS, figures), columns_of(BRIEF, figures));
    let mut processes = SpanProcesses { has_mingled, ..SpanProcesses::default() };
    let mut process = 0_u64;
    processes.seen.reserve_exact(seen.rows());
    for row in 0..seen.rows() {
        process = process.wrapping_add(seen.get(row, 0));
        let GroupSums { group, figures: of_group } = group(seen.get(row, 1))?;
        processes.seen.push(ProcessSums {
            process: u32::try_from(process).ok()?,
            group: *group,
            is_complete: seen.get(row, 2) != 0,
            figures: match is_lone(&lone, seen.get(row, 1)) {
                true => *of_group,
                false => figures_of(&seen, row, PROCESS, &of_seen),
            },
        });
    }
    let mut range = 0;
    for row in 0..brief.rows() {
        let end = usize::try_from(brief.get(row, 1)).ok()?.checked_add(range)?;
        if end > ranges.rows() {
            return None;
        }
        let mut numbers = Vec::with_capacity(end - range);
        let mut last = 0_u64;
        for place in std::mem::replace(&mut range, end)..end {
            let first = last.wrapping_add(ranges.get(place, 0));
            last = first.wrapping_add(ranges.get(place, 1));
            numbers.push(u32::try_from(first).ok()?..=u32::try_from(last).ok()?);
        }
        processes.brief.push(BriefSums {
            group: group(brief.get(row, 0))?.group,
            most: figures_of(&brief, row, BRIEF, &of_brief),
            processes: numbers,
        });
    }
    (bytes.is_empty() && range == ranges.rows()).then_some(processes)
}

/// Returns whether each of the groups is of one process that was seen: what it did is what they did.
fn lone_groups(count: usize, seen: impl Iterator<Item = u64>, brief: impl Iterator<Item = u64>) -> Vec<bool> {
    let mut counts = vec![0_usize; count];
    for (place, more) in seen.map(|place| (place, 1)).chain(brief.map(|place| (place, 2))) {
        if let Some(count) = usize::try_from(place).ok().and_then(|place| counts.get_mut(place)) {
            *count += more;
        }
    }
    counts.into_iter().map(|count| count == 1).collect()
}

fn is_lone(lone: &[bool], place: u64) -> bool {
    usize::try_from(place).is_ok_and(|place| lone.get(place) == Some(&true))
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

/// Returns whether a column is wanted: those up to the one from which on figures are, and of these some.
fn wanted(first: usize, figures: FigureSet) -> impl Fn(usize) -> bool {
    let is_wanted: Vec<bool> = counters().map(|figure| figures.contains(figure)).collect();
    move |column| column <= first || is_wanted[column - first - 1]
}

/// Returns the wanted figures and their columns.
fn columns_of(first: usize, figures: FigureSet) -> Vec<(Figure, usize)> {
    counters().zip(first + 1..).filter(|(figure, _)| figures.contains(*figure)).collect()
}

/// Returns the figures of a row. The column `first` says which of them are known.
fn figures_of(table: &Columns, row: usize, first: usize, wanted: &[(Figure, usize)]) -> Figures {
    let known = table.get(row, first);
    let mut figures = Figures::NONE;
    for (figure, column) in wanted {
        if known >> figure.index() & 1 == 1 {
            figures.set(*figure, Some(table.get(row, *column)));
        }
    }
    figures
}

fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    varint::push(bytes, text.len() as u64);
    bytes.extend(text);
}

fn take_text<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(varint::take(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(text)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    // Into memory, which does not fail.
    let _ = deflated.write_all(bytes);
    deflated.finish().unwrap_or_default()
}

fn inflate(deflated: &[u8]) -> Option<Vec<u8>> {
    let (mut decoder, mut inflated) = (DeflateDecoder::new(deflated), Vec::new());
    decoder.by_ref().take(MAX_BYTES).read_to_end(&mut inflated).ok()?;
    // All bytes were read: nothing follows the end, and the part is not larger than it may be.
    (decoder.total_in() == deflated.len() as u64).then_some(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums() -> SpanSums {
        let group = |name: &str, uid, cgroup| TaskGroup { comm: Comm::new(name.as_bytes()), uid, cgroup };
        let all = [
            group("a name of 15 by", None, Some(u64::MAX - 1)),
            group("cc1", Some(0), None),
            group("sh", Some(1000), Some(3)),
        ];
        let mut some = Figures::NONE;
        some.set(Figure::ON_CPU, Some(7_000_000));
        some.set(Figure::WRITTEN_BYTES, Some(0));
        some.set(Figure::MAJOR_FAULTS, Some(u64::MAX - 1));
        let process =
            |process, group, figures, is_complete| ProcessSums { process, group, figures, is_complete };
        SpanSums {
            groups: SpanGroups {
                boot: Some(u32::MAX),
                times_ms: vec![60_001, 61_002, 61_003],
                sums: all.map(|group| GroupSums { group, figures: some }).into(),
                programs: vec![ProgramSums { comm: Comm::new(b"sh"), ended: u64::MAX }],
                ancestors: vec![
                    AncestorSums { process: 1, comm: Comm::new(b"sh"), ended: 4, generations: 8 },
                    AncestorSums { process: 7, comm: Comm::new(b"cc1"), ended: 1, generations: 1 },
                ],
                cgroups: vec![(3, "/system.slice/häuser".to_owned())],
            },
            processes: SpanProcesses {
                seen: vec![
                    process(7, all[1], some, true),
                    process(9, all[2], some, true),
                    process(300, all[0], Figures::NONE, false),
                    process(u32::MAX, all[0], some, false),
                ],
                brief: vec![BriefSums {
                    group: all[2],
                    most: some,
                    processes: vec![8..=9000, 9002..=9002, 9002..=u32::MAX],
                }],
                has_mingled: true,
            },
        }
    }

    #[test]
    fn sums_are_decoded() {
        assert_eq!(Figure::all().filter(|figure| figure.is_counter()).count(), COUNTERS);
        for sums in [sums(), SpanSums::default()] {
            let bytes = encode(&sums);
            assert_eq!(decode_groups(&bytes, FigureSet::COUNTERS).as_ref(), Some(&sums.groups));
            assert_eq!(decode(&bytes, FigureSet::COUNTERS), Some(sums));
        }
    }

    #[test]
    fn damage_is_no_sums() {
        let bytes = encode(&sums());
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                // They may be other sums, which the checksum of the record finds.
                let _ = decode(&damaged, FigureSet::COUNTERS);
            }
            assert_eq!(decode(&bytes[..place], FigureSet::COUNTERS), None, "{place} bytes");
        }
    }
}
