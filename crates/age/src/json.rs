//! The report as JSON, a document a directory; of a listing and of a dry run one for each file.

use facts::age::{AGE_BOUNDS, AgeSums, Aged, age_ns};
use facts::unit::Nanos;
use serde_json::{Value, json};

use super::options::DeleteMode;
use super::report::{DirectoryReport, Outcome, ScanCost};
use super::verdict::Verdict;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;

/// Appends the document of one directory.
pub(crate) fn push(
    out: &mut String,
    documents: &Documents,
    found: &DirectoryReport,
    now_ns: i64,
) -> Result<(), Failure> {
    let path = &found.path;
    let (older_ns, newer_ns) = (found.older.map(|older| older.0), found.newer.map(|newer| newer.0));
    let larger_bytes = found.larger.map(|larger| larger.0);
    let (kind, body) = match &found.what {
        Outcome::Count(count) => (
            DocumentKind::AgeNumber,
            json!({
                "path": path,
                "older_ns": older_ns,
                "newer_ns": newer_ns,
                "larger_bytes": larger_bytes,
                "files": count,
            }),
        ),
        Outcome::Sums { all, extremes, by_directory } => {
            let mut body = json!({
                "path": path,
                "older_ns": older_ns,
                "newer_ns": newer_ns,
                "larger_bytes": larger_bytes,
                "time": found.by.letters(),
            });
            merge(&mut body, sums(all, now_ns));
            let name = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
            body["oldest_path"] = extremes.oldest.as_ref().map(|found| name(&found.path)).into();
            body["largest_path"] = extremes.largest.as_ref().map(|found| name(&found.path)).into();
            body["largest_bytes"] = extremes.largest.as_ref().map(|found| found.value.0).into();
            if !by_directory.is_empty() {
                let named = |(name, of_one): &(String, AgeSums)| {
                    let mut body = json!({ "path": name });
                    merge(&mut body, sums(of_one, now_ns));
                    body
                };
                body["directories"] = by_directory.iter().map(named).collect();
            }
            (DocumentKind::Age, body)
        }
        Outcome::Deleted(way, tally) => {
            let body = json!({
                "path": path,
                "older_ns": older_ns,
                "newer_ns": newer_ns,
                "larger_bytes": larger_bytes,
                "time": found.by.letters(),
                "is_dry_run": *way == DeleteMode::DryRun,
                "deleted": sums(&tally.deleted, now_ns),
                "kept": sums(&tally.kept, now_ns),
                "kept_sticky_files": tally.sticky,
                "kept_locked_files": tally.locked,
                "kept_failed_files": tally.failed,
                "kept_changed_files": tally.put_back,
                "locked_directories": tally.locked_directories,
                "restored_files": tally.restored,
                "unproven_directories": tally.unproven,
                "deleted_directories": tally.directories,
            });
            (DocumentKind::AgeDeletion, body)
        }
    };
    documents.push(kind, realtime(now_ns), &body, out)
}

/// Appends the document of a file.
pub(super) fn push_file(out: &mut Vec<u8>, documents: &Documents, path: &[u8], file: &Aged, now_ns: i64) {
    let body = json!({
        "path": String::from_utf8_lossy(path),
        "age_ns": file.time_ns.map(|time_ns| age_ns(time_ns, now_ns)),
        "bytes": file.bytes.0,
        "allocated_bytes": file.allocated.0,
    });
    let mut text = String::new();
    // An object of texts and numbers can always be written.
    let _ = documents.push(DocumentKind::AgeFile, realtime(now_ns), &body, &mut text);
    out.extend_from_slice(text.as_bytes());
}

/// Appends the document of a verdict.
pub(super) fn push_verdict(
    out: &mut String,
    documents: &Documents,
    verdict: &Verdict,
    now_ns: i64,
) -> Result<(), Failure> {
    let body = json!({
        "state": verdict.word(),
        "exit_status": verdict.code,
        "files": verdict.files,
        "bytes": verdict.bytes,
        "oldest_ns": verdict.oldest_ns,
        "oldest_path": verdict.oldest_path.as_ref().map(|path| String::from_utf8_lossy(path).into_owned()),
        "failures": verdict.failures,
    });
    documents.push(DocumentKind::AgeVerdict, realtime(now_ns), &body, out)
}

/// Appends the document of what the work cost.
pub(super) fn push_cost(
    out: &mut String,
    documents: &Documents,
    cost: &ScanCost,
    wall: Nanos,
    cpu: Nanos,
    now_ns: i64,
) -> Result<(), Failure> {
    let body = json!({
        "system_calls": cost.calls,
        "entries": cost.entries,
        "directories": cost.directories,
        "left_alone_directories": cost.left_alone,
        "failures": cost.failures,
        "workers": cost.threads,
        "wall_ns": wall.0,
        "cpu_ns": cpu.0,
    });
    documents.push(DocumentKind::AgeCost, realtime(now_ns), &body, out)
}

fn realtime(now_ns: i64) -> Nanos {
    Nanos(u64::try_from(now_ns).unwrap_or(0))
}

fn sums(sums: &AgeSums, now_ns: i64) -> Value {
    let age = |time_ns: Option<i64>| time_ns.map(|time_ns| age_ns(time_ns, now_ns));
    let below_ns = AGE_BOUNDS.iter().map(|(bound_s, _)| Some(bound_s * Nanos::SECOND.0)).chain([None]);
    let ranges = below_ns.zip(&sums.ranges).map(
        |(below_ns, range)| json!({ "below_ns": below_ns, "files": range.files, "bytes": range.bytes.0 }),
    );
    json!({
        "files": sums.files,
        "bytes": sums.bytes.0,
        "allocated_bytes": sums.allocated.0,
        "oldest_ns": age(sums.oldest_ns),
        "newest_ns": age(sums.newest_ns),
        "ageless_files": sums.ageless,
        "ages": ranges.collect::<Vec<_>>(),
    })
}

fn merge(document: &mut Value, other: Value) {
    if let (Value::Object(document), Value::Object(other)) = (document, other) {
        document.extend(other);
    }
}
