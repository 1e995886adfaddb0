//! How far a job came, as its file says.

use serde_json::json;

/// How far a job came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Not even its first step.
    Waiting,
    /// It began, and was ended by something else: whether the receiver knows is not known.
    Interrupted,
    /// The receiver knows.
    Delivered,
    /// Some of the receiver's addresses have it. Of the others, those that may take it later, and why they have not.
    DeliveredInPart { later: Vec<String>, reason: String },
    /// The receiver does not know, for this reason.
    Failed(String),
    /// It is not known whether the receiver knows, for this reason.
    Unknown(String),
}

pub(super) const BEGUN: &str = "begun";
const DELIVERED: &str = "delivered";
const IN_PART: &str = "delivered in part: ";
const FAILED: &str = "failed: ";
const UNKNOWN: &str = "unknown: ";

impl Progress {
    /// By the lines of the file.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = text.split_inclusive('\n').skip(1).filter_map(|line| line.strip_suffix('\n'));
        match (lines.next(), lines.next()) {
            (None, _) => Self::Waiting,
            (Some(_), Some(DELIVERED)) => Self::Delivered,
            (Some(_), Some(line)) => {
                let after = |word: &str| line.strip_prefix(word).map(str::to_owned);
                let found = after(IN_PART).map(Self::in_part).or_else(|| after(FAILED).map(Self::Failed));
                found.or_else(|| after(UNKNOWN).map(Self::Unknown)).unwrap_or(Self::Interrupted)
            }
            (Some(_), None) => Self::Interrupted,
        }
    }

    fn in_part(text: String) -> Self {
        let (later, reason) = serde_json::from_str(&text).unwrap_or((Vec::new(), text));
        Self::DeliveredInPart { later, reason }
    }

    pub(super) fn line(&self) -> String {
        let line = |text: &str, reason: &str| format!("{text}{}\n", reason.replace('\n', " "));
        match self {
            Self::Delivered => line(DELIVERED, ""),
            Self::DeliveredInPart { later, reason } => line(IN_PART, &json!([later, reason]).to_string()),
            Self::Failed(reason) => line(FAILED, reason),
            Self::Unknown(reason) => line(UNKNOWN, reason),
            Self::Waiting | Self::Interrupted => String::new(),
        }
    }
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
        let later = vec!["a@b".to_owned()];
        let in_part = Progress::DeliveredInPart { later, reason: "full\nnow".to_owned() };
        assert_eq!(Progress::of(&format!("{{}}\nbegun\n{}", in_part.line())), in_part);
        let odd = Progress::Failed("two\nlines".to_owned());
        assert_eq!(odd.line(), "failed: two lines\n");
    }
}
