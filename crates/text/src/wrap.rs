//! Sentences in lines that fit.

/// The lines of a text, broken at blanks so that each has at most `width` characters. A longer word stands alone in its line.
pub fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut rest = paragraph.trim_end();
        while let Some(end) = break_at(rest, width.max(1)) {
            lines.push(rest[..end].trim_end());
            rest = rest[end..].trim_start();
        }
        lines.push(rest);
    }
    lines
}

/// Where the first line ends; `None` if all of it fits.
fn break_at(text: &str, width: usize) -> Option<usize> {
    let too_far = text.char_indices().nth(width)?.0;
    let after = &text[too_far..];
    if after.starts_with(' ') {
        return Some(too_far);
    }
    let end = text[..too_far].rfind(' ').filter(|end| !text[..*end].trim().is_empty());
    end.or_else(|| Some(too_far + after.find(' ')?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrapped("a long-word b", 4), ["a", "long-word", "b"]);
        assert_eq!(wrapped("fits", 4), ["fits"]);
        assert_eq!(wrapped("two\nlines", 80), ["two", "lines"]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "[a-z─ ]{0,60}", width in 0usize..20) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let lines = wrapped(&text, width);
            let kept: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            prop_assert_eq!(kept, words);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width.max(1) || !line.trim().contains(' ')));
        }
    }
}
