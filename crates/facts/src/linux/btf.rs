//! BTF: the types of a kernel, or of an object of BPF. Documentation/bpf/btf.rst; /sys/kernel/btf/vmlinux since 5.4.
//!
//! A kernel has some 130,000 types, and a program that reads its tasks needs a few hundred. [`Types::part`] has no others, so that reading
//! them costs a loader little.

use foldhash::HashSet;
use memchr::{memchr, memmem};

use crate::cursor::Malformed;

const MAGIC: u16 = 0xeb9f;
/// Magic, version, flags, length of the header, then place and length of types and strings, counted from the end of the header.
const HEADER_BYTES: usize = 24;
/// What all kinds begin with: name, kind and count, then a size or a type.
const TYPE_BYTES: usize = 12;
/// In a structure: name, type and place of one of its members.
const MEMBER_BYTES: usize = 12;
/// A hundred times as many as a kernel has.
const MAX_TYPES: usize = 1 << 24;
/// As the kernel limits them (KSYM_NAME_LEN).
const MAX_NAME_BYTES: usize = 512;

/// What a type is (BTF_KIND_*).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const POINTER: Self = Self(2);
    const ARRAY: Self = Self(3);
    const STRUCT: Self = Self(4);
    const UNION: Self = Self(5);
    const ENUM: Self = Self(6);
    const TYPEDEF: Self = Self(8);
    const VOLATILE: Self = Self(9);
    const CONST: Self = Self(10);
    const RESTRICT: Self = Self(11);
    const FUNCTION: Self = Self(12);
    const TYPE_TAG: Self = Self(18);
    const ENUM64: Self = Self(19);

    /// The bytes behind [`TYPE_BYTES`]; `None` if the kind is not known, and with it where the next type begins.
    fn more_bytes(self, count: usize) -> Option<usize> {
        Some(match self.0 {
            // Pointer, forward declaration, typedef, volatile, const, restrict, function, float, type tag.
            2 | 7..=12 | 16 | 18 => 0,
            // Integer, variable, declaration tag.
            1 | 14 | 17 => 4,
            // Array.
            3 => 12,
            // Structure, union, section, enumeration of 64 bits.
            4 | 5 | 15 | 19 => 12 * count,
            // Enumeration, signature of a function.
            6 | 13 => 8 * count,
            _ => return None,
        })
    }
}

/// A type, as it stands there.
#[derive(Clone, Copy)]
struct Type<'a> {
    bytes: &'a [u8],
}

impl<'a> Type<'a> {
    /// The one that the bytes begin with.
    fn first(bytes: &'a [u8]) -> Option<Self> {
        let head = Type { bytes: bytes.get(..TYPE_BYTES)? };
        Some(Type { bytes: bytes.get(..TYPE_BYTES + head.kind().more_bytes(head.count())?)? })
    }

    fn kind(self) -> Kind {
        Kind((self.word(4) >> 24) as u8 & 0x1f)
    }

    fn count(self) -> usize {
        (self.word(4) & 0xffff) as usize
    }

    fn word(self, at: usize) -> u32 {
        word(self.bytes, at).unwrap_or_default()
    }

    fn name_at(self) -> usize {
        self.word(0) as usize
    }

    /// Whether it is a structure, a union or an enumeration.
    fn is_layout(self) -> bool {
        [Kind::STRUCT, Kind::UNION, Kind::ENUM, Kind::ENUM64].contains(&self.kind())
    }

    /// Where in its bytes the ids of others stand: of those that it is made of, or points to.
    fn references(self) -> impl Iterator<Item = usize> {
        let (first, step, count) = match self.kind() {
            Kind::STRUCT | Kind::UNION => (TYPE_BYTES + 4, MEMBER_BYTES, self.count()),
            // Of its elements and of its index.
            Kind::ARRAY => (TYPE_BYTES, 4, 2),
            Kind::POINTER
            | Kind::TYPEDEF
            | Kind::VOLATILE
            | Kind::CONST
            | Kind::RESTRICT
            | Kind::TYPE_TAG => (8, 4, 1),
            _ => (0, 0, 0),
        };
        (0..count).map(move |at| first + at * step)
    }
}

/// All types of a BTF.
pub struct Types<'a> {
    header: &'a [u8],
    strings: &'a [u8],
    /// By id, which counts from 1: 0 is `void`, and stands here without bytes.
    types: Vec<Type<'a>>,
}

impl<'a> Types<'a> {
    /// Parses it.
    ///
    /// # Errors
    /// If it is none of this machine's byte order, or has a type of an unknown kind.
    pub fn parse(btf: &'a [u8]) -> Result<Self, Malformed> {
        let malformed = |expected| Malformed { offset: 0, expected };
        let header = btf.get(..HEADER_BYTES).ok_or(malformed("the header of a BTF"))?;
        if !header.starts_with(&MAGIC.to_ne_bytes()) {
            return Err(malformed("a BTF in the byte order of this machine"));
        }
        let field = |at| word(header, at).map_or(0, |field| field as usize);
        let section = |at, length| {
            let from = field(4).checked_add(field(at)).filter(|from| *from >= HEADER_BYTES)?;
            btf.get(from..from.checked_add(field(length))?)
        };
        let types = section(8, 12).ok_or(malformed("the section of types"))?;
        let strings = section(16, 20).ok_or(malformed("the section of strings"))?;
        let void = Type { bytes: &[] };
        let mut all = Self { header, strings, types: vec![void] };
        let mut rest = types;
        while !rest.is_empty() {
            let offset = field(4) + field(8) + types.len() - rest.len();
            if all.types.len() == MAX_TYPES {
                return Err(Malformed { offset, expected: "fewer types" });
            }
            let found = Type::first(rest).ok_or(Malformed { offset, expected: "a type of a known kind" })?;
            rest = &rest[found.bytes.len()..];
            all.types.push(found);
        }
        Ok(all)
    }

    /// The id of the function of this name.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.id(Kind::FUNCTION, name)
    }

    /// The id of the type that is defined under this name.
    pub fn typedef(&self, name: &str) -> Option<u32> {
        self.id(Kind::TYPEDEF, name)
    }

    fn id(&self, kind: Kind, name: &str) -> Option<u32> {
        let is_it = |found: &Type<'_>| found.kind() == kind && self.name(*found) == name.as_bytes();
        let after_void = self.types[1..].iter().position(is_it)?;
        u32::try_from(after_void + 1).ok()
    }

    /// The names of structures, unions and enumerations, as the kernel has them. An object that knows two layouts of one type adds "___"
    /// and a word to the name: these are left out.
    pub fn layouts(&self) -> impl Iterator<Item = &'a [u8]> {
        let names =
            self.types[1..].iter().copied().filter(|found| found.is_layout()).map(|found| self.name(found));
        names
            .filter(|name| !name.is_empty())
            .map(|name| &name[..memmem::find(name, b"___").unwrap_or(name.len())])
    }

    /// A BTF of the structures, unions and enumerations of these names, and of all that is within them. A pointer to something else is
    /// one to `void` there, and ids are others than here.
    pub fn part<'b>(&self, names: impl Iterator<Item = &'b [u8]>) -> Vec<u8> {
        let needed = self.needed(&names.collect());
        // Of each type here, its id in the part: 0, `void`, if it is not in it.
        let mut ids = vec![0u32; self.types.len()];
        for (id, of_needed) in (1..).zip(&needed) {
            ids[*of_needed] = id;
        }
        let mut part = Vec::with_capacity(HEADER_BYTES + self.strings.len() + (1 << 16));
        part.extend_from_slice(&self.header[..4]);
        part.resize(HEADER_BYTES, 0);
        for found in needed.iter().map(|id| self.types[*id]) {
            let start = part.len();
            part.extend_from_slice(found.bytes);
            for place in found.references() {
                let id = ids.get(found.word(place) as usize).copied().unwrap_or(0);
                part[start + place..start + place + 4].copy_from_slice(&id.to_ne_bytes());
            }
        }
        let types_length = part.len() - HEADER_BYTES;
        part.extend_from_slice(self.strings);
        let fields = [HEADER_BYTES, 0, types_length, types_length, self.strings.len()];
        for (field, place) in fields.into_iter().zip(part[4..].chunks_exact_mut(4)) {
            // Not above what the header has already.
            place.copy_from_slice(&u32::try_from(field).unwrap_or(u32::MAX).to_ne_bytes());
        }
        part
    }

    /// Without a name it is empty, as with one that is too long.
    fn name(&self, of: Type<'_>) -> &'a [u8] {
        let rest = self.strings.get(of.name_at()..).unwrap_or_default();
        let rest = &rest[..rest.len().min(MAX_NAME_BYTES)];
        &rest[..memchr(0, rest).unwrap_or(0)]
    }

    /// The ids of those that have one of these names, and of what is within them, in their order.
    fn needed(&self, names: &HashSet<&[u8]>) -> Vec<usize> {
        let mut is_needed = vec![false; self.types.len()];
        let is_named =
            |found: Type<'_>| found.is_layout() && found.name_at() != 0 && names.contains(self.name(found));
        let mut waiting: Vec<usize> = (1..self.types.len()).filter(|id| is_named(self.types[*id])).collect();
        while let Some(id) = waiting.pop() {
            let Some(found) = self.types.get(id).filter(|_| !is_needed[id]) else { continue };
            is_needed[id] = true;
            // What it points to is not within it.
            if found.kind() != Kind::POINTER {
                waiting.extend(found.references().map(|place| found.word(place) as usize));
            }
        }
        (1..self.types.len()).filter(|id| is_needed[*id]).collect()
    }
}

/// The BTF in an object of BPF: its section `.BTF`, elf(5). `None` if it has none, or is not of 64 bits and this machine's byte order.
pub fn of_object(elf: &[u8]) -> Option<&[u8]> {
    let is_ours = elf.starts_with(b"\x7fELF\x02")
        && elf.get(5) == Some(&if cfg!(target_endian = "little") { 1 } else { 2 });
    if !is_ours {
        return None;
    }
    let place = |header: &'_ [u8], at: usize| {
        let bytes = header.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(u64::from_ne_bytes(bytes)).ok()
    };
    let half = |at: usize| Some(usize::from(u16::from_ne_bytes(elf.get(at..at + 2)?.try_into().ok()?)));
    let (headers_at, header_bytes, count, of_names) =
        (place(elf, 0x28)?, half(0x3a)?, half(0x3c)?, half(0x3e)?);
    let header = |index: usize| {
        let from = headers_at.checked_add(index * header_bytes)?;
        elf.get(from..from.checked_add(header_bytes)?)
    };
    let section = |header| {
        let from = place(header, 0x18)?;
        elf.get(from..from.checked_add(place(header, 0x20)?)?)
    };
    let names = section(header(of_names)?)?;
    let is_btf = |header: &&[u8]| {
        word(header, 0)
            .and_then(|at| names.get(at as usize..))
            .is_some_and(|name| name.starts_with(b".BTF\0"))
    };
    section((0..count).filter_map(header).find(is_btf)?)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTEGER: u8 = 1;
    const POINTER: u8 = 2;
    const SIGNATURE: u8 = 13;

    /// A BTF of types, each with its name, kind, count, third word and what follows.
    fn written(types: &[(&str, u8, u32, u32, &[u32])]) -> Vec<u8> {
        let (mut strings, mut bytes) = (vec![0], Vec::new());
        for (name, kind, count, third, more) in types {
            let name_at = if name.is_empty() { 0 } else { strings.len() };
            strings.extend(name.bytes().chain([0]).filter(|_| !name.is_empty()));
            let words = [u32::try_from(name_at).unwrap(), u32::from(*kind) << 24 | count, *third];
            bytes.extend(words.iter().chain(*more).flat_map(|word| word.to_ne_bytes()));
        }
        let [types_length, strings_length] =
            [bytes.len(), strings.len()].map(|length| u32::try_from(length).unwrap());
        let header =
            [24, 0, types_length, types_length, strings_length].into_iter().flat_map(u32::to_ne_bytes);
        MAGIC.to_ne_bytes().into_iter().chain([1, 0]).chain(header).chain(bytes).chain(strings).collect()
    }

    fn part(btf: &[u8], names: &[&[u8]]) -> Vec<u8> {
        Types::parse(btf).unwrap().part(names.iter().copied())
    }

    fn kernel() -> Vec<u8> {
        written(&[
            ("int", INTEGER, 0, 4, &[32]),
            ("file", Kind::STRUCT.0, 1, 4, &[0, 1, 0]),
            ("", POINTER, 0, 2, &[]),
            ("ids", Kind::TYPEDEF.0, 0, 5, &[]),
            ("", Kind::ARRAY.0, 0, 0, &[1, 1, 8]),
            ("task", Kind::STRUCT.0, 2, 40, &[0, 3, 0, 0, 4, 64]),
            ("", SIGNATURE, 1, 0, &[0, 3]),
            ("bpf_iter_task", Kind::FUNCTION.0, 1, 7, &[]),
            ("unlink", Kind::FUNCTION.0, 1, 7, &[]),
        ])
    }

    /// Kind and name of each type.
    fn listed(btf: &[u8]) -> Vec<(u8, String)> {
        let all = Types::parse(btf).unwrap();
        let listed =
            |found: &Type<'_>| (found.kind().0, String::from_utf8(all.name(*found).to_vec()).unwrap());
        all.types[1..].iter().map(listed).collect()
    }

    #[test]
    fn a_part_has_what_is_within_its_types() {
        let part = part(&kernel(), &[b"task"]);
        let right = [(1, "int"), (2, ""), (8, "ids"), (3, ""), (4, "task")];
        assert_eq!(listed(&part), right.map(|(kind, name)| (kind, name.to_owned())));
        let all = Types::parse(&part).unwrap();
        let references =
            |id: usize| all.types[id].references().map(|place| all.types[id].word(place)).collect::<Vec<_>>();
        // What is pointed to is left out; the others refer to each other under their new ids.
        assert_eq!([2, 3, 4, 5].map(references), [vec![0], vec![4], vec![1, 1], vec![2, 3]]);
        // Sizes, lengths and places are as they were.
        assert_eq!((all.types[5].word(8), all.types[4].word(20), all.types[5].word(32)), (40, 8, 64));
    }

    #[test]
    fn functions_and_typedefs_have_ids() {
        let kernel = kernel();
        let all = Types::parse(&kernel).unwrap();
        assert_eq!((all.function("bpf_iter_task"), all.function("task")), (Some(8), None));
        assert_eq!((all.typedef("ids"), all.typedef("int")), (Some(4), None));
    }

    #[test]
    fn an_altered_byte_is_no_disaster() {
        let whole = kernel();
        for (at, value) in (0..whole.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|value| (at, value))) {
            let mut altered = whole.clone();
            altered[at] = value;
            match Types::parse(&altered) {
                Ok(all) => drop(all.part([&b"task"[..]].into_iter())),
                Err(malformed) => assert!(malformed.offset <= altered.len(), "{malformed}"),
            }
        }
    }

    #[test]
    fn a_part_of_nothing_has_no_types() {
        assert_eq!(listed(&part(&kernel(), &[b"tas", b"tasks", b""])), []);
    }

    #[test]
    fn a_part_is_a_part_of_itself() {
        let names: &[&[u8]] = &[b"task", b"file"];
        let once = part(&kernel(), names);
        assert_eq!(part(&once, names), once);
    }

    #[test]
    fn layouts_of_one_type_have_one_name() {
        let own = written(&[
            ("mm_struct___before_6_2", Kind::STRUCT.0, 0, 0, &[]),
            ("u32", Kind::TYPEDEF.0, 0, 1, &[]),
        ]);
        assert!(Types::parse(&own).unwrap().layouts().eq([b"mm_struct"]));
    }

    #[test]
    fn what_is_cut_off_is_malformed() {
        let whole = kernel();
        assert!((0..whole.len()).all(|length| Types::parse(&whole[..length]).is_err()));
        let unknown = written(&[("int", INTEGER, 0, 4, &[32]), ("new", 31, 0, 0, &[])]);
        let malformed = Malformed { offset: HEADER_BYTES + 16, expected: "a type of a known kind" };
        assert_eq!(Types::parse(&unknown).err(), Some(malformed));
    }

    #[test]
    fn a_type_within_itself_ends() {
        let endless = written(&[
            ("a", Kind::STRUCT.0, 2, 0, &[0, 2, 0, 0, 3, 0]),
            ("b", Kind::CONST.0, 0, 1, &[]),
            ("c", Kind::TYPEDEF.0, 0, 99, &[]),
        ]);
        assert_eq!(listed(&part(&endless, &[b"a"])).len(), 3);
    }

    #[test]
    fn an_object_that_is_none_has_no_types() {
        assert_eq!(of_object(b"\x7fELF\x02\x01"), None);
        assert_eq!(of_object(&[0xff; 64]), None);
    }
}
