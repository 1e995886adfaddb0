//! JSON documents against their schemas in docs/schema, and the schemas against the rules of names.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

#[path = "schema/check.rs"]
mod check;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use check::{check_document, root, schemas};

const WHIT: &str = env!("CARGO_BIN_EXE_whit");
/// What a name ends in, and the unit that it stands for.
const SUFFIXES: [(&str, &str); 5] = [
    ("_cpus", "cpus"),
    ("_ns", "ns"),
    ("bytes", "bytes"),
    ("_ratio", "ratio"),
    ("_per_second", "per_second"),
];
/// Units that a name does not show: how many, which, and what only a description can tell.
const PLAIN_UNITS: [&str; 3] = ["count", "id", "number"];

/// Calls `each` for every property of a schema.
fn properties(schema: &Value, place: &str, each: &mut impl FnMut(&str, &str, &Value)) {
    match schema {
        Value::Object(fields) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                each(place, name, property);
            }
            for (name, part) in fields {
                properties(part, &format!("{place}/{name}"), each);
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| properties(part, place, each)),
        _ => {}
    }
}

#[test]
fn every_number_has_a_unit_and_every_name_one_meaning() {
    let mut units: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (document, schema) in schemas() {
        properties(&schema, &document, &mut |place, name, property| {
            let place = format!("{place}: {name}");
            let is_word = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            };
            assert!(name.split('_').all(is_word), "{place}: words joined by underscores");
            if property.get("$ref").is_some() {
                return;
            }
            assert!(
                property["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{place}: no description"
            );
            let of_name = SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, unit)| *unit);
            let unit = property["unit"].as_str();
            let types = property["type"].to_string();
            let is_number = types.contains("integer") || types.contains("number");
            assert!(!is_number || unit.is_some(), "{place}: a number without a unit");
            if let Some(unit) = unit {
                let is_plain = PLAIN_UNITS.contains(&unit);
                assert_eq!(of_name, (!is_plain).then_some(unit), "{place}: the name ends in its unit");
                let known = units.entry(name.to_owned()).or_insert((unit.to_owned(), place.clone()));
                assert_eq!(known.0, unit, "{place} and {}", known.1);
            }
        });
    }
}

#[test]
fn every_document_begins_alike() {
    for (name, schema) in schemas() {
        assert_eq!(schema["properties"]["document"]["const"], name.as_str());
        for field in ["document", "realtime_ns", "boot_id"] {
            assert!(schema["required"].as_array().unwrap().contains(&field.into()), "{name} lacks {field}");
        }
    }
}

/// Runs whit in a directory of its own.
fn whit(words: &str) -> String {
    let output =
        Command::new(WHIT).args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn documents_are_as_their_schemas_say() {
    let mut documents = Vec::new();
    let mut add = |words: &str| {
        let text = whit(words);
        assert!(!text.is_empty(), "whit {words} printed nothing");
        documents.extend(text.lines().map(|line| (words.to_owned(), line.to_owned())));
    };
    for entry in fs::read_dir(root().join("fixtures")).unwrap() {
        let machine = entry.unwrap().path();
        if !machine.is_dir() {
            continue;
        }
        for words in
            ["free", "delays -a", "top", "top --by user -c", "top --by cgroup", "doctor", "doctor --metrics"]
        {
            add(&format!("{words} --json --root {}", machine.display()));
        }
    }
    // Of the live machine what needs no privilege.
    for words in [
        "free --json",
        "delays -p 1 --procfs --json",
        "delays -a -i 0.1 -n 1 --procfs --json",
        "delays --procfs --json -- true",
        "top --json -n 1 -i 0.1 --tasks procfs",
        "run --json -n 2 true",
        "run --json --timeout 0.1 sleep 5",
        "doctor --json",
        "doctor --selftest --json",
        "age --json --stats docs",
        "age --json -r --by-directory crates",
        "age --json --number --older 0s docs",
        "age --json --list --sort size -n 2 docs",
        "age --json --warn files=0 docs",
        "age --json --delete --dry-run --older 0s docs",
        "bench --list --json",
    ] {
        add(words);
    }
    let data = std::env::temp_dir().join(format!("whit-schemas-{}", std::process::id()));
    fs::create_dir_all(&data).unwrap();
    let config = data.join("agent.toml");
    fs::write(&config, "[[check]]\nname = \"fine\"\ncommand = [\"true\"]\n").unwrap();
    whit(&format!(
        "agent -c {0}/agent.toml -i 20ms -n 150 --http 127.0.0.1:1 --data {0} --now {0}/now --socket {0}/agent.sock",
        data.display()
    ));
    add(&format!("history --json --data {}", data.display()));
    add(&format!("history --json --list --data {}", data.display()));
    let receiver =
        r#"{"name":"store","refused":[{"series":"up","count":1,"message":"too old"}],"place_ns":1}"#;
    fs::create_dir(data.join("remote-write")).unwrap();
    fs::write(data.join("remote-write/store.json"), receiver).unwrap();
    add(&format!("history remote --json --data {}", data.display()));
    let exporters = r#"[{"name":"db","place":"http://db/metrics","read_ns":1,"fault":"no"},{"name":"new"}]"#;
    fs::write(data.join("exporters.json"), exporters).unwrap();
    add(&format!("history exporters --json --data {}", data.display()));
    add(&format!("history export --format json --series node_load* --data {}", data.display()));
    add(&format!("alert --json --data {}", data.display()));
    add(&format!("check --all --json --data {}", data.display()));
    let account = ["feeds", "user", "add", "ann", "--data"];
    let mut account = Command::new(env!("CARGO_BIN_EXE_whit"))
        .args(account)
        .arg(&data)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(account.stdin.as_mut().unwrap(), b"correct horse\n").unwrap();
    assert!(account.wait().unwrap().success());
    let list = "<opml><body><outline text=\"A\" xmlUrl=\"https://feed.example/\"/></body></opml>";
    fs::write(data.join("list.opml"), list).unwrap();
    whit(&format!("feeds import {0}/list.opml --data {0}", data.display()));
    add(&format!("feeds --json --data {}", data.display()));
    whit(&format!("mark tested --data {}", data.display()));
    add(&format!("mark --json --data {}", data.display()));
    add(&format!("why --json --observe 0.5 --data {}", data.display()));
    add(&format!("query node_load1 --json --data {}", data.display()));
    fs::remove_dir_all(data).unwrap();
    let schemas = schemas();
    let mut seen = BTreeMap::new();
    for (words, line) in documents {
        let document: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("whit {words}: {error}: {line}"));
        check_document(&schemas, &document, &format!("whit {words}"));
        *seen.entry(document["document"].as_str().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    // Those of fleet, sink, send and bench are checked where these are run, as all that tests/live reads.
    let elsewhere = ["bench", "fleet", "send", "sink", "sink_request"];
    for name in schemas.keys().filter(|name| !elsewhere.contains(&name.as_str())) {
        assert!(seen.contains_key(name), "no document {name} was printed");
    }
}
