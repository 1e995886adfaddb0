//! The encoding of a document: a byte order mark, else what HTTP says, else what the document says, else UTF-8 or windows-1252.
//!
//! <https://www.rfc-editor.org/rfc/rfc7303#section-3>

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The bytes at the beginning that may say which encoding it is.
const DECLARATION_BYTES: usize = 1024;

/// Decodes a document.
pub(crate) fn decode<'d>(document: &'d [u8], content_type: &str) -> Cow<'d, str> {
    if let Some((encoding, length)) = Encoding::for_bom(document) {
        return encoding.decode_without_bom_handling(&document[length..]).0;
    }
    if let Some(encoding) = without_bom(document) {
        return encoding.decode_without_bom_handling(document).0;
    }
    // UTF-8 that is declared as something else is more frequent than text of another encoding that is valid UTF-8 by chance.
    if let Ok(text) = std::str::from_utf8(document)
        && !is_escaped(document)
    {
        return Cow::Borrowed(text);
    }
    let declared = label(content_type.as_bytes(), b"charset")
        .or_else(|| label(&document[..document.len().min(DECLARATION_BYTES)], b"encoding"))
        .or_else(|| label(&document[..document.len().min(DECLARATION_BYTES)], b"charset"));
    let encoding = match declared {
        // It is not valid: the rest is what older software writes.
        None => WINDOWS_1252,
        Some(encoding) if encoding == UTF_8 && mostly_invalid(document) => WINDOWS_1252,
        Some(encoding) => encoding,
    };
    encoding.decode_without_bom_handling(document).0
}

/// UTF-16 without a byte order mark, by its "<?" or "<" (XML 1.0, appendix F).
fn without_bom(document: &[u8]) -> Option<&'static Encoding> {
    match document {
        [b'<', 0, _, 0, ..] => Some(encoding_rs::UTF_16LE),
        [0, b'<', 0, _, ..] => Some(encoding_rs::UTF_16BE),
        _ => None,
    }
}

/// ISO-2022-JP has nothing but ASCII bytes.
fn is_escaped(document: &[u8]) -> bool {
    document.windows(2).any(|pair| pair == b"\x1b$" || pair == b"\x1b(")
}

/// Returns whether text that should be UTF-8 has hardly any sequence of several bytes that is valid: a page of windows-1252 with a wrong
/// declaration. A few invalid bytes among valid ones are damage.
fn mostly_invalid(document: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in document.utf8_chunks() {
        valid += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    invalid > valid
}

/// The encoding that is the value of an attribute or parameter. XML has white space around its sign (production 25).
fn label(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let places = text.windows(name.len()).enumerate().filter(|(_, part)| part.eq_ignore_ascii_case(name));
    let mut values =
        places.filter_map(|(place, _)| text[place + name.len()..].trim_ascii_start().strip_prefix(b"="));
    let value: Vec<u8> = values
        .next()?
        .iter()
        .copied()
        .skip_while(|byte| matches!(byte, b'"' | b'\'') || byte.is_ascii_whitespace())
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'+'))
        .collect();
    Encoding::for_label(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found() {
        let utf16: Vec<u8> = "<a>ä".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked = [&b"\xff\xfe"[..], &utf16].concat();
        for (document, content_type, expected) in [
            (&b"\xef\xbb\xbf<a>\xc3\xa4"[..], "text/xml; charset=iso-8859-1", "<a>ä"),
            (&utf16, "", "<a>ä"),
            (&marked, "", "<a>ä"),
            (b"<a>\xe4", "text/xml; charset=\"ISO-8859-1\"", "<a>ä"),
            (
                b"<?xml version='1.0' encoding='windows-1251'?>\xe4",
                "",
                "<?xml version='1.0' encoding='windows-1251'?>д",
            ),
            (b"<?xml encoding = 'koi8-r' ?>\xd4", "", "<?xml encoding = 'koi8-r' ?>т"),
            (b"<?xml encoding=\"utf-8\"?>\xe4", "", "<?xml encoding=\"utf-8\"?>ä"),
            (b"<?xml encoding=\"iso-8859-1\"?>\xc3\xa4", "", "<?xml encoding=\"iso-8859-1\"?>ä"),
            (b"<a>\xe4\x80", "", "<a>ä€"),
            (b"<a>\xc3\xa4\xff\xc3\xa4\xc3\xa4", "text/xml; charset=utf-8", "<a>ä\u{fffd}ää"),
            (b"<?xml encoding=\"iso-2022-jp\"?>\x1b$B$\"\x1b(B", "", "<?xml encoding=\"iso-2022-jp\"?>あ"),
        ] {
            assert_eq!(decode(document, content_type), expected, "{document:?}");
        }
    }
}
