//! Options of `whit top`.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, builder::PossibleValue, value_parser};
use probe::tasks::TaskSource;

use crate::columns::Column;
use crate::options::{OutputKind, Selection, TopOptions};
use crate::settings::GROUPS;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    count, direct, ids, interval, json, option, paragraphs, past, past_of, root, roots, several, switch,
};
use sampling::users::Users;

const WAYS: [(&str, &str); 3] = [
    ("bpf", "A task iterator in the kernel: everything, for the least"),
    ("taskstats", "Over netlink, in batches"),
    ("procfs", "/proc alone, as for a user without privileges"),
];

/// Returns the options of `whit top`.
pub fn command() -> Command {
    Command::new("top").about("All tasks, and where their time goes, on the screen").defer(|command| {
        let command = command
            .arg(
                interval("Time between two readings [default: 1s, on the screen the saved value]")
                    .visible_short_alias('d'),
            )
            .arg(count(
                "End after N readings [default: 1 where there is no screen, unless -b or --json is given]",
            ))
            .arg(switch("batch", "Tables one after the other instead of the screen").short('b'))
            .arg(json())
            .arg(ids("pid", 'p', "These processes alone"))
            .arg(several("tid", Kind::Id, "These threads alone").value_delimiter(','))
            .arg(option("user", Kind::User, "This user's alone").short('u'))
            .arg(option("comm", Kind::Name, "The processes of this name alone"))
            .arg(
                option("cgroup", Kind::Cgroup, "A cgroup's tasks and those of the cgroups below it alone")
                    .short('C'),
            )
            .arg(
                Arg::new("sort")
                    .long("sort")
                    .short('s')
                    .value_name("COLUMN")
                    .value_parser(value_parser!(Column))
                    .hide_possible_values(true)
                    .help("Order by a column: cpu, memory, run_queue, block_io …"),
            )
            .arg(switch("reverse", "Reverse the order").short('r'))
            .arg(
                Arg::new("columns")
                    .long("columns")
                    .short('o')
                    .value_name("COLUMNS")
                    .value_delimiter(',')
                    .value_parser(value_parser!(Column))
                    .help("These columns in this order"),
            )
            .arg(
                Arg::new("by")
                    .long("by")
                    .value_name("GROUP")
                    .value_parser(GROUPS.map(|(name, _)| name))
                    .help("What a row stands for"),
            )
            .arg(switch("threads", "The same as --by thread").short('H').conflicts_with("by"))
            .arg(switch("tree", "Children below their parents").short('t'))
            .arg(
                switch("kernel-threads", "Each kernel thread, instead of one row for all of them").short('K'),
            )
            .arg(switch("command-lines", "Command lines instead of names").short('c'))
            .arg(
                Arg::new("tasks")
                    .long("tasks")
                    .value_name("SOURCE")
                    .value_parser(WAYS.map(|(name, help)| PossibleValue::new(name).help(help)))
                    .help("How to read tasks [default: the best that is permitted]"),
            )
            .arg(direct())
            .arg(root());
        let command = past(command, "As it was at this instant; on the screen keys go on from there");
        // A whit without the agent has no past.
        let has_past = command.get_arguments().any(|arg| arg.get_id() == "data");
        command
            .mut_arg("root", |root| if has_past { root.conflicts_with("data") } else { root })
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Each row's time is on CPU + run queue + block I/O + sleeping, drawn as a bar; the letters on it
mark what overlaps with those: s swap-in, t thrashing, r reclaim, c compaction, w copy, i irq.
Keys: ? on the screen, whose columns, order and interval are kept in whit/top.toml in
$XDG_CONFIG_HOME (~/.config). What ended between two readings is counted, by its exit record.
  –  absent: not counted, or not available from this source; a note says why
  ─  off CPU: undivided, since delay accounting is off";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<TopOptions, Failure> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let ids = |name: &str| matches.get_many::<u32>(name).into_iter().flatten().copied().collect();
    let roots = roots(matches);
    let is_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    let output = match (matches.get_flag("json"), matches.get_flag("batch")) {
        (true, _) => OutputKind::Json,
        (false, true) => OutputKind::Text,
        (false, false) if roots.is_captured() || !is_terminal => OutputKind::Text,
        (false, false) => OutputKind::Screen,
    };
    let is_repeated =
        matches.contains_id("interval") || matches.get_one("count").is_some_and(|count: &u64| *count > 1);
    if roots.is_captured() && is_repeated {
        return Err(Failure::usage("a captured machine stands still: --root goes without -i and -n"));
    }
    let (at_ns, data) = past_of(matches)?;
    if at_ns.is_some() && (roots.is_captured() || matches.get_flag("direct") || text("tasks").is_some()) {
        return Err(Failure::usage(
            "--at shows what was recorded: it goes without --root, --direct and --tasks",
        ));
    }
    let is_asked_for_repetition = matches.get_flag("batch") || matches.get_flag("json");
    let count = matches.get_one("count").copied();
    let by = if matches.get_flag("threads") { Some("thread".to_owned()) } else { text("by") };
    let uid = text("user").map(|name| Users::named(&name)).transpose().map_err(Failure::usage)?;
    Ok(TopOptions {
        roots,
        source: text("tasks").and_then(|name| TaskSource::from_name(&name)),
        at_ns,
        data,
        is_direct: matches.get_flag("direct"),
        interval: matches.get_one("interval").copied(),
        count: count.or((output == OutputKind::Text && !is_asked_for_repetition
            || at_ns.is_some() && output != OutputKind::Screen)
            .then_some(1)),
        output,
        selection: Selection {
            pids: ids("pid"),
            tids: ids("tid"),
            uid,
            comm: text("comm"),
            cgroup: matches.get_one::<PathBuf>("cgroup").map(|path| path.to_string_lossy().into_owned()),
        },
        by: by.and_then(|name| GROUPS.iter().find(|(group, _)| *group == name)).map(|(_, by)| *by),
        sort: matches.get_one("sort").copied(),
        is_reversed: matches.get_flag("reverse"),
        is_tree: matches.get_flag("tree"),
        columns: matches.get_many::<Column>("columns").map(|columns| columns.copied().collect()),
        with_commands: matches.get_flag("command-lines"),
        with_kernel_threads: matches.get_flag("kernel-threads"),
    })
}

/// Without a command: the screen, or one table where there is none.
pub(crate) fn plain() -> Result<TopOptions, Failure> {
    from_matches(&command().get_matches_from(["top"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::task::groups::GroupBy;

    #[test]
    fn off_the_screen_it_is_one_table_unless_more_is_asked_for() {
        let options = |words: &[&str]| from_matches(&command().get_matches_from(words)).unwrap();
        assert_eq!((options(&["top"]).count, options(&["top"]).output), (Some(1), OutputKind::Text));
        assert_eq!(options(&["top", "-b"]).count, None);
        assert_eq!(options(&["top", "-b", "-n", "3"]).count, Some(3));
        assert_eq!(options(&["top", "-H"]).by, Some(GroupBy::Thread));
        assert_eq!(options(&["top", "--json"]).output, OutputKind::Json);
    }
}
