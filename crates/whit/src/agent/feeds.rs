//! Feeds as TOML.

use std::time::Duration;

use ::feeds::{DocumentParser, FeedOptions};
use text::quantity;

use configuration::{Fault, Options};

/// The keys that `[feeds]` may have.
const OPTIONS: [&str; 5] = ["allow", "least_interval", "most_interval", "keep", "size"];
/// A shorter interval would be rude.
const MIN_INTERVAL: Duration = Duration::from_secs(60);
const MIN_KEPT: Duration = Duration::from_secs(86_400);

/// The command that reads documents, in a process of its own.
pub(crate) fn document_parser() -> DocumentParser {
    DocumentParser::Command(vec![probe::spawn::own_program(), "feeds".into(), "parser".into()])
}

/// Reads `[feeds]`. `None`: no feed is polled.
pub(super) fn read(root: &Options<'_, '_>) -> Result<Option<FeedOptions>, Fault> {
    let Some(value) = root.get("feeds") else { return Ok(None) };
    let table = Options::of(value)?;
    table.refuse_unknown(OPTIONS.into_iter(), "[feeds]")?;
    let mut options = FeedOptions { parser: document_parser(), ..FeedOptions::default() };
    for network in table.texts("allow")? {
        let network = network.parse().map_err(|wanted: String| table.fault_of("allow", wanted))?;
        options.allowed.push(network);
    }
    if let Some(interval) = table.duration("least_interval")? {
        if interval < MIN_INTERVAL {
            return Err(table.fault_of("least_interval", "expected 1m or more"));
        }
        options.least_interval = interval;
    }
    options.most_interval = table.duration("most_interval")?.unwrap_or(options.most_interval);
    if options.most_interval < options.least_interval {
        return Err(table.fault_of("most_interval", "expected no less than least_interval"));
    }
    if let Some(keep) = table.text("keep")? {
        let keep =
            quantity::age(keep).map_err(|wanted| table.fault_of("keep", format!("expected {wanted}")))?;
        options.keep = Duration::from_nanos(keep.0);
        if options.keep < MIN_KEPT {
            return Err(table.fault_of("keep", "expected 1d or more"));
        }
    }
    if let Some(size) = table.text("size")? {
        let size =
            quantity::size(size).map_err(|wanted| table.fault_of("size", format!("expected {wanted}")))?;
        options.most_bytes = size.0;
    }
    Ok(Some(options))
}
