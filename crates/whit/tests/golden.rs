//! Whole-program outputs over the captured machines, and every command of README and of documents.
//!
//! `TRYCMD=overwrite cargo test --test golden` takes what the program says now; look at the difference before you
//! commit it.

#![allow(clippy::unwrap_used)]

use trycmd::TestCases;

/// Commands run from the repository's root, so that a README's words can be typed as they stand.
fn cases() -> TestCases {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let cases = TestCases::new();
    // README shows a file.
    cases.register_bin("cat", std::path::Path::new("/bin/cat"));
    cases.env("TZ", "UTC").env("NO_COLOR", "1");
    // Nobody's own configuration and mailbox.
    cases
        .env("HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_CONFIG_DIRS", "/nonexistent");
    cases.env("MAIL", "");
    cases
}

#[test]
fn every_command_over_every_captured_machine() {
    cases().case("fixtures/*/golden.trycmd");
}

#[test]
fn the_readme_is_true() {
    cases().case("README.md");
}

/// Those that show commands over captured machines; the commands of the others need an agent, and live tests run them.
#[test]
fn the_documents_are_true() {
    let documents = ["AGENT", "AGE", "CHEAP", "COSTS", "INSTALL", "MEMORY", "TASKS"];
    for name in documents {
        cases().case(format!("docs/{name}.md"));
    }
}
