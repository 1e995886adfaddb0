//! The processes that started this one.

use facts::linux::pid_stat::PidStat;

use super::files::Buffer;
use crate::roots::Roots;

/// The names of the processes that started this one, its parent's first.
pub fn ancestors(generations: usize) -> Vec<String> {
    let mut names = Vec::new();
    let (Ok(root), mut buffer) = (Roots::live().open(), Buffer::new()) else { return names };
    let mut pid = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    while let Some(now) = pid.filter(|_| names.len() < generations) {
        let mut stat = PidStat::default();
        let read = buffer.read_once(&root, &format!("proc/{now}/stat")).ok();
        if read.is_none_or(|bytes| stat.parse(bytes).is_err()) {
            break;
        }
        names.push(stat.comm.as_str().to_owned());
        pid = Some(stat.ppid).filter(|ppid| *ppid > 0);
    }
    names
}
