//! Structs of every version, made field by field from a list of their own, not from the decoder's offsets.

use super::*;
use proptest::prelude::*;

/// The fields of a version in order, with their bytes, as the headers of that version's kernels declare them.
fn fields(version: u16) -> Vec<(&'static str, usize)> {
    let mut fields = vec![("version", 2), ("", 2), ("exitcode", 4), ("flag", 1), ("nice", 1), ("", 6)];
    let maxima = |fields: &mut Vec<(&'static str, usize)>, name: &'static str, wanted: bool| {
        if wanted {
            fields.extend([(name, 8), ("", 8)]);
        }
    };
    let middle = version == 15;
    fields.extend([("cpu_count", 8), ("cpu_total", 8)]);
    maxima(&mut fields, "cpu_max", middle);
    fields.extend([("blkio_count", 8), ("blkio_total", 8)]);
    maxima(&mut fields, "blkio_max", middle);
    fields.extend([("swapin_count", 8), ("swapin_total", 8)]);
    maxima(&mut fields, "swapin_max", middle);
    fields.extend([("cpu_real", 8), ("cpu_virtual", 8), ("comm", 32)]);
    fields.extend([("sched", 1), ("", 7), ("uid", 4), ("gid", 4)]);
    fields.extend([("pid", 4), ("ppid", 4), ("btime", 4), ("", 4), ("etime", 8), ("utime", 8), ("stime", 8)]);
    let plain = [
        "minflt",
        "majflt",
        "coremem",
        "virtmem",
        "hiwater_rss",
        "hiwater_vm",
        "read_char",
        "write_char",
        "read_syscalls",
        "write_syscalls",
        "read_bytes",
        "write_bytes",
        "cancelled_write_bytes",
        "nvcsw",
        "nivcsw",
        "utimescaled",
        "stimescaled",
        "cpu_scaled",
        "freepages_count",
        "freepages_total",
    ];
    fields.extend(plain.map(|name| (name, 8)));
    maxima(&mut fields, "freepages_max", middle);
    if version >= 9 {
        fields.extend([("thrashing_count", 8), ("thrashing_total", 8)]);
        maxima(&mut fields, "thrashing_max", middle);
    }
    if version >= 10 {
        fields.push(("btime64", 8));
    }
    if version >= 11 {
        fields.extend([("compact_count", 8), ("compact_total", 8)]);
        maxima(&mut fields, "compact_max", middle);
    }
    if version >= 12 {
        fields.extend([("tgid", 4), ("", 4), ("tgetime", 8), ("exe_dev", 8), ("exe_inode", 8)]);
    }
    if version >= 13 {
        fields.extend([("wpcopy_count", 8), ("wpcopy_total", 8)]);
        maxima(&mut fields, "wpcopy_max", middle);
    }
    if version >= 14 {
        fields.extend([("irq_count", 8), ("irq_total", 8)]);
        maxima(&mut fields, "irq_max", middle);
    }
    if version >= 16 {
        for name in [
            "cpu_max",
            "blkio_max",
            "swapin_max",
            "freepages_max",
            "thrashing_max",
            "compact_max",
            "wpcopy_max",
            "irq_max",
        ] {
            maxima(&mut fields, name, true);
        }
    }
    if version >= 17 {
        fields.push(("", 16 * 8));
    }
    fields
}

/// A struct of a version in which every field holds a number of its own.
fn made(version: u16) -> (Vec<u8>, impl Fn(&str) -> Option<u64>) {
    let (mut bytes, mut values) = (Vec::new(), Vec::new());
    for (index, (name, length)) in fields(version).into_iter().enumerate() {
        let value = match name {
            "version" => u64::from(version),
            "" => u64::MAX,
            _ => index as u64 + 1,
        };
        let field = match name {
            "comm" => *b"a comm\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            _ => std::array::from_fn(|byte| value.to_ne_bytes()[byte % 8]),
        };
        // A blank between fields may be longer than one made field.
        bytes.extend(field.iter().cycle().take(length));
        values.push((name, value));
    }
    (bytes, move |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
}

const KERNEL_NAMES: [(Cause, &str); 8] = [
    (Cause::RunQueue, "cpu"),
    (Cause::BlockIo, "blkio"),
    (Cause::SwapIn, "swapin"),
    (Cause::Reclaim, "freepages"),
    (Cause::Thrashing, "thrashing"),
    (Cause::Compaction, "compact"),
    (Cause::Copy, "wpcopy"),
    (Cause::Irq, "irq"),
];

#[test]
fn every_version_is_decoded_field_by_field() {
    for version in OLDEST_VERSION..=NEWEST_VERSION {
        let (bytes, value) = made(version);
        assert_eq!(bytes.len(), expected_length(version), "version {version}");
        let stats = decode(&bytes, Some(true)).unwrap();
        assert_eq!((stats.version, stats.length), (version, bytes.len()));
        let row = stats.row;
        assert_eq!(row.comm.as_str(), "a comm");
        assert_eq!(Some(u64::from(row.key.pid)), value("pid"));
        assert_eq!(row.ppid.map(u64::from), value("ppid"));
        assert_eq!(row.uid.map(u64::from), value("uid"));
        assert_eq!(row.tgid.map(u64::from), value("tgid"), "version {version}");
        assert_eq!(Some(u64::from(stats.exit.code)), value("exitcode"));
        assert_eq!(Some(u64::from(stats.exit.flags)), value("flag"));
        assert_eq!((row.policy.map(u64::from), Some(row.nice as u64)), (value("sched"), value("nice")));
        let micros = |name: &str| value(name).map(|micros| micros * 1000);
        let kib = |name: &str| value(name).map(|kib| kib * 1024);
        assert_eq!(Some(row.wall.0), micros("etime"));
        for (figure, expected) in [
            (Figure::ON_CPU, value("cpu_virtual")),
            (Figure::CPU_TICKS, value("cpu_real")),
            (Figure::USER, micros("utime")),
            (Figure::SYSTEM, micros("stime")),
            (Figure::MINOR_FAULTS, value("minflt")),
            (Figure::MAJOR_FAULTS, value("majflt")),
            (Figure::READ_BYTES, value("read_bytes")),
            (Figure::WRITTEN_BYTES, value("write_bytes")),
            (Figure::VOLUNTARY_SWITCHES, value("nvcsw")),
            (Figure::INVOLUNTARY_SWITCHES, value("nivcsw")),
            (Figure::PEAK_RESIDENT_BYTES, kib("hiwater_rss")),
            (Figure::PEAK_VIRTUAL_BYTES, kib("hiwater_vm")),
            // /proc alone has them.
            (Figure::RESIDENT_BYTES, None),
            (Figure::VIRTUAL_BYTES, None),
        ] {
            assert_eq!(row.figures.get(figure), expected, "version {version} {figure:?}");
        }
        for (cause, name) in KERNEL_NAMES {
            for (figure, of_cause) in [
                (Figure::count(cause), "count"),
                (Figure::delay(cause), "total"),
                (Figure::maximum(cause), "max"),
            ] {
                let expected = value(&format!("{name}_{of_cause}"));
                assert_eq!(row.figures.get(figure), expected, "version {version} {name}_{of_cause}");
            }
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for version in OLDEST_VERSION..=NEWEST_VERSION {
        let (bytes, _) = made(version);
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length], None).is_err(), "version {version} in {length} bytes");
        }
    }
}

#[test]
fn what_a_newer_kernel_adds_is_passed_over_and_older_versions_stay_within_theirs() {
    for version in OLDEST_VERSION..=NEWEST_VERSION {
        let (bytes, _) = made(version);
        let longer = [bytes.as_slice(), &[0xff; 300]].concat();
        assert_eq!(
            decode(&longer, None).unwrap().row,
            decode(&bytes, None).unwrap().row,
            "version {version}"
        );
    }
    let (mut bytes, _) = made(NEWEST_VERSION);
    let known = decode(&bytes, None).unwrap().row;
    bytes[..2].copy_from_slice(&40u16.to_ne_bytes());
    bytes.extend([7; 64]);
    assert_eq!(decode(&bytes, None).unwrap().row, known);
}

#[test]
fn versions_before_the_oldest_are_refused_by_name() {
    let mut bytes = vec![0; 1000];
    bytes[..2].copy_from_slice(&6u16.to_ne_bytes());
    assert_eq!(decode(&bytes, None), Err(Refused::TooOld(6)));
}

#[test]
fn zeros_are_read_by_the_switch() {
    let mut bytes = vec![0; 560];
    bytes[..2].copy_from_slice(&16u16.to_ne_bytes());
    let accounting = |on| decode(&bytes, on).unwrap().row.accounting;
    assert_eq!(accounting(Some(false)), Accounting::Off);
    assert_eq!(accounting(Some(true)), Accounting::Unsure);
    assert_eq!(accounting(None), Accounting::Unsure);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..800), version in 0u16..20) {
        let mut bytes = bytes;
        if let Some(place) = bytes.first_chunk_mut::<2>() {
            *place = version.to_ne_bytes();
        }
        if let Ok(stats) = decode(&bytes, Some(true)) {
            prop_assert!(stats.length >= expected_length(stats.version));
            let breakdown = stats.row.sum_since_start(true).breakdown();
            let parts = [breakdown.on_cpu, breakdown.run_queue, breakdown.block_io, breakdown.sleeping, breakdown.undivided];
            let total = parts.into_iter().flatten().fold(0u64, |sum, part| sum.saturating_add(part.0));
            prop_assert_eq!(total, breakdown.whole.0);
        }
    }
}
