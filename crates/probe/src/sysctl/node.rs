//! Nodes of sysctl(3), by the name that a capture has for them.

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node<'a> {
    /// By its name.
    Named(&'a str),
    /// An entry below a name: `vm.swap_info` has one for each device.
    Entry(&'a str, u32),
    /// A row of the interfaces' table, `struct ifmibdata`.
    Interface(u32),
    /// `struct kinfo_proc`: of one process or of all, and a struct for each thread if `with_threads`.
    Processes {
        /// The process; `None` for all. A capture contains all, so that the caller must choose.
        pid: Option<u32>,
        /// One struct a thread.
        with_threads: bool,
    },
}

impl Node<'_> {
    /// The file's name in a capture.
    pub(crate) fn file_name(self) -> String {
        match self {
            Self::Named(name) => name.to_owned(),
            Self::Entry(name, entry) => format!("{name}.{entry}"),
            Self::Interface(row) => format!("net.link.generic.ifdata.{row}"),
            Self::Processes { with_threads: false, .. } => "kern.proc.proc".to_owned(),
            Self::Processes { with_threads: true, .. } => "kern.proc.proc_td".to_owned(),
        }
    }

    /// The path of integers, if the node is read by that.
    #[cfg(target_os = "freebsd")]
    pub(crate) fn path(self) -> Option<Vec<i32>> {
        const CTL_KERN: i32 = 1;
        const KERN_PROC: i32 = 14;
        const KERN_PROC_PID: i32 = 1;
        const KERN_PROC_PROC: i32 = 8;
        const INC_THREAD: i32 = 0x10;
        const CTL_NET: i32 = 4;
        const PF_LINK: i32 = 18;
        const NETLINK_GENERIC: i32 = 0;
        const IFMIB_IFDATA: i32 = 2;
        const IFDATA_GENERAL: i32 = 1;
        match self {
            Self::Named(_) | Self::Entry(..) => None,
            Self::Interface(row) => {
                let row = row.cast_signed();
                Some(vec![CTL_NET, PF_LINK, NETLINK_GENERIC, IFMIB_IFDATA, row, IFDATA_GENERAL])
            }
            Self::Processes { pid, with_threads } => {
                let which = if pid.is_some() { KERN_PROC_PID } else { KERN_PROC_PROC };
                let which = if with_threads { which | INC_THREAD } else { which };
                let mut path = vec![CTL_KERN, KERN_PROC, which];
                // All of them are asked for without an id, and their threads with one that is ignored.
                path.extend(pid.or(with_threads.then_some(0)).map(u32::cast_signed));
                Some(path)
            }
        }
    }
}
