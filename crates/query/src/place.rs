//! Where in an expression a fault is: the parser says only what it is.

use crate::error::Fault;
use crate::function::FUNCTIONS;

/// The most brackets within one another.
const DEEPEST: usize = 64;

/// The most operators: each may be within the one before, and takes room on the stack of the thread that parses and evaluates it.
const MAX_OPERATORS: usize = 128;
/// The operators that are words.
const OPERATOR_WORDS: [&str; 4] = ["and", "or", "unless", "atan2"];

/// Refuses brackets and quotation marks that have no partner, and what would become too deep.
pub(crate) fn check_depth(text: &str) -> Result<(), Fault> {
    check_brackets(text)?;
    let mut operators = 0;
    let (mut quote, mut word_start) = (None, None);
    let mut letters = text.char_indices().chain([(text.len(), ' ')]);
    while let Some((place, letter)) = letters.next() {
        if let Some(mark) = quote {
            match letter {
                // What is escaped ends no quotation.
                '\\' if mark != '`' => drop(letters.next()),
                _ => quote = Some(mark).filter(|mark| letter != *mark),
            }
            continue;
        }
        if letter.is_alphanumeric() || letter == '_' {
            word_start.get_or_insert(place);
            continue;
        }
        let word = word_start.take().map_or("", |start: usize| &text[start..place]);
        let is_word = OPERATOR_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
        operators += usize::from(is_word) + usize::from("+-*/%^=<>!".contains(letter));
        if operators > MAX_OPERATORS {
            return Err(Fault::at(place.min(text.len() - 1), format!("more than {MAX_OPERATORS} operators")));
        }
        // In a comment nothing is an operator, or a quotation mark.
        if letter == '#' {
            let _ = letters.find(|(_, letter)| *letter == '\n');
        }
        quote = Some(letter).filter(|letter| "\"'`".contains(*letter));
    }
    Ok(())
}

fn check_brackets(text: &str) -> Result<(), Fault> {
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut bytes = text.bytes().enumerate();
    while let Some((place, byte)) = bytes.next() {
        match byte {
            b'"' | b'\'' | b'`' => {
                let is_raw = byte == b'`';
                loop {
                    match bytes.next() {
                        None => return Err(Fault::at(place, "this quotation mark has no partner")),
                        Some((_, b'\\')) if !is_raw => drop(bytes.next()),
                        Some((_, end)) if end == byte => break,
                        Some(_) => {}
                    }
                }
            }
            b'#' => drop(bytes.find(|(_, byte)| *byte == b'\n')),
            b'(' | b'[' | b'{' => {
                open.push((place, byte));
                if open.len() > DEEPEST {
                    return Err(Fault::at(place, format!("more than {DEEPEST} brackets within one another")));
                }
            }
            b')' | b']' | b'}' => {
                let partner = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if open.pop().is_none_or(|(_, last)| last != partner) {
                    return Err(Fault::at(
                        place,
                        format!("nothing is open that this {} closes", byte as char),
                    ));
                }
            }
            _ => {}
        }
    }
    match open.pop() {
        Some((place, byte)) => Err(Fault::at(place, format!("this {} is not closed", byte as char))),
        None => Ok(()),
    }
}

/// A fault with its place: that of the first word of the expression that the message quotes, if there is one.
pub(crate) fn of_message(text: &str, message: String) -> Fault {
    let quoted = message.split(['\'', '"']).skip(1).step_by(2);
    let first_word = message.split([' ', ':']).next().into_iter();
    let place = quoted.chain(first_word).find_map(|word| find_word(text, word));
    if message.contains("duration must be greater than 0")
        && let Some((place, word)) = long_duration(text)
    {
        return Fault::at(place, format!("{word} is too long for a duration"));
    }
    let message = match unknown_function(text) {
        // What double_exponential_smoothing was called before Prometheus 3.
        Some((place, "holt_winters")) => {
            return Fault { place: Some(place), ..Fault::not_in_subset("holt_winters") };
        }
        Some((place, name)) if message.contains("unknown function") || message == "invalid promql query" => {
            return Fault::at(place, format!("no function is called {name}"));
        }
        _ if message == "invalid promql query" => "this is not an expression of PromQL".to_owned(),
        _ => message,
    };
    Fault { place, message }
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_whole = |place: &usize| {
        let before = text[..*place].chars().next_back();
        let after = text[place + word.len()..].chars().next();
        !word.ends_with(is_letter) || !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    };
    if word.is_empty() {
        return None;
    }
    text.match_indices(word).map(|(place, _)| place).find(is_whole)
}

/// The first word that is a duration and not 0: the parser calls one that it cannot hold 0 as well.
fn long_duration(text: &str) -> Option<(usize, &str)> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_duration = |word: &&str| {
        let digits = word.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number && digits.len() < word.len() && digits.len() > 3
    };
    let word = words.filter(is_duration).max_by_key(|word| word.len())?;
    Some((text.find(word)?, word))
}

/// The first word before a parenthesis that is neither a function nor a keyword.
fn unknown_function(text: &str) -> Option<(usize, &str)> {
    const KEYWORDS: [&str; 34] = [
        "and",
        "atan2",
        "avg",
        "bool",
        "bottomk",
        "by",
        "count",
        "count_values",
        "fill",
        "fill_left",
        "fill_right",
        "group",
        "group_left",
        "group_right",
        "ignoring",
        "limitk",
        "limit_ratio",
        "max",
        "min",
        "offset",
        "on",
        "or",
        "quantile",
        "start",
        "end",
        "stddev",
        "stdvar",
        "sum",
        "topk",
        "unless",
        "without",
        "inf",
        "nan",
        "step",
    ];
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices('(').find_map(|(place, _)| {
        let before = text[..place].trim_end();
        let start = before.trim_end_matches(is_letter).len();
        let word = &before[start..];
        let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic());
        let is_known = KEYWORDS.contains(&word.to_lowercase().as_str())
            || FUNCTIONS.binary_search_by(|(known, _)| (*known).cmp(word)).is_ok();
        (is_name && !is_known).then_some((start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_be_too_deep_is_refused() {
        for operator in ["+", "^", " or ", " == ", "-"] {
            let long = |count: usize| vec!["a"; count + 1].join(operator);
            assert!(check_depth(&long(60)).is_ok(), "{operator}");
            assert!(check_depth(&long(200)).is_err(), "{operator}");
        }
        assert!(check_depth(&"-".repeat(200)).is_err());
        assert!(check_depth(&format!("a{{b=\"{}\"}}", "+".repeat(200))).is_ok());
        // What stands before them changes nothing about them.
        for before in ["# '\n", "# \"\n", "a{b=\"\\\"\"} + ", "a{b='\\''} + ", "a{b=`\\`} + "] {
            let long = |count: usize| format!("{before}{}", vec!["a"; count + 1].join(" + "));
            assert!(check_depth(&long(60)).is_ok(), "{before}");
            assert!(check_depth(&long(200)).is_err(), "{before}");
        }
        assert!(check_depth(&format!("a # {}", "+".repeat(200))).is_ok());
        assert!(check_depth("").is_ok());
    }

    #[test]
    fn brackets_have_partners() {
        for (text, expected) in [
            ("up{a=\"(\"} # )", None),
            ("sum(up", Some(3)),
            ("sum(up]", Some(6)),
            ("up)", Some(2)),
            ("up{a=\"b\\\"}", Some(5)),
            ("up{a=`\\`}", None),
        ] {
            assert_eq!(check_brackets(text).err().and_then(|fault| fault.place), expected, "{text}");
        }
        assert!(check_brackets(&"(".repeat(100)).is_err());
    }

    #[test]
    fn words_are_found() {
        let zero = || "duration must be greater than 0".to_owned();
        let fault = of_message("up offset 9999999999999y", zero());
        assert_eq!(
            (fault.place, fault.message.as_str()),
            (Some(10), "9999999999999y is too long for a duration")
        );
        assert_eq!(of_message("up[0s]", zero()).message, zero());
        assert!(of_message("holt_winters(up)", String::new()).message.contains("subset"));
        let fault = of_message("1 + rat(x[5m])", "unknown function with name 'rat'".to_owned());
        assert_eq!((fault.place, fault.message.as_str()), (Some(4), "no function is called rat"));
        assert_eq!(of_message("rate(x)", "in call to 'rate'".to_owned()).place, Some(0));
    }

    proptest! {
        #[test]
        fn nothing_panics(text: String, message: String) {
            let _ = check_brackets(&text);
            let _ = of_message(&text, message);
        }
    }
}
