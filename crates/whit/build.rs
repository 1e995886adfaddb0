//! Tells the program which target it was built for, for bug reports.

fn main() {
    println!("cargo:rustc-env=WHIT_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
}
