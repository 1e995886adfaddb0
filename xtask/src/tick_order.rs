//! The order of functions in the executable: those that a tick of the bar calls stand together, so that they fill few pages and share
//! cache lines: 17 pages instead of 52. Writes a linker script that names them by patterns, which fit whatever the compiler's hashes are.
//!
//! If a function is renamed, its pattern fits nothing, and the function stands where the linker puts it. Write the script again when the
//! count of pages grows.

use std::collections::HashSet;
use std::process::Command;

use crate::footprint;
use crate::outcome::Outcome;

const SCRIPT: &str = "crates/whit/tick.ld";
/// A build with symbols, apart from the one that is measured.
const TARGET_DIRECTORY: &str = "target/tick-order";
/// Ticks whose functions are placed, the most common first.
const BARS: [&str; 4] = [
    "--for plain --config benches/memory-and-date.toml",
    "--for plain",
    "--root fixtures/laptop --for i3bar",
    "--for waybar",
];

/// Builds whit, traces its bars and writes the script.
pub(crate) fn write() -> Outcome {
    let program = build()?;
    let symbols = symbols(&program)?;
    let (mut patterns, mut known) = (Vec::new(), HashSet::new());
    for words in BARS {
        let words: Vec<&str> = words.split(' ').chain(["--interval", "0.01"]).collect();
        for address in footprint::code_of_tick(&program, &words)? {
            // The last that begins at or before the address.
            let next = symbols.partition_point(|(start, _)| *start <= address);
            let Some((_, name)) = next.checked_sub(1).and_then(|index| symbols.get(index)) else { continue };
            if known.insert(name.clone()) {
                patterns.extend(pattern(name));
            }
        }
    }
    if patterns.is_empty() {
        return Err("no function of a tick has a name of Rust's".to_owned());
    }
    let lines = |sections: fn(&str) -> String| -> String {
        patterns.iter().map(|pattern| format!("    *({})\n", sections(pattern))).collect()
    };
    let tables = lines(|pattern| format!(".rodata.{pattern} .rodata..Lswitch.table.{pattern}"));
    let functions = lines(|pattern| format!(".text.{pattern}"));
    let text = format!(
        "/* The functions of a tick of the bar, in the order of their first call, and their jump tables.\n   \
         Made by `cargo xtask tick-order`. */\n\
         SECTIONS\n{{\n  .rodata.tick : {{\n{tables}  }}\n  .text.tick : {{\n{functions}  }}\n}}\nINSERT BEFORE .text;\n"
    );
    std::fs::write(SCRIPT, text).map_err(|error| format!("{SCRIPT}: {error}"))?;
    println!("{SCRIPT}: {} functions", patterns.len());
    Ok(())
}

fn build() -> Result<String, String> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "whit", "--target-dir", TARGET_DIRECTORY])
        .args(["--config", "profile.release.strip=false"])
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    let found = std::fs::read_dir(TARGET_DIRECTORY).map_err(|error| error.to_string())?;
    let programs = found.flatten().map(|entry| entry.path().join("release/whit"));
    let program = programs.into_iter().find(|program| program.exists()).filter(|_| status.success());
    program
        .and_then(|program| program.to_str().map(str::to_owned))
        .ok_or_else(|| "whit was not built".to_owned())
}

/// Functions with their addresses, in the order of these.
fn symbols(program: &str) -> Result<Vec<(u64, String)>, String> {
    let output = Command::new("nm")
        .args(["--numeric-sort", "--defined-only", program])
        .output()
        .map_err(|error| format!("nm: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let symbol = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_code = words.next()?.eq_ignore_ascii_case("t");
        is_code.then(|| words.next().map(|name| (address, name.to_owned()))).flatten()
    };
    Ok(text.lines().filter_map(symbol).collect())
}

/// A mangled name (the scheme "v0") with its identifiers, and `*` in place of hashes, numbers of like-named items and references back,
/// which change with every build. `None` for a function of the C library.
fn pattern(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_R")?;
    let mut pattern = "_R".to_owned();
    while let Some(character) = rest.chars().next() {
        if character.is_ascii_digit() {
            let digits = rest.find(|character: char| !character.is_ascii_digit())?;
            let length: usize = rest[..digits].parse().ok()?;
            let separator = usize::from(rest[digits..].starts_with('_'));
            let end = digits + separator + length;
            pattern.push_str(rest.get(..end)?);
            rest = &rest[end..];
            continue;
        }
        if !pattern.ends_with('*') {
            pattern.push('*');
        }
        if character == '.' {
            break;
        }
        // A disambiguator, a reference back or a constant: digits up to an underscore.
        let is_number = matches!(character, 's' | 'B' | 'K');
        let length = if is_number { rest.find('_').map_or(1, |end| end + 1) } else { 1 };
        rest = &rest[length..];
    }
    if !pattern.ends_with('*') {
        pattern.push('*');
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_no_hashes() {
        assert_eq!(
            pattern("_RNvMs_NtNtCs7zkR1_4whit3bar5cycleNtB4_3Bar3run").unwrap(),
            "_R*4whit3bar5cycle*3Bar3run*"
        );
        assert_eq!(pattern("_RNvCsabc_4text4push.llvm.123").unwrap(), "_R*4text4push*");
        assert_eq!(pattern("_RINvCsabc_4text4fillKj100_E").unwrap(), "_R*4text4fill*");
        assert_eq!(pattern("memcpy"), None);
    }
}
