//! `{name}` in the words of a command: what stands for it depends on the host.

use std::collections::BTreeMap;

/// Values by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Those of another one take the place of those with the same names.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// A text with what stands for each `{name}`; doubled braces stand for themselves. What a value contains is not looked at again.
    ///
    /// # Errors
    /// If a name is not known, or a brace has no other.
    pub(super) fn fill(&self, text: &str, write: impl Fn(&str) -> String) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                out.push_str(brace);
                rest = after;
                continue;
            }
            let named = (brace == "{").then(|| rest.split_once('}')).flatten();
            let Some((name, after)) = named else {
                return Err(format!("there is a \"{brace}\" alone; \"{brace}{brace}\" stands for one"));
            };
            let value = self.0.get(name).ok_or_else(|| {
                let hint = text::nearest::did_you_mean(name, self.0.keys().map(String::as_str));
                format!("nothing is called {{{name}}} here{hint}; {{{{ stands for a brace")
            })?;
            out.push_str(&write(value));
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }
}
