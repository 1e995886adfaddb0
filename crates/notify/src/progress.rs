//! How far a job came, as its file says.

use std::io;

/// How far a job came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Not even its first step.
    Waiting,
    /// It began, and was ended by something else: whether the receiver knows is not known.
    Interrupted,
    /// The receiver knows.
    Delivered,
    /// The receiver does not know, for this reason.
    Failed(String),
    /// It is not known whether the receiver knows, for this reason.
    Unknown(String),
}

pub(super) const BEGUN: &str = "begun";
const DELIVERED: &str = "delivered";
const FAILED: &str = "failed: ";
const UNKNOWN: &str = "unknown: ";

impl Progress {
    /// By the lines of the file.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = text.split_inclusive('\n').skip(1).filter_map(|line| line.strip_suffix('\n'));
        match (lines.next(), lines.next()) {
            (None, _) => Self::Waiting,
            (Some(_), Some(DELIVERED)) => Self::Delivered,
            (Some(_), Some(line)) => match (line.strip_prefix(FAILED), line.strip_prefix(UNKNOWN)) {
                (Some(reason), _) => Self::Failed(reason.to_owned()),
                (_, Some(reason)) => Self::Unknown(reason.to_owned()),
                _ => Self::Interrupted,
            },
            (Some(_), None) => Self::Interrupted,
        }
    }

    pub(super) fn line(&self) -> String {
        let line = |text: &str, reason: &str| format!("{text}{}\n", reason.replace('\n', " "));
        match self {
            Self::Delivered => line(DELIVERED, ""),
            Self::Failed(reason) => line(FAILED, reason),
            Self::Unknown(reason) => line(UNKNOWN, reason),
            Self::Waiting | Self::Interrupted => String::new(),
        }
    }
}

/// Returns whether there was no connection.
pub(super) fn was_not_reached(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_how_far_it_came() {
        for (text, progress) in [
            ("{}\n", Progress::Waiting),
            ("{}\nbeg", Progress::Waiting),
            ("{}\nbegun\n", Progress::Interrupted),
            ("{}\nbegun\ndeliv", Progress::Interrupted),
            ("{}\nbegun\ndelivered\n", Progress::Delivered),
            ("{}\nbegun\nfailed: exit status 1\n", Progress::Failed("exit status 1".to_owned())),
            ("{}\nbegun\nunknown: x\n", Progress::Unknown("x".to_owned())),
        ] {
            assert_eq!(Progress::of(text), progress, "{text}");
        }
        let odd = Progress::Failed("two\nlines".to_owned());
        assert_eq!(odd.line(), "failed: two lines\n");
    }
}
