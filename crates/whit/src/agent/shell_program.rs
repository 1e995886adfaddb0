//! Programs for a shell with values in them.
//!
//! A value reaches the shell as a parameter, `"${1}"`, which it expands and never reads as a part of the program: no value can do anything,
//! whatever quotation marks stand around its placeholder. Where a shell would read the expanded value as a program after all, or would
//! not expand it, the placeholder is refused.

/// Programs that take a program as the word behind `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ksh", "zsh", "ash"];

/// A part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    Placeholder { name: &'t str, value: &'t str },
}

/// What a place of a program is in: sh(1p), 2.2 and 2.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// Words of a command, also between parentheses and in `$(…)`.
    Words,
    SingleQuotes,
    DoubleQuotes,
    Backticks,
    /// `$((…))`, and parentheses in it.
    Arithmetic,
    /// `${…}`.
    Expansion,
    Comment,
}

/// What is known of a simple command so far.
#[derive(Debug, Default)]
pub(super) struct CommandWords {
    word: String,
    is_shell: bool,
    /// The next word is a program for a shell.
    expects_program: bool,
    is_eval: bool,
}

impl CommandWords {
    /// Ends a word, if one has begun.
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.is_empty() {
            self.add(&word);
        }
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: &str) {
        let is_option = word.starts_with('-') && !word.starts_with("--");
        if std::mem::take(&mut self.expects_program) {
            self.is_shell = false;
        } else if self.is_shell && is_option && word.contains('c') {
            self.expects_program = true;
        } else if word.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name)) {
            self.is_shell = true;
        }
        self.is_eval |= word == "eval";
    }

    /// Whether a shell reads the word that comes now as a program.
    pub(super) fn reads_programs(&self) -> bool {
        self.expects_program || self.is_eval
    }
}

/// Reads a program as far as quotation marks go.
#[derive(Debug)]
struct Reader {
    contexts: Vec<Context>,
    /// One for each context of words.
    commands: Vec<CommandWords>,
    is_escaped: bool,
    has_here_document: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            contexts: vec![Context::Words],
            commands: vec![CommandWords::default()],
            is_escaped: false,
            has_here_document: false,
        }
    }

    fn context(&self) -> Context {
        self.contexts.last().copied().unwrap_or(Context::Words)
    }

    fn command(&mut self) -> &mut CommandWords {
        if self.commands.is_empty() {
            self.commands.push(CommandWords::default());
        }
        let last = self.commands.len() - 1;
        &mut self.commands[last]
    }

    fn enter(&mut self, context: Context) {
        self.contexts.push(context);
        if context == Context::Words {
            self.commands.push(CommandWords::default());
        }
    }

    fn leave(&mut self) {
        if self.contexts.len() > 1 && self.contexts.pop() == Some(Context::Words) {
            self.commands.pop();
        }
    }

    fn read(&mut self, text: &str) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if std::mem::take(&mut self.is_escaped) {
                self.command().word.push(letter);
                continue;
            }
            match (self.context(), letter) {
                (Context::Comment, '\n') => {
                    self.leave();
                    *self.command() = CommandWords::default();
                }
                (Context::SingleQuotes, '\'') | (Context::DoubleQuotes, '"') => self.leave(),
                (Context::Comment, _) => {}
                (Context::SingleQuotes, _) => self.command().word.push(letter),
                (_, '\\') => self.is_escaped = true,
                (_, '$') if letters.next_if_eq(&'(').is_some() => {
                    if letters.next_if_eq(&'(').is_some() {
                        self.enter(Context::Arithmetic);
                        self.enter(Context::Arithmetic);
                    } else {
                        self.enter(Context::Words);
                    }
                }
                (_, '$') if letters.next_if_eq(&'{').is_some() => self.enter(Context::Expansion),
                (Context::Backticks, '`') | (Context::Expansion, '}') | (Context::Arithmetic, ')') => {
                    self.leave()
                }
                (_, '`') => self.enter(Context::Backticks),
                (Context::Arithmetic, '(') => self.enter(Context::Arithmetic),
                (Context::Words | Context::Backticks | Context::Expansion, '"') => {
                    self.enter(Context::DoubleQuotes)
                }
                (Context::Words | Context::Backticks, '\'') => self.enter(Context::SingleQuotes),
                (Context::Words, '(') => self.enter(Context::Words),
                (Context::Words, ')') if self.contexts.len() > 1 => self.leave(),
                (Context::Words, '#') if self.command().word.is_empty() => self.enter(Context::Comment),
                (Context::Words, '<') if letters.next_if_eq(&'<').is_some() => {
                    // Three are a word of bash's.
                    self.has_here_document |= letters.next_if_eq(&'<').is_none();
                }
                (Context::Words, ';' | '&' | '|' | '\n' | ')') => *self.command() = CommandWords::default(),
                (Context::Words, letter) if letter.is_whitespace() => self.command().end_word(),
                (_, letter) => self.command().word.push(letter),
            }
        }
    }

    /// What stands in the program for a parameter.
    ///
    /// # Errors
    /// Why a value cannot be there.
    fn parameter(&mut self, number: usize) -> Result<String, &'static str> {
        let is_escaped = std::mem::take(&mut self.is_escaped);
        if is_escaped {
            return Err("behind a backslash");
        }
        if self.has_here_document {
            return Err("behind <<, in whose lines the shell reads values otherwise");
        }
        if self.commands.iter().any(CommandWords::reads_programs) {
            return Err(
                "in what a second shell reads as a program; give it that shell as a parameter: sh -c '… \"$1\" …' sh {name}",
            );
        }
        if self.contexts.contains(&Context::Backticks) {
            return Err("between backticks; use $(…)");
        }
        let nearest = self.contexts.iter().rev().take_while(|context| **context != Context::Words);
        if nearest.clone().any(|context| *context == Context::Arithmetic) {
            return Err("in arithmetic, which the shell evaluates");
        }
        if nearest.clone().any(|context| *context == Context::Expansion) {
            return Err("in ${…}");
        }
        let context = self.context();
        // It belongs to a word, behind which # begins no comment.
        self.command().word.push('$');
        Ok(match context {
            Context::DoubleQuotes => format!("${{{number}}}"),
            Context::SingleQuotes => format!("'\"${{{number}}}\"'"),
            Context::Comment => String::new(),
            _ => format!("\"${{{number}}}\""),
        })
    }
}

/// The words that run a text with these pieces in a shell.
///
/// # Errors
/// If a placeholder is where its value would be read as a part of the program, or not at all.
pub(super) fn words(shell: &str, pieces: &[Piece<'_>]) -> Result<Vec<String>, String> {
    let mut reader = Reader::new();
    let mut program = String::new();
    let mut parameters: Vec<(&str, &str)> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                reader.read(text);
                program.push_str(text);
            }
            Piece::Placeholder { name, value } => {
                let known = parameters.iter().position(|(other, _)| other == name);
                let place = known.unwrap_or_else(|| {
                    parameters.push((name, value));
                    parameters.len() - 1
                });
                let written = reader.parameter(place + 1);
                program += &written.map_err(|why| format!("{{{name}}} cannot be {why}"))?;
            }
        }
    }
    let mut words = vec![shell.to_owned(), "-c".to_owned(), program];
    if !parameters.is_empty() {
        // Its name in messages.
        words.push("sh".to_owned());
        words.extend(parameters.into_iter().map(|(_, value)| value.to_owned()));
    }
    Ok(words)
}

/// The place among some words of the first one in which a shell would read values as a part of its program.
pub(super) fn program_among(words: &[String], has_value: impl Fn(&str) -> bool) -> Option<usize> {
    let mut command = CommandWords::default();
    words.iter().position(|word| {
        let is_program = command.reads_programs() && has_value(word);
        command.add(word);
        is_program
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program, or why there is none. `@` is the placeholder.
    fn program(text: &str) -> Result<String, String> {
        let mut pieces = Vec::new();
        for (place, part) in text.split('@').enumerate() {
            if place > 0 {
                pieces.push(Piece::Placeholder { name: "x", value: "'; rm" });
            }
            pieces.push(Piece::Text(part));
        }
        let words = words("/bin/sh", &pieces)?;
        assert_eq!(words[3..], if text.contains('@') { vec!["sh", "'; rm"] } else { Vec::new() });
        Ok(words[2].clone())
    }

    #[test]
    fn values_are_parameters_in_any_quotes() {
        for (text, expected) in [
            ("a | b", "a | b"),
            ("a @ -H'@'", r#"a "${1}" -H''"${1}"''"#),
            (r#"a "x@y" 'p"@"q'"#, r#"a "x${1}y" 'p"'"${1}"'"q'"#),
            (r#"a "$(b @ "@" '@')@""#, r#"a "$(b "${1}" "${1}" ''"${1}"'')${1}""#),
            ("(a @; b) && c@d", r#"(a "${1}"; b) && c"${1}"d"#),
            ("a # don't @\nb @ c#d @", "a # don't \nb \"${1}\" c#d \"${1}\""),
            (r"a \' @ \# @", r#"a \' "${1}" \# "${1}""#),
            ("a $((1 + (2 * 3))) @ ${HOME} @", "a $((1 + (2 * 3))) \"${1}\" ${HOME} \"${1}\""),
            ("case @ in a) b @;; esac", "case \"${1}\" in a) b \"${1}\";; esac"),
            ("sh -c 'echo \"$1\"' sh @; a -c @", "sh -c 'echo \"$1\"' sh \"${1}\"; a -c \"${1}\""),
        ] {
            assert_eq!(program(text), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn values_are_no_programs() {
        for (text, reason) in [
            ("a `b @`", "backticks"),
            ("a \"`b '@'`\"", "backticks"),
            ("a $((1 + @))", "arithmetic"),
            ("a ${HOME:-@}", "${…}"),
            ("a \"${HOME:-\"@\"}\"", "${…}"),
            ("a <<E\n@\nE\n", "<<"),
            ("a \\@", "backslash"),
            ("sh -c 'echo @'", "second shell"),
            ("timeout 5 /bin/bash -ec \"echo @\"", "second shell"),
            ("x=$(sh -c \"$(a @)\")", "second shell"),
            ("eval a @", "second shell"),
        ] {
            let found = program(text);
            assert!(found.as_ref().is_err_and(|message| message.contains(reason)), "{text}: {found:?}");
        }
    }

    #[test]
    fn words_for_a_shell_are_found() {
        let found = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            program_among(&words, |word| word.contains('{'))
        };
        assert_eq!(found(&["sh", "-c", "echo {text}"]), Some(2));
        assert_eq!(found(&["/usr/bin/env", "/bin/bash", "-e", "-c", "x {text}", "{a}"]), Some(4));
        assert_eq!(found(&["sh", "-c", "echo \"$1\"", "sh", "{text}"]), None);
        assert_eq!(found(&["curl", "-c", "{text}"]), None);
        assert_eq!(found(&["sh", "script", "{text}"]), None);
    }
}
