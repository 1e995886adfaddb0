//! Options of `whit free`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use probe::Roots;

use crate::free::render::MemoryLayout;
use command::failure::Failure;
use command::options::{Repeat, count, interval, json, paragraphs, past, past_of, root, roots, switch};
use text::units::ByteUnit;

/// `whit free`, validated.
#[derive(Debug)]
pub(crate) struct FreeArgs {
    pub(crate) roots: Roots,
    pub(crate) layout: MemoryLayout,
    pub(crate) is_json: bool,
    pub(crate) emulate: bool,
    pub(crate) repeat: Repeat,
    /// The instant whose recorded values are shown, in nanoseconds since 1970.
    pub(crate) at_ns: Option<i64>,
    pub(crate) data: Option<PathBuf>,
}

/// Letter, name, power, help.
const UNITS: [(char, &str, u32, &str); 12] = [
    ('b', "bytes", 0, "Sizes in bytes"),
    ('k', "kibi", 1, "Sizes in KiB (the default)"),
    ('m', "mebi", 2, "Sizes in MiB"),
    ('g', "gibi", 3, "Sizes in GiB"),
    ('\0', "tebi", 4, "Sizes in TiB"),
    ('\0', "pebi", 5, "Sizes in PiB"),
    ('\0', "kilo", 1, "Sizes in kB"),
    ('\0', "mega", 2, "Sizes in MB"),
    ('\0', "giga", 3, "Sizes in GB"),
    ('\0', "tera", 4, "Sizes in TB"),
    ('\0', "peta", 5, "Sizes in PB"),
    ('h', "human", 0, "Sizes in the unit that suits each"),
];

/// The options that say how a table looks.
const TEXT_ALONE: [&str; 8] = ["si", "total", "wide", "lohi", "line", "committed", "percent", "extended"];

/// Units that are powers of 1000 with or without --si.
const DECIMAL: [&str; 5] = ["kilo", "mega", "giga", "tera", "peta"];

pub(crate) fn command() -> Command {
    Command::new("free").about("The machine's memory, and how much is really left").defer(|command| {
        let units = UNITS.map(|(letter, name, _, help)| {
            let unit = switch(name, help);
            if letter == '\0' { unit } else { unit.short(letter) }
        });
        let command = command
            .disable_help_flag(true)
            .arg(Arg::new("help").long("help").action(ArgAction::Help).help("Print help"))
            .args(units)
            .group(ArgGroup::new("unit").args(UNITS.map(|(_, name, ..)| name)))
            .arg(switch("si", "Powers of 1000 instead of 1024"))
            .arg(switch("total", "Add a line of memory and swap together").short('t'))
            .arg(switch("wide", "Tell the caches apart: buffers, files, slab").short('w'))
            .arg(switch("lohi", "Add lines of low and high memory").short('l'))
            .arg(switch("line", "Print one line").short('L').conflicts_with_all([
                "total",
                "wide",
                "lohi",
                "committed",
                "extended",
                "percent",
            ]))
            .arg(switch("committed", "Add a line of the commit limit and what is committed").short('v'))
            .arg(switch("percent", "Shares of the total in per cent").short('p'))
            .arg(switch("extended", "Add the extended list").short('e'))
            .arg(switch(
                "emulate",
                "Compute \"available\" by the kernel's formula even where the kernel says it",
            ))
            .arg(interval("Print it again and again").visible_alias("seconds").visible_short_alias('s'))
            .arg(count("Print it N times, every second unless -i says otherwise").visible_short_alias('c'))
            .arg(json())
            .arg(root());
        past(command, "As it was at this instant").after_help(paragraphs(COLUMNS))
    })
}

const COLUMNS: &str = "\
Columns, from the fields of /proc/meminfo:
  total      MemTotal = free + anonymous + kernel + caches + others, to the byte
  used       total - available: what new programs cannot get
  free       MemFree
  anonymous  AnonPages + Shmem: only swap could hold it
  kernel     SUnreclaim + KernelStack + PageTables + SecPageTables + Percpu
  caches     Buffers + Cached - Shmem + KReclaimable (SReclaimable before 4.20)
  others     the rest: huge pages, vmalloc, drivers' pages, swap cache, ZFS ARC,
             zram; a little below 0 where the kernel's lazy counters run ahead
  available  MemAvailable; with * computed, before 3.14 or for --emulate
+ caches: free and caches together. Limit: of the own cgroup or one above it, whichever has the
least left.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<FreeArgs, Failure> {
    let base: u64 = if matches.get_flag("si") { 1000 } else { 1024 };
    let chosen = UNITS.iter().find(|(_, name, ..)| matches.get_flag(name));
    let unit = match chosen {
        Some((_, "human", ..)) if base == 1000 => ByteUnit::HumanDecimal,
        Some((_, "human", ..)) => ByteUnit::HumanBinary,
        Some((_, name, power, _)) if DECIMAL.contains(name) => ByteUnit::Fixed(1000_u64.pow(*power)),
        Some((_, _, power, _)) => ByteUnit::Fixed(base.pow(*power)),
        None => ByteUnit::Fixed(base),
    };
    let is_json = matches.get_flag("json");
    // Looked at here: clap makes a list of what excludes what in every run.
    let unit_name = chosen.map(|(_, name, ..)| *name).filter(|name| *name != "bytes");
    let of_text = unit_name.or(TEXT_ALONE.into_iter().find(|name| matches.get_flag(name)));
    if let Some(name) = of_text.filter(|_| is_json) {
        return Err(Failure::usage(format!("--{name} is of the table, and --json has all figures in bytes")));
    }
    let count = matches.get_one("count").copied();
    let interval = matches.get_one("interval").copied();
    let roots = roots(matches);
    if roots.is_captured() && (interval.is_some() || count.is_some_and(|count| count > 1)) {
        return Err(Failure::usage("a captured machine stands still: --root goes without -i and -n"));
    }
    let (at_ns, data) = past_of(matches)?;
    let is_present =
        roots.is_captured() || interval.is_some() || count.is_some() || matches.get_flag("emulate");
    if at_ns.is_some() && is_present {
        return Err(Failure::usage(
            "--at shows what was recorded: it goes without --root, -i, -n and --emulate",
        ));
    }
    Ok(FreeArgs {
        at_ns,
        data,
        layout: MemoryLayout {
            unit,
            in_percent: matches.get_flag("percent"),
            is_wide: matches.get_flag("wide"),
            with_extended: matches.get_flag("extended"),
            with_total: matches.get_flag("total"),
            with_low_high: matches.get_flag("lohi"),
            with_committed: matches.get_flag("committed"),
            is_one_line: matches.get_flag("line"),
        },
        is_json,
        emulate: matches.get_flag("emulate"),
        repeat: Repeat {
            interval: interval.or(count.map(|_| std::time::Duration::from_secs(1))),
            count: count.or(interval.is_none().then_some(1)),
        },
        roots,
    })
}
