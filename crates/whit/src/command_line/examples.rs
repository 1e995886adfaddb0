//! Examples of each command, for the man pages.

/// An example: the words that are typed behind `whit`, and what they do.
pub(crate) type Example = (&'static str, &'static str);

/// The examples of a command.
pub(crate) fn of(command: &str) -> &'static [Example] {
    match command {
        "bar" => &[
            (
                "bar",
                "A line a second on a terminal; in sway, i3, waybar and tmux in the form that these read",
            ),
            ("bar --import ~/.config/i3status/config", "Print the equivalent of a configuration of i3status"),
            ("bar --for tmux --once", "One line for tmux"),
        ],
        "free" => &[
            ("free -h", "Sizes in the unit that suits each"),
            ("free -i 5s -n 3", "Three times, every five seconds"),
            ("free --json", "For programs, in bytes"),
        ],
        "delays" => &[
            ("delays -p 1234", "What a process has waited for since it started"),
            ("delays -a --sort block_io", "All processes, those that waited longest for a disk first"),
            ("delays -p 1234 -i 1s", "Differences, every second"),
            ("delays --exits --min-wall 1s", "Tasks that lived for a second or more, as they end"),
        ],
        "top" => &[
            ("top", "The screen; ? lists the keys"),
            ("top -b -n 1 -s memory", "One table by memory, for a file or a pipe"),
            ("top --by cgroup", "A row for each cgroup"),
            ("top --user www-data", "One user's processes"),
        ],
        "run" => &[
            ("run make -j2", "Where the time of a build went, by program"),
            ("run -n 5 ./benchmark", "Median and spread of five runs"),
            (
                "run --lock /run/lock/backup --wait 0 --timeout 2h backup",
                "A cron job that never runs twice, nor too long",
            ),
            ("run --json -o before.json ./benchmark", "Keep a report"),
            ("run --compare before.json ./benchmark", "And compare with it"),
        ],
        "age" => &[
            ("age -r /var/log", "How old the files are, and how large"),
            ("age -r --long --sort size -n 20 ~", "The twenty largest files"),
            ("age -r --delete --older 30d --dry-run /var/tmp", "What would be deleted"),
            ("age -r --delete --keep-free 10% /var/cache/builds", "Delete the oldest until a tenth is free"),
            ("age --warn age=7d --crit files=1M /var/spool/mail", "As a Nagios plugin"),
        ],
        "relabel" => &[
            (
                "relabel --try 'node_disk_io_now{device=\"sda\"}'",
                "What the agent's rules make of a series, step by step",
            ),
            ("relabel --import prometheus.yml", "The rules of Prometheus for whit's configuration"),
            ("relabel --rules rules.toml", "The names of series on standard input after other rules"),
        ],
        "sink" => &[
            ("sink", "Count what comes to 127.0.0.1:22222 until Ctrl-C"),
            ("sink --http 204 --log -", "Answer every request, and print each"),
            ("sink --replies replies.toml --fault slow=0.1:500ms", "A control server that is slow at times"),
        ],
        "send" => &[
            ("send localhost:22222 -n 1M", "A million packets, as fast as they are taken"),
            (
                "send localhost:22222 --rate 1k --duration 10s --echo",
                "Latency at a thousand packets a second",
            ),
            ("send localhost:8080 --http /health -n 10k --connections 10", "Ask a web server"),
            (
                "send localhost:8080 --http / --fail-if p99>50ms",
                "Exit with status 1 if answers take too long",
            ),
        ],
        "bench" => &[
            ("bench --quick", "A first look"),
            ("bench --only scan", "What scanning a directory costs, here"),
        ],
        #[cfg(feature = "agent")]
        "agent" => &[
            ("agent", "Record every second, until Ctrl-C"),
            ("agent --data /srv/history -i 10s", "Every ten seconds, somewhere else"),
        ],
        #[cfg(feature = "agent")]
        "alert" => &[
            ("alert", "Which alerts there are"),
            ("alert test --since -7d", "When the rules would have fired in the last week"),
            ("alert silence '{mountpoint=\"/srv\"}' --duration 2h", "Two hours of quiet"),
        ],
        #[cfg(feature = "agent")]
        "check" => &[
            ("check", "What is not fine"),
            ("check list 'web*' --all", "How everything stands on some hosts"),
            ("check run web1/http", "What a plugin says right now"),
        ],
        #[cfg(feature = "feeds")]
        "feeds" => &[
            ("feeds add example.org --folder news", "The feed of a page, in a folder"),
            ("feeds read", "Entries that were not read"),
        ],
        #[cfg(feature = "agent")]
        "fleet" => &[
            ("fleet --from http://store:8428", "All machines that a store has, those in trouble first"),
            ("fleet web3", "Everything about one of them"),
            (
                "fleet simulate --machines 1000 --to http://store:8428 --interval 15s",
                "What so many would send, for a minute",
            ),
        ],
        #[cfg(feature = "agent")]
        "mark" => &[
            ("mark deployed 2.3", "Something to find again in the plots"),
            ("mark 'the disk was changed' --at 'yesterday 14:00'", "Something that happened before"),
        ],
        #[cfg(feature = "agent")]
        "why" => &[
            ("why", "What the machine waited for in the last ten minutes"),
            ("why nginx --since -1h --show", "A program's hour, with the expressions of all figures"),
        ],
        #[cfg(feature = "agent")]
        "plot" => &[
            ("plot rate(node_context_switches_total[1m])", "The last hour in the terminal"),
            ("plot node_load1 --since yesterday --svg load.svg", "A day as an image"),
        ],
        #[cfg(feature = "agent")]
        "query" => &[
            ("query node_load1", "A figure as it is now"),
            ("query avg_over_time(node_load1[1h]) --since yesterday --step 1h", "Its means, hour by hour"),
        ],
        #[cfg(feature = "agent")]
        "get" => &[
            ("get node_memory_MemAvailable_bytes", "The memory that is left, in bytes"),
            ("get max(node_load1) --at 03:12", "The load at that time"),
        ],
        #[cfg(feature = "agent")]
        "history" => &[
            ("history", "From when to when, how many ticks and series"),
            ("history --list", "The names of all series"),
            ("history remote", "How far the stores are to which it goes out"),
            ("history exporters", "What exporters said when they were asked last"),
        ],
        "doctor" => &[
            ("doctor", "What this machine gives, and how to get the rest"),
            ("doctor --selftest", "Whether all values are consistent"),
        ],
        _ => &[],
    }
}
