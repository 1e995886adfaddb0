//! Nagios' configuration: its main file, its resources, and its object files.
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/objectdefinitions.html>

mod external;
mod groups;
mod inheritance;
mod macros;
mod synonyms;
mod syntax;
mod timeperiod;

pub use external::{ExternalCommand, Target, external_command};
pub use groups::{add_nested, hosts_by_keys, hosts_of, members};
pub use inheritance::resolve;
pub use macros::{Macros, expand};
pub use syntax::{NagiosFault, NagiosObject, Place, read_objects, read_settings};
pub use timeperiod::{NagiosTimes, times_of};
