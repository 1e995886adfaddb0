//! Configurations that people have, and some written in anger.

use super::*;
use crate::bar::config::read;

fn imported(text: &str) -> String {
    let toml = import(text).unwrap();
    // What comes out goes in.
    if let Err(fault) = read(&toml, None) {
        panic!("{}\n{toml}", fault.in_text("imported", &toml));
    }
    toml
}

/// As a fresh i3status has it: every module of the manual.
const USUAL: &str = r#"
general { colors = true interval = 5 }
order += "ipv6"
order += "wireless _first_"
order += "ethernet _first_"
order += "battery all"
order += "disk /"
order += "load"
order += "memory"
order += "tztime local"
wireless _first_ { format_up = "W: (%quality at %essid) %ip" format_down = "W: down" }
ethernet _first_ { format_up = "E: %ip (%speed)" format_down = "E: down" }
battery all { format = "%status %percentage %remaining" }
disk "/" { format = "%avail" }
load { format = "%1min" }
memory {
        format = "%used | %available"
        memory_used_method = memavailable
        threshold_degraded = "1G"
        format_degraded = "MEMORY < %available"
}
tztime local { format = "%Y-%m-%d %H:%M:%S" }
"#;

#[test]
fn the_usual_one_is_carried_over_whole() {
    let toml = imported(USUAL);
    assert!(!toml.contains("not carried over"), "{toml}");
    assert_eq!(toml.matches("[[segment]]").count(), 8);
    assert!(
        toml.contains("kinds = [\"wireless\"]") && toml.contains("format = \"{available:bin,.1}\""),
        "{toml}"
    );
}

#[test]
fn what_has_no_counterpart_is_named() {
    let toml = imported(
        r##"
general { output_format = "dzen2" color_separator = "#333333" colors = false }
order += "volume master"
order += "cpu_usage"
order += "disk /home"
order += "run_watch VPN"
order += "unheard of"
volume master { format = "♪: %volume" device = "default" }
cpu_usage { format = "%usage %cpu0" }
disk "/home" { format = "%avail" format_not_mounted = "gone" prefix_type = custom low_threshold = 5 threshold_type = gbytes_avail }
run_watch VPN { pidfile = "/run/vpn*.pid" }
load { }
"##,
    );
    for words in
        ["dzen2", "color_separator", "volume", "%cpu0", "format_not_mounted", "unheard", "load, which"]
    {
        let is_named =
            toml.lines().any(|line| line.starts_with("# not carried over") && line.contains(words));
        assert!(is_named, "{words}: {toml}");
    }
    assert!(toml.contains("urgent = \"available < 5Gi\"") && toml.contains("theme = \"mono\""), "{toml}");
}

#[test]
fn configurations_in_anger() {
    for text in [
        "order = { \"load\", 'cpu_usage' }\nload { format = \"[%1min] {%5min} 100%%\" max_threshold = \"lots\" }",
        "order += tztime\ntztime { format = \"<b>%time</b>\" format_time = \"%H\" timezone = Mars/Olympus }",
        "general { interval = 0 markup = pango }\norder += \"path_exists A B\"\npath_exists \"A B\" { path = \"~/x \\\"y\\\"\" }",
        "order += \"battery 0\"\nbattery 0 { threshold_type = percentage low_threshold = 10 path = \"/sys/%d\" \
         status_chr = \"⚡\" last_full_capacity = true }\n",
        "/* all */ order += \"read_file X\" read_file X { path = /etc/hostname format_bad = \"%title %errno: %error\" } \
         order += memory memory { unit = GiB decimals = 2 threshold_critical = 5% }",
        "order += \"cpu_temperature 1\"\ncpu_temperature 1 { format = \"%degrees\" path = \"/sys/x\" }\norder += ddate",
        "",
    ] {
        let toml = import(text).unwrap();
        if toml.contains("[[segment]]") {
            imported(text);
        }
    }
    assert!(import("general { interval = }").is_err());
}
