//! How an ended task ended, in words.

use facts::linux::taskstats::ExitInfo;

/// "exit 0", "signal 9".
pub(crate) fn ending(exit: ExitInfo) -> String {
    match exit.code & 0x7f {
        0 => format!("exit {}", exit.code >> 8 & 0xff),
        signal => format!("signal {signal}"),
    }
}
