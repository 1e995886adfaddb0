//! Finds subtractions of two readings of one value in source text: by the names of the operands, or by the figure that both read.

const OPERATORS: [&str; 6] =
    [".saturating_sub(", ".checked_sub(", ".wrapping_sub(", ".overflowing_sub(", ".abs_diff(", " - "];
const NEWER: [&str; 6] = ["now", "new", "newer", "after", "later", "current"];
const OLDER: [&str; 8] = ["before", "old", "older", "earlier", "previous", "prior", "last", "first"];

/// The lines of the code that subtract an older reading from a newer one. Tests and comments are left out.
pub(crate) fn of_readings(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for operator in OPERATORS {
        for (at, _) in code.match_indices(operator) {
            let (left, right) = (operand_before(&code[..at]), operand_after(&code[at + operator.len()..]));
            let has = |operand: &str, names: &[&str]| words(operand).any(|word| names.contains(&word));
            let is_by_name = has(left, &NEWER) && has(right, &OLDER);
            let figure = words(left).skip_while(|word| *word != "Figure").nth(1);
            let is_by_figure = figure.is_some_and(|figure| {
                words(right).skip_while(|word| *word != "Figure").nth(1) == Some(figure)
            });
            if is_by_name || is_by_figure {
                found.push(format!("{}{operator}{}", left.trim(), right.trim()));
            }
        }
    }
    found
}

fn words(operand: &str) -> impl Iterator<Item = &str> {
    operand.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

fn belongs(letter: char) -> bool {
    letter.is_alphanumeric() || "_.?*&:".contains(letter)
}

/// The expression that ends here: names, fields, calls and indices.
fn operand_before(code: &str) -> &str {
    let mut depth = 0;
    let start = code.char_indices().rev().find(|(_, letter)| match letter {
        ')' | ']' => {
            depth += 1;
            false
        }
        '(' | '[' => {
            depth -= 1;
            depth < 0
        }
        letter => depth == 0 && !belongs(*letter) && !letter.is_whitespace(),
    });
    let expression = code[start.map_or(0, |(at, letter)| at + letter.len_utf8())..].trim_end();
    // Behind the last word that stands alone: `return`, `let name`, a pattern.
    match expression.rsplit_once(char::is_whitespace) {
        Some((_, last)) if !last.starts_with(['.', '?']) => last,
        _ => expression,
    }
}

/// The expression that begins here.
fn operand_after(code: &str) -> &str {
    let mut depth = 0;
    let end = code.char_indices().find(|(_, letter)| match letter {
        '(' | '[' => {
            depth += 1;
            false
        }
        ')' | ']' => {
            depth -= 1;
            depth < 0
        }
        letter => depth == 0 && !belongs(*letter),
    });
    &code[..end.map_or(code.len(), |(at, _)| at)]
}

#[test]
fn a_second_subtraction_is_found_however_it_is_written() {
    for code in [
        "let delta = now.on_cpu.saturating_sub(before.on_cpu);",
        "let delta = now.on_cpu - before.on_cpu;",
        "let delta = new[index].checked_sub(old[index]);",
        "let delta = current\n    .total\n    .wrapping_sub(previous.total);",
        "rows.map(|now| now.abs_diff(*last))",
        "let grown = a.get(Figure::ON_CPU)? - b.get(Figure::ON_CPU)?;",
        "let grown = row.figures.get(Figure::delay(cause)).saturating_sub(other.get(Figure::delay(cause)));",
    ] {
        assert_eq!(of_readings(code).len(), 1, "{code}");
    }
    for code in [
        "let left = total - used;",
        "// now - before",
        "let end = now + before;",
        "#[cfg(test)]\nlet delta = now - before;",
        "let rest = sum.get(Figure::USER)? - sum.get(Figure::SYSTEM)?;",
    ] {
        assert_eq!(of_readings(code), Vec::<String>::new(), "{code}");
    }
}
