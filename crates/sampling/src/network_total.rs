//! The traffic of all interfaces, each byte counted once.

use std::collections::HashMap;

use facts::rate::Rates;
use facts::rate::totals::Traffic;
use facts::sample::Sample;
use probe::Roots;
use probe::roots::RootError;
use probe::survey::Survey;

/// Interfaces that are remembered. On some hosts new ones and new names come without end.
const MAX_INTERFACES: usize = 4096;

/// Knows which interfaces have hardware. Each is looked up once.
pub struct NetworkTotal {
    survey: Survey,
    has_hardware: HashMap<String, bool>,
}

impl NetworkTotal {
    /// Opens the machine's devices.
    ///
    /// # Errors
    /// If the root cannot be opened.
    pub fn open(roots: &Roots) -> Result<Self, RootError> {
        Ok(Self { survey: Survey::open(roots)?, has_hardware: HashMap::new() })
    }

    /// Looks up the interfaces of a sample that are new.
    pub fn follow(&mut self, sample: &Sample) {
        for interface in sample.net_dev.get().map_or(&[][..], |net| &net.interfaces) {
            let name = interface.name.as_str();
            if !self.has_hardware.contains_key(name) {
                let device = format!("/sys/class/net/{name}/device");
                if self.has_hardware.len() > MAX_INTERFACES {
                    self.has_hardware.clear();
                }
                self.has_hardware.insert(name.to_owned(), self.survey.exists(&device).is_ok());
            }
        }
    }

    /// The sum of the interfaces that count, by the rule of [`facts::rate::totals`].
    pub fn of(&self, rates: &Rates) -> Traffic {
        rates.all_interfaces(|name| self.has_hardware.get(name).copied().unwrap_or(false))
    }
}
