//! conky's configuration: conky(1), in Lua as of 1.10 and in the syntax before it. Only its text is taken apart; programs in it
//! are not run.

mod lua_text;

use self::lua_text::{LuaText, without_comments};

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// How often it is drawn, as it is written: `1.0`.
    pub update_interval: Option<String>,
    /// Settings that change what is shown of a figure, as they are written: `("uppercase", "true")`.
    pub settings: Vec<(&'static str, String)>,
    /// The text that is shown, from the beginning to the end.
    pub pieces: Vec<Piece>,
    /// The text writes i3bar's protocol: the pieces are what its blocks show.
    pub is_for_i3bar: bool,
    /// Parts of the text that Lua computes: names, calls.
    pub computed: Vec<String>,
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// `$name`, or `${name arguments}`.
    Variable {
        /// `fs_used`.
        name: String,
        /// The text behind the name, without blanks around it.
        arguments: String,
    },
    /// A line ends.
    LineEnd,
}

impl Configuration {
    /// Returns whether a text is such a configuration.
    pub fn is_one(text: &str) -> bool {
        lua(&without_comments(text)).is_some()
            || (classic(text).is_some()
                && !text.lines().any(|line| line.trim_start().starts_with("order +=")))
    }

    /// Takes a text apart; `None` if it does not say what is shown.
    pub fn parse(text: &str) -> Option<Self> {
        let code = without_comments(text);
        let classic = || classic(text).map(|(settings, shown)| (settings, LuaText::of(shown)));
        let (settings, shown) = lua(&code).or_else(classic)?;
        let blocks = blocks(&shown.text);
        let of_text = |name: &&'static str| Some((*name, setting(settings, name)?));
        Some(Self {
            update_interval: setting(settings, "update_interval"),
            settings: SETTINGS.iter().filter_map(of_text).collect(),
            pieces: pieces(blocks.as_deref().unwrap_or(&shown.text)),
            is_for_i3bar: blocks.is_some(),
            computed: shown.computed,
        })
    }
}

/// Settings by which a figure is shown in another way.
const SETTINGS: [&str; 8] = [
    "no_buffers",
    "uppercase",
    "times_in_seconds",
    "format_human_readable",
    "short_units",
    "max_text_width",
    "temperature_unit",
    "pad_percents",
];

/// Lua's ways to write the field of a table.
const NAMES_OF_TEXT: [&str; 3] = ["conky.text", "conky['text']", "conky[\"text\"]"];

/// Settings, and what `conky.text` is in the end: texts in brackets or quotation marks, with `..` between them. The code has no comments.
fn lua(code: &str) -> Option<(&str, LuaText)> {
    let mut found: Option<(&str, LuaText)> = None;
    for (place, _) in code.match_indices("conky") {
        let Some(name) = NAMES_OF_TEXT.into_iter().find(|name| code[place..].starts_with(name)) else {
            continue;
        };
        let after = code[place + name.len()..].trim_start();
        let Some(after) = after.strip_prefix('=').filter(|after| !after.starts_with('=')) else { continue };
        let value = LuaText::read(after.trim_start());
        found = Some(match found {
            Some((settings, before)) => (settings, value.after(before, name)),
            None => (&code[..place], value),
        });
    }
    found
}

/// Settings, and what stands below a line `TEXT`.
fn classic(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "TEXT" {
            return Some((&text[..start], &text[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

fn setting(settings: &str, name: &str) -> Option<String> {
    settings.lines().find_map(|line| {
        let (before, value) = line.split_once(name)?;
        let is_comment = before.contains("--") || before.contains('#');
        // Not `update_interval_on_battery`.
        let value = value.strip_prefix(|letter: char| letter.is_whitespace() || letter == '=')?;
        let is_blank = |letter: char| letter.is_whitespace() || matches!(letter, '=' | '\'' | '"');
        let value = value.trim_start_matches(is_blank);
        let end = value
            .find(|letter: char| is_blank(letter) || matches!(letter, ',' | '}' | '#'))
            .unwrap_or(value.len());
        (!is_comment).then(|| value[..end].to_owned())
    })
}

fn pieces(shown: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = shown;
    while !rest.is_empty() {
        let length = line_length(rest);
        let (line, after) = rest.split_at(length);
        line_pieces(without_comment(line), &mut pieces);
        pieces.push(Piece::LineEnd);
        rest = after.strip_prefix("\r\n").or(after.strip_prefix('\n')).unwrap_or(after);
    }
    pieces
}

/// The length of the first line. It does not end within a variable, unless that has no end.
fn line_length(text: &str) -> usize {
    let (mut depth, mut before, mut is_comment) = (0_usize, None, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' if depth == 0 => return at,
            '#' if depth == 0 && before != Some('\\') => is_comment = true,
            '{' if !is_comment && (depth > 0 || before == Some('$')) => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = Some(letter);
    }
    match depth {
        0 => text.len(),
        _ => text.find('\n').unwrap_or(text.len()),
    }
}

/// A comment goes to the end of its line, as in the rest of the file; `\#` is the sign itself, and so is one within `${}`.
fn without_comment(line: &str) -> &str {
    let (mut depth, mut before) = (0_usize, None);
    for (at, letter) in line.char_indices() {
        match letter {
            '#' if depth == 0 && before != Some('\\') => return line[..at].trim_end(),
            '{' if depth > 0 || before == Some('$') => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = Some(letter);
    }
    line
}

/// Returns the texts of the blocks of a text that writes i3bar's protocol, a line each; `None` for any other text.
fn blocks(shown: &str) -> Option<String> {
    let mut lines = String::new();
    for (at, name) in shown.match_indices("\"full_text\"") {
        let value =
            shown[at + name.len()..].trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (mut depth, mut before) = (0_usize, None);
        for letter in value.chars() {
            match letter {
                // Commands in variables have quotes of their own.
                '"' if depth == 0 && before != Some('\\') => break,
                '{' if depth > 0 || before == Some('$') => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                '"' | '\\' if depth == 0 && before == Some('\\') => drop(lines.pop()),
                _ => {}
            }
            lines.push(letter);
            before = Some(letter);
        }
        lines.push('\n');
    }
    (!lines.is_empty()).then_some(lines)
}

fn line_pieces(line: &str, pieces: &mut Vec<Piece>) {
    let (mut rest, mut text) = (line, String::new());
    while let Some(at) = rest.find(['$', '\\']) {
        text.push_str(&rest[..at]);
        let is_escape = rest[at..].starts_with('\\');
        rest = &rest[at + 1..];
        let Some(next) = rest.chars().next() else {
            // At the end of a line `\` joins it to the next one, which is a line of its own here.
            if !is_escape {
                text.push('$');
            }
            break;
        };
        let (inside, after) = match next {
            // No other letter is escaped.
            _ if is_escape => {
                text.push_str(if next == '#' { "" } else { "\\" });
                if next != '$' {
                    text.push(next);
                    rest = &rest[next.len_utf8()..];
                }
                continue;
            }
            '$' => {
                text.push('$');
                rest = &rest[1..];
                continue;
            }
            '{' => braced(&rest[1..]),
            _ => {
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                rest.split_at(rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()))
            }
        };
        if inside.is_empty() {
            text.push('$');
            continue;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        let inside = inside.trim();
        let (name, arguments) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        pieces.push(Piece::Variable { name: name.to_owned(), arguments: arguments.trim().to_owned() });
        rest = after;
    }
    text.push_str(rest.strip_suffix('\\').unwrap_or(rest));
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
}

/// Returns the text before the brace that closes, and the text behind it; braces within are counted.
fn braced(text: &str) -> (&str, &str) {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&text[..at], &text[at + 1..]);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variable(name: &str, arguments: &str) -> Piece {
        Piece::Variable { name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn both_syntaxes_are_read() {
        let expected = [
            Piece::Text("CPU ".into()),
            variable("cpu", "cpu0"),
            Piece::Text("% for $1 ".into()),
            variable("loadavg", ""),
            Piece::LineEnd,
        ];
        let lua = "conky.config = {\n  update_interval = 2.5,\n}\nconky.text = [[\nCPU ${cpu cpu0}% for $$1 $loadavg\n]]\n";
        let classic = "background no\nupdate_interval 2.5\nTEXT\nCPU ${cpu cpu0}% for $$1 $loadavg\n";
        for text in [lua, classic] {
            assert!(Configuration::is_one(text));
            let configuration = Configuration::parse(text).unwrap();
            assert_eq!(configuration.update_interval.as_deref(), Some("2.5"), "{text}");
            assert_eq!(configuration.pieces, expected, "{text}");
        }
        assert!(!Configuration::is_one("order += \"load\"") && Configuration::parse("x").is_none());
        let odd = "-- conky.text is below\nconky.config = { update_interval = 7 }\nconky.text = [[$cpu # not shown\n]]";
        let odd = Configuration::parse(odd).unwrap();
        assert_eq!((odd.update_interval.as_deref(), odd.pieces.len()), (Some("7"), 2));
        assert!(
            !Configuration::is_one("order += load # conky.text")
                && !Configuration::is_one("order += load\nTEXT\n")
        );
        let long = Configuration::parse("conky.text = [==[a]]b]==]").unwrap();
        assert_eq!(long.pieces, [Piece::Text("a]]b".into()), Piece::LineEnd]);
    }

    #[test]
    fn a_variable_ends_at_its_brace() {
        let text = "TEXT\n${execi 60 a |\n b | c}x\n$cpu ${open\n$mem\n";
        let pieces = Configuration::parse(text).unwrap().pieces;
        let text = |text: &str| Piece::Text(text.into());
        assert_eq!(pieces[..3], [variable("execi", "60 a |\n b | c"), text("x"), Piece::LineEnd]);
        assert_eq!(
            pieces[3..],
            [
                variable("cpu", ""),
                text(" "),
                variable("open", ""),
                Piece::LineEnd,
                variable("mem", ""),
                Piece::LineEnd
            ]
        );
    }

    #[test]
    fn a_text_may_be_put_together_by_lua() {
        let text = "conky.text = [[\na $cpu ]] .. name .. [[ b ]]\n  .. os.getenv('X') .. \"c\\n\" .. [=[d]=]\nx = 1";
        let configuration = Configuration::parse(text).unwrap();
        assert_eq!(configuration.computed, ["name", "os.getenv('X')"]);
        let shown = |pieces: &[Piece]| -> String {
            pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Variable { name, .. } => format!("<{name}>"),
                    Piece::LineEnd => "/".to_owned(),
                })
                .collect()
        };
        assert_eq!(shown(&configuration.pieces), "a <cpu>  b c/d/");
        let quoted = Configuration::parse("conky['text'] = \"$cpu\"").unwrap();
        assert_eq!(shown(&quoted.pieces), "<cpu>/");
        // The same letter by bytes in decimal and hexadecimal digits, and by its number.
        let escaped =
            Configuration::parse(r#"conky.text = "\65 \194\176C \xc2\xb0C \u{b0}C \z   '\"$cpu""#).unwrap();
        assert_eq!(shown(&escaped.pieces), "A °C °C °C '\"<cpu>/");
        let computed = Configuration::parse("conky.text = name").unwrap();
        assert_eq!((computed.pieces.len(), computed.computed), (0, vec!["name".to_owned()]));
    }

    #[test]
    fn what_lua_does_not_run_is_no_text() {
        let shown = |text: &str| format!("{:?}", Configuration::parse(text).unwrap().pieces);
        let of = |text: &str| {
            format!("{:?}", Configuration::parse(&format!("conky.text = [[{text}]]")).unwrap().pieces)
        };
        assert_eq!(
            shown("--[[ conky.text = [=[old $mem]=] ]]\n--conky.text = [[x]]\nconky.text = [[new -- $cpu]]"),
            of("new -- $cpu")
        );
        assert_eq!(shown("conky.text = [[a $cpu]] -- one\n .. [[ b]]"), of("a $cpu b"));
        assert_eq!(shown("conky.text = [[a]]\nconky.text = conky.text .. [[ b]]"), of("a b"));
        assert_eq!(
            shown("conky.text = [[a]]\nif conky.text == [[a]] then conky.text = '--b' end"),
            of("--b")
        );
        let settings = "conky.config = { uppercase = true, -- no_buffers = false\n short_units=false }\nconky.text = [[a]]";
        let settings = Configuration::parse(settings).unwrap().settings;
        assert_eq!(settings, [("uppercase", "true".to_owned()), ("short_units", "false".to_owned())]);
    }

    #[test]
    fn a_backslash_is_one() {
        let text = Configuration::parse("TEXT\na\\n\\\\ \\# \\$cpu\n").unwrap().pieces;
        assert_eq!(text[..2], [Piece::Text("a\\n\\\\ # \\".into()), variable("cpu", "")]);
    }

    #[test]
    fn a_sign_within_a_variable_begins_no_comment() {
        let text = "TEXT\n${color #ff0000}CPU: ${cpu}% # not shown\n";
        let pieces = Configuration::parse(text).unwrap().pieces;
        assert_eq!(pieces[..2], [variable("color", "#ff0000"), Piece::Text("CPU: ".into())]);
        assert_eq!(pieces[2..4], [variable("cpu", ""), Piece::Text("%".into())]);
    }

    #[test]
    fn blocks_of_i3bar_are_what_they_show() {
        let text = "conky.text = [[\n[\n{\"full_text\": \"cpu ${cpu}%\", \"color\": \"\\#ffffff\"},\n\
                    {\"full_text\":\"${exec echo \"x\"}\"}\n],\n]]";
        let configuration = Configuration::parse(text).unwrap();
        assert!(configuration.is_for_i3bar);
        assert_eq!(
            configuration.pieces,
            [
                Piece::Text("cpu ".into()),
                variable("cpu", ""),
                Piece::Text("%".into()),
                Piece::LineEnd,
                variable("exec", "echo \"x\""),
                Piece::LineEnd
            ]
        );
    }

    #[test]
    fn braces_within_arguments_are_counted() {
        let text = "TEXT\n${execi 60 echo ${HOME}} $ \\$x";
        let pieces = Configuration::parse(text).unwrap().pieces;
        assert_eq!(pieces[0], variable("execi", "60 echo ${HOME}"));
        assert_eq!(pieces[1..3], [Piece::Text(" $ \\".into()), variable("x", "")]);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(TEXT\n|conky.text = \\[\\[)?[\\$\\{\\}a-z \\\\\n\\]µ]{0,60}") {
            let _ = Configuration::parse(&text);
        }
    }
}
