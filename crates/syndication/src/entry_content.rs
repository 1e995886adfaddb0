//! The content of an entry that is shown: its text, and what is attached to it.

use feed_rs::model::Entry;

use crate::clean_html::has_images;
use crate::entry_text::{escaped, plain_text};

/// The content as HTML: the longer one of content and summary if both are there.
pub(crate) fn content_of(entry: &Entry) -> String {
    let html = |kind: &str, text: &str| match kind {
        "plain" => escaped(text).replace('\n', "<br>"),
        _ => text.to_owned(),
    };
    let summary =
        entry.summary.as_ref().map(|summary| html(summary.content_type.subty().as_str(), &summary.content));
    let content = entry.content.as_ref().and_then(|content| {
        let is_text = content.content_type.ty() == "text" || content.content_type.subty().as_str() == "xhtml";
        let body = content.body.as_ref().filter(|_| is_text)?;
        Some(html(content.content_type.subty().as_str(), body))
    });
    match (content, summary) {
        (Some(content), Some(summary)) if content.len() >= summary.len() && is_shown(&content) => content,
        (Some(content), None) => content,
        (_, Some(summary)) => summary,
        (None, None) => String::new(),
    }
}

/// Returns whether HTML shows anything: images or text.
fn is_shown(html: &str) -> bool {
    has_images(html) || !plain_text(html, 1).is_empty()
}

/// Links to enclosures and media, and their descriptions where an entry has no other text.
pub(crate) fn media_of(entry: &Entry) -> String {
    let mut html = String::new();
    let has_text = entry.content.is_some() || entry.summary.is_some();
    let mut known: Vec<String> = Vec::new();
    for media in &entry.media {
        if let Some(description) = media.description.as_ref().filter(|_| !has_text) {
            html.push_str(&format!("<p>{}</p>", escaped(&description.content)));
        }
        for thumbnail in media.thumbnails.iter().take(1) {
            html.push_str(&format!("<p><img src=\"{}\" alt=\"\"></p>", escaped(&thumbnail.image.uri)));
        }
        for content in &media.content {
            let Some(url) = content.url.as_ref().map(ToString::to_string) else { continue };
            if known.contains(&url) {
                continue;
            }
            let kind = content.content_type.as_ref().map_or_else(|| "file".to_owned(), ToString::to_string);
            let size = content.size.filter(|size| *size > 0);
            let size = size.map_or_else(String::new, |size| {
                format!(", {}", text::units::Size(facts::unit::Bytes(size)))
            });
            html.push_str(&format!("<p><a href=\"{}\">{}{size}</a></p>", escaped(&url), escaped(&kind)));
            known.push(url);
        }
    }
    for link in entry.links.iter().filter(|link| link.rel.as_deref() == Some("enclosure")) {
        if !known.contains(&link.href) {
            let kind = link.media_type.clone().unwrap_or_else(|| "file".to_owned());
            html.push_str(&format!("<p><a href=\"{}\">{}</a></p>", escaped(&link.href), escaped(&kind)));
        }
    }
    html
}
