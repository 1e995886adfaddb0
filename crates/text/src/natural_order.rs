//! Names in the order of people: web2 before web10.

use std::cmp::Ordering;

/// Compares names, and the numbers in them by their values.
pub fn by_natural_order(one: &str, other: &str) -> Ordering {
    let (mut one_left, mut other_left) = (one, other);
    loop {
        let (Some(a), Some(b)) = (one_left.chars().next(), other_left.chars().next()) else {
            // Equal but for leading zeros.
            return one_left.len().cmp(&other_left.len()).then_with(|| one.cmp(other));
        };
        let order = if a.is_ascii_digit() && b.is_ascii_digit() {
            let (number, rest) = digits(one_left);
            let (other_number, other_rest) = digits(other_left);
            (one_left, other_left) = (rest, other_rest);
            number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number))
        } else {
            (one_left, other_left) = (&one_left[a.len_utf8()..], &other_left[b.len_utf8()..]);
            a.cmp(&b)
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The digits at the beginning without leading zeros, and the rest.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_their_values() {
        let mut names = ["web10", "web2", "web1-b", "web1-a", "db", "web02", "web"];
        names.sort_by(|one, other| by_natural_order(one, other));
        assert_eq!(names, ["db", "web", "web1-a", "web1-b", "web02", "web2", "web10"]);
    }
}
