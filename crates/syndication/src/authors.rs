//! Authors of entries and feeds.

use feed_rs::model::Person;

use crate::entry_text::title_text;

/// Returns the names of authors; their addresses where they have none.
pub(crate) fn authors_of(authors: &[Person]) -> String {
    let names = authors.iter().filter_map(|author| {
        let name = author.name.as_deref().filter(|name| !name.trim().is_empty());
        name.or(author.email.as_deref())
    });
    let names = names.map(|name| title_text(name_in_address(name)));
    names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The name of a mailbox, as RSS has authors: `x@example.org (Name)`, or `Name <x@example.org>`; otherwise the text as it is.
fn name_in_address(author: &str) -> &str {
    let author = author.trim();
    let is_address = |text: &str| text.contains('@') && !text.trim().contains(char::is_whitespace);
    let behind = author.strip_suffix(')').and_then(|author| author.split_once('('));
    let before = author.strip_suffix('>').and_then(|author| author.split_once('<'));
    // feed-rs has taken the address of the first form away.
    let alone = author.strip_prefix('(').and_then(|author| author.strip_suffix(')'));
    let name = match (behind, before) {
        _ if alone.is_some() => alone.unwrap_or_default(),
        (Some((address, name)), _) if is_address(address) => name,
        (_, Some((name, address))) if is_address(address) => name.trim().trim_matches('"'),
        _ => author,
    };
    if name.trim().is_empty() { author } else { name.trim() }
}
