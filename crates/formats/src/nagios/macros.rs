//! `$MACROS$` in commands: <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/macros.html>.

use std::collections::BTreeMap;

/// Values by the names of macros, without `$`.
#[derive(Clone, Debug, Default)]
pub struct Macros(pub BTreeMap<String, String>);

impl Macros {
    /// Sets one.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// `$ARG1$` and so on, of `check_ping!100!200`.
    pub fn set_arguments(&mut self, call: &str) {
        for (number, value) in split_call(call).into_iter().skip(1).enumerate() {
            self.set(&format!("ARG{}", number + 1), &value);
        }
    }
}

/// The parts of `command!argument!argument`; `\!` is a mark that is meant.
fn split_call(call: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = call.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = parts.last_mut();
        match (letter, letters.peek()) {
            ('\\', Some('!')) => {
                letters.next();
                last.into_iter().for_each(|part| part.push('!'));
            }
            ('!', _) => parts.push(String::new()),
            (letter, _) => last.into_iter().for_each(|part| part.push(letter)),
        }
    }
    parts
}

/// A text with the values of its macros, and the names of those that have none: they are left as they are. `$$` is one that is meant.
/// Arguments may contain macros themselves, once.
pub fn expand(text: &str, macros: &Macros) -> (String, Vec<String>) {
    let mut unknown = Vec::new();
    let first = pass(text, macros, true, &mut Vec::new());
    let text = pass(&first, macros, false, &mut unknown);
    (text.replace('\u{1}', "$"), unknown)
}

/// `\u{1}` stands for a `$` that is meant.
fn pass(text: &str, macros: &Macros, is_first: bool, unknown: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let Some(end) = after.find('$') else {
            out.push_str(&rest[at..]);
            return out;
        };
        let name = &after[..end];
        let is_argument = name.starts_with("ARG");
        match macros.0.get(name) {
            _ if name.is_empty() => out.push('\u{1}'),
            // First the arguments, so that what they contain is found.
            _ if is_first && !is_argument => out.push_str(&rest[at..at + end + 2]),
            Some(value) => out.push_str(value),
            // An argument that was not given is empty.
            None if is_argument => {}
            None => {
                unknown.push(name.to_owned());
                out.push_str(&rest[at..at + end + 2]);
            }
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_filled_in() {
        let mut macros = Macros::default();
        macros.set("USER1", "/p");
        macros.set("HOSTADDRESS", "10.0.0.1");
        macros.set_arguments("check_x!5\\!6!$HOSTADDRESS$");
        let (text, unknown) = expand("$USER1$/check_x -w '$ARG1$' -H $ARG2$ $ARG3$ 5$$ $TIMET$ $", &macros);
        assert_eq!(text, "/p/check_x -w '5!6' -H 10.0.0.1  5$ $TIMET$ $");
        assert_eq!(unknown, ["TIMET"]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[$A!ü\\\\]{0,20}") {
            let mut macros = Macros::default();
            macros.set_arguments(&text);
            let _ = expand(&text, &macros);
        }
    }
}
