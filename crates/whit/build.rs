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
        // On other machines the start of a static program registers the tables of unwinding, which therefore stay.
        let is_without_unwinding = of_target("ARCH") == "x86_64";
        let scripts = if is_without_unwinding { &["tick.ld", "unwind.ld"][..] } else { &["tick.ld"] };
        for script in scripts {
            println!("cargo:rustc-link-arg-bins=-T");
            println!("cargo:rustc-link-arg-bins={}/{script}", var("CARGO_MANIFEST_DIR").unwrap_or_default());
        }
        if is_without_unwinding {
            println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
        }
    }
}
