//! What one user may know of waits, read with more privileges than they have.

use std::rc::Rc;

use super::now::{Activity, Awaited, Dependence, ProcessNow, ThreadNow, WaitSource};

/// A source that shows the processes of one user, and of others what every user sees: names, and which threads run.
#[derive(Debug)]
pub struct OfUser<'s, S, F> {
    source: &'s mut S,
    is_theirs: F,
}

impl<'s, S: WaitSource, F: FnMut(u32) -> bool> OfUser<'s, S, F> {
    /// Hides all processes of a source but those for which `is_theirs` returns true.
    pub fn new(source: &'s mut S, is_theirs: F) -> Self {
        Self { source, is_theirs }
    }
}

impl<S: WaitSource, F: FnMut(u32) -> bool> WaitSource for OfUser<'_, S, F> {
    fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
        let process = self.source.process(pid)?;
        if (self.is_theirs)(pid) {
            return Some(process);
        }
        let hidden = |thread: &ThreadNow| ThreadNow {
            activity: match thread.activity {
                Activity::Waits(_) => Activity::Hidden,
                activity => activity,
            },
            ..thread.clone()
        };
        let threads = process.threads.iter().map(hidden).collect();
        Some(Rc::new(ProcessNow { pid, threads }))
    }

    fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
        if !(self.is_theirs)(thread.pid) {
            return Awaited { on: Dependence::OtherUser, ..Awaited::NOTHING };
        }
        let awaited = self.source.awaited(thread);
        let on = match awaited.on {
            Dependence::Thread { pid, .. } if !(self.is_theirs)(pid) => Dependence::OtherUser,
            Dependence::Processes { pids, is_probable } => {
                let count = pids.len();
                let pids: Vec<u32> = pids.into_iter().filter(|pid| (self.is_theirs)(*pid)).collect();
                match pids.len() {
                    0 => Dependence::OtherUser,
                    // It may be one of the others as well.
                    left => Dependence::Processes { is_probable: is_probable || left < count, pids },
                }
            }
            on => on,
        };
        Awaited { on, ..awaited }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::system_calls::Machine;
    use crate::task::chain::{End, Object, chain_of};
    use crate::task::wait::{FileKind, Wait};

    /// Each process has one thread, which waits for a pipe of the next two processes.
    struct Pipes;

    impl WaitSource for Pipes {
        fn process(&mut self, pid: u32) -> Option<Rc<ProcessNow>> {
            let wait = Wait::of_call(Machine::X86_64, 0, [3, 0, 0, 0], FileKind::Pipe)?;
            let thread =
                ThreadNow { tid: pid, pid, comm: format!("p{pid}"), activity: Activity::Waits(wait) };
            (pid < 4).then(|| Rc::new(ProcessNow { pid, threads: vec![thread] }))
        }

        fn awaited(&mut self, thread: &ThreadNow) -> Awaited {
            let pids = vec![thread.pid + 1, thread.pid + 2];
            Awaited::new(Object::Pipe, Dependence::Processes { pids, is_probable: false })
        }
    }

    fn links(theirs: &[u32], pid: u32) -> Vec<(u32, Option<End>, bool)> {
        let chain = chain_of(&mut OfUser::new(&mut Pipes, |pid| theirs.contains(&pid)), pid).unwrap();
        chain.links.iter().map(|link| (link.thread.tid, link.end, link.is_probable)).collect()
    }

    #[test]
    fn of_others_only_the_name_is_shown() {
        assert_eq!(links(&[1, 2, 3], 2), [(2, None, false), (3, Some(End::OtherUser), true)]);
        assert_eq!(links(&[1], 1), [(1, Some(End::OtherUser), false)]);
        // Of two readers one is theirs.
        assert_eq!(links(&[1, 3], 1), [(1, None, false), (3, Some(End::OtherUser), true)]);
        // A process of another user itself.
        assert_eq!(links(&[2], 1), [(1, Some(End::OtherUser), false)]);
        let chain = chain_of(&mut OfUser::new(&mut Pipes, |_| false), 1).unwrap();
        assert_eq!(chain.links[0].thread.activity, Activity::Hidden);
        assert_eq!(chain.links[0].awaited, Awaited { on: Dependence::OtherUser, ..Awaited::NOTHING });
    }
}
