//! What a tutorial lets its reader do: files in fenced blocks whose first line is a comment with their path, and commands behind `$` in
//! blocks of `console`, with what they print. A reader sees real output: numbers, their units, bars and the width of columns are those of
//! one machine at one time, and are not compared ([`shape`]). As in the other documents, `[..]` in a line stands for any characters, a
//! line `...` for any lines, and `? 1` below a command for its exit status. Other blocks are only shown.

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

/// Returns whether an output has the shape of the lines that are shown.
pub(super) fn is_shown(shown: &[&str], output: &str) -> bool {
    let shapes = |lines: &[&str]| lines.iter().map(|line| shape(line)).collect::<Vec<_>>();
    let (shown, lines) = (shapes(shown), shapes(&output.lines().collect::<Vec<_>>()));
    are_like(&shown, &lines)
}

/// What of a line is the same on every machine: each number with its unit becomes `0`, as an absent one does, each bar `█`, each gap one
/// blank.
fn shape(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ';', ':', ')', '|']));
        match words.last_mut() {
            // A unit that stands by itself behind its number.
            Some(last) if is_unit && last.ends_with('0') => {
                last.push_str(word.trim_start_matches(char::is_alphabetic))
            }
            _ => words.push(shape_of_word(word)),
        }
    }
    words.join(" ")
}

/// The characters of bars.
const BAR: &str = "█▉▊▋▌▍▎▏▁▓▒·─";
/// Units behind a blank.
const UNITS: [&str; 12] = ["ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "%", "B/s", "KiB/s", "MiB/s"];

fn shape_of_word(word: &str) -> String {
    let mut shape = String::new();
    let mut rest = word.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '0'..='9' | '–' => {
                // Fractions, instants, durations such as 9h06m, and units such as Gi: what touches the number.
                let is_of_number = |next: &char| next.is_alphanumeric() || ".:%".contains(*next);
                while rest.next_if(is_of_number).is_some() {}
                // A full stop at the end is that of the sentence.
                shape.push('0');
            }
            // One by itself is of a legend.
            part if BAR.contains(part) && word.chars().count() > 1 => {
                while rest.next_if(|next| BAR.contains(*next)).is_some() {}
                shape.push('█');
            }
            '≈' | '≤' | '≥' | '<' if rest.peek().is_some_and(char::is_ascii_digit) => {}
            other => shape.push(other),
        }
    }
    shape
}

fn are_like(shown: &[String], lines: &[String]) -> bool {
    match shown {
        [] => lines.is_empty(),
        [first, rest @ ..] if first == "..." => {
            (0..=lines.len()).any(|skipped| are_like(rest, &lines[skipped..]))
        }
        [first, rest @ ..] => {
            lines.split_first().is_some_and(|(line, lines)| is_like(first, line) && are_like(rest, lines))
        }
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
