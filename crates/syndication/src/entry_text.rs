//! Plain text of HTML: for titles, the search and the terminal.

use std::cell::RefCell;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// Elements in a title, which often has HTML where plain text is expected.
const INLINE: [&str; 20] = [
    "a", "abbr", "b", "big", "br", "cite", "code", "em", "font", "i", "img", "kbd", "p", "small", "span",
    "strong", "sub", "sup", "tt", "u",
];
/// Elements that begin a new line.
const BLOCKS: [&str; 26] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "figcaption",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "ol",
    "p",
    "section",
    "tr",
    "ul",
];
/// Elements whose content is not shown.
const HIDDEN: [&str; 5] = ["script", "style", "template", "noscript", "svg"];

/// The text of HTML: blocks are lines, at most so many bytes.
pub fn plain_text(html: &str, most_bytes: usize) -> String {
    if !html.contains(['<', '&']) {
        return html[..html.floor_char_boundary(most_bytes)].trim().to_owned();
    }
    let sink = tokenize(html, TextSink::new(most_bytes));
    let text = sink.0.into_inner().text;
    text.trim().to_owned()
}

/// A title as plain text. What only resembles an element (`Vec<String>`) is kept.
pub(crate) fn title_text(title: &str) -> String {
    let is_markup = |rest: &str| {
        let name = rest.trim_start_matches('/');
        let name = &name[..name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len())];
        INLINE.iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let has_other = title.split('<').skip(1).any(|rest| !is_markup(rest));
    let text = match has_other {
        // Entities are decoded nevertheless.
        true => plain_text(&title.replace('<', "&lt;"), usize::MAX),
        false => plain_text(title, usize::MAX),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text for HTML and XML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    crate::repair::push_escaped(&mut out, text);
    out
}

/// Runs html5ever's tokenizer, which fails for no text.
pub(crate) fn tokenize<S: TokenSink>(html: &str, sink: S) -> S {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink
}

struct TextSink(RefCell<Lines>);

struct Lines {
    text: String,
    most_bytes: usize,
    /// The element whose content is left out.
    hidden: Option<String>,
    is_preformatted: bool,
    /// A space or a line's end comes before the next letter.
    gap: Gap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Line,
}

impl TextSink {
    fn new(most_bytes: usize) -> Self {
        Self(RefCell::new(Lines {
            text: String::new(),
            most_bytes,
            hidden: None,
            is_preformatted: false,
            gap: Gap::Nothing,
        }))
    }
}

impl TokenSink for TextSink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut lines = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => lines.tag(&tag),
            Token::CharacterTokens(text) if lines.hidden.is_none() => lines.push(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Lines {
    fn tag(&mut self, tag: &Tag) {
        let name = &*tag.name;
        let is_start = tag.kind == TagKind::StartTag;
        if let Some(hidden) = &self.hidden {
            if !is_start && hidden == name {
                self.hidden = None;
            }
            return;
        }
        if HIDDEN.contains(&name) {
            self.hidden = (is_start && !tag.self_closing).then(|| name.to_owned());
        } else if name == "pre" {
            self.is_preformatted = is_start;
            self.gap = Gap::Line;
        } else if BLOCKS.contains(&name) {
            self.gap = Gap::Line;
            if name == "li" && is_start {
                self.push("- ");
            }
        } else if matches!(name, "td" | "th") {
            self.gap = self.gap.max(Gap::Space);
        } else if name == "img" && is_start {
            let alt = tag.attrs.iter().find(|attribute| &*attribute.name.local == "alt");
            if let Some(alt) = alt.filter(|alt| !alt.value.is_empty()) {
                self.push(&format!("[{}]", alt.value));
            }
        }
    }

    fn push(&mut self, text: &str) {
        for letter in text.chars() {
            if self.text.len() >= self.most_bytes {
                return;
            }
            if letter == '\n' && self.is_preformatted {
                self.text.push('\n');
                self.gap = Gap::Nothing;
            } else if letter.is_whitespace() && !self.is_preformatted {
                self.gap = self.gap.max(Gap::Space);
            } else {
                match self.gap {
                    _ if self.text.is_empty() => {}
                    Gap::Nothing => {}
                    Gap::Space => self.text.push(' '),
                    Gap::Line => self.text.push('\n'),
                }
                self.gap = Gap::Nothing;
                self.text.push(letter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_lines() {
        let html = "<p>One&nbsp;&amp; <b>two</b>\n three</p><ul><li>a<li>b</ul><script>x()</script><pre>c\n  d</pre><img alt=e>";
        assert_eq!(plain_text(html, usize::MAX), "One & two three\n- a\n- b\nc\n  d\n[e]");
        assert_eq!(plain_text("äöü", 3), "ä");
        assert_eq!(plain_text("<p>aaaa</p>", 2), "aa");
    }

    #[test]
    fn titles_keep_what_is_no_markup() {
        for (title, expected) in [
            ("a <b>bold</b> title", "a bold title"),
            ("Vec<String> &amp; more", "Vec<String> & more"),
            ("1 < 2", "1 < 2"),
            ("Fish &amp; Chips &#8211; x", "Fish & Chips – x"),
            ("AT&T", "AT&T"),
            ("  a\n b ", "a b"),
        ] {
            assert_eq!(title_text(title), expected, "{title}");
        }
    }
}
