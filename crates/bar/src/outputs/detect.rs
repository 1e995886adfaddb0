//! Detects the program that reads the bar, by the processes that started it.

use std::io::IsTerminal;

use probe::ancestors;

use crate::arguments::BarOutput;

/// How far up: a status line is mostly started by a shell.
const GENERATIONS: usize = 3;

/// Returns true if a terminal controls this process: tty(4).
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// On a terminal plain; else by the name of the program that started us.
pub(crate) fn detect() -> BarOutput {
    if std::io::stdout().is_terminal() {
        return BarOutput::Plain;
    }
    let names = ancestors(GENERATIONS);
    let found = names.iter().find_map(|name| match name.as_str() {
        "i3bar" | "swaybar" => Some(BarOutput::I3bar),
        "waybar" => Some(BarOutput::Waybar),
        "xmobar" => Some(BarOutput::Xmobar),
        // What runs in a pane has a terminal, wherever its output goes; what the status line starts has none.
        name if name.starts_with("tmux") && !has_terminal() => Some(BarOutput::Tmux),
        _ => None,
    });
    found.unwrap_or(BarOutput::Plain)
}
