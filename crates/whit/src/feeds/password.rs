//! A password from the terminal, which does not show it, or from a pipe.

use std::io::{BufRead as _, IsTerminal as _, Read as _};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use command::failure::{Failure, write_stderr};

/// A longer line is no password.
const MAX_BYTES: u64 = 4096;

/// Reads one; in the terminal twice.
pub(super) fn read() -> Result<String, Failure> {
    if !std::io::stdin().is_terminal() {
        return line();
    }
    let first = hidden("Password: ")?;
    match hidden("Again: ")? == first {
        true => Ok(first),
        false => Err(Failure::new("the two passwords are not the same")),
    }
}

fn hidden(prompt: &str) -> Result<String, Failure> {
    let input = std::io::stdin();
    let modes = tcgetattr(&input).map_err(|error| Failure::of_system(error.into()))?;
    let mut quiet = modes.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &quiet).map_err(|error| Failure::of_system(error.into()))?;
    write_stderr(prompt);
    let line = line();
    let _ = tcsetattr(&input, OptionalActions::Flush, &modes);
    write_stderr("\n");
    line
}

fn line() -> Result<String, Failure> {
    let mut line = String::new();
    let input = std::io::stdin().lock();
    input.take(MAX_BYTES).read_line(&mut line).map_err(Failure::of_system)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}
