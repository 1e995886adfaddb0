//! Suggestions for a misspelt word.

/// Returns `; did you mean "format"?` for a misspelt word, and a list of all words if none is similar.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = known.clone().map(|known| (distance(word, known), known)).min();
    match nearest {
        Some((distance, known)) if distance <= 1 + word.chars().count().max(known.len()) / 4 => {
            format!("; did you mean \"{known}\"?")
        }
        Some(_) => format!("; there are {}", known.collect::<Vec<_>>().join(", ")),
        None => String::new(),
    }
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
        let known = ["format", "interval"];
        assert_eq!(did_you_mean("fromat", known.into_iter()), "; did you mean \"format\"?");
        assert_eq!(did_you_mean("zzz", known.into_iter()), "; there are format, interval");
        assert_eq!(did_you_mean("zzz", [].into_iter()), "");
    }
}
