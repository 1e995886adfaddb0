//! The same as JSON, a document a directory; of a dry run also one for each file that would go.

use facts::age::{AGE_BOUNDS, AgeSums, age_ns};
use serde_json::{Value, json};

use super::options::DeleteMode;
use super::report::{DirectoryReport, Outcome};

/// Appends the document of one directory.
pub(crate) fn push(out: &mut String, found: &DirectoryReport, now_ns: i64) {
    let path = &found.path;
    let older_ns = found.older.map(|older| older.0);
    let document = match &found.what {
        Outcome::Count(count) => json!({ "path": path, "older_ns": older_ns, "files": count }),
        Outcome::Sums { all, by_directory } => {
            let mut document = json!({ "path": path, "older_ns": older_ns, "by": found.by.letters() });
            merge(&mut document, sums(all, now_ns));
            if !by_directory.is_empty() {
                let named = |(name, of_one): &(String, AgeSums)| {
                    let mut document = json!({ "directory": name });
                    merge(&mut document, sums(of_one, now_ns));
                    document
                };
                document["directories"] = by_directory.iter().map(named).collect();
            }
            document
        }
        Outcome::Deleted(way, tally) => {
            json!({
                "path": path,
                "older_ns": older_ns,
                "by": found.by.letters(),
                "is_dry_run": *way == DeleteMode::DryRun,
                "deleted": sums(&tally.deleted, now_ns),
                "kept": sums(&tally.kept, now_ns),
                "kept_sticky": tally.sticky,
                "kept_locked": tally.locked,
                "locked_directories": tally.locked_directories,
                "kept_failed": tally.failed,
                "put_back": tally.put_back,
                "restored": tally.restored,
                "unproven_directories": tally.unproven,
                "directories_deleted": tally.directories,
            })
        }
    };
    out.push_str(&document.to_string());
    out.push('\n');
}

/// Appends a document for a file that a dry run would delete.
pub(crate) fn push_path(out: &mut Vec<u8>, path: &[u8]) {
    let document = json!({ "would_delete": String::from_utf8_lossy(path) });
    out.extend_from_slice(document.to_string().as_bytes());
}

fn sums(sums: &AgeSums, now_ns: i64) -> Value {
    let age = |time_ns: Option<i64>| time_ns.map(|time_ns| age_ns(time_ns, now_ns));
    let below_s = AGE_BOUNDS.iter().map(|(bound, _)| Some(*bound)).chain([None]);
    let ranges = below_s
        .zip(&sums.ranges)
        .map(|(below_s, range)| json!({ "below_s": below_s, "files": range.files, "bytes": range.bytes.0 }));
    json!({
        "files": sums.files,
        "bytes": sums.bytes.0,
        "allocated_bytes": sums.allocated.0,
        "oldest_ns": age(sums.oldest_ns),
        "newest_ns": age(sums.newest_ns),
        "ageless": sums.ageless,
        "ages": ranges.collect::<Vec<_>>(),
    })
}

fn merge(document: &mut Value, other: Value) {
    if let (Value::Object(document), Value::Object(other)) = (document, other) {
        document.extend(other);
    }
}
