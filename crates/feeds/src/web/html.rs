//! HTML in which every value is escaped by its type.

use std::fmt::{self, Display, Write as _};

use syndication::{Images, clean, escaped};

/// HTML that no text of others can be a part of: literals of this crate, escaped texts, sanitised contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

/// A value as it stands in HTML.
pub(super) trait ToHtml {
    /// Appends it.
    fn push_to(&self, out: &mut String);
}

/// Makes HTML of a literal, with a value for each `{}`. Values cannot be named within the literal, where they would not be escaped.
macro_rules! html {
    ($literal:literal $(, $value:expr)* $(,)?) => {
        $crate::web::html::Html::default()
            .with(format_args!(concat!($literal) $(, $crate::web::html::Shown(&$value))*))
    };
}

/// Appends to HTML what [`html!`] makes.
macro_rules! push_html {
    ($html:expr, $literal:literal $(, $value:expr)* $(,)?) => {
        $html.push(&$crate::web::html::html!($literal $(, $value)*))
    };
}

pub(super) use {html, push_html};

/// A value that is written as it stands in HTML.
pub(super) struct Shown<'v, T: ?Sized>(pub(super) &'v T);

impl<T: ToHtml + ?Sized> Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.0.push_to(&mut out);
        f.write_str(&out)
    }
}

impl Html {
    /// Appends what the macros make: their values are escaped.
    pub(super) fn with(mut self, arguments: fmt::Arguments<'_>) -> Self {
        // A text takes whatever is written to it.
        let _ = self.0.write_fmt(arguments);
        self
    }

    /// Makes HTML of the content of an entry, by sanitising it.
    pub(super) fn of_content(content: &str, images: Images) -> Self {
        Self(clean(content, "", images))
    }

    /// Appends HTML.
    pub(super) fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Returns it as bytes to be sent.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

impl ToHtml for Html {
    fn push_to(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl ToHtml for str {
    fn push_to(&self, out: &mut String) {
        out.push_str(&escaped(self));
    }
}

impl ToHtml for String {
    fn push_to(&self, out: &mut String) {
        self.as_str().push_to(out);
    }
}

impl<T: ToHtml + ?Sized> ToHtml for &T {
    fn push_to(&self, out: &mut String) {
        (**self).push_to(out);
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl ToHtml for $number {
            fn push_to(&self, out: &mut String) {
                let _ = write!(out, "{self}");
            }
        })*
    };
}

numbers!(u8, u64, i64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_html_is_not() {
        let mut page =
            html!("<p title=\"{}\">{} {}</p>", "\"<&'", html!("<b>{}</b>", 3_u64), String::from("</p>"));
        push_html!(page, "<br>{}", "a");
        let text = String::from_utf8(page.into_bytes()).unwrap();
        assert_eq!(text, format!("<p title=\"{}\"><b>3</b> &lt;/p&gt;</p><br>a", escaped("\"<&'")));
        let content = Html::of_content("<b>x</b><script>alert(1)</script>", Images::Hidden);
        assert_eq!(String::from_utf8(content.into_bytes()).unwrap(), "<b>x</b>");
    }
}
