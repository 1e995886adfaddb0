//! Configurations of i3status, drawn by i3status and, imported, by whit: the same words and colours, or a line that says what
//! differs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Scratch, WHIT};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("imported_bars_are_like_the_originals", &[Need::Program("i3status")], side_by_side)]
}

/// Name, what it is, and whether its batteries are those of the captured laptop.
const CONFIGURATIONS: [(&str, &str, bool); 8] = [
    ("default", include_str!("i3status/default.conf"), false),
    ("thresholds", include_str!("i3status/thresholds.conf"), false),
    ("battery", include_str!("i3status/battery.conf"), true),
    ("cpu", include_str!("i3status/cpu.conf"), false),
    ("memory", include_str!("i3status/memory.conf"), false),
    ("net", include_str!("i3status/net.conf"), false),
    ("watch", include_str!("i3status/watch.conf"), false),
    ("plain", include_str!("i3status/plain.conf"), false),
];

/// A block as i3bar gets it.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    /// Numbers are of an instant, and so only that there is one counts.
    text: String,
    color: String,
    is_urgent: bool,
}

/// Blocks of the last of some lines of i3bar's protocol.
fn blocks(line: &str) -> Vec<Block> {
    let blocks: Vec<Value> = serde_json::from_str(line.trim_start_matches(',')).unwrap();
    let block = |block: &Value| Block {
        text: without_numbers(block["full_text"].as_str().unwrap()),
        color: block["color"].as_str().unwrap_or_default().to_lowercase(),
        is_urgent: block["urgent"] == true,
    };
    blocks.iter().map(block).collect()
}

fn without_numbers(text: &str) -> String {
    let mut masked = String::new();
    for letter in text.chars() {
        match letter.is_ascii_digit() || letter == '.' {
            true if masked.ends_with('#') => {}
            true => masked.push('#'),
            false => masked.push(letter),
        }
    }
    // As large as it is at the time.
    masked.replace("MiB", "xiB").replace("GiB", "xiB")
}

fn side_by_side() -> Result<(), Failed> {
    for (name, text, is_laptop) in CONFIGURATIONS {
        let scratch = Scratch::new(&format!("import-{name}"));
        fs::write(scratch.0.join("init.pid"), "1\n")?;
        fs::write(scratch.0.join("motd"), "hello there\n")?;
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").canonicalize()?;
        let text = text.replace("FIXTURES", &fixtures.display().to_string());
        let text = text.replace("SCRATCH", &scratch.0.display().to_string());
        let config = scratch.0.join("i3status.conf");
        fs::write(&config, text.replacen("general {", "general { output_format = \"i3bar\"\n", 1))?;

        let mut original = Command::new("i3status");
        let child = original.arg("-c").arg(&config).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut original = Load(child);
        let lines = BufReader::new(original.0.stdout.take().unwrap()).lines();
        // A header, the opening bracket, and two ticks, of which the first has no rates.
        let theirs = blocks(&lines.take(4).last().ok_or("nothing of i3status")??);
        drop(original);

        let imported = Command::new(WHIT).args(["bar", "--import"]).arg(&config).output()?;
        assert!(imported.status.success(), "{imported:?}");
        let toml = String::from_utf8(imported.stdout)?;
        let own = scratch.0.join("bar.toml");
        fs::write(&own, &toml)?;
        let mut bar = Command::new(WHIT);
        bar.args(["bar", "--for", "i3bar", "-n", "2", "-i", "1", "--config"]).arg(&own);
        if is_laptop {
            bar.arg("--root").arg(fixtures.join("laptop"));
        }
        let drawn = String::from_utf8(bar.output()?.stdout)?;
        let ours = blocks(drawn.trim_end().lines().last().ok_or("nothing of whit")?);

        // What stands before a segment in the configuration is about it.
        let parts: Vec<&str> = toml.split("[[segment]]").collect();
        assert_eq!(
            (theirs.len(), parts.len() - 1),
            (ours.len(), ours.len()),
            "{name}: {theirs:?}\n{ours:?}\n{toml}"
        );
        for (at, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
            let comments: Vec<&str> = parts[at].rsplit("\n\n").next().unwrap_or_default().lines().collect();
            let is_reported = comments
                .iter()
                .any(|line| line.starts_with("# differs") || line.starts_with("# not carried over"));
            println!("{name}: {theirs:?} {ours:?}{}", if is_reported { " (reported)" } else { "" });
            assert_eq!(theirs.is_urgent, ours.is_urgent, "{name}: a box that was none");
            assert_eq!(theirs.color, ours.color, "{name}: {theirs:?} {ours:?}\n{toml}");
            assert!(theirs == ours || is_reported, "{name}: {theirs:?} {ours:?}\n{toml}");
        }
    }
    Ok(())
}
