//! Directories by age, for people: sums, and a histogram that a terminal can draw.

use facts::age::{AGE_BOUNDS, AgeSums, age_ns};
use facts::unit::Nanos;

use super::extremes::{Extremes, Found};
use super::options::DeleteMode;
use super::report::{DeletionCounts, DirectoryReport, Outcome, ScanCost};
use text::printable::{printable_text, push_printable};
use text::table::{Align, Table};
use text::units::{Size, Span};

/// The width of a full bar.
const BAR_WIDTH: u64 = 40;

/// Appends what came of one directory.
pub(crate) fn push(out: &mut String, found: &DirectoryReport, now_ns: i64) {
    match &found.what {
        Outcome::Count(count) => out.push_str(&format!("{count}\n")),
        Outcome::Sums { all, extremes, by_directory } => {
            push_printable(out, found.path.as_bytes());
            if let Some(older) = found.older {
                out.push_str(&format!(", older than {}", Span(older)));
            }
            if let Some(newer) = found.newer {
                out.push_str(&format!(", younger than {}", Span(newer)));
            }
            if let Some(larger) = found.larger {
                out.push_str(&format!(", larger than {}", Size(larger)));
            }
            out.push('\n');
            push_sums(out, all, now_ns);
            push_extremes(out, extremes, now_ns);
            if !by_directory.is_empty() {
                push_directories(out, by_directory, now_ns);
            }
            push_histogram(out, all);
        }
        Outcome::Deleted(way, tally) => {
            // A dry run's paths are printed as they are found.
            let DeletionCounts { deleted, kept, directories, .. } = &**tally;
            let verb = if *way == DeleteMode::DryRun { "would delete" } else { "deleted" };
            push_printable(out, found.path.as_bytes());
            out.push_str(&format!(": {verb} {}", files_and_sizes(deleted)));
            if *directories > 0 {
                let word = if *directories == 1 { "directory" } else { "directories" };
                out.push_str(&format!(", and {directories} empty {word}"));
            }
            out.push_str(&format!("; kept {}", files_and_sizes(kept)));
            for (count, what) in [
                (tally.sticky, "sticky"),
                (tally.locked, "locked"),
                (tally.put_back, "changed meanwhile"),
                (tally.failed, "could not be deleted"),
            ] {
                if count > 0 {
                    out.push_str(&format!(", {count} {what}"));
                }
            }
            match tally.locked_directories {
                0 => {}
                1 => out.push_str("; 1 locked directory was not entered"),
                count => out.push_str(&format!("; {count} locked directories were not entered")),
            }
            out.push('\n');
        }
    }
}

fn files_and_sizes(sums: &AgeSums) -> String {
    let word = if sums.files == 1 { "file" } else { "files" };
    format!("{} {word} ({}, {} on disk)", sums.files, Size(sums.bytes), Size(sums.allocated))
}

fn age_of(time_ns: Option<i64>, now_ns: i64) -> String {
    time_ns.map_or(text::ABSENT.to_owned(), |time_ns| Span(Nanos(age_ns(time_ns, now_ns))).to_string())
}

fn push_sums(out: &mut String, sums: &AgeSums, now_ns: i64) {
    out.push_str(&format!("  {}\n  newest   {:>9}\n", files_and_sizes(sums), age_of(sums.newest_ns, now_ns)));
    if sums.ageless > 0 {
        out.push_str(&format!("  of {} the time is not kept\n", sums.ageless));
    }
}

fn push_extremes(out: &mut String, extremes: &Extremes, now_ns: i64) {
    if let Some(Found { path, value }) = &extremes.oldest {
        let age = Span(Nanos(age_ns(*value, now_ns)));
        out.push_str(&format!("  oldest   {:>9}  {}\n", age, printable_text(path)));
    }
    if let Some(Found { path, value }) = &extremes.largest {
        out.push_str(&format!("  largest  {:>9}  {}\n", Size(*value), printable_text(path)));
    }
}

fn push_directories(out: &mut String, directories: &[(String, AgeSums)], now_ns: i64) {
    let mut table = Table::new(&[
        ("  directory", Align::Left),
        ("files", Align::Right),
        ("size", Align::Right),
        ("on disk", Align::Right),
        ("oldest", Align::Right),
        ("newest", Align::Right),
    ]);
    for (name, sums) in directories {
        table.row([
            format!("  {}", printable_text(name.as_bytes())),
            sums.files.to_string(),
            Size(sums.bytes).to_string(),
            Size(sums.allocated).to_string(),
            age_of(sums.oldest_ns, now_ns),
            age_of(sums.newest_ns, now_ns),
        ]);
    }
    table.write(out);
}

/// Ranges from the first to the last that has files; bars are by their number.
fn push_histogram(out: &mut String, sums: &AgeSums) {
    let has_files = |range: &facts::age::AgeRange| range.files > 0;
    let (Some(first), Some(last)) =
        (sums.ranges.iter().position(has_files), sums.ranges.iter().rposition(has_files))
    else {
        return;
    };
    let most = sums.ranges.iter().map(|range| range.files).max().unwrap_or(0).max(1);
    let mut table = Table::new(&[
        ("  age", Align::Left),
        ("files", Align::Right),
        ("size", Align::Right),
        ("", Align::Left),
    ]);
    for (place, range) in sums.ranges.iter().enumerate().take(last + 1).skip(first) {
        let name = match (AGE_BOUNDS.get(place), AGE_BOUNDS.last()) {
            (Some((_, name)), _) => format!("  below {name}"),
            (None, Some((_, name))) => format!("  {name} and more"),
            (None, None) => String::new(),
        };
        // In eighths of a character; whatever there is can be seen.
        let eighths = (range.files * BAR_WIDTH * 8).div_ceil(most);
        let mut bar = "█".repeat((eighths / 8) as usize);
        if let Some(part) =
            [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')]
                [(eighths % 8) as usize]
        {
            bar.push(part);
        }
        table.row([name, range.files.to_string(), Size(range.bytes).to_string(), bar]);
    }
    table.write(out);
}

/// Describes the cost of the work.
pub(crate) fn stats(cost: &ScanCost, wall: Nanos, cpu: Nanos) -> String {
    let per_entry = if cost.entries == 0 { 0.0 } else { cost.calls as f64 / cost.entries as f64 };
    format!(
        "{} system calls for {} entries in {} director{} ({per_entry:.4} each), {} left alone, {} failed; {} on {} threads, on CPU {}\n",
        cost.calls,
        cost.entries,
        cost.directories,
        if cost.directories == 1 { "y" } else { "ies" },
        cost.left_alone,
        cost.failures,
        Span(wall),
        cost.threads,
        Span(cpu)
    )
}
