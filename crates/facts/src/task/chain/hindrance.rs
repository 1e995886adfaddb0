//! Waits that another task or machine should end soon.

use core::net::SocketAddr;

use super::now::{Activity, Awaited, Dependence, Object, ThreadNow, WaitSource};
use crate::linux::system_calls::SystemCall;
use crate::linux::tcp_info::Question;
use crate::task::wait::{Wait, WaitReason};

/// An answer that is due for a shorter time is none that anything waits for, in milliseconds.
const MIN_DUE_MS: u32 = 20;

/// What holds up threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// A lock at an address of a process.
    Lock {
        /// The process.
        pid: u32,
        /// The address.
        address: u64,
    },
    /// The lock of a file.
    FileLock {
        /// Its path.
        path: String,
        /// Who holds it.
        holder: u32,
    },
    /// A process that does not read what is sent to it.
    Reader {
        /// The process.
        pid: u32,
    },
    /// A process that owes answers.
    Server {
        /// The process.
        pid: u32,
    },
    /// Another machine that owes answers, or does not read.
    Remote {
        /// Its address.
        address: SocketAddr,
        /// It does not read.
        is_reader: bool,
        /// It does not even acknowledge what was sent.
        is_silent: bool,
    },
}

/// A wait of a thread, as far as it counts.
pub(super) struct CountedWait {
    pub(super) hindrance: Hindrance,
    pub(super) is_probable: bool,
    pub(super) asked_ms: u32,
}

/// Returns whether a wait can be one that counts, before its object is looked for.
pub(super) fn can_be_held_up(wait: Wait) -> bool {
    match wait.reason {
        WaitReason::Lock | WaitReason::FileLock | WaitReason::Events => true,
        WaitReason::LocalSocket | WaitReason::RemoteSocket | WaitReason::Socket => true,
        WaitReason::Pipe => wait.call.is_some_and(SystemCall::is_for_room),
        _ => false,
    }
}

/// Returns whether someone else should end a wait: for an answer only if its process asked for it.
pub(super) fn question(awaited: &Awaited, wait: Wait, has_asked_again: bool) -> Question {
    match &awaited.object {
        Object::Connection { .. } | Object::UnixSocket(_) | Object::Pipe if awaited.is_for_room => {
            Question::Unanswered
        }
        Object::Connection { is_made_here: true, tcp: Some(tcp), .. } => match tcp.question() {
            Question::Unanswered if tcp.last_sent_ms < MIN_DUE_MS => Question::None,
            Question::Unknown if has_asked_again => Question::Unanswered,
            question => question,
        },
        Object::Lock(_) => Question::Unanswered,
        Object::File(_) if wait.reason == WaitReason::FileLock => Question::Unanswered,
        _ => Question::None,
    }
}

/// Returns what holds up a thread; `None` if that is not known.
pub(super) fn counted_wait(
    source: &mut impl WaitSource,
    thread: &ThreadNow,
    awaited: &Awaited,
) -> Option<CountedWait> {
    let certain = |hindrance| CountedWait { hindrance, is_probable: false, asked_ms: 0 };
    match &awaited.object {
        Object::Lock(address) => {
            let is_named = matches!(awaited.on, Dependence::Thread { is_probable: false, .. });
            is_named.then(|| certain(Hindrance::Lock { pid: thread.pid, address: *address }))
        }
        Object::File(path) => {
            let (holder, is_probable) = candidate(source, &awaited.on)?;
            let hindrance = Hindrance::FileLock { path: path.clone(), holder };
            Some(CountedWait { hindrance, is_probable, asked_ms: 0 })
        }
        Object::Connection { remote, tcp, .. } if awaited.on == Dependence::None => {
            let is_silent = tcp.is_some_and(|tcp| tcp.retransmits > 0);
            let asked_ms = tcp.map_or(0, |tcp| tcp.last_sent_ms);
            let hindrance = Hindrance::Remote { address: *remote, is_reader: awaited.is_for_room, is_silent };
            Some(CountedWait { hindrance, is_probable: false, asked_ms })
        }
        object => {
            let (pid, is_probable) = candidate(source, &awaited.on)?;
            let hindrance =
                if awaited.is_for_room { Hindrance::Reader { pid } } else { Hindrance::Server { pid } };
            let asked_ms = match object {
                Object::Connection { tcp: Some(tcp), .. } => tcp.last_sent_ms,
                _ => 0,
            };
            Some(CountedWait { hindrance, is_probable, asked_ms })
        }
    }
}

/// The process that something depends on, and whether that is probable: of several the only one that has something to do.
fn candidate(source: &mut impl WaitSource, on: &Dependence) -> Option<(u32, bool)> {
    let Dependence::Processes { pids, is_probable } = on else { return None };
    if let [pid] = pids[..] {
        return Some((pid, *is_probable));
    }
    let has_work = |thread: &ThreadNow| {
        let waits_for_child =
            matches!(thread.activity, Activity::Waits(wait) if wait.reason == WaitReason::Child);
        !thread.is_idle() && !waits_for_child && thread.activity != Activity::Ended
    };
    let mut busy = pids
        .iter()
        .filter(|pid| source.process(**pid).is_some_and(|process| process.threads.iter().any(has_work)));
    match (busy.next(), busy.next()) {
        (Some(only), None) => Some((*only, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::linux::system_calls::Machine;
    use crate::task::chain::ProcessNow;
    use crate::task::wait::FileKind;

    /// Processes of one thread each, by their system calls.
    struct Processes(Vec<(u32, i32)>);

    impl WaitSource for Processes {
        fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
            let (_, call) = self.0.iter().find(|(known, _)| *known == pid)?;
            let wait = Wait::of_call(Machine::X86_64, *call, [3, 0, 0, 0], FileKind::Unknown)?;
            let thread = ThreadNow { tid: pid, pid, comm: String::new(), activity: Activity::Waits(wait) };
            Some(Rc::new(ProcessNow { pid, threads: vec![thread] }))
        }

        fn awaited(&mut self, _thread: &ThreadNow) -> Awaited {
            Awaited::NOTHING
        }
    }

    #[test]
    fn of_several_servers_the_one_with_work_is_probable() {
        let on = Dependence::Processes { pids: vec![7, 8], is_probable: false };
        let found = |parent: i32, child: i32| candidate(&mut Processes(vec![(7, parent), (8, child)]), &on);
        let [accept, wait4, sleep] = [43, 61, 230];
        assert_eq!((found(accept, sleep), found(wait4, sleep)), (Some((8, true)), Some((8, true))));
        assert_eq!((found(sleep, sleep), found(accept, accept)), (None, None));
    }
}
