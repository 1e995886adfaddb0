//! Whom a thread waits for at a futex, by its operation and the words of memory there: futex(2), and the layouts of glibc's locks.

/// `FUTEX_TID_MASK`: the part of a word that is the id of a thread, where it is one.
const TID: u32 = 0x3fff_ffff;
/// `FUTEX_WAITERS`: it is a lock that the kernel knows, one that inherits priority or is robust.
const WAITERS: u32 = 1 << 31;
/// `FUTEX_PRIVATE_FLAG`, and `FUTEX_CMD_MASK` without `FUTEX_CLOCK_REALTIME`.
const PRIVATE: u32 = 128;
const OPERATION: u32 = 127;
/// `FUTEX_WAIT`, which glibc's mutexes use; Rust's locks and conditions use another one.
const WAIT: u32 = 0;
/// The value of a mutex for which threads wait.
const CONTENDED: u32 = 2;
/// `PTHREAD_RWLOCK_WRPHASE` and `PTHREAD_RWLOCK_WRLOCKED`: a writer has it.
const IS_WRITTEN: u32 = 3;

/// How many words before and after the one that is waited at say something.
pub const WORDS_BEFORE: usize = 3;
/// The number of words in all.
pub const WORDS: usize = WORDS_BEFORE + 5;

/// Whom a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// It is a lock that this thread holds, of whichever process.
    Thread(u32),
    /// It is not a lock: the thread waits until this one ends.
    EndOf(u32),
    /// It is a lock, and the words do not say who holds it.
    Unnamed,
    /// It may be no lock: a condition and a semaphore do not say whom they wait for.
    Unknown,
}

/// Returns whom a thread waits for, by the operation of its call and the words around its address. `is_thread` says whether a number is that
/// of a thread of the process.
pub fn holder(operation: u32, words: &[u32; WORDS], is_thread: impl Fn(u32) -> bool) -> LockHolder {
    let word = |place: isize| words[WORDS_BEFORE.saturating_add_signed(place)];
    let tid = word(0) & TID;
    let is_private = operation & PRIVATE != 0;
    if word(0) & WAITERS != 0 && tid != 0 {
        return LockHolder::Thread(tid);
    }
    if word(0) == CONTENDED {
        // Of a mutex of glibc the owner is the third word; its own locks, and Go's, have none.
        return match (word(2), operation & OPERATION) {
            (owner, _) if is_thread(owner) => LockHolder::Thread(owner),
            (0, WAIT) => LockHolder::Unnamed,
            (owner, WAIT) if !is_private => LockHolder::Thread(owner),
            _ => LockHolder::Unknown,
        };
    }
    // pthread_join(3): at the end of the thread the kernel clears the word and wakes those who wait there, which must not be private.
    if !is_private && is_thread(tid) && tid == word(0) {
        return LockHolder::EndOf(tid);
    }
    // A lock for readers and writers: whether a writer has it, and which, lies around the word that is waited at, which is the third or the
    // fourth of it.
    for (readers, writer) in [(-2, 4), (-3, 3)] {
        if word(readers) & IS_WRITTEN == IS_WRITTEN && is_thread(word(writer)) {
            return LockHolder::Thread(word(writer));
        }
    }
    LockHolder::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT_BITSET_REALTIME: u32 = 0x109;

    #[test]
    fn words_name_the_holder() {
        let holder = |operation: u32, before: [u32; 3], words: [u32; 5]| {
            let mut all = [0; WORDS];
            all[..WORDS_BEFORE].copy_from_slice(&before);
            all[WORDS_BEFORE..].copy_from_slice(&words);
            holder(operation, &all, |tid| tid == 4711)
        };
        let private = |words: [u32; 5]| holder(WAIT | PRIVATE, [0; 3], words);
        // A mutex of glibc: lock, count, owner, users. One that has no owner.
        assert_eq!(private([2, 0, 4711, 1, 0]), LockHolder::Thread(4711));
        assert_eq!(private([2, 0, 0, 0, 0]), LockHolder::Unnamed);
        // The owner has ended, or is of another process.
        assert_eq!(private([2, 0, 4712, 1, 0]), LockHolder::Unknown);
        assert_eq!(holder(WAIT, [0; 3], [2, 0, 4712, 1, 0]), LockHolder::Thread(4712));
        // A condition of Rust that was notified twice, and a gate of one's own that holds a number.
        assert_eq!(holder(WAIT_BITSET_REALTIME | PRIVATE, [0; 3], [2, 0, 0, 0, 0]), LockHolder::Unknown);
        assert_eq!(private([4711, 0, 0, 0, 0]), LockHolder::Unknown);
        // One that inherits priority, or is robust; the end of a thread.
        assert_eq!(private([WAITERS | 4711, 0, 0, 0, 0]), LockHolder::Thread(4711));
        assert_eq!(holder(WAIT_BITSET_REALTIME, [0; 3], [4711, 0, 0, 0, 0]), LockHolder::EndOf(4711));
        // A lock for writers, waited for at its third and at its fourth word; one that readers have.
        assert_eq!(holder(WAIT | PRIVATE, [0, 11, 1], [3, 0, 0, 0, 4711]), LockHolder::Thread(4711));
        assert_eq!(holder(WAIT | PRIVATE, [11, 1, 3], [1, 0, 0, 4711, 0]), LockHolder::Thread(4711));
        assert_eq!(holder(WAIT | PRIVATE, [0, 8, 1], [3, 0, 0, 0, 4711]), LockHolder::Unknown);
        // A condition before a mutex that is held.
        assert_eq!(
            holder(WAIT_BITSET_REALTIME | PRIVATE, [0, 2, 8], [0, 0, 1, 0, 4711]),
            LockHolder::Unknown
        );
    }
}
