//! Which boot of a machine its figures are of.

use std::path::Path;

use crate::named;
use crate::roots::Roots;

/// The kernel's boot id, random from boot to boot: proc_sys_kernel(5), random(4).
const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";
/// An id has 36 characters.
const BOOT_ID_BYTES: u64 = 64;

/// The boot's id: counters go on only while it stays. `None` where the system has none, and for captured machines whose
/// capture lacks it.
pub fn boot_id(roots: &Roots) -> Option<String> {
    let path = roots.path().unwrap_or(Path::new("/")).join(BOOT_ID);
    let text = named::read_text(&path, BOOT_ID_BYTES).ok()?;
    let id = text.trim();
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| id.to_owned())
}
