//! i3status' modules of space: filesystems and memory.

use formats::i3status::Section;

use super::format::Placeholders;
use super::segment::{General, Segment, Tone, number, plain_number, unmatched};

const NOT_MOUNTED: &str = "mounted == no";

pub(super) fn disk(section: &Section, general: &General) -> Segment {
    let scale = match section.get("prefix_type") {
        Some("decimal") => "si",
        _ => "bin",
    };
    let sized = |field: &str| format!("{{{field}:{scale},.1}}");
    let (free, available, used, total) = (sized("free"), sized("available"), sized("used"), sized("total"));
    let names: Placeholders<'_> = &[
        ("free", &free),
        ("avail", &available),
        ("used", &used),
        ("total", &total),
        ("percentage_free", "{free_percent:.1,bare}%"),
        ("percentage_used", "{size_used_percent:.1,bare}%"),
        ("percentage_avail", "{available_percent:.1,bare}%"),
        ("percentage_used_of_avail", "{unavailable_percent:.1,bare}%"),
    ];
    let mut segment = Segment::new("disk");
    let path = if section.title.is_empty() { "/" } else { &section.title };
    if !path.starts_with('/') {
        return unmatched(&format!("disk {path}: its path is to be absolute"));
    }
    segment.text("paths", path);
    let format = segment.format(section, "format", "%free", names);
    segment.text("format", &format);
    let is_low = section.get("low_threshold").is_some();
    if is_low && low_space(section).is_none() && number(section, "low_threshold", 0.0) != 0.0 {
        segment.note("low_threshold, threshold_type");
    }
    // i3status shows what is mounted at the path, and nothing of the filesystem that an empty mount point lies on.
    let mut variants = Vec::new();
    match section.get("format_not_mounted").filter(|format| !format.is_empty()) {
        Some(_) => {
            variants.push((NOT_MOUNTED.to_owned(), segment.format(section, "format_not_mounted", "", names)));
        }
        None => segment.text("hide_when", NOT_MOUNTED),
    }
    match low_space(section) {
        Some(condition) => {
            segment.paint(section, general, &[(Tone::Bad, &condition)]);
            if section.get("format_below_threshold").is_some() {
                let below = segment.format(section, "format_below_threshold", "", names);
                variants.push((condition, below));
            }
        }
        None => segment.paint(section, general, &[]),
    }
    segment.variants(&variants);
    let known = [
        "format",
        "prefix_type",
        "low_threshold",
        "threshold_type",
        "format_below_threshold",
        "format_not_mounted",
    ];
    if section.get("prefix_type") == Some("custom") {
        segment.differs("prefix_type = custom: here GiB for what is called GB there");
    }
    segment.note_others(section, &known);
    segment
}

/// `low_threshold = 5`, `threshold_type = gbytes_avail`.
fn low_space(section: &Section) -> Option<String> {
    let infix = if section.get("prefix_type") == Some("decimal") { "" } else { "i" };
    let low = number(section, "low_threshold", 0.0);
    let kind = section.get("threshold_type").unwrap_or("percentage_avail");
    let (unit, field) = kind.rsplit_once('_')?;
    let field = match field {
        "avail" => "available",
        "free" => "free",
        _ => return None,
    };
    let condition = match unit {
        "percentage" => format!("{field}_percent < {low}"),
        "bytes" => format!("{field} < {low}"),
        "kbytes" => format!("{field} < {low}{}", if infix.is_empty() { "k" } else { "Ki" }),
        "mbytes" => format!("{field} < {low}M{infix}"),
        "gbytes" => format!("{field} < {low}G{infix}"),
        "tbytes" => format!("{field} < {low}T{infix}"),
        _ => return None,
    };
    (low > 0.0).then_some(condition)
}

pub(super) fn memory(section: &Section, general: &General) -> Segment {
    let unit = match section.get("unit") {
        Some("KiB") => "Ki,",
        Some("MiB") => "Mi,",
        Some("GiB") => "Gi,",
        Some("TiB") => "Ti,",
        _ => "",
    };
    let decimals = number(section, "decimals", 1.0).clamp(0.0, 9.0);
    let sized = |field: &str| format!("{{{field}:{unit}.{decimals:.0}}}");
    let used =
        if section.get("memory_used_method") == Some("memavailable") { "used" } else { "used_classical" };
    let used_percent = format!("{{{used}_percent:.1,bare}}%");
    let [used, free, available, total, shared] = [used, "free", "available", "total", "shared"].map(sized);
    let names: Placeholders<'_> = &[
        ("used", &used),
        ("free", &free),
        ("available", &available),
        ("total", &total),
        ("shared", &shared),
        ("percentage_used", &used_percent),
        ("percentage_free", "{free_percent:.1,bare}%"),
        ("percentage_available", "{available_percent:.1,bare}%"),
        ("percentage_shared", "{shared_percent:.1,bare}%"),
    ];
    let mut segment = Segment::new("memory");
    let format = segment.format(section, "format", "%used %free %available", names);
    segment.text("format", &format);
    let low = |option| section.get(option).and_then(low_memory);
    for option in ["threshold_critical", "threshold_degraded"] {
        if let Some(value) = section.get(option).filter(|_| low(option).is_none()) {
            segment.note(format!("{option} = {value}"));
        }
    }
    let (critical, degraded) = (low("threshold_critical"), low("threshold_degraded"));
    let conditions = [(Tone::Bad, critical.as_deref()), (Tone::Degraded, degraded.as_deref())];
    let conditions: Vec<(Tone, &str)> =
        conditions.into_iter().filter_map(|(tone, condition)| Some((tone, condition?))).collect();
    segment.paint(section, general, &conditions);
    if section.get("format_degraded").is_some() {
        let degraded = segment.format(section, "format_degraded", "", names);
        for (_, condition) in &conditions {
            segment.variant(condition, &degraded);
        }
    }
    let known = [
        "format",
        "format_degraded",
        "threshold_critical",
        "threshold_degraded",
        "unit",
        "decimals",
        "memory_used_method",
    ];
    segment.note_others(section, &known);
    segment
}

/// `10%` of the total, or `1G`: so much must be available.
fn low_memory(threshold: &str) -> Option<String> {
    let digits = threshold.trim_end_matches(|character: char| !character.is_ascii_digit());
    let number = plain_number(digits)?;
    match threshold[digits.len()..].trim().to_ascii_uppercase().as_str() {
        "%" => Some(format!("available_percent < {number}")),
        "" | "B" => Some(format!("available < {number}")),
        "K" | "KB" | "KIB" => Some(format!("available < {number}Ki")),
        "M" | "MB" | "MIB" => Some(format!("available < {number}Mi")),
        "G" | "GB" | "GIB" => Some(format!("available < {number}Gi")),
        "T" | "TB" | "TIB" => Some(format!("available < {number}Ti")),
        _ => None,
    }
}
