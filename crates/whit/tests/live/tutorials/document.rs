//! What a tutorial lets its reader do: files in fenced blocks whose first line is a comment with their path, and commands behind `$` in
//! blocks of `console`, with what they print. As in the other documents, `[..]` in a line stands for any characters, a line `...` for
//! any lines, and `? 1` below a command for its exit status. Other blocks are only shown.

/// Something that the reader does.
pub(super) struct Step<'a> {
    /// The line of the document.
    pub(super) line: usize,
    pub(super) action: Action<'a>,
}

pub(super) enum Action<'a> {
    /// Writes a file below the home.
    Write { path: &'a str, text: String },
    /// Types a command, and sees this.
    Type { command: &'a str, status: i32, shown: Vec<&'a str> },
}

/// Returns the steps of a document in their order.
pub(super) fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((fence, line)) = lines.next() {
        let Some(language) = fence.strip_prefix("```") else { continue };
        let block: Vec<(&str, usize)> =
            lines.by_ref().take_while(|(line, _)| !line.starts_with("```")).collect();
        match (language, block.first().and_then(|(first, _)| path_of(first))) {
            ("console", _) => steps.extend(typed(&block)),
            (_, Some(path)) => {
                let text = block.iter().map(|(line, _)| format!("{line}\n")).collect();
                steps.push(Step { line, action: Action::Write { path, text } });
            }
            _ => {}
        }
    }
    steps
}

/// Reads `# ~/PATH`, and the same as a comment of XML.
fn path_of(line: &str) -> Option<&str> {
    let path = line.strip_prefix("# ~/");
    path.or_else(|| line.strip_prefix("<!-- ~/")?.strip_suffix(" -->"))
}

fn typed<'a>(block: &[(&'a str, usize)]) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    for &(text, line) in block {
        if let Some(command) = text.strip_prefix("$ ") {
            steps.push(Step { line, action: Action::Type { command, status: 0, shown: Vec::new() } });
        } else if let Some(Step { action: Action::Type { status, shown, .. }, .. }) = steps.last_mut() {
            match text.strip_prefix("? ").and_then(|number| number.parse().ok()) {
                Some(number) if shown.is_empty() => *status = number,
                _ => shown.push(text),
            }
        }
    }
    steps
}

/// Returns whether the lines of an output are those that are shown. Blanks at the ends of lines do not count, since documents have none.
pub(super) fn is_shown(shown: &[&str], lines: &[&str]) -> bool {
    match shown {
        [] => lines.is_empty(),
        ["...", rest @ ..] => (0..=lines.len()).any(|skipped| is_shown(rest, &lines[skipped..])),
        [first, rest @ ..] => lines
            .split_first()
            .is_some_and(|(line, lines)| is_like(first.trim_end(), line.trim_end()) && is_shown(rest, lines)),
    }
}

fn is_like(pattern: &str, line: &str) -> bool {
    match pattern.split_once("[..]") {
        None => pattern == line,
        Some((head, rest)) => line.strip_prefix(head).is_some_and(|line| {
            line.char_indices()
                .map(|(index, _)| index)
                .chain([line.len()])
                .any(|index| is_like(rest, &line[index..]))
        }),
    }
}
