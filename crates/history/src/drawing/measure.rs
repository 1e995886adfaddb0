//! The measures of the values of an expression, by the names in it.

use text::plot::Measure;

/// Functions whose values are a change a second.
const PER_SECOND: [&str; 3] = ["rate", "irate", "deriv"];
/// Functions whose values are of the same kind as what they are given.
const OF_TIME: [&str; 4] = ["time", "timestamp", "count", "count_over_time"];

/// That of an expression; numbers, where it does not say.
pub fn of(expression: &str) -> Measure {
    let words = words(expression);
    let is_function = |name: &str| words.iter().any(|word| word.is_function && word.text == name);
    if expression.contains('/') {
        return Measure::Number;
    }
    if OF_TIME.into_iter().any(is_function) {
        return Measure::Number;
    }
    let is_rate = PER_SECOND.into_iter().any(is_function);
    let metrics = words.iter().filter(|word| !word.is_function && word.text.contains('_'));
    let mut measures = metrics.map(|word| of_metric(&word.text, is_rate));
    let Some(first) = measures.next() else { return Measure::Number };
    if measures.all(|other| other == first) { first } else { Measure::Number }
}

fn of_metric(name: &str, is_rate: bool) -> Measure {
    // A time since 1970 is no length of time.
    if ["_time_seconds", "_timestamp_seconds"].iter().any(|end| name.ends_with(end)) && !is_rate {
        return Measure::Number;
    }
    let base = name.strip_suffix("_total").unwrap_or(name);
    let unit = base.rsplit('_').next().unwrap_or_default();
    match (unit, is_rate) {
        ("bytes", true) => Measure::BytesPerSecond,
        ("bytes", false) => Measure::Bytes,
        // Seconds a second.
        ("seconds", true) | ("ratio", false) => Measure::Ratio,
        ("seconds", false) => Measure::Seconds,
        ("celsius", false) => Measure::Celsius,
        (_, true) => Measure::Rate,
        (_, false) => Measure::Number,
    }
}

struct Word {
    text: String,
    /// A parenthesis follows.
    is_function: bool,
}

/// The words that are not in quotation marks, braces or brackets, nor among labels.
fn words(expression: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut text, mut quote, mut depth) = (String::new(), None, 0_u32);
    // The word before, and whether this is a list of labels.
    let (mut last, mut is_of_labels) = (String::new(), false);
    for letter in expression.chars().chain([' ']) {
        if let Some(mark) = quote {
            quote = Some(mark).filter(|mark| letter != *mark);
            continue;
        }
        let is_letter = letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
        if is_letter && depth == 0 {
            text.push(letter);
            continue;
        }
        if !text.is_empty() {
            let word = std::mem::take(&mut text);
            last.clone_from(&word);
            if !is_of_labels {
                words.push(Word { text: word, is_function: letter == '(' });
            }
        }
        match letter {
            '"' | '\'' | '`' => quote = Some(letter),
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '(' => {
                let names_labels = ["by", "without", "on", "ignoring", "group_left", "group_right"];
                is_of_labels = names_labels.contains(&last.as_str());
                last.clear();
            }
            ')' => (is_of_labels, last) = (false, String::new()),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_values_are() {
        for (expression, measure) in [
            ("node_memory_MemAvailable_bytes", Measure::Bytes),
            ("rate(node_network_receive_bytes_total{device=\"eth0\"}[1m])", Measure::BytesPerSecond),
            ("sum by (mode_seconds) (rate(node_cpu_seconds_total[1m]))", Measure::Ratio),
            ("sum by (mode) (rate(node_cpu_seconds_total[1m]))", Measure::Ratio),
            ("increase(node_cpu_seconds_total[1m])", Measure::Seconds),
            ("rate(node_context_switches_total[1m])", Measure::Rate),
            ("node_load1", Measure::Number),
            ("node_boot_time_seconds", Measure::Number),
            ("node_disk_io_time_seconds_total", Measure::Seconds),
            ("node_memory_MemFree_bytes / node_memory_MemTotal_bytes", Measure::Number),
            ("whit_pressure_cpu_waiting_ratio", Measure::Ratio),
            ("count(node_memory_MemFree_bytes)", Measure::Number),
            ("node_load1 + node_memory_MemFree_bytes", Measure::Number),
            ("topk(3, whit_task_resident_bytes)", Measure::Bytes),
            ("1 + 1", Measure::Number),
            ("", Measure::Number),
        ] {
            assert_eq!(of(expression), measure, "{expression}");
        }
    }
}
