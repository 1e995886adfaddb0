//! Brackets in text that begin no markup: `I <3 you`, `a <- b`, `x<y`. They are escaped before anything takes them for elements.

use std::borrow::Cow;

/// The replacement of such a bracket: what it is in HTML, for the texts of feeds are HTML, escaped for XML.
const ESCAPED: &str = "&amp;lt;";
/// Longer tags are those of attributes with a document in them; they are not looked through.
const MAX_TAG_BYTES: usize = 64 * 1024;

/// Escapes each `<` that begins neither an element nor a declaration. Character data, comments and processing instructions stay.
pub(crate) fn escape_stray_brackets(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut from) = (String::new(), 0, 0);
    while let Some(start) = text[from..].find('<').map(|place| from + place) {
        let markup = &text[start..];
        match markup_length(markup) {
            Some(length) => from = start + length,
            None => {
                out.push_str(&text[copied..start]);
                out.push_str(ESCAPED);
                (copied, from) = (start + 1, start + 1);
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// How many bytes of a text that begins with `<` are markup; `None` if the bracket is text.
fn markup_length(markup: &str) -> Option<usize> {
    for (start, end) in [("<![CDATA[", "]]>"), ("<!--", "-->"), ("<?", "?>")] {
        if markup.starts_with(start) {
            return Some(markup.find(end).map_or(markup.len(), |place| place + end.len()));
        }
    }
    // A type of document may have declarations in it.
    if markup[1..].starts_with('!') {
        return Some(2);
    }
    let name = markup[1..].strip_prefix('/').unwrap_or(&markup[1..]);
    if !name.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '_' | ':')) {
        return None;
    }
    tag_length(markup)
}

/// The length of a tag; `None` if another begins before its end. A value in quotation marks may have brackets.
fn tag_length(markup: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = b' ';
    for (place, byte) in markup.bytes().enumerate().skip(1).take(MAX_TAG_BYTES) {
        match (byte, quote) {
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) if before == b'=' => quote = Some(byte),
            (b'<', None) => return None,
            (b'>', None) => return Some(place + 1),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    // A document that was cut, or a tag without end: what repairs it decides.
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_that_begin_no_markup_are_escaped() {
        for (text, escaped) in [
            ("<a>I <3 you</a>", "<a>I &amp;lt;3 you</a>"),
            ("<a>x<y</a>", "<a>x&amp;lt;y</a>"),
            ("<a>x<y z='1'</a>", "<a>x&amp;lt;y z='1'</a>"),
            ("<a b='x<y'/>", "<a b='x<y'/>"),
            ("<a b = \"</a>\">x</a>", "<a b = \"</a>\">x</a>"),
            ("<a>it's <b>x</b></a>", "<a>it's <b>x</b></a>"),
            ("<a><![CDATA[a <3 b]]><!-- <3 --></a>", "<a><![CDATA[a <3 b]]><!-- <3 --></a>"),
            ("<!DOCTYPE rss [<!ENTITY a \"b\">]><rss/>", "<!DOCTYPE rss [<!ENTITY a \"b\">]><rss/>"),
            ("<a>x <</a>", "<a>x &amp;lt;</a>"),
            ("<a", "<a"),
            ("<é>x</é>", "<é>x</é>"),
        ] {
            assert_eq!(escape_stray_brackets(text), escaped, "{text}");
        }
    }

    #[test]
    fn nothing_panics() {
        proptest::proptest!(|(text in "[<>/&;a-cé!\\[\\]\"'= ?-]{0,60}")| {
            escape_stray_brackets(&text);
        });
    }
}
