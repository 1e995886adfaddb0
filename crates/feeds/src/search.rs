//! Turns the words that a user types into a query of SQLite's FTS5.

/// Words of a query; others are ignored.
const MAX_WORDS: usize = 32;

/// Words as prefixes that must all be there; a part in quotation marks as a phrase; a word or phrase after `-` must not be there. `None`
/// if nothing is looked for.
pub(crate) fn fts_query(text: &str) -> Option<String> {
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    let mut is_phrase_unwanted = false;
    for (place, part) in text.split('"').enumerate() {
        if place % 2 == 1 {
            let mut phrase = words(part);
            phrase.truncate(MAX_WORDS);
            if !phrase.is_empty() {
                let list = if is_phrase_unwanted { &mut unwanted } else { &mut wanted };
                list.push(format!("\"{}\"", phrase.join(" ")));
            }
            continue;
        }
        is_phrase_unwanted = part.ends_with('-');
        for word in part.split_whitespace() {
            let parts = words(word);
            if word.starts_with('-') {
                // The parts of a word with other signs are unwanted as they stand: one alone would take out all that begins with it.
                let rest = if parts == [word.trim_start_matches('-')] { "*" } else { "" };
                unwanted.extend((!parts.is_empty()).then(|| format!("\"{}\"{rest}", parts.join(" "))));
            } else {
                wanted.extend(parts.into_iter().map(|word| format!("\"{word}\"*")));
            }
        }
    }
    wanted.truncate(MAX_WORDS);
    unwanted.truncate(MAX_WORDS);
    if wanted.is_empty() {
        return None;
    }
    let wanted = wanted.join(" AND ");
    Some(match unwanted.is_empty() {
        true => wanted,
        false => format!("({wanted}) NOT ({})", unwanted.join(" OR ")),
    })
}

/// Letters and digits alone: everything else is syntax.
fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_query() {
        assert_eq!(fts_query("linux ker").unwrap(), "\"linux\"* AND \"ker\"*");
        assert_eq!(fts_query("\"open source\" -java").unwrap(), "(\"open source\") NOT (\"java\"*)");
        assert_eq!(fts_query("C++ a\"b").unwrap(), "\"C\"* AND \"a\"* AND \"b\"");
        assert_eq!(fts_query("linux -\"open source\"").unwrap(), "(\"linux\"*) NOT (\"open source\")");
        assert_eq!(fts_query("linux -e-mail -C++").unwrap(), "(\"linux\"*) NOT (\"e mail\" OR \"C\")");
        assert_eq!(fts_query(" - \" "), None);
    }
}
