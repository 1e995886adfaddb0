//! Difficult feeds: formats, encodings, malformed documents, dates, identities, and content that attacks its reader. The page's tests
//! show the same ones in a browser.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// What a file is, as the feed reader gets it from its parser.
fn read(row: &Value) -> Value {
    let file = row["file"].as_str().unwrap();
    let document = fs::read(directory().join(file)).unwrap();
    let address = format!("http://example.org/{file}");
    let content_type = row["type"].as_str().unwrap_or_default();
    let reading = syndication::read(&document, content_type, &address, || Duration::ZERO);
    serde_json::to_value(reading).unwrap()
}

/// What is wrong with an entry.
fn fault(entry: &Value, expected: &Value) -> Option<String> {
    let differs = |field: &str, found: &Value| {
        let wanted = expected.get(field)?;
        (!wanted.is_null() && wanted != found).then(|| format!("{field}: {found} instead of {wanted}"))
    };
    let text = syndication::plain_text(entry["content"].as_str()?, usize::MAX);
    let wanted = expected["text"].as_str().unwrap_or_default();
    differs("title", &entry["title"])
        .or_else(|| differs("link", &entry["link"]))
        .or_else(|| differs("author", &entry["author"]))
        .or_else(|| {
            (entry["published_ms"] != expected["date_ms"]).then(|| format!("date: {}", entry["published_ms"]))
        })
        .or_else(|| (!text.contains(wanted)).then(|| format!("{wanted:?} is not in {text:?}")))
}

#[test]
fn difficult_feeds_are_read_without_loss() {
    let rows: Vec<Value> =
        serde_json::from_slice(&fs::read(directory().join("expected.json")).unwrap()).unwrap();
    assert!(rows.len() >= 100);
    let mut faults = Vec::new();
    for row in &rows {
        let (file, reading) = (row["file"].as_str().unwrap(), read(row));
        let feed = &reading["Feed"];
        let (Some(entries), Some(expected)) = (feed["entries"].as_array(), row["entries"].as_array()) else {
            faults.push(format!("{file}: {reading}"));
            continue;
        };
        if !row["title"].is_null() && feed["title"] != row["title"] {
            faults.push(format!("{file}: the title is {}", feed["title"]));
        }
        if entries.len() != expected.len() {
            faults.push(format!("{file}: {} entries instead of {}", entries.len(), expected.len()));
        }
        let pairs = entries.iter().zip(expected);
        faults.extend(
            pairs.filter_map(|(entry, expected)| Some(format!("{file}: {}", fault(entry, expected)?))),
        );
        let all = reading.to_string().to_lowercase();
        faults.extend(
            ["<script", "<style", "<iframe", "href=\\\"javascript", "<svg", "<form"]
                .iter()
                .filter(|word| all.contains(**word) && !file.contains("title") && !file.contains("guid"))
                .map(|word| format!("{file}: {word} is left")),
        );
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
