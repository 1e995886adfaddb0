//! Gives the program the name of its target, which bug reports contain, and the linker the order of functions.

use std::env::var;

fn main() {
    println!("cargo:rustc-env=WHIT_TARGET={}", var("TARGET").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=tick.ld");
    println!("cargo:rerun-if-changed=unwind.ld");
    println!("cargo:rerun-if-env-changed=WHIT_WITHOUT_TICK_ORDER");
    // A script that begins with INSERT adds to the linker's own; GNU ld and lld know it. A linker that does not (mold) needs
    // WHIT_WITHOUT_TICK_ORDER=1.
    let of_target = |part| var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let is_linux_gnu = of_target("OS") == "linux" && of_target("ENV") == "gnu";
    let is_release = var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_linux_gnu && is_release && var("WHIT_WITHOUT_TICK_ORDER").is_err() {
        for script in ["tick.ld", "unwind.ld"] {
            println!("cargo:rustc-link-arg-bins=-T");
            println!("cargo:rustc-link-arg-bins={}/{script}", var("CARGO_MANIFEST_DIR").unwrap_or_default());
        }
        println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    }
}
