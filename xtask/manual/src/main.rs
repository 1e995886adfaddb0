//! `manual DOCUMENTS DIRECTORY` writes every document for users, such as docs/AGENT.md, as a man page of section 7: whit-agent.7.

mod page;
mod roff;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let done = match arguments.as_slice() {
        [documents, directory] => write(documents, directory),
        _ => Err("the arguments are the directory of the documents, and that of the pages".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("manual: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn write(documents: &Path, directory: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    for entry in fs::read_dir(documents).map_err(|error| failed(documents, error))? {
        let path = entry.map_err(|error| failed(documents, error))?.path();
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(name) = page::name(file) else { continue };
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        let to = directory.join(format!("{name}.7"));
        fs::write(&to, page::page(&name, &text)).map_err(|error| failed(&to, error))?;
    }
    Ok(())
}
