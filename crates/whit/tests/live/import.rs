//! Configurations of i3status and conky, drawn by these and, imported, by whit: the same words and colours, or a line that says what
//! differs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Scratch, WHIT};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let needs = [Need::Program("i3status")];
    vec![
        exact("imported_bars_are_like_the_originals", &needs, side_by_side),
        exact("imported_lines_are_like_the_originals", &needs, lines),
        exact("imported_variables_are_like_conkys", &[Need::Program("conky")], variables),
    ]
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
        text: without_numbers(block["full_text"].as_str().unwrap().trim_end()),
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

/// What an import says of differences, and of what it left out.
fn notes_in(toml: &str) -> impl Iterator<Item = &str> {
    let is_note = |line: &&str| line.starts_with("# differs") || line.starts_with("# not carried over");
    toml.lines().filter(is_note)
}

/// Lines of a list, without its remarks.
fn list(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What both make of a configuration: their blocks, and before each of whit's what the import says of it.
struct Compared {
    theirs: Vec<Block>,
    ours: Vec<Block>,
    notes: Vec<String>,
}

fn compare(name: &str, text: &str, is_laptop: bool) -> Result<Compared, Failed> {
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
    let lines = BufReader::new(original.0.stdout.take().ok_or("no output")?).lines();
    // A header, the opening bracket, and a tick, or two if the first has no rates.
    let count = if text.contains("cpu_usage") { 4 } else { 3 };
    let theirs = blocks(&lines.take(count).last().ok_or("nothing of i3status")??);
    drop(original);

    let imported = Command::new(WHIT).args(["bar", "--import"]).arg(&config).output()?;
    assert!(imported.status.success(), "{imported:?}");
    let toml = String::from_utf8(imported.stdout)?;
    let own = scratch.0.join("bar.toml");
    fs::write(&own, &toml)?;
    let mut bar = Command::new(WHIT);
    bar.args(["bar", "--for", "i3bar", "--once", "--config"]).arg(&own);
    if is_laptop {
        bar.arg("--root").arg(fixtures.join("laptop"));
    }
    let drawn = String::from_utf8(bar.output()?.stdout)?;
    let ours = blocks(drawn.trim_end().lines().last().ok_or("nothing of whit")?);

    // What stands before a segment in the configuration is about it.
    let parts: Vec<&str> = toml.split("[[segment]]").collect();
    let counts = (theirs.len(), parts.len() - 1);
    assert_eq!(counts, (ours.len(), ours.len()), "{name}: {theirs:?}\n{ours:?}\n{toml}");
    // No machine has the paths of the fixtures.
    let is_of_machine = |line: &&str| !line.contains(&*fixtures.to_string_lossy());
    let notes_of = |part: &&str| -> String {
        let before = part.rsplit("\n\n").next().unwrap_or_default();
        notes_in(before).filter(is_of_machine).collect::<Vec<_>>().join("\n")
    };
    let notes = parts[..ours.len()].iter().map(notes_of).collect();
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs.is_urgent, ours.is_urgent, "{name}: a box that was none");
        assert_eq!(theirs.color, ours.color, "{name}: {theirs:?} {ours:?}\n{toml}");
    }
    Ok(Compared { theirs, ours, notes })
}

fn side_by_side() -> Result<(), Failed> {
    for (name, text, is_laptop) in CONFIGURATIONS {
        let Compared { theirs, ours, notes } = compare(name, text, is_laptop)?;
        for (at, note) in notes.iter().enumerate() {
            println!("{name}: {:?} {:?} {note}", theirs[at], ours[at]);
            assert!(theirs[at] == ours[at] || !note.is_empty(), "{name}: {:?} {:?}", theirs[at], ours[at]);
        }
    }
    Ok(())
}

/// One of the lines: an entry of the order, its section, and words of the note that it gets.
struct Line {
    entry: &'static str,
    section: &'static str,
    note: &'static str,
    is_laptop: bool,
}

fn lines_that_people_write() -> Vec<Line> {
    let line = |line: &'static str| {
        let mut columns = line.split(" | ");
        let entry = columns.next().unwrap_or_default();
        let (section, note) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        Line { entry: entry.trim_start_matches('@'), section, note, is_laptop: entry.starts_with('@') }
    };
    list(include_str!("i3status/lines.txt")).map(line).collect()
}

/// Each line is drawn as i3status draws it, in the same place, or has the note that is said to be there and no other.
fn lines() -> Result<(), Failed> {
    let mut lines = lines_that_people_write();
    assert!(lines.len() >= 60, "{}", lines.len());
    // A configuration has one section of each name; so as many as do not meet are compared at once.
    let name_of =
        |line: &Line| line.section.split('{').next().unwrap_or_default().replace('"', "").trim().to_owned();
    let mut wrong = Vec::new();
    while !lines.is_empty() {
        let is_laptop = lines[0].is_laptop;
        let mut names = BTreeSet::new();
        let together: Vec<Line> =
            lines.extract_if(.., |line| line.is_laptop == is_laptop && names.insert(name_of(line))).collect();
        let mut text = "general { colors = true\n interval = 1 }\n".to_owned();
        for line in &together {
            text += &format!("order += \"{}\"\n{}\n", line.entry, line.section);
        }
        let compared = compare("lines", &text, is_laptop)?;
        for (at, line) in together.iter().enumerate() {
            let (theirs, ours, note) = (&compared.theirs[at], &compared.ours[at], &compared.notes[at]);
            let is_noted = if line.note.is_empty() { note.is_empty() } else { note.contains(line.note) };
            if !is_noted || (line.note.is_empty() && theirs != ours) {
                wrong.push(format!("{} {}\n{theirs:?}\n{ours:?}\n{note}", line.entry, line.section));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

/// Without what changes from one instant to the next, and what a bar has of its own between its segments.
fn words_of(line: &str) -> String {
    let masked = without_numbers(line);
    let is_kept = |letter: &char| !letter.is_whitespace() && !"|/-,·%:#".contains(*letter);
    // Rates are of a second here, sizes as large as they are at the time.
    let sizes = ["/s", "xiB", "KiB", "B"];
    sizes.iter().fold(masked, |text, size| text.replace(size, "")).chars().filter(is_kept).collect()
}

/// Whether the numbers of two lines differ by no more than what both round to.
fn have_same_numbers(theirs: &str, ours: &str) -> bool {
    let numbers = |line: &str| -> Vec<f64> {
        let parts = line.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    let (theirs, ours) = (numbers(theirs), numbers(ours));
    let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= 1.1 + one.abs() * 0.03;
    theirs.len() == ours.len() && theirs.iter().zip(&ours).all(is_near)
}

/// Each line of conky's text has the same words in a bar, or the note that is said to be there and no other.
fn variables() -> Result<(), Failed> {
    let lines: Vec<(String, &str)> = list(include_str!("conky/lines.txt"))
        .map(|line| line.split_once(" => ").unwrap_or((line, "")))
        .map(|(text, note)| (text.replace("\\n", "\n"), note))
        .collect();
    assert!(lines.len() >= 60, "{}", lines.len());
    let scratch = Scratch::new("import-conky");
    let of_all: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
    let configuration = |text: &str| {
        format!(
            "conky.config = {{ out_to_console = true, total_run_times = 2, update_interval = 0.5 }}\nconky.text = [[\n{text}\n]]\n"
        )
    };
    let path = scratch.0.join("conky.conf");
    fs::write(&path, configuration(&format!("=====\n{}", of_all.join("\n=====\n"))))?;
    let drawn = Command::new("conky").arg("-c").arg(&path).output()?;
    let drawn = String::from_utf8_lossy(&drawn.stdout).into_owned();
    let theirs: Vec<&str> = drawn.trim_end().rsplit("=====\n").collect();
    let (mut wrong, own) = (Vec::new(), scratch.0.join("bar.toml"));
    for (at, (text, note)) in lines.iter().enumerate() {
        fs::write(&path, configuration(text))?;
        let imported = Command::new(WHIT).args(["bar", "--import"]).arg(&path).output()?;
        let toml = String::from_utf8(imported.stdout)?;
        fs::write(&own, &toml)?;
        let bar =
            Command::new(WHIT).args(["bar", "--for", "plain", "--once", "--config"]).arg(&own).output()?;
        let ours = String::from_utf8(bar.stdout)?;
        let ours = ours.trim_end().lines().last().unwrap_or_default();
        let theirs = theirs.get(lines.len() - 1 - at).copied().unwrap_or_default();
        // Each has its own words for what is not there.
        let theirs = theirs.replace("No Address", "–");
        let notes: Vec<&str> = notes_in(&toml).collect();
        // A disk fills slowly, and no machine grows.
        let are_numbers_stable = text.contains("fs_") || text == "$memmax";
        let is_right = match note.is_empty() {
            true => {
                notes.is_empty()
                    && words_of(&theirs) == words_of(ours)
                    && (!are_numbers_stable || have_same_numbers(&theirs, ours))
            }
            false => notes.iter().any(|line| line.contains(note)),
        };
        if !is_right {
            wrong.push(format!("{text}\n{}\n{ours}\n{}", theirs.trim_end(), notes.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}
