//! The states of checks.

/// The state that a check found: the exit status of a plugin.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Fine.
    #[default]
    Ok,
    /// It works, with something to look at.
    Warning,
    /// It does not work.
    Critical,
    /// The check could not find out.
    Unknown,
}

impl State {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Warning, Self::Critical, Self::Unknown];

    /// As a plugin's exit status.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The state of an exit status; `None` if it is none.
    pub fn of_number(number: i32) -> Option<Self> {
        usize::try_from(number).ok().and_then(|place| Self::ALL.get(place)).copied()
    }

    /// A state by its name or number.
    pub fn read(text: &str) -> Option<Self> {
        let is_meant =
            |state: &Self| state.name().eq_ignore_ascii_case(text) || state.number().to_string() == text;
        Self::ALL.into_iter().find(is_meant)
    }

    /// As Nagios writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}
