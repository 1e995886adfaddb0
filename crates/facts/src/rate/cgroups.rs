//! The usage of a cgroup between two readings.

use super::{Width, counter_delta};
use crate::cgroup::CgroupUsage;
use crate::linux::cgroup_io::CgroupIo;
use crate::unit::{Bytes, Nanos};

impl CgroupUsage {
    /// The counters' increase since an earlier reading; memory is what it is now. Absent is what one of the two lacks.
    pub fn since(&self, before: &Self) -> Self {
        let delta = |before: u64, now: u64| counter_delta(before, now, Width::Bits64);
        let nanos = |before: Option<Nanos>, now: Option<Nanos>| delta(before?.0, now?.0).map(Nanos);
        let bytes = |before: Bytes, now: Bytes| delta(before.0, now.0).map(Bytes);
        Self {
            cpu: nanos(before.cpu, self.cpu),
            throttled: nanos(before.throttled, self.throttled),
            throttled_periods: before
                .throttled_periods
                .zip(self.throttled_periods)
                .and_then(|(before, now)| delta(before, now)),
            memory: self.memory,
            io: before.io.zip(self.io).and_then(|(before, now)| {
                Some(CgroupIo {
                    read: bytes(before.read, now.read)?,
                    written: bytes(before.written, now.written)?,
                })
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_subtracted_and_memory_is_not() {
        let usage = |cpu: u64, read: Option<u64>| CgroupUsage {
            cpu: Some(Nanos(cpu)),
            memory: Some(Bytes(7)),
            io: read.map(|read| CgroupIo { read: Bytes(read), written: Bytes(0) }),
            ..CgroupUsage::default()
        };
        let since = usage(30, Some(9)).since(&usage(10, Some(4)));
        assert_eq!((since.cpu, since.memory), (Some(Nanos(20)), Some(Bytes(7))));
        assert_eq!(since.io, Some(CgroupIo { read: Bytes(5), written: Bytes(0) }));
        assert_eq!(usage(30, Some(9)).since(&usage(10, None)).io, None);
        // Another cgroup of the same name.
        assert_eq!(usage(3, None).since(&usage(10, None)).cpu, None);
    }
}
