//! Links of network interfaces.

use facts::cursor::Cursor;
use facts::linux::net_attributes::{self, Link, LinkKind};
use facts::name::Name;
use facts::sample::{Absence, Sample};

use crate::linux::directories::KeptDirectory;
use crate::linux::files::{Buffer, Extent, KeptFile};
use crate::linux::part::{Changes, Part};
use crate::roots::MachineDirectory;

/// /sys/class/net.
#[derive(Debug)]
pub(super) struct Links {
    directory: Option<KeptDirectory<LinkFiles>>,
    with_speed: bool,
}

impl Links {
    pub(super) fn open(root: &MachineDirectory, with_speed: bool) -> Self {
        Self { directory: KeptDirectory::open(root, "sys/class/net"), with_speed }
    }
}

impl Part for Links {
    fn rescan(&mut self, buffer: &mut Buffer) {
        if let Some(directory) = &mut self.directory {
            rescan(directory, buffer, self.with_speed);
        }
    }

    /// A link that was removed and added again under its name between two samples is found at once: the directory is listed again if
    /// one is gone.
    fn read(&mut self, buffer: &mut Buffer, changes: Changes, sample: &mut Sample) {
        let with_speed = self.with_speed;
        let is_due = changes.network || changes.is_rescanned;
        sample.links.fill(|list| {
            let directory = self.directory.as_mut().ok_or(Absence::Unsupported)?;
            for _ in 0..2 {
                list.clear();
                let has_gone = directory.read(|files| files.read(buffer, is_due).map(|link| list.push(link)));
                if !has_gone {
                    break;
                }
                rescan(directory, buffer, with_speed);
            }
            Ok(())
        });
    }
}

#[cold]
fn rescan(directory: &mut KeptDirectory<LinkFiles>, buffer: &mut Buffer, with_speed: bool) {
    directory
        .rescan(buffer, |buffer, directory, name| Some(LinkFiles::open(buffer, directory, name, with_speed)));
}

/// /sys/class/net/NAME/{operstate,carrier,speed}.
#[derive(Debug)]
struct LinkFiles {
    last: Link,
    state: KeptFile,
    carrier: Option<KeptFile>,
    speed: Option<KeptFile>,
}

impl LinkFiles {
    fn open(buffer: &mut Buffer, directory: &MachineDirectory, name: &str, with_speed: bool) -> Self {
        let file = |attribute| KeptFile::open(directory, &format!("{name}/{attribute}"), Extent::Whole);
        let index = file("ifindex").parse(buffer, |bytes| Ok(Cursor::new(bytes).number()));
        let index = index.ok().flatten().and_then(|index| u32::try_from(index).ok());
        let mut read = |attribute| {
            buffer
                .read_once(directory, &format!("{name}/{attribute}"))
                .map(<[u8]>::to_vec)
                .unwrap_or_default()
        };
        let is_radio = directory.look_at(&format!("{name}/phy80211")).is_ok();
        let kind = match LinkKind::new(&read("type"), &read("uevent"), is_radio) {
            LinkKind::Ethernet if name == "lo" => LinkKind::Loopback,
            kind => kind,
        };
        Self {
            last: Link { name: Name::new(name.as_bytes()), index, kind, ..Link::default() },
            state: file("operstate"),
            carrier: with_speed.then(|| file("carrier")),
            speed: with_speed.then(|| file("speed")),
        }
    }

    /// Its state, looked at again where that is due.
    fn read(&mut self, buffer: &mut Buffer, is_due: bool) -> Result<Link, Absence> {
        if !is_due {
            return Ok(self.last);
        }
        let link = &mut self.last;
        // A loopback's state never says anything.
        if !link.is_loopback() {
            link.state = self.state.parse(buffer, |bytes| Ok(net_attributes::operational_state(bytes)))?;
        }
        // Both are EINVAL while the interface is down: absent, not an error.
        link.carrier =
            self.carrier.as_ref().and_then(|file| file.parse(buffer, net_attributes::carrier).ok());
        link.speed_mbit =
            self.speed.as_ref().and_then(|file| file.parse(buffer, net_attributes::speed_mbit).ok()?);
        Ok(*link)
    }
}
