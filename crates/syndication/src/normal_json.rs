//! JSON Feed (<https://www.jsonfeed.org/version/1.1/>) as its parser takes it: a version that it knows, and each field of its type.

use serde_json::{Map, Value};
use url::Url;

/// Fields of an item that are texts.
const TEXTS: [&str; 8] =
    ["id", "title", "content_html", "content_text", "summary", "date_published", "date_modified", "language"];
/// Fields of the feed and of items that are addresses.
const ADDRESSES: [&str; 8] =
    ["url", "external_url", "image", "banner_image", "home_page_url", "feed_url", "icon", "avatar"];
/// Fields of the feed that its parser gives to its items, or shows.
const KEPT: [&str; 3] = ["description", "author", "authors"];

/// The document of an address, with what its parser does not take changed to what was meant, or left out.
///
/// # Errors
/// If it is no JSON.
pub(crate) fn normal_json(text: &str, address: &str) -> Result<String, serde_json::Error> {
    let mut feed = match document(text) {
        Ok(Value::Object(feed)) => feed,
        Ok(_) => Map::new(),
        Err(error) => return Err(error),
    };
    let base = Url::parse(address).ok();
    let items = match feed.remove("items") {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let title = feed.get("title").and_then(text_of).unwrap_or_default();
    let is_kept = |name: &str| ADDRESSES.contains(&name) || KEPT.contains(&name);
    feed.retain(|name, _| is_kept(name));
    normalise(&mut feed, base.as_ref());
    feed.insert("title".to_owned(), title.into());
    feed.insert("version".to_owned(), "https://jsonfeed.org/version/1.1".into());
    let items = items.into_iter().filter_map(|item| match item {
        Value::Object(mut item) => {
            normalise(&mut item, base.as_ref());
            item.entry("id").or_insert_with(|| "".into());
            Some(Value::Object(item))
        }
        _ => None,
    });
    feed.insert("items".to_owned(), items.collect());
    Ok(Value::Object(feed).to_string())
}

/// The document, whatever follows it. Control characters in texts are spaces.
fn document(text: &str) -> Result<Value, serde_json::Error> {
    let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter().next();
    match first(text) {
        Some(Err(error)) => {
            let without_controls = text.replace(|letter: char| letter < ' ', " ");
            first(&without_controls).and_then(Result::ok).ok_or(error)
        }
        Some(document) => document,
        None => Ok(Value::Null),
    }
}

/// Brings the fields of a feed, an item or an author into their types.
fn normalise(object: &mut Map<String, Value>, base: Option<&Url>) {
    let fields = std::mem::take(object);
    for (name, value) in fields {
        let value = match name.as_str() {
            text if TEXTS.contains(&text) || matches!(text, "name" | "mime_type" | "description") => {
                text_of(&value).map(Value::from)
            }
            address if ADDRESSES.contains(&address) => {
                let joined = text_of(&value).and_then(|url| match base {
                    Some(base) => base.join(url.trim()).ok().map(String::from),
                    None => Some(url),
                });
                joined.map(Value::from)
            }
            "author" => author(value, base),
            "authors" => array(value, |value| author(value, base)),
            "attachments" => array(value, |value| attachment(value, base)),
            "tags" => array(value, |tag| text_of(&tag).map(Value::from)),
            _ => None,
        };
        if let Some(value) = value {
            object.insert(name, value);
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn array(value: Value, element: impl Fn(Value) -> Option<Value>) -> Option<Value> {
    match value {
        Value::Array(values) => Some(values.into_iter().filter_map(element).collect()),
        _ => None,
    }
}

fn author(value: Value, base: Option<&Url>) -> Option<Value> {
    match value {
        Value::Object(mut author) => {
            normalise(&mut author, base);
            Some(author.into())
        }
        name => Some(serde_json::json!({ "name": text_of(&name)? })),
    }
}

/// An attachment without an address is none.
fn attachment(value: Value, base: Option<&Url>) -> Option<Value> {
    let Value::Object(mut attachment) = value else { return None };
    let size = attachment.get("size_in_bytes").and_then(Value::as_u64);
    normalise(&mut attachment, base);
    attachment.get("url")?;
    attachment.entry("mime_type").or_insert_with(|| "application/octet-stream".into());
    if let Some(size) = size {
        attachment.insert("size_in_bytes".to_owned(), size.into());
    }
    Some(attachment.into())
}

#[cfg(test)]
mod tests {
    use crate::document::parse;

    #[test]
    fn entries_have_the_author_of_their_feed() {
        let document = r#"{"version":"https://jsonfeed.org/version/1","title":"t","author":{"name":"Ann"},
            "items":[{"id":"1","content_text":"a"},{"id":"2","content_text":"b","author":{"name":"Bob"}}]}"#;
        let feed = parse(document.as_bytes(), "application/feed+json", "http://a/").unwrap();
        let authors: Vec<&str> = feed.entries.iter().map(|entry| entry.author.as_str()).collect();
        assert_eq!(authors, ["Ann", "Bob"]);
    }
}
