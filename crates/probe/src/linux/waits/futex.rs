//! Who holds the lock at an address.

use facts::linux::pid_syscall::PidSyscall;
use facts::task::chain::{
    Activity, Awaited, Dependence, LockHolder, Object, ThreadNow, WORDS, WORDS_BEFORE, holder,
};
use facts::task::wait::{Wait, WaitReason};

use super::WaitReader;

impl WaitReader {
    /// Finds whom a thread waits for at an address of its process.
    pub(super) fn lock(&mut self, thread: &ThreadNow, address: u64) -> Awaited {
        let key = (thread.pid, address);
        if let Some(known) = self.held.get(&key).filter(|known| !is_on(known, thread.tid)) {
            return known.clone();
        }
        let found = self.find_lock(thread, address);
        if matches!(found.on, Dependence::Thread { pid, .. } if pid == thread.pid) {
            self.held.insert(key, found.clone());
        }
        found
    }

    fn find_lock(&mut self, thread: &ThreadNow, address: u64) -> Awaited {
        let is_one = matches!(thread.activity, Activity::Waits(Wait { call: Some(call), .. }) if call.name() == "futex");
        let call = is_one.then(|| self.processes.call(thread)).flatten();
        let Some(PidSyscall::Asleep { arguments, .. }) = call else {
            return Awaited::UNKNOWN;
        };
        let (pid, before) = (thread.pid, WORDS_BEFORE as u64 * 4);
        let Some(words) = self
            .processes
            .words::<WORDS>(pid, address.wrapping_sub(before))
            .or_else(|| self.first_words(pid, address))
        else {
            return Awaited::UNKNOWN;
        };
        let Some(process) = self.processes.process(pid) else { return Awaited::UNKNOWN };
        // The words have the numbers of the process's own namespace.
        let numbers = self.processes.numbers(pid);
        let found = holder(arguments[1] as u32, &words, |number| numbers.contains_key(&number));
        let (object, number) = match found {
            LockHolder::Unknown => return Awaited::UNKNOWN,
            LockHolder::Unnamed => {
                // A barrier looks the same.
                let on = only_one_awake(thread, &process.threads);
                let is_known = on != Dependence::Unknown;
                return if is_known { Awaited::new(Object::Lock(address), on) } else { Awaited::UNKNOWN };
            }
            LockHolder::EndOf(number) => (Object::ThreadEnd, number),
            LockHolder::Thread(number) => (Object::Lock(address), number),
        };
        let on = match numbers.get(&number) {
            Some(tid) => Dependence::Thread { pid, tid: *tid, is_probable: false },
            None => self.thread_elsewhere(pid, number),
        };
        Awaited::new(object, on)
    }

    /// The words at a lock that begins a mapping, as in shared memory: before it there are none.
    fn first_words(&self, pid: u32, address: u64) -> Option<[u32; WORDS]> {
        let following = self.processes.words::<{ WORDS - WORDS_BEFORE }>(pid, address)?;
        let mut words = [0; WORDS];
        words[WORDS_BEFORE..].copy_from_slice(&following);
        Some(words)
    }

    /// The thread of another process that a lock in shared memory names; unknown if there is none any more, or in another namespace.
    fn thread_elsewhere(&mut self, pid: u32, number: u32) -> Dependence {
        let is_here = self.processes.is_numbered(pid, pid, pid);
        let process = self.processes.number_in_status(number, number, b"Tgid:").filter(|_| is_here);
        process.map_or(Dependence::Unknown, |pid| Dependence::Thread { pid, tid: number, is_probable: true })
    }
}

/// Returns whether it waits for a thread.
fn is_on(awaited: &Awaited, thread: u32) -> bool {
    matches!(awaited.on, Dependence::Thread { tid, .. } if tid == thread)
}

/// The thread that probably has a lock: the only one of the process that does not wait for a lock itself, and has something to do.
fn only_one_awake(thread: &ThreadNow, threads: &[ThreadNow]) -> Dependence {
    let is_at_a_lock =
        |other: &ThreadNow| matches!(other.activity, Activity::Waits(Wait { reason: WaitReason::Lock, .. }));
    let mut others = threads.iter().filter(|other| other.tid != thread.tid && !is_at_a_lock(other));
    match (others.next(), others.next()) {
        (Some(only), None) if !only.is_idle() => {
            Dependence::Thread { pid: thread.pid, tid: only.tid, is_probable: true }
        }
        _ => Dependence::Unknown,
    }
}
