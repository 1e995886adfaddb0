//! Checks: Nagios plugins and the like on a schedule, and what they found.

#![forbid(unsafe_code)]

mod check_history;
mod circumstances;
mod command_file;
mod definition;
mod downtime;
mod external;
mod flapping;
pub mod import;
mod ledger;
pub mod livestatus;
mod native;
mod notice;
mod notification;
mod period;
mod plugins;
mod push;
mod registry;
mod request;
pub mod runner;
mod schedule;
mod silence;
mod slot;
mod state;
mod states;
mod status;
pub mod tables;
mod timer;
mod trial;
mod verdict;
mod watch;
mod watcher;

pub use check_history::STATE;
pub use definition::{Check, CheckName, CheckOptions, CheckWay, NotificationOptions, Plugin};
pub use downtime::{Downtime, is_selected};
pub(crate) use external::requests as external_requests;
pub use ledger::CheckLedger;
pub use native::{KINDS, Kind, Native};
pub use notice::{CheckNotice, NoticeKind};
pub use notification::NAGIOS_MACROS;
pub use period::Period;
pub use push::PushOptions;
pub use registry::{CheckRegistry, SharedChecks, write_states};
pub use request::CheckRequest;
pub use runner::RunCost;
pub use silence::{Silence, silences};
pub use state::State;
pub use status::{Acknowledgement, CheckStatus, Finding, LastNotification, TotalCost};
pub use trial::try_check;
pub use watch::CheckWatch;
