//! Forks and exits as the kernel reports them: the process connector, linux/cn_proc.h over linux/connector.h.

/// The connector's group and index of process events.
pub const CN_IDX_PROC: u32 = 1;
const CN_VAL_PROC: u32 = 1;
const NLMSG_DONE: u16 = 3;
const LISTEN: u32 = 1;
const NETLINK_HEADER: usize = 16;
const CONNECTOR_HEADER: usize = 20;
const EVENT_HEADER: usize = 16;

/// Something that happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// A thread or process began.
    Fork {
        /// The process that made it. A thread's is its own process' parent.
        parent_tgid: u32,
        /// The new thread.
        pid: u32,
        /// Its process: its own id, where it is one.
        tgid: u32,
    },
    /// A process became another program.
    Exec {
        /// The process.
        tgid: u32,
    },
    /// A thread ended.
    Exit {
        /// The thread.
        pid: u32,
        /// Its process.
        tgid: u32,
    },
}

impl ProcessEvent {
    /// The process that it is about: of a fork the new one.
    pub fn process(self) -> u32 {
        match self {
            Self::Fork { tgid, .. } | Self::Exec { tgid } | Self::Exit { tgid, .. } => tgid,
        }
    }
}

/// The message that asks for the events. Its four bytes are what kernels of all ages take.
pub fn subscription(pid: u32) -> [u8; NETLINK_HEADER + CONNECTOR_HEADER + 4] {
    let mut message = [0; NETLINK_HEADER + CONNECTOR_HEADER + 4];
    let mut put = |offset: usize, bytes: &[u8]| message[offset..offset + bytes.len()].copy_from_slice(bytes);
    put(0, &((NETLINK_HEADER + CONNECTOR_HEADER + 4) as u32).to_ne_bytes());
    put(4, &NLMSG_DONE.to_ne_bytes());
    put(12, &pid.to_ne_bytes());
    put(16, &CN_IDX_PROC.to_ne_bytes());
    put(20, &CN_VAL_PROC.to_ne_bytes());
    put(32, &4_u16.to_ne_bytes());
    put(36, &LISTEN.to_ne_bytes());
    message
}

/// The event in a datagram; `None` if it is of another kind, or an acknowledgement, which has its own number.
pub fn parse(datagram: &[u8]) -> Option<ProcessEvent> {
    let event = datagram.get(NETLINK_HEADER + CONNECTOR_HEADER..)?;
    let index = u32_at(datagram, NETLINK_HEADER)?;
    let at = |offset: usize| u32_at(event, EVENT_HEADER + offset);
    match (index, u32_at(event, 0)?) {
        (CN_IDX_PROC, 0x0000_0001) => {
            Some(ProcessEvent::Fork { parent_tgid: at(4)?, pid: at(8)?, tgid: at(12)? })
        }
        (CN_IDX_PROC, 0x0000_0002) => Some(ProcessEvent::Exec { tgid: at(4)? }),
        (CN_IDX_PROC, 0x8000_0000) => Some(ProcessEvent::Exit { pid: at(0)?, tgid: at(4)? }),
        _ => None,
    }
}

/// The error with which a subscription was answered, 0 for none; `None` if the datagram is not an answer.
pub fn answer(datagram: &[u8]) -> Option<u32> {
    let event = datagram.get(NETLINK_HEADER + CONNECTOR_HEADER..)?;
    (u32_at(event, 0)? == 0).then(|| u32_at(event, EVENT_HEADER)).flatten()
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(words: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; NETLINK_HEADER + CONNECTOR_HEADER];
        bytes[NETLINK_HEADER..NETLINK_HEADER + 4].copy_from_slice(&CN_IDX_PROC.to_ne_bytes());
        let mut event = words.to_vec();
        // The CPU and the time stand behind the kind.
        event.splice(1..1, [0, 0, 0]);
        bytes.extend(event.into_iter().flat_map(u32::to_ne_bytes));
        bytes
    }

    #[test]
    fn forks_and_exits_are_read() {
        let fork = ProcessEvent::Fork { parent_tgid: 11, pid: 20, tgid: 21 };
        assert_eq!(parse(&datagram(&[1, 10, 11, 20, 21])), Some(fork));
        assert_eq!(parse(&datagram(&[2, 10, 11])), Some(ProcessEvent::Exec { tgid: 11 }));
        let exit = ProcessEvent::Exit { pid: 10, tgid: 11 };
        assert_eq!(parse(&datagram(&[0x8000_0000, 10, 11, 256, 17])), Some(exit));
    }

    #[test]
    fn what_is_cut_or_strange_is_nothing() {
        let whole = datagram(&[1, 10, 11, 20, 21]);
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length]), None);
        }
        assert_eq!(parse(&datagram(&[4, 1, 2, 3, 4])), None);
        assert_eq!(answer(&datagram(&[0, 1])), Some(1));
        assert_eq!(answer(&datagram(&[1, 1])), None);
    }
}
