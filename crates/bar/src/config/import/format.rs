//! From `%avail free` to `{available} free`.

/// Placeholders, each with its replacement.
pub(super) type Placeholders<'a> = &'a [(&'a str, &'a str)];

/// Placeholders of i3status that whit has no field for. What begins with none that i3status knows stays as it is written.
const WITHOUT_FIELD: [&str; 9] =
    ["cpu", "emptytime", "noise", "devicename", "errno", "error", "title", "content", "status"];

/// The format, and the placeholders in it that nothing here stands for. A sign that begins none stays, also where there are two; braces and
/// brackets, which mean something here, are doubled.
pub(super) fn translate(format: &str, placeholders: Placeholders<'_>) -> (String, Vec<String>) {
    let (mut out, mut unknown) = (String::new(), Vec::new());
    let mut rest = format;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '%' => {
                let found = placeholders.iter().filter(|(name, _)| rest.starts_with(name));
                // "%percentage_used" is not "%percentage" and "_used".
                if let Some((name, field)) = found.max_by_key(|(name, _)| name.len()) {
                    out.push_str(field);
                    rest = &rest[name.len()..];
                } else if !WITHOUT_FIELD.iter().any(|name| rest.starts_with(name)) {
                    out.push('%');
                } else {
                    let is_name = |character: char| character.is_alphanumeric() || character == '_';
                    let length = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
                    unknown.push(format!("%{}", &rest[..length]));
                    rest = &rest[length..];
                }
            }
            '{' | '}' | '[' | ']' => out.extend([character, character]),
            _ => out.push(character),
        }
    }
    (out, unknown)
}

/// A format of which only the words are left: what is shown where there is nothing to fill in.
pub(super) fn words(format: &str) -> String {
    let (template, _) = translate(format, &[]);
    ["{{", "}}", "[[", "]]"].iter().fold(template, |text, doubled| text.replace(doubled, &doubled[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts_and_signs_are_doubled() {
        let names: Placeholders<'_> = &[("percentage", "{a}"), ("percentage_used", "{b}"), ("1min", "{c}")];
        let (text, unknown) = translate("%percentage_used of 100%% [%1min] {%cpu0} %nothing 5%", names);
        assert_eq!(text, "{b} of 100%% [[{c}]] {{}} %nothing 5%");
        assert_eq!(unknown, ["%cpu0"]);
    }
}
