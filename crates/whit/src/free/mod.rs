//! `whit free`.

pub(crate) mod arguments;
mod json;
pub(crate) mod render;

use std::process::ExitCode;

use clap::ArgMatches;
use facts::source::{Source, Wanted};
use probe::Request;

use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use command::past;
use command::past::PastView;
use json::MemoryJson;
use sampling::Formula;
use sampling::machine::MachineSampler;
use sampling::ticker::Ticker;

/// Reads the memory and prints it, once or every so often.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let mut wanted = Wanted::from([
        Source::MemInfo,
        Source::PressureMemory,
        Source::Cgroup,
        Source::ArcStats,
        Source::Zram,
    ]);
    if args.layout.is_one_line && !args.is_json {
        wanted = Wanted::from([Source::MemInfo]);
    }
    let request = Request { wanted, ..Request::default() };
    let formula = if args.emulate { Formula::Always } else { Formula::IfNeeded };
    let mut sampler = match args.at_ns {
        Some(at_ns) => PastView::open(&past::directory(args.data.as_deref())?)?.machine_at(at_ns)?,
        None => MachineSampler::open(&args.roots, request, formula)?,
    };
    let documents = Documents::of(&args.roots);
    let mut output = Output::stdout();
    let mut ticker = args.repeat.interval.map(Ticker::new);
    let mut remaining = args.repeat.count;
    loop {
        let report = sampler.memory().map_err(|absence| match args.at_ns {
            Some(_) => Failure::new("how much memory there was at that time is not in the history"),
            None => Failure::unreadable("/proc/meminfo", absence),
        })?;
        let mut text = String::with_capacity(1024);
        if args.is_json {
            let realtime = sampler.now().clock.realtime;
            documents.push(DocumentKind::Free, realtime, &MemoryJson::new(&report), &mut text)?;
        } else {
            render::write(&report, args.layout, &mut text);
        }
        remaining = remaining.map(|remaining| remaining - 1);
        let is_last = remaining == Some(0) || ticker.is_none();
        if !is_last && !args.is_json && !args.layout.is_one_line {
            text.push('\n');
        }
        output.write(text.as_bytes())?;
        match &mut ticker {
            Some(ticker) if !is_last => ticker.wait(),
            _ => return Ok(ExitCode::SUCCESS),
        }
        sampler.replace();
    }
}
