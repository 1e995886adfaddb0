//! HTML of feeds for the page: sanitised by ammonia, with images only if they are asked for.
//!
//! It is sanitised before it is stored, and again whenever it is shown: a library that has learned of an attack since then protects from
//! what is stored already.

use std::borrow::Cow;
use std::collections::HashSet;

use ammonia::{Builder, UrlRelative};
use url::Url;

/// The treatment of images, whose servers learn which users read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// Their descriptions alone.
    Hidden,
    /// Loaded from where they are.
    Shown,
}

/// Sanitises HTML. Relative addresses are relative to `base`.
pub fn clean(html: &str, base: &str, images: Images) -> String {
    let mut builder = Builder::default();
    builder
        .add_tags(["figure", "figcaption", "audio", "video", "source"])
        .add_tag_attributes("source", ["src", "type"])
        .add_tag_attributes("audio", ["src", "controls"])
        .add_tag_attributes("video", ["src", "controls", "height", "width"])
        .set_tag_attribute_value("a", "target", "_blank")
        .set_tag_attribute_value("audio", "controls", "")
        .set_tag_attribute_value("video", "controls", "")
        .set_tag_attribute_value("audio", "preload", "none")
        .set_tag_attribute_value("video", "preload", "none")
        .set_tag_attribute_value("img", "loading", "lazy")
        .set_tag_attribute_value("img", "referrerpolicy", "no-referrer")
        .link_rel(Some("noopener noreferrer nofollow"))
        .url_schemes(HashSet::from(["http", "https", "mailto", "magnet", "xmpp", "tel"]))
        .attribute_filter(move |element, attribute, value| -> Option<Cow<'_, str>> {
            match (element, attribute) {
                ("img" | "audio" | "video" | "source", "src") if images == Images::Hidden => None,
                // Nothing is as wide as the page, and nothing covers it.
                (_, "width" | "height") => {
                    value.parse::<u32>().ok().map(|pixels| pixels.min(2000).to_string().into())
                }
                _ => Some(value.into()),
            }
        });
    builder.url_relative(match Url::parse(base) {
        Ok(base) => UrlRelative::RewriteWithBase(base),
        Err(_) => UrlRelative::Deny,
    });
    builder.clean(html).to_string()
}

/// Returns whether HTML has images.
pub fn has_images(html: &str) -> bool {
    let is_image = |place: usize| {
        let rest = &html.as_bytes()[place + 1..];
        [&b"img"[..], b"audio", b"video"]
            .iter()
            .any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
    };
    html.match_indices('<').any(|(place, _)| is_image(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_video_has_its_sources() {
        let html = "<video><source src=\"x.mp4\" type=\"video/mp4\" onerror=\"a\"></video>";
        let shown = clean(html, "https://example.org/", Images::Shown);
        assert!(shown.contains("<source src=\"https://example.org/x.mp4\" type=\"video/mp4\">"), "{shown}");
        assert!(!clean(html, "https://example.org/", Images::Hidden).contains("x.mp4"));
    }

    #[test]
    fn nothing_runs_and_nothing_loads() {
        for html in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
            "<svg onload=alert(1)><script>alert(1)</script></svg>",
            "<iframe src=\"https://a\"></iframe><object data=x></object><embed src=x>",
            "<form action=\"/feeds/mark\"><input name=a><button>x</button></form>",
            "<style>* { display: none }</style><p style=\"position:fixed\">x</p>",
            "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
            "<base href=\"https://a\"><meta http-equiv=refresh content=0><link rel=stylesheet href=x>",
            "<p id=main class=entry onclick=alert(1)>x</p>",
        ] {
            let clean = clean(html, "https://example.org/a/b", Images::Hidden);
            for word in [
                "alert(1)<",
                "script",
                "onerror",
                "onload",
                "onclick",
                "src=",
                "javascript",
                "data:",
                "<form",
                "style",
                "<base",
                "<meta",
                "<link",
                "id=",
                "class=",
                "<iframe",
            ] {
                assert!(!clean.contains(word), "{html}: {clean}");
            }
        }
    }

    #[test]
    fn links_are_whole_and_images_come_when_they_are_asked_for() {
        let html = "<a href=\"../c\">x</a><img src=d.png alt=e width=99999>";
        let hidden = clean(html, "https://example.org/a/b", Images::Hidden);
        assert!(hidden.contains("href=\"https://example.org/c\""), "{hidden}");
        assert!(hidden.contains("alt=\"e\"") && !hidden.contains("d.png"), "{hidden}");
        let shown = clean(html, "https://example.org/a/b", Images::Shown);
        assert!(
            shown.contains("src=\"https://example.org/a/d.png\"") && shown.contains("width=\"2000\""),
            "{shown}"
        );
        assert!(has_images(html) && !has_images("<p>"));
        assert!(!clean("<a href=\"c\">x</a>", "", Images::Shown).contains("href"));
    }
}
