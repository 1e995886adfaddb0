//! `whit man` and `whit completions`: other renderings of the table of options.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::command_line::{examples, grammar};
use command::failure::Failure;
use command::output::Output;
use text::nearest::did_you_mean;
use text::printable::Shown as _;

/// What the page of whit itself leads to: the documents, as `make build` makes pages of section 7 of them.
const DOCUMENTS: &str = "whit-agent(7), whit-age(7), whit-alerts(7), whit-bar(7), whit-cheap(7), whit-checks(7), whit-costs(7), whit-exporters(7), whit-faq(7), whit-feeds(7), \
    whit-fleet(7), whit-format(7), whit-install(7), whit-kernels(7), whit-memory(7), whit-metrics(7), whit-moving(7), whit-page(7), whit-query(7), whit-recipes(7), \
    whit-remote-write(7), whit-scale(7), whit-service(7), whit-socket(7), whit-tasks(7), whit-terms(7), whit-traffic(7), whit-versions(7), whit-why(7)";

/// Prints a man page, or writes one of each command into a directory.
pub(crate) fn man(mut command: Command, directory: Option<&Path>) -> Result<ExitCode, Failure> {
    command.build();
    let named = directory.and_then(Path::to_str).and_then(|name| command.find_subcommand(name));
    if named.is_some() || directory.is_none() {
        let of_whit = command.clone();
        Output::stdout().write(&page(named.unwrap_or(&of_whit))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(directory) = directory else { return Ok(ExitCode::SUCCESS) };
    // A word that is misspelt makes no directory.
    if directory.components().count() == 1 && !directory.is_dir() && !directory.has_root() {
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let hint = did_you_mean(&directory.to_string_lossy(), names.into_iter());
        let name = directory.shown();
        return Err(Failure::usage(format!(
            "unknown command {name}{hint} (for a new directory write ./{name}/)"
        )));
    }
    let pages =
        std::iter::once(&command).chain(command.get_subcommands().filter(|one| one.get_name() != "help"));
    let fail = |path: &Path, error: io::Error| Failure::new(format!("{}: {error}", path.shown()));
    std::fs::create_dir_all(directory).map_err(|error| fail(directory, error))?;
    for command in pages {
        let name = match command.get_name() {
            "whit" => "whit".to_owned(),
            name => format!("whit-{name}"),
        };
        let path = directory.join(format!("{name}.1"));
        let page = page(&command.clone().display_name(name))?;
        std::fs::write(&path, page).map_err(|error| fail(&path, error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A man page: what clap knows, then examples and notes with their tables as they are.
fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone()).source(format!("whit {}", env!("CARGO_PKG_VERSION")));
    man.render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| man.render_synopsis_section(&mut page))
        .and_then(|()| man.render_description_section(&mut page))
        .and_then(|()| man.render_options_section(&mut page))
        .map_err(Failure::internal)?;
    if command.get_name() == "whit" {
        man.render_subcommands_section(&mut page).map_err(Failure::internal)?;
    }
    let mut text = String::new();
    if command.get_name() != "whit" && command.has_subcommands() {
        text.push_str(".SH ACTIONS\n");
        command.get_subcommands().for_each(|action| push_action(action, &mut text));
    }
    let examples = examples::of(command.get_name());
    if !examples.is_empty() {
        text.push_str(".SH EXAMPLES\n");
    }
    for (words, what) in examples {
        text.push_str(&format!(".TP\n.B whit {}\n{}\n", escaped(words), escaped(what)));
    }
    if let Some(notes) = command.get_after_help() {
        text.push_str(".SH NOTES\n");
        let mut is_table = false;
        for line in notes.to_string().lines() {
            let is_row = line.starts_with(' ');
            if is_row != is_table {
                text.push_str(if is_row { ".PP\n.nf\n" } else { ".fi\n.PP\n" });
                is_table = is_row;
            }
            text.push_str(&escaped(line));
            text.push_str(if is_row || line.is_empty() { "\n" } else { "\n.br\n" });
        }
        text.push_str(if is_table { ".fi\n" } else { "" });
    }
    if command.get_name() == "whit" {
        text.push_str(&format!(".SH SEE ALSO\n{}\n", escaped(DOCUMENTS)));
    }
    page.extend_from_slice(text.as_bytes());
    Ok(page)
}

/// Appends an action, its options but for those that all actions have, and its own actions.
fn push_action(action: &Command, text: &mut String) {
    let usage = action.clone().render_usage().to_string();
    let about = action.get_about().map(ToString::to_string).unwrap_or_default();
    text.push_str(&format!(
        ".TP\n.B {}\n{}\n",
        escaped(usage.trim_start_matches("Usage: ")),
        escaped(&about)
    ));
    let own = action.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_long() != Some("help"));
    for arg in own {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!(".RS\n.TP\n.B {}\n{}\n.RE\n", escaped(&arg.to_string()), escaped(&help)));
    }
    action.get_subcommands().for_each(|action| push_action(action, text));
}

/// As roff reads it as it is.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// Prints the table of options.
pub(crate) fn options(mut command: Command) -> Result<ExitCode, Failure> {
    Output::stdout().write(grammar::markdown(&mut command).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints completions.
pub(crate) fn completions(mut command: Command, shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "whit", &mut script);
    Output::stdout().write(&script)?;
    Ok(ExitCode::SUCCESS)
}
