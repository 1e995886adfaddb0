//! /proc/PID/limits: the limits of a process, soft ones first; proc_pid_limits(5).

/// The soft limit of open files, of the lines behind the title; `None` if it is unlimited or not there.
pub fn most_open_files(lines: &[String]) -> Option<u64> {
    let limit = lines.iter().find_map(|line| line.strip_prefix("Max open files"))?;
    limit.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let known = "Max processes             96306                96306                processes\n\
                     Max open files            1024                 524288               files";
        assert_eq!(most_open_files(&lines(known)), Some(1024));
        for unknown in [
            "",
            "Max open files",
            "Max open files            unlimited            unlimited            files",
        ] {
            assert_eq!(most_open_files(&lines(unknown)), None, "{unknown}");
        }
    }
}
