//! Tells the program which target it was built for, for bug reports, and the linker in which order to place functions.

use std::env::var;

fn main() {
    println!("cargo:rustc-env=WHIT_TARGET={}", var("TARGET").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=tick.ld");
    // A script that begins with INSERT adds to the linker's own; GNU ld and lld know it.
    let is_linux_gnu = ["OS", "ENV"].map(|part| var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default())
        == ["linux", "gnu"];
    if is_linux_gnu && var("PROFILE").is_ok_and(|profile| profile == "release") {
        let directory = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{directory}/tick.ld");
    }
}
