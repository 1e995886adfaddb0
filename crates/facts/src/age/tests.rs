//! Ages and limits made by hand.

use super::*;

const SECOND: i64 = 1_000_000_000;

fn aged(second: i64, allocated: u64) -> Aged {
    Aged { time_ns: Some(second * SECOND), bytes: Bytes(1), allocated: Bytes(allocated) }
}

#[test]
fn the_newest_of_the_times_that_count_is_the_age() {
    let times = FileTimes { accessed_ns: Some(9), modified_ns: Some(5), changed_ns: Some(7), born_ns: None };
    assert_eq!(AgeBy::parse("m").and_then(|by| by.pick(&times)), Some(5));
    assert_eq!(AgeBy::parse("cm").and_then(|by| by.pick(&times)), Some(7));
    assert_eq!(AgeBy::parse("amc").and_then(|by| by.pick(&times)), Some(9));
    // It might be newer than the others.
    assert_eq!(AgeBy::parse("mb").and_then(|by| by.pick(&times)), None);
    assert_eq!(AgeBy::parse("cb").and_then(|by| by.pick(&times)), Some(7));
    assert_eq!((AgeBy::parse("x"), AgeBy::parse("")), (None, None));
}

#[test]
fn sums_of_parts_are_the_sum_of_all() {
    let files = [aged(1_000, 4096), aged(2_000, 0), aged(999_999, 8192), Aged::default()];
    let now = 1_000_000 * SECOND;
    let (mut all, mut parts) = (AgeSums::default(), AgeSums::default());
    for file in &files {
        all.add(file, now);
        let mut one = AgeSums::default();
        one.add(file, now);
        parts.merge(&one);
    }
    assert_eq!(all, parts);
    assert_eq!((all.files, all.ageless, all.allocated), (4, 1, Bytes(12_288)));
    assert_eq!((all.ranges[0].files, all.ranges[6].files), (1, 2));
    assert_eq!((all.oldest_ns, all.newest_ns), (Some(1_000 * SECOND), Some(999_999 * SECOND)));
}

const NOW: i64 = 1_800_000_000 * SECOND;

/// How many are left.
fn left(files: &[Aged], cap: Cap) -> usize {
    kept(files, cap).len()
}

fn kept(files: &[Aged], cap: Cap) -> Vec<Aged> {
    let mut cutoff = Cutoff::new(NOW);
    files.iter().for_each(|file| cutoff.add(file));
    if !cutoff.narrow(cap) {
        return files.to_vec();
    }
    files.iter().for_each(|file| cutoff.add(file));
    let mut border = cutoff.border().unwrap();
    files.iter().filter(|file| border.claim(file).is_none()).copied().collect()
}

#[test]
fn a_claim_of_a_file_that_stayed_is_given_back() {
    let mut border = Border { now_ns: NOW, age_s: 100, files: 1, allocated: Bytes(5) };
    let file = Aged { time_ns: Some(NOW - 100 * SECOND), bytes: Bytes(1), allocated: Bytes(9) };
    let claim = border.claim(&file).unwrap();
    assert_eq!(border.claim(&file), None);
    border.give_back(claim);
    assert_eq!((border.files, border.allocated), (1, Bytes(5)));
    // Older files go in any case and take nothing with them; files of unknown age are young.
    let older = Aged { time_ns: Some(-1), ..file };
    assert_eq!(border.claim(&older), Some(Claim::default()));
    assert_eq!(border.claim(&Aged { time_ns: None, ..file }), None);
}

#[test]
fn the_oldest_go_until_the_rest_is_within_the_cap() {
    // Days apart, all in one second, and from before 1970.
    for (begin, step) in [(1_700_000_000, 40_000), (1_700_000_000, 0), (-100_000, 100), (-9_000_000_000, 1)] {
        let files: Vec<Aged> = (0..100).map(|at| aged(begin + at * step, 10)).collect();
        for keep in 0..=100 {
            assert_eq!(left(&files, Cap { files: Some(keep), allocated: None, freed: None }) as u64, keep);
            let size = Cap { files: None, allocated: Some(Bytes(keep * 10 + 5)), freed: None };
            assert_eq!(left(&files, size) as u64, keep);
        }
        let both = Cap { files: Some(50), allocated: Some(Bytes(300)), freed: None };
        assert_eq!(left(&files, both), 30);
        assert_eq!(left(&files, Cap::default()), 100);
        // To free 95 bytes ten files of ten go, and to free more than there is all of them.
        let freed = |bytes| Cap { freed: Some(Bytes(bytes)), ..Cap::default() };
        assert_eq!([0, 95, 1_000, 5_000].map(|bytes| left(&files, freed(bytes))), [100, 90, 0, 0]);
    }
    assert_eq!(left(&[], Cap { files: Some(0), allocated: None, freed: None }), 0);
}

#[test]
fn the_future_and_the_unknown_are_of_age_zero() {
    // 2200, beyond 2^32 seconds, the end of the clock, unknown: as young as a file made now, and no older ones go for them.
    for time_ns in [Some(7_258_118_400 * SECOND), Some((1 << 33) * SECOND), Some(i64::MAX), None] {
        let odd = Aged { time_ns, bytes: Bytes(1), allocated: Bytes(1_000) };
        let fresh = Aged { time_ns: Some(NOW), ..odd };
        for size in [0, 5, 999, 1_000, 1_500, 2_000, 2_010, 2_049] {
            let cap = Cap { files: None, allocated: Some(Bytes(size)), freed: None };
            let of = |young: [Aged; 2]| {
                let old = (1..=5).map(|day| aged(1_800_000_000 - day * 86_400, 10));
                kept(&young.into_iter().chain(old).collect::<Vec<_>>(), cap).len()
            };
            assert_eq!(of([odd, fresh]), of([fresh, fresh]), "{time_ns:?}, {size}");
            assert_eq!(of([fresh, odd]), of([fresh, fresh]), "{time_ns:?}, {size}");
        }
    }
}
