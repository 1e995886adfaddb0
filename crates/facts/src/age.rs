//! How old files are: which of their times counts, and sums by age.

use crate::unit::{Bytes, Nanos};

/// The four times of a file (statx(2)), any of which may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeBy {
    /// The last reading: with `relatime`, to the day.
    pub accessed: bool,
    /// The making, where the filesystem keeps it.
    pub born: bool,
    /// The last change of the content or of the inode (ctime).
    pub changed: bool,
    /// The last change of content.
    pub modified: bool,
}

impl AgeBy {
    /// By the last change of content alone.
    pub const MODIFIED: Self = Self { accessed: false, born: false, changed: false, modified: true };

    /// The times of either.
    pub fn union(self, other: Self) -> Self {
        Self {
            accessed: self.accessed || other.accessed,
            born: self.born || other.born,
            changed: self.changed || other.changed,
            modified: self.modified || other.modified,
        }
    }

    /// From the letters `a`, `b`, `c` and `m`, in any order; none for others, or for none.
    pub fn parse(letters: &str) -> Option<Self> {
        let mut by = Self { modified: false, ..Self::MODIFIED };
        for letter in letters.bytes() {
            match letter {
                b'a' => by.accessed = true,
                b'b' => by.born = true,
                b'c' => by.changed = true,
                b'm' => by.modified = true,
                _ => return None,
            }
        }
        (!letters.is_empty()).then_some(by)
    }

    /// The letters again.
    pub fn letters(self) -> String {
        [(self.accessed, 'a'), (self.modified, 'm'), (self.changed, 'c'), (self.born, 'b')]
            .into_iter()
            .filter_map(|(counts, letter)| counts.then_some(letter))
            .collect()
    }

    /// The newest of the times that count; `None` if one of them is not known, since it might be newer. Making a file
    /// changes it, so that no file was made later than it was last changed.
    pub fn pick(self, times: &FileTimes) -> Option<i64> {
        let of = |counts: bool, time: Option<i64>| match (counts, time) {
            (false, _) => Some(i64::MIN),
            (true, time) => time,
        };
        let is_changed_known = self.changed && times.changed_ns.is_some();
        let born = of(self.born, times.born_ns).or(is_changed_known.then_some(i64::MIN))?;
        let [accessed, changed, modified] = [
            of(self.accessed, times.accessed_ns)?,
            of(self.changed, times.changed_ns)?,
            of(self.modified, times.modified_ns)?,
        ];
        Some(born.max(accessed).max(changed).max(modified))
    }
}

/// When what happened to a file, in nanoseconds since 1970; absent where it was not asked for or is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTimes {
    /// stx_atime.
    pub accessed_ns: Option<i64>,
    /// stx_btime.
    pub born_ns: Option<i64>,
    /// stx_ctime.
    pub changed_ns: Option<i64>,
    /// stx_mtime.
    pub modified_ns: Option<i64>,
}

/// The properties of one file that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aged {
    /// The time that counts, in nanoseconds since 1970; `None` if it is not known.
    pub time_ns: Option<i64>,
    /// How long it is.
    pub bytes: Bytes,
    /// The space that it takes on the disk.
    pub allocated: Bytes,
}

impl Aged {
    /// Returns true if it is at least so old. A file of unknown age is not old, and a file dated in the future has not begun to age.
    pub fn is_old(&self, older: Nanos, now_ns: i64) -> bool {
        self.time_ns.is_some_and(|time_ns| i128::from(now_ns) - i128::from(time_ns) >= i128::from(older.0))
    }
}

/// Upper bounds of all ages but the last, in seconds, and what they are called.
pub const AGE_BOUNDS: [(u64, &str); 9] = [
    (60, "1 minute"),
    (600, "10 minutes"),
    (3_600, "1 hour"),
    (21_600, "6 hours"),
    (86_400, "1 day"),
    (604_800, "1 week"),
    (2_592_000, "30 days"),
    (7_776_000, "90 days"),
    (31_536_000, "1 year"),
];

/// Files and bytes of one range of ages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgeRange {
    /// Files.
    pub files: u64,
    /// Their lengths.
    pub bytes: Bytes,
}

/// Files summed by age.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgeSums {
    /// Files.
    pub files: u64,
    /// Their lengths.
    pub bytes: Bytes,
    /// The space that they take on the disk.
    pub allocated: Bytes,
    /// The oldest time, in nanoseconds since 1970.
    pub oldest_ns: Option<i64>,
    /// The newest.
    pub newest_ns: Option<i64>,
    /// Files whose time is not known: in no range.
    pub ageless: u64,
    /// By [`AGE_BOUNDS`], and what is older than the last of them.
    pub ranges: [AgeRange; AGE_BOUNDS.len() + 1],
}

impl AgeSums {
    /// Adds a file, as old as it is at `now_ns`. What is from the future is as young as can be.
    pub fn add(&mut self, file: &Aged, now_ns: i64) {
        self.files += 1;
        self.bytes += file.bytes;
        self.allocated += file.allocated;
        let Some(time_ns) = file.time_ns else {
            self.ageless += 1;
            return;
        };
        self.oldest_ns = Some(self.oldest_ns.map_or(time_ns, |oldest| oldest.min(time_ns)));
        self.newest_ns = Some(self.newest_ns.map_or(time_ns, |newest| newest.max(time_ns)));
        let age_s = age_ns(time_ns, now_ns) / 1_000_000_000;
        let range = AGE_BOUNDS.iter().position(|(bound, _)| age_s < *bound).unwrap_or(AGE_BOUNDS.len());
        self.ranges[range].files += 1;
        self.ranges[range].bytes += file.bytes;
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.allocated += other.allocated;
        self.ageless += other.ageless;
        self.oldest_ns = [self.oldest_ns, other.oldest_ns].into_iter().flatten().min();
        self.newest_ns = [self.newest_ns, other.newest_ns].into_iter().flatten().max();
        for (range, other) in self.ranges.iter_mut().zip(&other.ranges) {
            range.files += other.files;
            range.bytes += other.bytes;
        }
    }
}

/// How long ago that was; zero for the future.
pub fn age_ns(time_ns: i64, now_ns: i64) -> u64 {
    u64::try_from(i128::from(now_ns) - i128::from(time_ns)).unwrap_or(0)
}

/// Finds which of many files have to go, oldest first, for the rest to be within a cap. It looks at all files twice, first by
/// 18 hours and then by the second, in a megabyte of memory for any number of them.
///
/// Files dated in the future and files of unknown age count as age zero: they go last, but they can go.
#[derive(Clone, Debug)]
pub struct Cutoff {
    /// The time that ages are counted from, in nanoseconds since 1970.
    now_ns: i64,
    /// 2^16 seconds each, oldest first, and in the second look the seconds of one of these.
    buckets: Vec<Bucket>,
    /// The bucket that the second look divides.
    border: Option<u64>,
    /// The files and the space that must go in addition to everything before the border.
    excess: Bucket,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    files: u64,
    allocated: u64,
}

/// The limits on the files that may stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cap {
    /// At most so many files.
    pub files: Option<u64>,
    /// At most so much of the disk.
    pub allocated: Option<Bytes>,
    /// At least so much of the disk is to be freed, or all that they take.
    pub freed: Option<Bytes>,
}

/// The age at which the files that have to go end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The time that ages are counted from, in nanoseconds since 1970.
    pub now_ns: i64,
    /// In whole seconds. Older files go and younger files stay.
    pub age_s: u64,
    /// At least so many files of this age go.
    pub files: u64,
    /// At least so much of the disk goes with them.
    pub allocated: Bytes,
}

/// The part of a border's excess that a file takes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    files: u64,
    allocated: Bytes,
}

impl Border {
    /// Returns the claim of a file that has to go; `None` if it stays. Its part of the excess is taken at once, so that two
    /// threads never delete for the same part. If the file stays after all, its claim must be [given back](Self::give_back).
    pub fn claim(&mut self, file: &Aged) -> Option<Claim> {
        let age_s = capped_age_s(file, self.now_ns);
        if age_s > self.age_s {
            return Some(Claim::default());
        }
        if age_s < self.age_s || self.files == 0 && self.allocated == Bytes(0) {
            return None;
        }
        let claim = Claim { files: self.files.min(1), allocated: self.allocated.min(file.allocated) };
        self.files -= claim.files;
        self.allocated = self.allocated.saturating_sub(claim.allocated);
        Some(claim)
    }

    /// The file is still there: another has to go.
    pub fn give_back(&mut self, claim: Claim) {
        self.files += claim.files;
        self.allocated += claim.allocated;
    }
}

/// Buckets of each look.
const BUCKETS: u64 = 1 << 16;
/// The greatest age that is distinguished: 136 years.
const MAX_AGE_S: u64 = BUCKETS * BUCKETS - 1;

/// An age in whole seconds; zero for the future and for unknown times.
fn capped_age_s(file: &Aged, now_ns: i64) -> u64 {
    let age_ns = file.time_ns.map_or(0, |time_ns| age_ns(time_ns, now_ns));
    (age_ns / 1_000_000_000).min(MAX_AGE_S)
}

impl Cutoff {
    /// For ages at this time, in nanoseconds since 1970.
    pub fn new(now_ns: i64) -> Self {
        let buckets = vec![Bucket::default(); BUCKETS as usize];
        Self { now_ns, buckets, border: None, excess: Bucket::default() }
    }

    /// Counts a file, in either look.
    pub fn add(&mut self, file: &Aged) {
        let rank = MAX_AGE_S - capped_age_s(file, self.now_ns);
        let place = match self.border {
            None => rank / BUCKETS,
            Some(border) if rank / BUCKETS == border => rank % BUCKETS,
            Some(_) => return,
        };
        let bucket = &mut self.buckets[place as usize];
        bucket.files += 1;
        bucket.allocated += file.allocated.0;
    }

    /// Adds what another thread counted in the same look.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, other) in self.buckets.iter_mut().zip(&other.buckets) {
            bucket.files += other.files;
            bucket.allocated += other.allocated;
        }
    }

    /// Ends the first look. Returns whether a second one is needed; it is not if all files may stay.
    pub fn narrow(&mut self, cap: Cap) -> bool {
        let all = self.buckets.iter().fold(Bucket::default(), |sum, bucket| Bucket {
            files: sum.files + bucket.files,
            allocated: sum.allocated + bucket.allocated,
        });
        let excess = |all: u64, cap: Option<u64>| cap.map_or(0, |cap| all.saturating_sub(cap));
        self.excess = Bucket {
            files: excess(all.files, cap.files),
            allocated: excess(all.allocated, cap.allocated.map(|bytes| bytes.0))
                .max(cap.freed.map_or(0, |bytes| bytes.0.min(all.allocated))),
        };
        self.border = self.pass();
        self.buckets.fill(Bucket::default());
        self.border.is_some()
    }

    /// Ends the second look.
    pub fn border(&mut self) -> Option<Border> {
        let border = self.border?;
        let rank = border * BUCKETS + self.pass()?;
        let Bucket { files, allocated } = self.excess;
        Some(Border { now_ns: self.now_ns, age_s: MAX_AGE_S - rank, files, allocated: Bytes(allocated) })
    }

    /// The bucket in which the excess ends.
    fn pass(&mut self) -> Option<u64> {
        for (place, bucket) in (0..).zip(&self.buckets) {
            if self.excess == Bucket::default() {
                return None;
            }
            if bucket.files >= self.excess.files && bucket.allocated >= self.excess.allocated {
                return Some(place);
            }
            self.excess.files = self.excess.files.saturating_sub(bucket.files);
            self.excess.allocated = self.excess.allocated.saturating_sub(bucket.allocated);
        }
        None
    }
}

#[cfg(test)]
mod tests;
