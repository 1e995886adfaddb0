//! Well-formed XML from malformed XML, by xml5ever's tokenizer: unclosed and crossed elements, unknown entities, stray ampersands,
//! attributes without quotes, and HTML that should have been escaped.

use std::cell::RefCell;

use quick_xml::events::Event;
use xml5ever::QualName;
use xml5ever::buffer_queue::BufferQueue;
use xml5ever::tendril::StrTendril;
use xml5ever::tokenizer::{ProcessResult, Tag, TagKind, Token, TokenSink, XmlTokenizer};

/// Elements within elements; deeper ones are left out, their text is not.
const MAX_DEPTH: usize = 200;

/// Elements whose content is text, which may be HTML that is escaped.
const TEXTS: [&str; 6] =
    ["title", "description", "content:encoded", "itunes:summary", "dc:description", "subtitle"];
/// Elements whose content is text, unless their type is XHTML.
const TYPED_TEXTS: [&str; 2] = ["content", "summary"];
/// Elements that end a text which has no end of its own.
const OTHERS: [&str; 14] = [
    "author",
    "category",
    "channel",
    "comments",
    "dc:creator",
    "dc:date",
    "enclosure",
    "entry",
    "guid",
    "item",
    "pubDate",
    "published",
    "updated",
    "id",
];

/// Types of texts that Atom (RFC 4287, 3.1.1 and 4.1.3.1) and its parser know.
const KNOWN_TYPES: [&str; 5] = ["text", "html", "xhtml", "text/html", "text/plain"];

/// Returns whether a text has a type that no parser of feeds knows: XML of another kind, or no type at all. It is HTML as far as readers
/// go.
fn has_unknown_type(name: &str, kind: &str) -> bool {
    let is_typed = TYPED_TEXTS.contains(&name) || matches!(name, "title" | "subtitle");
    is_typed && !KNOWN_TYPES.contains(&kind) && (kind.contains("xml") || !kind.contains('/'))
}

/// Returns whether an element's content is text.
fn is_text(name: &str, kind: Option<&str>) -> bool {
    let is_html = kind.is_none_or(|kind| matches!(kind, "html" | "text" | "text/html" | "text/plain"));
    TEXTS.contains(&name) && is_html || TYPED_TEXTS.contains(&name) && kind.is_some() && is_html
}

/// Returns whether a well-formed document has elements where text is expected, which parsers of feeds skip.
pub(crate) fn has_markup_in_text(text: &str) -> bool {
    let mut reader = quick_xml::Reader::from_str(text);
    let (mut depth, mut text_depth) = (0_usize, None);
    loop {
        match reader.read_event() {
            Ok(Event::Start(_) | Event::Empty(_)) if text_depth.is_some() => return true,
            Ok(Event::Start(element)) => {
                depth += 1;
                let mut attributes = element.attributes();
                let kind = attributes
                    .with_checks(false)
                    .flatten()
                    .find(|attribute| attribute.key.as_ref() == "type");
                if is_text(element.name().as_ref(), kind.as_ref().map(|kind| kind.value.as_ref())) {
                    text_depth = Some(depth);
                }
            }
            Ok(Event::End(_)) => {
                if text_depth == Some(depth) {
                    text_depth = None;
                }
                depth = depth.saturating_sub(1);
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

/// Repairs a document. The result is well-formed, whatever the text is.
pub(crate) fn repair(text: &str) -> String {
    let writer = Writer::default();
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(text));
    let tokenizer = XmlTokenizer::new(writer, xml5ever::tokenizer::XmlTokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    let mut written = tokenizer.sink.0.into_inner();
    while let Some(name) = written.open.pop() {
        written.close(&name);
    }
    written.text
}

/// The text that is written, and the elements that are open.
#[derive(Default)]
struct Written {
    text: String,
    open: Vec<String>,
    /// A document has one root.
    has_root: bool,
    /// How many elements are open where the text began whose elements become text.
    text_depth: Option<usize>,
}

#[derive(Default)]
struct Writer(RefCell<Written>);

impl TokenSink for Writer {
    type Handle = ();

    fn process_token(&self, token: Token) -> ProcessResult<()> {
        let mut written = self.0.borrow_mut();
        match token {
            Token::Tag(tag) => written.tag(&tag),
            Token::Characters(text) if !written.open.is_empty() => push_escaped(&mut written.text, &text),
            _ => {}
        }
        ProcessResult::Continue
    }
}

impl Written {
    /// An element within a text, as text.
    fn tag_in_text(&mut self, tag: &Tag, name: &str) {
        let mut html = String::from(if tag.kind == TagKind::EndTag { "</" } else { "<" });
        html.push_str(name);
        for attribute in &tag.attrs {
            html.push(' ');
            html.push_str(&self::name(&attribute.name));
            html.push_str("=\"");
            push_escaped(&mut html, &attribute.value);
            html.push('"');
        }
        html.push('>');
        push_escaped(&mut self.text, &html);
    }

    fn tag(&mut self, tag: &Tag) {
        let name = name(&tag.name);
        if let Some(depth) = self.text_depth {
            let ends = tag.kind == TagKind::EndTag && self.open.contains(&name);
            let begins_other = tag.kind != TagKind::EndTag
                && (OTHERS.contains(&name.as_str()) || is_text(&name, None) || name == "link");
            if !ends && !begins_other {
                self.tag_in_text(tag, &name);
                return;
            }
            self.text_depth = None;
            if begins_other && let Some(open) = self.open.pop().filter(|_| self.open.len() + 1 == depth) {
                self.close(&open);
            }
        }
        match tag.kind {
            TagKind::StartTag | TagKind::EmptyTag => {
                let is_second_root = self.open.is_empty() && self.has_root;
                if is_second_root || self.open.len() >= MAX_DEPTH || !is_name(&name) {
                    return;
                }
                self.has_root = true;
                self.text.push('<');
                self.text.push_str(&name);
                let mut known: Vec<String> = Vec::new();
                let mut kind: Option<&str> = None;
                for attribute in &tag.attrs {
                    let attribute_name = self::name(&attribute.name);
                    if !is_name(&attribute_name) || known.contains(&attribute_name) {
                        continue;
                    }
                    let mut value: &str = &attribute.value;
                    if attribute_name == "type" {
                        value = if has_unknown_type(&name, value) { "html" } else { value };
                        kind = Some(value);
                    }
                    self.text.push(' ');
                    self.text.push_str(&attribute_name);
                    self.text.push_str("=\"");
                    push_escaped(&mut self.text, value);
                    self.text.push('"');
                    known.push(attribute_name);
                }
                if tag.kind == TagKind::EmptyTag {
                    self.text.push_str("/>");
                } else {
                    self.text.push('>');
                    if is_text(&name, kind) {
                        self.text_depth = Some(self.open.len() + 1);
                    }
                    self.open.push(name);
                }
            }
            TagKind::EndTag => {
                // The elements within it are closed as well. One that is not open is ignored.
                if let Some(place) = self.open.iter().rposition(|open| *open == name) {
                    for open in self.open.split_off(place).into_iter().rev() {
                        self.close(&open);
                    }
                }
            }
            TagKind::ShortTag => {
                if let Some(open) = self.open.pop() {
                    self.close(&open);
                }
            }
        }
    }

    fn close(&mut self, name: &str) {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }
}

fn name(name: &QualName) -> String {
    match &name.prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", name.local),
        _ => name.local.to_string(),
    }
}

fn is_name(name: &str) -> bool {
    let is_rest = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') && name.chars().all(is_rest)
}

/// Appends a text without the control characters that XML 1.0 does not have.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter < ' ' => {}
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_xml_becomes_well_formed() {
        for (text, expected) in [
            ("<a>x&nbsp;y &amp z & w</a>", "<a>x\u{a0}y &amp; z &amp; w</a>"),
            ("<a><b>x<br>y</a>z", "<a><b>x<br>y</br></b></a>"),
            ("<a b=c b='d' e='\"'/>", "<a b=\"c\" e=\"&quot;\"/>"),
            ("<a><![CDATA[<p>x]]></a>", "<a>&lt;p&gt;x</a>"),
            ("junk<a>x", "<a>x</a>"),
            ("<a>x\u{8}y</a><b/>", "<a>xy</a>"),
            (
                "<item><title>a <b>c</b><link>d</link><description>x<br>y<p>z</description></item>",
                "<item><title>a &lt;b&gt;c&lt;/b&gt;</title><link>d</link><description>x&lt;br&gt;y&lt;p&gt;z</description></item>",
            ),
            (
                "<content type='xhtml'><div>a</div></content>",
                "<content type=\"xhtml\"><div>a</div></content>",
            ),
        ] {
            assert_eq!(repair(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_repaired_is_well_formed() {
        let check = |text: &str| {
            let repaired = repair(text);
            let mut reader = quick_xml::Reader::from_str(&repaired);
            loop {
                match reader.read_event() {
                    Ok(quick_xml::events::Event::Eof) => return,
                    Ok(_) => {}
                    Err(error) => panic!("{text:?} became {repaired:?}: {error}"),
                }
            }
        };
        proptest::proptest!(|(text in "[<>/&;a-c!\\[\\]\"'= -]{0,60}")| check(&text));
    }
}
