//! `{name}` in the words of a command: what stands for it depends on the host.

use std::collections::BTreeMap;

use formats::shell::Piece;

/// Values by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Adds the variables of another one, which take the place of those with the same names.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(other.0.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// A text with what stands for each `{name}`; doubled braces stand for themselves. What a value contains is not looked at again.
    ///
    /// # Errors
    /// If a name is not known, or a brace has no other.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let written = |piece: &Piece<'_>| match *piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Placeholder { value, .. } => value.to_owned(),
        };
        Ok(self.pieces(text)?.iter().map(written).collect())
    }

    /// Returns whether a variable stands in a text.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        let pieces = self.pieces(text).unwrap_or_default();
        pieces.iter().any(|piece| matches!(piece, Piece::Placeholder { .. }))
    }

    /// The pieces of a text, in order.
    ///
    /// # Errors
    /// If a name is not known, or a brace has no other.
    pub(super) fn pieces<'t>(&'t self, text: &'t str) -> Result<Vec<Piece<'t>>, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            pieces.push(Piece::Text(&rest[..at]));
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                pieces.push(Piece::Text(brace));
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
            pieces.push(Piece::Placeholder { name, value });
            rest = after;
        }
        pieces.push(Piece::Text(rest));
        Ok(pieces)
    }
}
