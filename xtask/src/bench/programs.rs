//! The programs that are measured: whit as users get it, and small ones in C that do the bare minimum.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::outcome::Outcome;

const FLOOR: &str = "benches/floor";
const BUILT: &str = "target/floor";

/// Paths of what was built.
pub(crate) struct Programs {
    pub(crate) whit: String,
    pub(crate) empty: String,
    pub(crate) crowd: String,
    pub(crate) taskstats_batch: String,
    pub(crate) proc_stat: String,
    pub(crate) bar_reads: String,
    pub(crate) wake: String,
    pub(crate) spawns: String,
    pub(crate) scan: String,
    pub(crate) sweep: String,
}

impl Programs {
    /// Builds whit for release and the floor with the C compiler, statically as whit is.
    pub(crate) fn build() -> Result<Self, String> {
        std::fs::create_dir_all(BUILT).map_err(|error| format!("{BUILT}: {error}"))?;
        Ok(Self {
            whit: whit("release")?,
            empty: floor("empty")?,
            crowd: floor("crowd")?,
            taskstats_batch: floor("taskstats_batch")?,
            proc_stat: floor("proc_stat")?,
            bar_reads: floor("bar_reads")?,
            wake: floor("wake")?,
            spawns: floor("spawns")?,
            scan: floor("scan")?,
            sweep: floor("sweep")?,
        })
    }
}

/// whit by a profile of Cargo.toml, with the flags that the Makefile has: with others all would be built anew.
pub(crate) fn whit(profile: &str) -> Result<String, String> {
    let target = if profile == "release" { "program" } else { profile };
    succeed(Command::new("make").args(["--silent", target]).env_remove("MAKEFLAGS").env_remove("MAKELEVEL"))?;
    // With a target named, its directory stands between "target" and that of the profile.
    let triples = std::fs::read_dir("target").map_err(|error| format!("target: {error}"))?;
    let built = triples.flatten().map(|entry| entry.path().join(profile).join("whit"));
    let newest = built
        .filter(|path| path.is_file())
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    newest.and_then(|path| path.to_str().map(str::to_owned)).ok_or_else(|| "whit was not built".to_owned())
}

fn floor(name: &str) -> Result<String, String> {
    let program = format!("{BUILT}/{name}");
    let source = Path::new(FLOOR).join(name).with_extension("c");
    succeed(Command::new("cc").args(["-O2", "-static", "-o", &program]).arg(source))?;
    Ok(program)
}

fn succeed(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

/// Returns whether a program is on the path.
pub(crate) fn is_there(name: &str) -> bool {
    Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
