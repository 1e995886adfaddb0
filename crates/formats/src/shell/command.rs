//! Finds what a command does with its words: which of them it reads as a program, or gives to a shell that does.

/// Shells: with `-c` their first operand is a program, without operands they read one from standard input.
const SHELLS: [&str; 14] = [
    "sh", "bash", "dash", "ksh", "zsh", "ash", "rbash", "mksh", "lksh", "yash", "posh", "fish", "csh", "tcsh",
];
/// Other commands that read programs.
const OTHERS: [(&str, Kind); 29] = [
    ("eval", Kind::Evaluator),
    ("trap", Kind::Evaluator),
    ("alias", Kind::Evaluator),
    ("let", Kind::Evaluator),
    // They join their words to a program for a shell.
    ("watch", Kind::Evaluator),
    ("parallel", Kind::Evaluator),
    // Parts of it are arithmetic.
    ("[[", Kind::Evaluator),
    ("su", Kind::WithShell),
    ("runuser", Kind::WithShell),
    ("flock", Kind::WithShell),
    ("script", Kind::WithShell),
    ("ssh", Kind::Remote),
    ("rsh", Kind::Remote),
    ("env", Kind::Interpreter("S", "uC")),
    ("python", Kind::Interpreter("c", "WX")),
    ("python3", Kind::Interpreter("c", "WX")),
    ("perl", Kind::Interpreter("eE", "I")),
    ("ruby", Kind::Interpreter("e", "IrCE")),
    ("php", Kind::Interpreter("rBRE", "dczt")),
    ("node", Kind::Interpreter("ep", "r")),
    ("lua", Kind::Interpreter("e", "l")),
    ("tclsh", Kind::Interpreter("c", "")),
    ("expect", Kind::Interpreter("c", "")),
    ("awk", Kind::Filter),
    ("gawk", Kind::Filter),
    ("mawk", Kind::Filter),
    ("nawk", Kind::Filter),
    ("sed", Kind::Filter),
    ("gsed", Kind::Filter),
];
/// Words before a command, or commands that run another one.
const BEFORE_COMMANDS: [&str; 24] = [
    "!", "{", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "builtin", "time",
    "timeout", "nice", "ionice", "chrt", "nohup", "setsid", "stdbuf", "sudo", "doas", "xargs", "chroot",
];
/// The options of ssh(1) that have an argument.
const OF_SSH: &str = "BbcDEeFIiJLlmOopQRSWw";
/// The options of awk(1) and sed(1) that have an argument, but for `-e`, whose argument is a program.
const OF_FILTERS: &str = "FvflE";

/// How a command reads programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shell,
    /// All its words.
    Evaluator,
    /// The word that follows `-c`.
    WithShell,
    /// All words behind the host.
    Remote,
    /// The word behind one of the first options. The others have an argument.
    Interpreter(&'static str, &'static str),
    /// The first operand, or the word behind `-e`.
    Filter,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        let name = word.rsplit('/').next().unwrap_or(word);
        let other = || OTHERS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        if SHELLS.contains(&name) { Some(Self::Shell) } else { other() }
    }
}

/// The state of a simple command that is read so far.
#[derive(Debug, Default)]
pub(super) struct CommandWords {
    /// The word that has begun.
    word: String,
    count: usize,
    /// Another command follows somewhere.
    is_before_command: bool,
    kind: Option<Kind>,
    /// The word of `kind` is the command, as far as is known: it may be an argument.
    is_command: bool,
    /// An option said that a program follows.
    has_option: bool,
    /// The argument `--` ended its options.
    has_no_more_options: bool,
    operands: usize,
    /// The next word is the argument of an option, or the file of a redirection.
    skips_word: bool,
}

impl CommandWords {
    pub(super) fn push(&mut self, letter: char) {
        self.word.push(letter);
    }

    /// Returns whether no word has begun.
    pub(super) fn is_between_words(&self) -> bool {
        self.word.is_empty()
    }

    /// Ends a word, if one has begun.
    pub(super) fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if !word.is_empty() {
            self.add(&word);
        }
    }

    /// Begins a redirection. A number directly before it belongs to it.
    pub(super) fn redirect(&mut self) {
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word.clear();
        }
        self.end_word();
        self.skips_word = true;
    }

    /// Enters parentheses, which may be the file of a redirection.
    pub(super) fn enter_parentheses(&mut self) {
        self.skips_word = false;
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: &str) {
        if std::mem::take(&mut self.skips_word) {
            return;
        }
        if self.count == 0 && is_assignment(word) {
            return;
        }
        self.count += 1;
        let may_be_command = self.count == 1 || self.is_before_command || self.kind.is_some();
        self.is_before_command |= may_be_command && BEFORE_COMMANDS.contains(&word);
        // A variable may be the name of a shell.
        let is_variable = self.count == 1 && word.starts_with('$') && !word.contains('/');
        let is_variable = is_variable && word.to_lowercase().contains("sh");
        let kind = if is_variable { Some(Kind::Shell) } else { Kind::of(word) };
        let kind = kind.filter(|kind| may_be_command || *kind == Kind::Shell);
        let may_run_another = match self.kind {
            // env(1).
            None | Some(Kind::Interpreter("S", _)) => true,
            Some(Kind::WithShell) => !self.has_option,
            Some(_) => false,
        };
        if may_run_another && let Some(kind) = kind {
            let (count, is_command) = (self.count, may_be_command);
            *self = Self { count, kind: Some(kind), is_command, ..Self::default() };
            return;
        }
        let Some(kind) = self.kind else { return };
        let is_option = word.len() > 1 && word.starts_with(['-', '+']) && !self.has_no_more_options;
        if !is_option {
            self.operands += 1;
            self.has_option &= kind != Kind::Filter;
            return;
        }
        // The first of these letters is the last one: what is behind it would be its argument.
        let ends_with = |letters: &str| {
            let first = word.find(|letter| letters.contains(letter));
            !word.starts_with("--") && first.is_some_and(|first| first + 1 == word.len())
        };
        match kind {
            _ if word == "--" => self.has_no_more_options = true,
            Kind::Shell => {
                self.has_option |= !word.starts_with("--") && self.operands == 0 && word.contains('c');
                self.skips_word = ends_with("oO") || matches!(word, "--rcfile" | "--init-file");
            }
            Kind::WithShell => {
                self.has_option |=
                    word.contains('c') && (!word.starts_with("--") || word.contains("command"));
            }
            Kind::Remote => self.skips_word = ends_with(OF_SSH),
            Kind::Interpreter(letters, with_argument) => {
                let is_it = !word.starts_with("--") && word.contains(|letter| letters.contains(letter));
                self.has_option |= (is_it || word == "--split-string") && self.operands == 0;
                self.skips_word = !is_it && ends_with(with_argument);
            }
            Kind::Filter => {
                let has_file = word.starts_with("-f") || word.starts_with("--file");
                self.operands += usize::from(has_file);
                self.has_option = word == "-e" || word == "--expression";
                self.skips_word = ends_with(OF_FILTERS);
            }
            Kind::Evaluator => {}
        }
    }

    /// Returns whether a value in the next word would be read as a part of a program. `begun` is how that word begins, if it is not the one
    /// that was pushed.
    pub(super) fn reads_programs(&self, begun: &str) -> bool {
        if self.skips_word {
            return false;
        }
        let begun = if begun.is_empty() { self.word.as_str() } else { begun };
        let is_option = begun.starts_with('-') && begun.len() > 1 && !self.has_no_more_options;
        match self.kind {
            None => false,
            Some(Kind::Evaluator) => true,
            Some(Kind::Shell) => self.has_option && self.operands == 0,
            Some(Kind::WithShell) => self.has_option || is_option && begun.contains('c'),
            Some(Kind::Remote) => self.operands > 0,
            Some(Kind::Interpreter(letters, _)) => {
                let is_attached = is_option && begun.contains(|letter| letters.contains(letter));
                self.operands == 0 && (self.has_option || is_attached)
            }
            Some(Kind::Filter) if is_option => begun.starts_with("-e") || begun.starts_with("--expression"),
            Some(Kind::Filter) => self.operands == 0 || self.has_option,
        }
    }

    /// Returns whether it is a shell that reads its program from standard input.
    pub(super) fn reads_standard_input(&self) -> bool {
        self.kind == Some(Kind::Shell) && self.is_command && !self.has_option && self.operands == 0
    }

    /// Returns whether it is the beginning of `case`, in which `)` ends a pattern.
    pub(super) fn is_case(&self) -> bool {
        self.count == 0 && self.word == "case"
    }
}

fn is_assignment(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_letter))
}

/// The place among some words of the first one in which a value would be read as a part of a program.
pub fn program_among(words: &[String], has_value: impl Fn(&str) -> bool) -> Option<usize> {
    let mut command = CommandWords::default();
    words.iter().position(|word| {
        let is_program = has_value(word) && command.reads_programs(word);
        command.add(word);
        is_program
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str]) -> Option<usize> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        program_among(&words, |word| word.contains('{'))
    }

    #[test]
    fn words_that_are_programs_are_found() {
        for (words, place) in [
            (&["sh", "-c", "echo {text}"][..], 2),
            (&["/usr/bin/env", "/bin/bash", "-e", "-c", "x {text}", "{a}"], 4),
            (&["bash", "-c", "-u", "echo {text}"], 3),
            (&["sh", "-c", "--", "echo {text}"], 3),
            (&["bash", "-o", "pipefail", "-c", "echo {text}"], 4),
            (&["bash", "-c", "-o", "pipefail", "echo {text}"], 4),
            (&["timeout", "5", "/usr/bin/rbash", "-c", "{text}"], 4),
            (&["su", "-c", "notify '{text}'", "nagios"], 2),
            (&["runuser", "nagios", "--command=notify {text}"], 2),
            (&["flock", "/lock", "-c", "a {text}"], 3),
            (&["flock", "/lock", "sh", "-c", "a {text}"], 4),
            (&["script", "-qc", "echo {text}", "/dev/null"], 2),
            (&["ssh", "-o", "BatchMode=yes", "-p22", "pager", "notify '{text}'"], 5),
            (&["env", "-S", "sh -c 'echo {text}'"], 2),
            (&["env", "-Ssh -c 'echo {text}'"], 1),
            (&["fish", "-c", "{text}"], 2),
            (&["python3", "-c", "print('{text}')"], 2),
            (&["perl", "-we", "print '{text}'"], 2),
            (&["awk", "-F", ":", "/{text}/"], 3),
            (&["sed", "-e", "s/a/b/", "-e", "s/{text}//"], 4),
            (&["watch", "-n", "1", "a {text}"], 3),
            (&["sudo", "-u", "nagios", "awk", "/{text}/"], 4),
        ] {
            assert_eq!(found(words), Some(place), "{words:?}");
        }
    }

    #[test]
    fn words_that_are_none_are_not() {
        for words in [
            &["sh", "-c", "echo \"$1\"", "sh", "{text}"][..],
            &["bash", "-o", "pipefail", "-c", "echo $1", "sh", "{text}"],
            &["curl", "-c", "{text}"],
            &["sh", "script", "{text}"],
            &["ssh", "-p", "22", "{address}", "uptime"],
            &["ssh", "-l", "{user}", "{address}"],
            &["su", "nagios"],
            &["env", "A={text}", "check_x", "{text}"],
            &["python3", "script.py", "-c", "{text}"],
            &["awk", "-v", "a={text}", "1"],
            &["check_procs", "-C", "sed", "-a", "{text}"],
            &["sed", "-n", "1p", "{file}"],
            &["awk", "-f", "program", "{file}"],
        ] {
            assert_eq!(found(words), None, "{words:?}");
        }
    }
}
