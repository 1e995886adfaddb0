//! Suggestions for a misspelt word.

/// The most words that are listed where none is similar.
const MAX_LISTED: usize = 12;
/// How many of more words are named.
const NAMED: usize = 3;

/// Returns `; did you mean "format"?` for a misspelt word, and a list of all words if none is similar, or of those most alike if they are many.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = known.clone().map(|known| (distance(word, known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 1 + word.chars().count().max(known.len()) / 4 => {
            format!("; did you mean \"{known}\"?")
        }
        Some(_) if known.clone().nth(MAX_LISTED).is_some() => {
            match nearest_words(word, known, NAMED).join(", ") {
                nearest if nearest.is_empty() => String::new(),
                nearest => format!("; named most alike: {nearest}"),
            }
        }
        Some(_) => format!("; there are {}", known.collect::<Vec<_>>().join(", ")),
        None => String::new(),
    }
}

/// Returns the words that are similar to one, the nearest first, at most `count`. Similar words have at least half of their characters in
/// common.
pub fn nearest_words<'a>(word: &str, known: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let length = word.chars().count();
    let is_similar = |(distance, known): &(usize, &str)| 2 * distance <= length.max(known.chars().count());
    let mut all: Vec<(usize, &str)> =
        known.map(|known| (distance(word, known), known)).filter(is_similar).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|(_, known)| known).take(count).collect()
}

/// The edit distance: characters to insert, delete, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_word_is_suggested_else_all_are_listed() {
        assert_eq!(nearest_words("ab", ["abc", "x", "ab", "b", "ab"].into_iter(), 2), ["ab", "abc"]);
        let known = ["format", "interval"];
        assert_eq!(did_you_mean("fromat", known.into_iter()), "; did you mean \"format\"?");
        assert_eq!(did_you_mean("zzz", known.into_iter()), "; there are format, interval");
        assert_eq!(did_you_mean("zzz", [].into_iter()), "");
        let many: Vec<String> = (10..30).map(|number| format!("check-{number}")).collect();
        let hint = |word| did_you_mean(word, many.iter().map(String::as_str));
        assert_eq!(hint("heck+++"), "; named most alike: check-10, check-11, check-12");
        assert_eq!(hint("zzz"), "");
    }
}
