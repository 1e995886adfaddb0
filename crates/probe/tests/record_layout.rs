//! The layout of the BPF program's records, from the object's own type information (BTF), against the decoder.

#![allow(clippy::unwrap_used)]

use facts::linux::system_calls::{Machine, numbers_with_file};
use std::collections::HashMap;

use facts::linux::bpf_task::{EndOfRound, Item, Items};
use facts::linux::btf;
use facts::task::figure::Figure;
use facts::task::wait::{WaitReason, WaitTarget};
use facts::task::{Accounting, Cause, TaskRow};
use facts::unit::Nanos;

const OBJECT: &[u8] = include_bytes!("../src/bpf/tasks.bpf.o");

fn number<const BYTES: usize>(bytes: &[u8], offset: usize) -> usize {
    let mut wide = [0; 8];
    wide[..BYTES].copy_from_slice(&bytes[offset..offset + BYTES]);
    usize::from_le_bytes(wide)
}

fn text(bytes: &[u8], offset: usize) -> &str {
    let end = bytes[offset..].iter().position(|byte| *byte == 0).unwrap();
    std::str::from_utf8(&bytes[offset..offset + end]).unwrap()
}

/// A struct: its bytes, and the offsets of its members. Documentation/bpf/btf.rst describes the format.
fn layout(wanted: &str) -> (usize, HashMap<&'static str, usize>) {
    let btf = btf::of_object(OBJECT).unwrap();
    let head = number::<4>(btf, 4);
    let (types, strings) = (head + number::<4>(btf, 8), head + number::<4>(btf, 16));
    let end = types + number::<4>(btf, 12);
    let name_at = |offset: usize| text(&btf[strings..], number::<4>(btf, offset));
    let mut at = types;
    while at < end {
        let info = number::<4>(btf, at + 4);
        let (kind, members) = (info >> 24 & 31, info & 0xffff);
        let entry = at + 12;
        if kind == 4 && name_at(at) == wanted {
            let member = |index: usize| {
                let member = entry + 12 * index;
                (name_at(member), number::<4>(btf, member + 8) / 8)
            };
            return (number::<4>(btf, at + 8), (0..members).map(member).collect());
        }
        at = entry
            + match kind {
                1 | 14 | 17 => 4,
                3 => 12,
                4 | 5 | 15 | 19 => 12 * members,
                6 | 13 => 8 * members,
                _ => 0,
            };
    }
    panic!("the object describes no struct {wanted}");
}

/// A struct of which members are set by their names.
struct Made {
    bytes: Vec<u8>,
    offsets: HashMap<&'static str, usize>,
}

impl Made {
    fn new(name: &str) -> Self {
        let (size, offsets) = layout(name);
        Self { bytes: vec![0; size], offsets }
    }

    fn set(&mut self, member: &str, index: usize, value: &[u8]) {
        let offset = *self.offsets.get(member).unwrap_or_else(|| panic!("no member {member}"));
        self.bytes[offset + index * value.len()..][..value.len()].copy_from_slice(value);
    }
}

const FIGURES: [(&str, Figure); 11] = [
    ("on_cpu_ns", Figure::ON_CPU),
    ("user_ns", Figure::USER),
    ("system_ns", Figure::SYSTEM),
    ("voluntary_switches", Figure::VOLUNTARY_SWITCHES),
    ("involuntary_switches", Figure::INVOLUNTARY_SWITCHES),
    ("minor_faults", Figure::MINOR_FAULTS),
    ("major_faults", Figure::MAJOR_FAULTS),
    ("read_bytes", Figure::READ_BYTES),
    ("written_bytes", Figure::WRITTEN_BYTES),
    ("resident_pages", Figure::RESIDENT_BYTES),
    ("virtual_pages", Figure::VIRTUAL_BYTES),
];
type FigureOf = fn(Cause) -> Figure;
const OF_CAUSES: [(&str, FigureOf); 3] =
    [("delay_ns", Figure::delay), ("delay_count", Figure::count), ("delay_max_ns", Figure::maximum)];

#[test]
fn every_member_of_a_record_is_decoded() {
    let mut made = Made::new("record");
    for (member, value) in [("pid", 7_u32), ("tgid", 8), ("ppid", 9), ("uid", 10), ("state", 1)] {
        made.set(member, 0, &value.to_le_bytes());
    }
    made.set("start_ns", 0, &11_u64.to_le_bytes());
    made.set("cgroup", 0, &12_u64.to_le_bytes());
    made.set("flags", 0, &4_u32.to_le_bytes());
    // read(2) of a pipe.
    made.set("call", 0, &0_u32.to_le_bytes());
    made.set("file", 0, &[6]);
    made.set("is_native", 0, &[1]);
    made.set("arguments", 0, &4_u64.to_le_bytes());
    for (member, value) in [("policy", 3), ("nice", 0xf6), ("counts_delays", 1)] {
        made.set(member, 0, &[value]);
    }
    made.set("comm", 0, b"a name");
    let value = |figure: Figure| 1_000 + figure.index() as u64;
    for (member, figure) in FIGURES {
        made.set(member, 0, &value(figure).to_le_bytes());
    }
    for (member, figure) in OF_CAUSES {
        for cause in Cause::ALL {
            made.set(member, cause as usize, &value(figure(cause)).to_le_bytes());
        }
    }
    let Some(Item::Thread { row, is_exiting: true }) =
        Items::new(&made.bytes, Machine::X86_64, 4096, Nanos(20)).next()
    else {
        panic!("no thread that exits");
    };
    let TaskRow { key, tgid, ppid, uid, comm, state, nice, policy, cgroup, accounting, wall, wait, figures } =
        row;
    assert_eq!((key.pid, key.start, tgid, ppid, uid), (7, Nanos(11), Some(8), Some(9), Some(10)));
    assert_eq!((comm.as_str(), state, nice, policy), ("a name", Some(b'S'), -10, Some(3)));
    assert_eq!((cgroup, accounting, wall), (Some(12), Accounting::On, Nanos(9)));
    let wait = wait.unwrap();
    assert_eq!((wait.reason, wait.target), (WaitReason::Pipe, WaitTarget::Descriptor(4)));
    for figure in Figure::all() {
        let expected = match figure {
            figure if figure.index() >= Figure::COUNT_IN_RECORD => None,
            Figure::RESIDENT_BYTES | Figure::VIRTUAL_BYTES => Some(value(figure) * 4096),
            figure => Some(value(figure)),
        };
        assert_eq!(figures.get(figure), expected, "{figure:?}");
    }
    // What is not decoded is known by name.
    let decoded = FIGURES.len() + OF_CAUSES.len() + 16;
    assert!(["spare", "spares", "exit_state"].iter().all(|name| made.offsets.contains_key(name)));
    assert_eq!(made.offsets.len(), decoded + 3);
}

#[test]
fn every_member_of_the_end_of_a_round_is_decoded() {
    let mut made = Made::new("end");
    made.set("mark", 0, &u32::MAX.to_le_bytes());
    for (member, value) in [("skipped", 3_u32), ("given_up", 1), ("is_overflown", 1)] {
        made.set(member, 0, &value.to_le_bytes());
    }
    made.set("fingerprints", 0, &5_u64.to_le_bytes());
    made.set("freed_on_cpu_ns", 0, &7_u64.to_le_bytes());
    made.bytes.extend(11_u32.to_le_bytes());
    let Some(Item::End(end)) = Items::new(&made.bytes, Machine::X86_64, 4096, Nanos(20)).next() else {
        panic!("no end")
    };
    let EndOfRound { skipped, fingerprints, ended_on_cpu, is_overflown, .. } = end;
    assert_eq!((skipped, fingerprints, ended_on_cpu, is_overflown), (3, 5, Nanos(7), true));
    assert_eq!(end.given_up().collect::<Vec<_>>(), [11]);
}

/// The program looks for the files of the same system calls as the table has with a descriptor.
#[test]
fn the_program_knows_which_calls_have_a_file() {
    let source = include_str!("../src/bpf/tasks.bpf.c");
    let numbers = |function: &str| -> Vec<i32> {
        let (_, body) = source.split_once(function).unwrap();
        let (cases, _) = body.split_once("return 1;").unwrap();
        let numbers =
            cases.split("case ").skip(1).map(|case| case.split(':').next().unwrap().parse().unwrap());
        numbers.collect()
    };
    for (machine, function) in
        [(Machine::X86_64, "int has_file_x86_64"), (Machine::Aarch64, "int has_file_aarch64")]
    {
        assert_eq!(numbers(function), numbers_with_file(machine), "{function}");
    }
}
