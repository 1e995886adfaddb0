//! What may come into the tree: licences, places and names of all that whit is built from.

use std::collections::BTreeSet;

use cargo_metadata::{CargoOpt, MetadataCommand, Package};
use spdx::{AdditionItem, Expression, LicenseItem, LicenseReq, ParseMode};

use super::root;

/// Permissive ones alone, as whit itself is; CDLA-Permissive is that of the list of certificates.
const LICENCES: [&str; 10] = [
    "0BSD",
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Of the sanitizer of HTML, used as they are: MPL-2.0 binds changes of its own files alone.
const EXCEPTIONS: [(&str, &str); 2] = [("cssparser", "MPL-2.0"), ("dtoa-short", "MPL-2.0")];
/// A runtime, a TLS stack or another kernel reader would be a decision, not a dependency.
const BANNED: [&str; 4] = ["openssl-sys", "procfs", "sysinfo", "nix"];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// What whit is built and tested for.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "i686-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-unknown-freebsd",
];

/// All that Cargo.lock names for these systems, with every feature.
fn everything() -> Vec<Package> {
    let targets = TARGETS.iter().flat_map(|target| ["--filter-platform".to_owned(), (*target).to_owned()]);
    let options: Vec<String> = std::iter::once("--locked".to_owned()).chain(targets).collect();
    let mut command = MetadataCommand::new();
    command.current_dir(root()).features(CargoOpt::AllFeatures).other_options(options);
    // They are downloaded if they are not there, also those for other systems.
    command.exec().expect("cargo metadata, which needs the registry once").packages
}

/// Whether one of the licences that are offered is allowed for a package.
fn is_allowed(package: &str, expression: &str) -> bool {
    let is_allowed = |requirement: &LicenseReq| match (&requirement.license, &requirement.addition) {
        (LicenseItem::Spdx { id, .. }, None) => {
            LICENCES.contains(&id.name) || EXCEPTIONS.contains(&(package, id.name))
        }
        (LicenseItem::Spdx { id, .. }, Some(AdditionItem::Spdx(addition))) => {
            (id.name, addition.name) == ("Apache-2.0", "LLVM-exception")
        }
        _ => false,
    };
    Expression::parse_mode(expression, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(|requirement| is_allowed(requirement)))
}

#[test]
fn licences_and_places_are_allowed() {
    let packages = everything();
    let mut wrong = Vec::new();
    for package in &packages {
        let (name, licence) = (package.name.as_str(), package.license.as_deref().unwrap_or_default());
        if !is_allowed(name, licence) {
            wrong.push(format!("{name}: the licence {licence:?}"));
        }
        if BANNED.contains(&name) {
            wrong.push(format!("{name} is banned"));
        }
        match &package.source {
            Some(source) if source.repr != CRATES_IO => wrong.push(format!("{name} comes from {source}")),
            None if package.publish.as_deref() != Some(&[]) => {
                wrong.push(format!("{name} is not of the workspace"))
            }
            _ => {}
        }
        let own = package.source.is_none().then_some(&package.dependencies).into_iter().flatten();
        for dependency in own.filter(|dependency| dependency.path.is_none()) {
            if dependency.req.to_string() == "*" {
                wrong.push(format!("{name} depends on any version of {}", dependency.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Nothing is excepted any more that is not there.
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    assert!(EXCEPTIONS.iter().all(|(name, _)| names.contains(name)), "{EXCEPTIONS:?}");
    assert!(packages.len() > 100, "only {} packages", packages.len());
}

#[test]
fn what_is_not_permissive_is_found() {
    for (package, expression, is_fine) in [
        ("any", "MIT OR Apache-2.0", true),
        ("any", "Apache-2.0 / MIT", true),
        ("any", "(MIT OR GPL-3.0-only) AND Unicode-3.0", true),
        ("any", "Apache-2.0 WITH LLVM-exception OR MIT", true),
        ("any", "Apache-2.0 WITH LLVM-exception", true),
        ("any", "Apache-2.0 WITH Classpath-exception-2.0", false),
        ("any", "MIT AND GPL-3.0-only", false),
        ("any", "GPL-2.0-or-later", false),
        ("any", "MPL-2.0", false),
        ("cssparser", "MPL-2.0", true),
        ("any", "LicenseRef-ours", false),
        ("any", "", false),
        ("any", "ask us", false),
    ] {
        assert_eq!(is_allowed(package, expression), is_fine, "{package}: {expression}");
    }
}
