//! Lists of subscriptions in OPML 2.0, both ways: <http://opml.org/spec2.opml>.

use std::fmt::{self, Write as _};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::encoding::decode;
use crate::entry_text::escaped;
use crate::outline::Outline;
use crate::repair::repair;
use crate::web_address::with_scheme;

/// Feeds of a file.
const MAX_OUTLINES: usize = 10_000;
/// A folder's name; longer ones are cut, for each feed has its own copy.
const MAX_NAME_BYTES: usize = 300;
/// A longer file must be well-formed: its repair may take time by the square of its attributes.
const MAX_REPAIRED_BYTES: usize = 128 * 1024;

/// Why a file is not a list of subscriptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedOutline(String);

impl fmt::Display for MalformedOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MalformedOutline {}

/// Reads a list. What is malformed is repaired, as in feeds, if it is not longer than 128 KiB.
///
/// # Errors
/// If it is not OPML, has no feed, or more than 10,000.
pub fn read(document: &[u8]) -> Result<Vec<Outline>, MalformedOutline> {
    let text = decode(document, "");
    match read_text(&text) {
        Err(_) if text.len() <= MAX_REPAIRED_BYTES => read_text(&repair(&text)),
        read => read,
    }
}

fn read_text(text: &str) -> Result<Vec<Outline>, MalformedOutline> {
    let malformed =
        |error: &dyn fmt::Display| MalformedOutline(format!("the file is malformed XML: {error}"));
    let mut reader = Reader::from_str(text);
    let (mut outlines, mut folders, mut is_opml) = (Vec::new(), Vec::<String>::new(), false);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) if is_outline(&element) => {
                let (outline, name) = outline(&element, &folders).map_err(|error| malformed(&error))?;
                match outline {
                    // A feed may have feeds in it, which are in its folder.
                    Some(outline) => {
                        outlines.push(outline);
                        folders.push(folders.last().cloned().unwrap_or_default());
                    }
                    None => folders.push(name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned()),
                }
            }
            Ok(Event::Empty(element)) if is_outline(&element) => {
                outlines.extend(outline(&element, &folders).map_err(|error| malformed(&error))?.0);
            }
            Ok(Event::Start(element)) => {
                is_opml |= element.local_name().as_ref().eq_ignore_ascii_case("opml")
            }
            Ok(Event::End(element)) if element.local_name().as_ref().eq_ignore_ascii_case("outline") => {
                folders.pop();
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => return Err(malformed(&error)),
        }
        if outlines.len() > MAX_OUTLINES {
            return Err(MalformedOutline(format!("the file has more than {MAX_OUTLINES} feeds")));
        }
    }
    match (is_opml, outlines.is_empty()) {
        (false, _) => Err(MalformedOutline("the file is not OPML: it has no element \"opml\"".to_owned())),
        (true, true) => {
            Err(MalformedOutline("the file has no feeds: no outline has an attribute \"xmlUrl\"".to_owned()))
        }
        (true, false) => Ok(outlines),
    }
}

fn is_outline(element: &BytesStart<'_>) -> bool {
    element.local_name().as_ref().eq_ignore_ascii_case("outline")
}

/// The feed of an element; `None` for a folder. And the element's name.
fn outline(
    element: &BytesStart<'_>,
    folders: &[String],
) -> Result<(Option<Outline>, String), quick_xml::Error> {
    let attribute = |wanted: &str| {
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute?;
            if attribute.key.as_ref().eq_ignore_ascii_case(wanted) {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
                return Ok(value.trim().to_owned());
            }
        }
        Ok::<_, quick_xml::Error>(String::new())
    };
    let (text, title) = (attribute("text")?, attribute("title")?);
    let title = if title.is_empty() { text } else { title };
    let mut url = attribute("xmlUrl")?;
    // Once the scheme of links to feeds; what is meant is an address of HTTP.
    if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("feed:")) {
        url = with_scheme(&format!("feed:{}", &url[5..]));
    }
    let folder = folders.last().cloned().unwrap_or_default();
    let mut folder = match folder.is_empty() {
        // Some programs write folders as a list of paths.
        true => attribute("category")?.split(',').next().unwrap_or_default().trim_matches('/').to_owned(),
        false => folder,
    };
    folder.truncate(folder.floor_char_boundary(MAX_NAME_BYTES));
    let site = attribute("htmlUrl")?;
    let outline = (!url.is_empty()).then(|| Outline { url, title: title.clone(), folder, site });
    Ok((outline, title))
}

/// Writes a list. Feeds of a folder follow one another.
pub fn write(title: &str, outlines: &[Outline]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<opml version=\"2.0\">\n<head><title>{}</title></head>\n<body>\n",
        escaped(title)
    );
    let mut folder = "";
    for one in outlines {
        if one.folder != folder {
            if !folder.is_empty() {
                out.push_str("</outline>\n");
            }
            if !one.folder.is_empty() {
                let name = escaped(&one.folder);
                let _ = writeln!(out, "<outline text=\"{name}\" title=\"{name}\">");
            }
            folder = &one.folder;
        }
        let (title, url) = (escaped(&one.title), escaped(&one.url));
        let _ = write!(out, "<outline type=\"rss\" text=\"{title}\" title=\"{title}\" xmlUrl=\"{url}\"");
        if !one.site.is_empty() {
            let _ = write!(out, " htmlUrl=\"{}\"", escaped(&one.site));
        }
        out.push_str("/>\n");
    }
    if !folder.is_empty() {
        out.push_str("</outline>\n");
    }
    out.push_str("</body>\n</opml>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back() {
        let outlines = [
            ("https://example.org/a?b=c&d=\"", "A & \"B\" <c>", "News & more"),
            ("https://example.org/b", "B", "News & more"),
            ("https://example.org/c", "Ü", ""),
        ]
        .map(|(url, title, folder)| Outline {
            url: url.to_owned(),
            title: title.to_owned(),
            folder: folder.to_owned(),
            site: format!("{url}&site"),
        });
        assert_eq!(read(write("Feeds of <ann>", &outlines).as_bytes()).unwrap(), outlines);
    }

    #[test]
    fn lists_of_other_programs_are_read() {
        let text = b"<?xml version='1.0' encoding='iso-8859-1'?><opml><body>\
            <outline text='Caf\xe9'><outline text='x' xmlUrl='https://a/1'><outline xmlUrl='https://a/2'/></outline></outline>\
            <outline title='T' text='y' xmlurl='https://a/3?x&y' category='/tech/linux,/z'></opml>";
        let outlines = read(text).unwrap();
        let found: Vec<(&str, &str, &str)> =
            outlines.iter().map(|one| (one.url.as_str(), one.title.as_str(), one.folder.as_str())).collect();
        assert_eq!(
            found,
            [
                ("https://a/1", "x", "Café"),
                ("https://a/2", "", "Café"),
                ("https://a/3?x&y", "T", "tech/linux")
            ]
        );
        // A file that a program wrote is read at any length; a long one that is malformed is not repaired.
        let name = "a".repeat(1_000_000);
        let feeds = "<outline xmlUrl='https://a/'/>".repeat(100);
        let long = format!("<opml><body><outline text='{name}'>{feeds}</outline></body></opml>");
        assert_eq!(read(long.as_bytes()).unwrap()[99].folder.len(), MAX_NAME_BYTES);
        assert!(read(long.replace("</body>", "").as_bytes()).is_err());
        for malformed in
            [&b""[..], b"<a/>", b"<opml/>", b"\xff\xfe", b"<opml><body><outline text='x'/></body></opml>"]
        {
            assert!(read(malformed).is_err(), "{malformed:?}");
        }
    }
}
