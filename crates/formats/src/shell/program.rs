//! Programs for a shell with values in them.
//!
//! A value reaches the shell as a parameter, `"${1}"`, which it expands and never reads as a part of the program: no value can do anything,
//! whatever quotation marks stand around its placeholder. Where a shell would read the expanded value as a program after all, or would
//! not expand it, the placeholder is refused.
//!
//! Quoting the value instead protects nothing if the author of the program has put quotation marks around the placeholder, as most authors
//! do: the two pairs meet.

use super::command::CommandWords;

/// A part of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// A part of the program.
    Text(&'t str),
    /// A value, and the name of its placeholder.
    Placeholder {
        /// As it stands in the text.
        name: &'t str,
        /// The value that the shell gets as a parameter.
        value: &'t str,
    },
}

/// The context of a place in a program: sh(1p), 2.2 and 2.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// Words of a command, also between parentheses and in `$(…)`.
    Words,
    SingleQuotes,
    DoubleQuotes,
    Backticks,
    /// `$((…))`, `((…))`, and parentheses in them.
    Arithmetic,
    /// `$[…]`.
    Brackets,
    /// `${…}`.
    Expansion,
    Comment,
}

/// Reads a program as far as quotation marks go.
#[derive(Debug)]
struct Reader {
    contexts: Vec<Context>,
    /// One for each context of words.
    commands: Vec<CommandWords>,
    is_escaped: bool,
    has_here_document: bool,
    /// `case` within parentheses: its patterns end them, as far as is read here.
    has_nested_case: bool,
    /// A shell that reads its program from standard input.
    has_shell_without_program: bool,
}

impl Reader {
    fn new() -> Self {
        Self {
            contexts: vec![Context::Words],
            commands: vec![CommandWords::default()],
            is_escaped: false,
            has_here_document: false,
            has_nested_case: false,
            has_shell_without_program: false,
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
            self.end_command();
            self.commands.pop();
        }
    }

    /// Enters a part of a word. What comes behind it begins no comment.
    fn expand(&mut self, context: Context) {
        self.command().push('$');
        self.enter(context);
    }

    fn end_word(&mut self) {
        self.has_nested_case |= self.commands.len() > 1 && self.command().is_case();
        self.command().end_word();
    }

    fn end_command(&mut self) {
        self.end_word();
        self.has_shell_without_program |= self.command().reads_standard_input();
        *self.command() = CommandWords::default();
    }

    fn read(&mut self, text: &str) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if std::mem::take(&mut self.is_escaped) {
                // A backslash at the end of a line joins it with the next one: sh(1p), 2.2.1.
                if letter != '\n' {
                    self.command().push(letter);
                }
                continue;
            }
            match (self.context(), letter) {
                (Context::Comment, '\n') => {
                    self.leave();
                    self.end_command();
                }
                (Context::SingleQuotes, '\'') | (Context::DoubleQuotes, '"') => self.leave(),
                (Context::Comment, _) => {}
                (Context::SingleQuotes, _) => self.command().push(letter),
                (_, '\\') => self.is_escaped = true,
                (_, '$') if letters.next_if_eq(&'(').is_some() => {
                    if letters.next_if_eq(&'(').is_some() {
                        self.expand(Context::Arithmetic);
                        self.enter(Context::Arithmetic);
                    } else {
                        self.expand(Context::Words);
                    }
                }
                (_, '$') if letters.next_if_eq(&'{').is_some() => self.expand(Context::Expansion),
                // Of old: it is evaluated as $((…)) is.
                (_, '$') if letters.next_if_eq(&'[').is_some() => self.expand(Context::Brackets),
                (Context::Brackets, ']') => self.leave(),
                (Context::Backticks, '`') | (Context::Expansion, '}') | (Context::Arithmetic, ')') => {
                    self.leave()
                }
                (_, '`') => self.expand(Context::Backticks),
                (Context::Arithmetic, '(') => self.enter(Context::Arithmetic),
                (Context::Words | Context::Backticks | Context::Expansion, '"') => {
                    self.enter(Context::DoubleQuotes)
                }
                (Context::Words | Context::Backticks, '\'') => self.enter(Context::SingleQuotes),
                // A command of bash's, which another shell reads as two subshells.
                (Context::Words, '(')
                    if self.command().is_between_words() && letters.next_if_eq(&'(').is_some() =>
                {
                    self.enter(Context::Arithmetic);
                    self.enter(Context::Arithmetic);
                }
                (Context::Words, '(') => {
                    self.command().enter_parentheses();
                    self.enter(Context::Words);
                }
                (Context::Words, ')') if self.contexts.len() > 1 => self.leave(),
                (Context::Words, '#') if self.command().is_between_words() => self.enter(Context::Comment),
                (Context::Words, '<') if letters.next_if_eq(&'<').is_some() => {
                    // Three are a word of bash's.
                    self.has_here_document |= letters.next_if_eq(&'<').is_none();
                }
                (Context::Words, '&') if matches!(letters.peek(), Some('>')) => {}
                (Context::Words, '<' | '>') => {
                    while letters.next_if(|next| matches!(next, '<' | '>' | '&' | '|')).is_some() {}
                    self.command().redirect();
                }
                (Context::Words, ';' | '&' | '|' | '\n' | ')') => self.end_command(),
                (Context::Words, letter) if letter.is_whitespace() => self.end_word(),
                (_, letter) => self.command().push(letter),
            }
        }
    }

    /// Returns the text that stands in the program for a parameter.
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
        if self.commands.iter().any(|command| command.reads_programs("")) {
            return Err(
                "in what a second shell, or another interpreter, reads as a program; give it that as a parameter: sh -c '… \"$1\" …' sh {name}",
            );
        }
        if self.has_nested_case {
            return Err("behind case in $(…), whose patterns end with )");
        }
        if self.contexts.contains(&Context::Backticks) {
            return Err("between backticks; use $(…)");
        }
        let nearest = self.contexts.iter().rev().take_while(|context| **context != Context::Words);
        if nearest.clone().any(|context| matches!(context, Context::Arithmetic | Context::Brackets)) {
            return Err("in arithmetic, which the shell evaluates");
        }
        if nearest.clone().any(|context| *context == Context::Expansion) {
            return Err("in ${…}");
        }
        let context = self.context();
        // It belongs to a word, behind which # begins no comment.
        self.command().push('$');
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
pub fn words(shell: &str, pieces: &[Piece<'_>]) -> Result<Vec<String>, String> {
    let mut reader = Reader::new();
    let mut program = String::new();
    let mut parameters: Vec<(&str, &str)> = Vec::new();
    // Texts that follow one another are one: `${` may be the end of one and the beginning of the next.
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(more) => text.push_str(more),
            Piece::Placeholder { name, value } => {
                reader.read(&text);
                program.push_str(&std::mem::take(&mut text));
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
    reader.read(&text);
    program.push_str(&text);
    reader.end_command();
    if reader.has_shell_without_program && !parameters.is_empty() {
        return Err("no value can be beside a shell that reads its program from standard input".to_owned());
    }
    let mut words = vec![shell.to_owned(), "-c".to_owned(), program];
    if !parameters.is_empty() {
        // Its name in messages.
        words.push("sh".to_owned());
        words.extend(parameters.into_iter().map(|(_, value)| value.to_owned()));
    }
    Ok(words)
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
            ("check_procs -w @ -C bash", "check_procs -w \"${1}\" -C bash"),
            ("a $(b)#@ >/dev/null 2>&1 @", "a $(b)#\"${1}\" >/dev/null 2>&1 \"${1}\""),
            ("$a -c @ <@ && ssh @ uptime | wc", "$a -c \"${1}\" <\"${1}\" && ssh \"${1}\" uptime | wc"),
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
            ("timeout 5 sh -c \\\n  'exec 2>&1; echo @'", "second shell"),
            ("sh -c 2>/dev/null \"echo @\"", "second shell"),
            ("sh 2>&1 -c \"echo @\"", "second shell"),
            ("sh >&2 -c \"echo @\"", "second shell"),
            ("sh &>/dev/null -c \"echo @\"", "second shell"),
            ("sh -c -- \"echo @\"", "second shell"),
            ("SH=/bin/sh; $SH -c \"echo @\"", "second shell"),
            ("sh \\\n-c 'a @'", "second shell"),
            ("trap 'rm -f /tmp/x/@' EXIT; b", "second shell"),
            ("alias e='echo @'\ne", "second shell"),
            ("su -c 'a @' b", "second shell"),
            ("ssh pager notify @", "second shell"),
            ("a | awk '/@/'", "second shell"),
            ("[[ @ -gt 5 ]]", "second shell"),
            ("echo @ | sh", "standard input"),
            ("(( @ > 5 ))", "arithmetic"),
            ("a $[@]", "arithmetic"),
            ("a \"$(case 1 in 1) b @;; esac)\"", "case"),
        ] {
            let found = program(text);
            assert!(found.as_ref().is_err_and(|message| message.contains(reason)), "{text}: {found:?}");
        }
    }
}
