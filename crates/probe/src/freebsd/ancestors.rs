//! The processes that started this one.

use rustix::process::getppid;

use crate::roots::Roots;
use crate::sysctl::Sysctl;
use crate::sysctl::tasks::kinfo_of;

/// The names of the processes that started this one, its parent's first.
pub fn ancestors(generations: usize) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut sysctl) = Sysctl::open(&Roots::live()) else { return names };
    let mut pid = getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    while let Some(now) = pid.filter(|_| names.len() < generations) {
        let Ok(process) = kinfo_of(&mut sysctl, now) else { break };
        names.push(process.row.comm.as_str().to_owned());
        pid = process.row.ppid.filter(|ppid| *ppid > 0);
    }
    names
}
