//! Whom a thread waits for at a futex, by the words of memory there: futex(2), and the layouts of glibc's locks.

/// `FUTEX_TID_MASK`: the part of a word that is the id of a thread, where it is one.
const TID: u32 = 0x3fff_ffff;
/// `FUTEX_WAITERS`: it is a lock, and the kernel knows that threads wait for it.
const WAITERS: u32 = 1 << 31;
/// The value of a mutex for which threads wait: glibc's lll_lock, Rust's and Go's.
const CONTENDED: u32 = 2;
/// The owner of a mutex of glibc, in words from the word that is waited at.
const OWNER: usize = 2;
/// The writer of a lock for readers and writers of glibc, from either of the words that are waited at.
const WRITERS: [usize; 2] = [3, 4];

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// The words name this thread.
    Thread(u32),
    /// It is no lock: the end of this thread is awaited.
    EndOf(u32),
    /// It is held, and the words do not say by whom.
    Unnamed,
    /// It may be no lock: the words of a condition or a semaphore do not say whom it waits for.
    Unknown,
}

/// Returns who holds a lock, by the words at its address. `is_other` says whether a number is that of another thread of the process.
pub fn holder(words: &[u32], is_other: impl Fn(u32) -> bool) -> LockHolder {
    let word = |place: usize| words.get(place).copied().unwrap_or(0);
    // A lock that inherits priority is its owner; the end of a thread is awaited at its id.
    if is_other(word(0) & TID) {
        let tid = word(0) & TID;
        return if word(0) & WAITERS == 0 { LockHolder::EndOf(tid) } else { LockHolder::Thread(tid) };
    }
    if word(0) == CONTENDED {
        return if is_other(word(OWNER)) { LockHolder::Thread(word(OWNER)) } else { LockHolder::Unnamed };
    }
    let writer = WRITERS.map(word).into_iter().find(|tid| is_other(*tid));
    writer.map_or(LockHolder::Unknown, LockHolder::Thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_the_holder() {
        let holder = |words: &[u32]| holder(words, |tid| tid == 4711);
        // A mutex of glibc: lock, count, owner, users.
        assert_eq!(holder(&[2, 0, 4711, 1]), LockHolder::Thread(4711));
        // One that does not know its owner, or whose owner is the thread that waits.
        assert_eq!(holder(&[2, 0, 0, 0]), LockHolder::Unnamed);
        assert_eq!(holder(&[2, 0, 4712, 1]), LockHolder::Unnamed);
        // One that inherits priority, with FUTEX_WAITERS; the end of a thread.
        assert_eq!(holder(&[0x8000_0000 | 4711]), LockHolder::Thread(4711));
        assert_eq!(holder(&[4711, 0, 0, 0]), LockHolder::EndOf(4711));
        // A lock for writers, waited for at its third and at its fourth word.
        assert_eq!(holder(&[3, 0, 0, 0, 4711]), LockHolder::Thread(4711));
        assert_eq!(holder(&[1, 0, 0, 4711, 0]), LockHolder::Thread(4711));
        // A condition.
        assert_eq!(holder(&[0, 0, 0, 0, 0]), LockHolder::Unknown);
        assert_eq!(holder(&[]), LockHolder::Unknown);
    }
}
