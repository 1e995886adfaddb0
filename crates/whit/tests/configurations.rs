//! A thousand configurations from a generator, half of them broken: a clear place or a running bar, and no panic.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WHIT: &str = env!("CARGO_BIN_EXE_whit");
const COUNT: u64 = 1000;

/// xorshift64*: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// One of them; `None` if there is none.
    fn pick_any<'a>(&mut self, words: &[&'a str]) -> Option<&'a str> {
        (!words.is_empty()).then(|| self.pick(words))
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// What the options of kinds can be set to. Kinds, options and fields come from the reference, which is made of the tables by which a
/// configuration is read; an option without a line here fails the test.
const VALUES: &[(&str, &str, &str)] = &[
    ("net", "interfaces", "[\"lo\", \"e*\"]"),
    ("net", "kinds", "\"ethernet\""),
    ("net", "first", "true"),
    ("frequency", "cpu", "0"),
    ("net", "none", "\"-\""),
    ("mail", "paths", "\"/nonexistent/mbox\""),
    ("mail", "each", "true"),
    ("cpu", "each", "true"),
    ("temperature", "sensors", "\"core\""),
    ("temperature", "each", "true"),
    ("disk", "paths", "[\"/\", \"/home\"]"),
    ("disk_io", "devices", "[\"sda\"]"),
    ("disk_io", "each", "true"),
    ("battery", "batteries", "[\"BAT0\"]"),
    ("battery", "each", "true"),
    ("battery", "none", "\"no battery\""),
    ("backlight", "device", "\"x\""),
    ("delays", "minimum", "5"),
    ("feeds", "account", "\"ann\""),
    ("date", "timezones", "[\"UTC\", \"Europe/Berlin\"]"),
    ("file", "path", "\"/nonexistent\""),
    ("path", "path", "\"/\""),
    ("process", "pid_file", "\"/nonexistent/*.pid\""),
    ("command", "command", "[\"echo\", \"x\"]"),
    ("command", "output", "\"plain\""),
    ("command", "runs", "\"once\""),
    ("command", "timeout", "2"),
];
/// Options that a kind cannot do without.
const REQUIRED: &[(&str, &str)] =
    &[("mail", "paths"), ("file", "path"), ("path", "path"), ("process", "pid_file"), ("command", "command")];

/// A kind of segment, as the reference has it.
struct Kind {
    name: String,
    /// Settings that it cannot do without, and others.
    required: Vec<String>,
    options: Vec<String>,
    fields: Vec<String>,
    /// Its format is a template; that of a date is strftime(3)'s.
    has_template: bool,
}

/// The kinds of segments that there are.
fn kinds() -> Vec<Kind> {
    let reference = Command::new(WHIT).args(["bar", "--reference"]).output().unwrap();
    let reference = String::from_utf8(reference.stdout).unwrap();
    let (_, segments) = reference.split_once("\n## Segments\n").unwrap();
    segments.split("\n### ").skip(1).map(kind).collect()
}

fn kind(section: &str) -> Kind {
    let name = section.lines().next().unwrap().to_owned();
    let names = |heading: &str| -> Vec<String> {
        let table = section.split_once(heading).map_or("", |(_, rest)| rest);
        let rows =
            table.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| !line.is_empty());
        rows.filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect()
    };
    let (mut required, mut options) = (Vec::new(), Vec::new());
    for option in names("\nOptions:\n") {
        let value = VALUES.iter().find(|(kind, known, _)| *kind == name && *known == option);
        let (_, _, value) = value.unwrap_or_else(|| panic!("VALUES has no value for {option} of {name}"));
        let is_required = REQUIRED.contains(&(name.as_str(), option.as_str()));
        if is_required { &mut required } else { &mut options }.push(format!("{option} = {value}"));
    }
    let fields = names("\nFields:\n");
    Kind { has_template: name != "date", name, required, options, fields }
}

const SPECS: &[&str] =
    &["", ":>8", ":.1", ":si", ":bin,.2", ":bare", ":bar6", ":spark5", ":icon", ":^12,max10", ":Gi", ":bits"];
const BAR: &[&str] = &[
    "interval = 2",
    "separator = \" · \"",
    "theme = \"nord\"",
    "for = \"plain\"",
    "theme = { base = \"mono\", urgent = \"#f00\" }",
];
const COMMON: &[&str] = &[
    "interval = 0.5",
    "color = \"#abcdef\"",
    "background = \"#01020380\"",
    "markup = true",
    "icons = [\"a\", \"b\"]",
    "min_width = \"100 %\"",
    "align = \"right\"",
    "warning = false",
    "click = [\"true\"]",
    "on = { right = [\"true\", \"x\"], scroll_up = [\"true\"] }",
    "separator = \"/\"",
];

fn good(random: &mut Random, kinds: &[Kind]) -> String {
    let mut text = String::new();
    for option in BAR {
        // One key once: the theme stands there twice.
        if random.one_in(3) && !(option.starts_with("theme") && text.contains("theme")) {
            writeln!(text, "{option}").unwrap();
        }
    }
    for number in 0..=random.below(6) {
        let kind = &kinds[random.below(kinds.len())];
        let required = kind.required.join("\n");
        writeln!(text, "[[segment]]\ntype = \"{}\"\n{required}", kind.name).unwrap();
        if random.one_in(4) {
            writeln!(text, "name = \"n{number}\"").unwrap();
        }
        let mut used = vec!["type"];
        for option in kind.options.iter().map(String::as_str).chain(COMMON.iter().copied()) {
            let key = option.split(' ').next().unwrap();
            if random.one_in(4) && !used.contains(&key) && !required.starts_with(key) {
                used.push(key);
                writeln!(text, "{option}").unwrap();
            }
        }
        let fields: Vec<&str> = kind.fields.iter().map(String::as_str).collect();
        if kind.name == "text" || kind.has_template && random.one_in(2) {
            let mut format = String::from("x");
            for _ in 0..=random.below(3) {
                let Some(field) = random.pick_any(&fields) else { break };
                let field = format!("{{{field}{}}}", random.pick(SPECS));
                let part = if random.one_in(3) { format!("[ ({field})]") } else { format!(" {field}") };
                format.push_str(&part.replace('(', "{{").replace(')', "}}"));
            }
            writeln!(text, "format = \"{format}\"").unwrap();
        }
        if let Some(field) = random.pick_any(&fields).filter(|_| random.one_in(3)) {
            let condition = random.pick(&["> 1Gi", ">= 80%", "== full", "!= \"two words\"", ""]);
            writeln!(text, "hide_when = '{field} {condition}'").unwrap();
        }
        if let Some(field) = random.pick_any(&fields).filter(|_| random.one_in(3)) {
            writeln!(text, "thresholds = [{{ when = \"not {field}\", color = \"#fff\", urgent = true }}]")
                .unwrap();
        }
    }
    text
}

/// Breaks a good one in one of many ways.
fn broken(random: &mut Random, kinds: &[Kind]) -> String {
    let text = good(random, kinds);
    let at_end = |option: &str| format!("{text}{option}\n");
    match random.below(19) {
        0 => text.replacen("type = \"", "tpye = \"", 1),
        1 => at_end("[[segment]]\ntype = \"memroy\""),
        2 => at_end("fromat = \"x\""),
        3 => at_end("[[segment]]\ntype = \"memory\"\nformat = \"{usde}\""),
        4 => at_end("[[segment]]\ntype = \"cpu\"\nformat = \"{busy\""),
        5 => at_end("[[segment]]\ntype = \"cpu\"\nformat = \"[{busy:bar0}]\""),
        6 => at_end("[[segment]]\ntype = \"cpu\"\nwarning = \"busy >> 5\""),
        7 => at_end("[[segment]]\ntype = \"cpu\"\ninterval = \"fast\""),
        8 => at_end("[[segment]]\ntype = \"cpu\"\ninterval = 0"),
        9 => at_end("[[segment]]\ntype = \"cpu\"\ncolor = \"red\""),
        10 => at_end("[[segment]]\ntype = \"command\"\ncommand = \"ls -l\""),
        11 => at_end("[[segment]]\ntype = \"command\""),
        12 => at_end("[[segment]]\ntype = \"date\"\ntimezones = \"Mars/Olympus\""),
        13 => at_end("[[segment]]\ntype = \"disk\"\npaths = [\"relative\"]"),
        14 => at_end("[[segment]]\ntype = \"memory\"\ntype = \"cpu\""),
        15 => at_end("[[segment]]\ntype = \"memory"),
        16 => text.replacen("[[segment]]", "[[segment]", 1),
        17 => at_end("[[segment]]\ntype = \"cpu\"\nname = \"a\"\n[[segment]]\ntype = \"cpu\"\nname = \"a\""),
        _ => format!("theme = \"norb\"\n{}", text.replace("theme =", "# theme =")),
    }
}

fn whit(words: &[&str], config: &Path) -> Output {
    Command::new(WHIT).args(["bar", "--config"]).arg(config).args(words).env("TZ", "UTC").output().unwrap()
}

#[test]
fn a_clear_place_or_a_running_bar() {
    let directory = std::env::temp_dir().join(format!("whit-configurations-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let config: PathBuf = directory.join("bar.toml");
    let laptop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/laptop");
    let kinds = kinds();
    let mut random = Random(0x5eed_0ba2);
    for number in 0..COUNT {
        let is_good = number % 2 == 0;
        let text = if is_good { good(&mut random, &kinds) } else { broken(&mut random, &kinds) };
        fs::write(&config, &text).unwrap();
        let told = whit(&["--check"], &config);
        let errors = String::from_utf8(told.stderr).unwrap();
        assert!(!errors.contains("panicked"), "{number}: {errors}\n{text}");
        if is_good {
            assert!(told.status.success(), "{number}: {errors}\n{text}");
            // Commands take their time; the others are drawn at once.
            if !text.contains("\"command\"") {
                let drawn = whit(&["--once", "--for", "i3bar", "--root", laptop], &config);
                let errors = String::from_utf8(drawn.stderr).unwrap();
                assert!(drawn.status.success() && errors.is_empty(), "{number}: {errors}\n{text}");
                let lines = String::from_utf8(drawn.stdout).unwrap();
                let line = lines.lines().nth(2).unwrap();
                let blocks: serde_json::Value = serde_json::from_str(line).unwrap();
                assert!(blocks.is_array(), "{number}: {line}");
            }
        } else {
            assert_eq!(told.status.code(), Some(1), "{number}: {text}");
            let place = errors.lines().next().unwrap().strip_prefix("whit: ").unwrap();
            let mut parts = place.strip_prefix(config.to_str().unwrap()).unwrap().splitn(4, ':').skip(1);
            let mut next = || parts.next().unwrap_or_else(|| panic!("{number}: {errors}"));
            let (line, column) = (next().parse::<usize>().unwrap(), next().parse::<usize>().unwrap());
            assert!(
                line >= 1 && line <= text.lines().count() + 1 && column >= 1,
                "{number}: {errors}\n{text}"
            );
            assert!(next().trim().len() > 5, "{number}: {errors}");
        }
    }
    fs::remove_dir_all(directory).unwrap();
}

/// Whatever is cut or altered, there is an answer.
#[test]
fn cut_and_altered_ones_end_with_an_answer() {
    let directory = std::env::temp_dir().join(format!("whit-altered-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let config = directory.join("bar.toml");
    let kinds = kinds();
    let mut random = Random(0x0a17_e2ed);
    for number in 0..300 {
        let mut bytes = good(&mut random, &kinds).into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b"\"[]{}=#\n\\\xff:,"[random.below(12)],
                _ => bytes.insert(at, b"\"[]{}=#\n\\\xc3:,"[random.below(12)]),
            }
        }
        fs::write(&config, &bytes).unwrap();
        let told = whit(&["--check"], &config);
        let code = told.status.code();
        assert!(matches!(code, Some(0 | 1)), "{number}: {told:?}\n{}", String::from_utf8_lossy(&bytes));
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn the_bars_page_is_the_reference() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bar.md")).unwrap();
    let told = Command::new(WHIT).args(["bar", "--reference"]).output().unwrap();
    assert!(page.as_bytes() == told.stdout, "run cargo xtask docs");
}

#[test]
fn the_options_page_is_of_the_options() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grammar.md")).unwrap();
    let told = Command::new(WHIT).args(["man", "--grammar"]).output().unwrap();
    assert!(page.as_bytes() == told.stdout, "run cargo xtask docs");
}

/// Each recipe is a configuration, and runs where its program is on this machine.
#[test]
fn the_recipes_are_good() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recipes.md")).unwrap();
    let directory = std::env::temp_dir().join(format!("whit-recipes-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let config = directory.join("bar.toml");
    let recipes: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(recipes.len() >= 8);
    for recipe in recipes {
        fs::write(&config, recipe).unwrap();
        let checked = whit(&["--check"], &config);
        assert!(checked.status.success(), "{recipe}\n{checked:?}");
        let drawn = whit(&["--once", "--for", "plain"], &config);
        assert!(drawn.status.success(), "{recipe}\n{drawn:?}");
    }
    let text = |recipe: &str| {
        fs::write(&config, recipe).unwrap();
        String::from_utf8(whit(&["--once", "--for", "plain"], &config).stdout).unwrap()
    };
    let of = |words: &str| page.split("```toml\n").skip(1).find(|recipe| recipe.contains(words)).unwrap();
    let recipe = |words: &str| of(words).split("```").next().unwrap();
    assert_eq!(text(recipe("echo short")), "long text\n");
    assert_eq!(text(recipe("3 updates")), "3 updates █▌▁▁▁\n");
    fs::remove_dir_all(directory).unwrap();
}
