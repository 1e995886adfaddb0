//! Configurations that people have, and some written in anger.

use super::*;
use crate::config::read;

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
    for words in ["dzen2", "color_separator", "volume", "%cpu0", "unheard", "load, which"] {
        let is_named =
            toml.lines().any(|line| line.starts_with("# not carried over") && line.contains(words));
        assert!(is_named, "{words}: {toml}");
    }
    assert!(toml.contains("{ when = \"mounted == no\", format = \"gone\" }"), "{toml}");
    assert!(toml.contains("theme = \"mono\"") && !toml.contains("thresholds ="), "{toml}");
}

#[test]
fn configurations_in_anger() {
    assert!(matches!(import("general { colors = true }"), Err(ImportError::Empty(_))));
    for text in [
        "order = { \"load\", 'cpu_usage' }\nload { format = \"[%1min] {%5min} 100%%\" max_threshold = \"lots\" }",
        "order += tztime\ntztime { format = \"<b>%time</b>\" format_time = \"%H\" timezone = Mars/Olympus }",
        "general { interval = 0 markup = pango }\norder += \"path_exists A B\"\npath_exists \"A B\" { path = \"~/x \\\"y\\\"\" }",
        "order += \"battery 0\"\nbattery 0 { threshold_type = percentage low_threshold = 10 path = \"/sys/%d\" \
         status_chr = \"⚡\" last_full_capacity = true }\n",
        "/* all */ order += \"read_file X\" read_file X { path = /etc/hostname format_bad = \"%title %errno: %error\" } \
         order += memory memory { unit = GiB decimals = 2 threshold_critical = 5% }",
        "order += \"cpu_temperature 1\"\ncpu_temperature 1 { format = \"%degrees\" path = \"/sys/x\" }\norder += ddate",
    ] {
        imported(text);
    }
    assert!(import("general { interval = }").is_err());
    // What cannot be a number, a colour or a path, and options that are given twice.
    for text in [
        "general { interval = nan colors = yes }\norder += \"battery 0\"\nbattery 0 { low_threshold = nan }",
        "order += \"memory\"\nmemory { threshold_critical = \"1e400\" threshold_degraded = 99999999999999999999999T }",
        "order += \"disk /\"\ndisk / { low_threshold = 1e30 threshold_type = bytes_free }",
        "order += \"load\"\nload { color_bad = red align = left align = right min_width = abc min_width = def }",
        "order += \"load\"\norder += \"disk home\"\norder += \"path_exists X\"\npath_exists X { path = \"\" }",
        "conky.text = [[ ${fs_used home} $cpu ]]",
        "\u{feff}order += \"load\"",
        "order += \"load\" # conky.text",
    ] {
        imported(text);
    }
    assert!(imported("general { colors = on }\norder += \"load\"").contains("color = \"#FF0000\""));
    assert!(import("order += \"volume master\"").unwrap_err().to_string().contains("see whit-recipes(7)"));
}

#[test]
fn thresholds_paint_and_are_not_urgent() {
    let toml = imported(
        "general { color_bad = \"#123456\" }\norder += \"load\"\norder += \"disk /\"\norder += \"memory\"\n\
         load { max_threshold = 4 color_bad = \"#abcdef\" }\ndisk \"/\" { low_threshold = 5 }\n\
         memory { threshold_critical = 5% format = \"%used %shared\" }",
    );
    for row in [
        "{ when = \"load1 >= 4\", color = \"#abcdef\" }",
        "{ when = \"available_percent < 5\", color = \"#123456\" }",
        "{ when = \"available_percent < 5\", color = \"#123456\" }",
        "{used_classical:.1} {shared:.1}",
    ] {
        assert!(toml.contains(row), "{row}: {toml}");
    }
    assert_eq!(
        (toml.matches("urgent = false").count(), toml.matches("warning = false").count()),
        (3, 3),
        "{toml}"
    );
}

#[test]
fn a_battery_has_its_words() {
    let toml = imported(
        "order += \"battery 0\"\nbattery 0 { status_chr = \"⚡\" integer_battery_capacity = true last_full_capacity = true }",
    );
    assert!(
        toml.contains(
            "{ when = \"state == 'charging'\", format = \"⚡ {percent:.0,bare}% [{remaining:05}]\" }"
        ),
        "{toml}"
    );
    assert!(
        toml.contains("format = \"FULL ") && !toml.contains("# not") && !toml.contains("# differs"),
        "{toml}"
    );
}

/// As conky comes, and in the old syntax.
const CONKY: &str = "conky.config = {\n  update_interval = 2.0,\n}\nconky.text = [[\n\
    ${color grey}RAM:$color $mem/$memmax - $memperc% ${membar 4}\n\
    Root ${fs_used /}/${fs_size /} | CPU $cpu% | ${time %H:%M} {x}\n\
    ${execi 30 sensors -u} ${exec a | wc} ${upspeed eth0} ${top name 1} $nonsense\n]]\n";

#[test]
fn conky_is_recognised() {
    let toml = imported(CONKY);
    for part in [
        "interval = 2\n",
        "format = \"RAM: {used}/{total} - {used_percent:.0,bare}% {used_percent:bar10}\"",
        "paths = [\"/\"]\nformat = \"Root {used}/{total}\"",
        "format = \"CPU {busy:.0,bare}%\"",
        "type = \"date\"\nformat = \"%H:%M\"",
        "command = [\"sensors\", \"-u\"]\ninterval = 30.0",
        "interfaces = [\"eth0\"]\nformat = \"{sent}\"",
        "# not carried over: ${exec a | wc}: a shell would be needed",
        "# not carried over: ${top name 1}: see whit top",
        "# not carried over: ${nonsense}",
        "# not carried over: looks: color",
    ] {
        assert!(toml.contains(part), "{part}: {toml}");
    }
    assert!(imported("background no\nTEXT\n$uptime\n").contains("type = \"uptime\""));
    let toml = imported("conky.text = [[ ${if_up eth0}up ${addr eth0}${else}down${endif} $cpu ]]");
    assert!(!toml.contains("down\"") && toml.contains("${if_up eth0} and what stands under it"), "{toml}");
    assert!(matches!(import("conky.text = [[ $nonsense ]]"), Err(ImportError::Empty(_))));
}

/// Each a kind of line that public configurations have: what is made of it, and what is said of it.
#[test]
fn lines_of_i3status_that_people_write() {
    for (text, parts) in [
        // Sections without a title are found by the beginning of an entry, whatever case it is in; the last one counts.
        ("order += \"cpu_usage 0\"\ncpu_usage { format = \"C %usage\" }", &["format = \"C {busy"][..]),
        ("order += \"Load\"\nload { FORMAT = \"L %1min\" }", &["format = \"L {load1"]),
        (
            "order += \"load\"\nload { format = \"first\" }\nload { format = \"last %1min\" }",
            &["format = \"last {load1", "# not carried over: load, of which there is another one below"],
        ),
        (
            "order += \"load\"\nload { format = \"${WHIT_NOT_SET:-x} %1min\" }",
            &["format = \"x {load1", "# differs: ${WHIT_NOT_SET}"],
        ),
        // A sign that begins no placeholder stays, and what i3status fills in is named.
        (
            "order += \"load\"\nload { format = \"5% of %nothing %1min%\" }",
            &["format = \"5% of %nothing {load1}%\""],
        ),
        ("order += \"cpu_usage\"\ncpu_usage { format = \"%cpu0 %usage\" }", &["# not carried over: %cpu0"]),
        (
            "order += \"battery 0\"\nbattery 0 { path = \"/sys/class/power_supply/CMB%d/uevent\" }",
            &["batteries = [\"CMB0\"]"],
        ),
        (
            "order += \"battery 1\"\nbattery 1 { path = \"/sys/class/power_supply/macsmc-battery/uevent\" }",
            &["batteries = [\"macsmc-battery\"]"],
        ),
        ("order += \"battery all\"\nbattery all { format = \"%status\" }", &["type = \"battery\"\nformat"]),
        (
            "order += \"battery 1\"\nbattery 1 { path = \"/proc/acpi/%d\" }",
            &["# not carried over: path = /proc/acpi/%d"],
        ),
    ] {
        let toml = imported(text);
        for part in parts {
            assert!(toml.contains(part), "{text}\n{part}\n{toml}");
        }
    }
}

#[test]
fn lines_of_conky_that_people_write() {
    for (text, parts, absent) in [
        // A variable ends at its brace, over lines too, and is named once.
        (
            "${execi 60 a |\n  b | c\n} $cpu",
            &["# not carried over: ${execi 60 a |   b | c}: a shell would be needed", "{busy"][..],
            "b | c\"",
        ),
        // A variable is never a name.
        (
            "${addr ${gw_iface}} $cpu",
            &["# not carried over: ${addr ${gw_iface}}: its argument is another"],
            "interfaces",
        ),
        ("${upspeed $gw_iface} $cpu", &["# not carried over: ${upspeed $gw_iface}"], "interfaces"),
        ("${freq_g 2}GHz", &["type = \"frequency\"\ncpu = 1\n"], "# not"),
        ("${freq_g}GHz", &["type = \"frequency\"\nformat"], "# not carried over: ${freq_g"),
        ("${mem 5} x", &["# differs: ${mem 5}: its argument"], "#none"),
        // The slash of a path belongs to it, one between two figures to neither.
        (
            "/home: ${fs_used /home} | /var: ${fs_used /var}",
            &["\"/home: {used}\"", "\"/var: {used}\""],
            "#none",
        ),
        ("${cpu cpu0}% / ${fs_used /}", &["\"{busy:.0,bare}%\"", "\"{used}\""], "\"/ "),
    ] {
        let toml = imported(&format!("conky.text = [[\n{text}\n]]\n"));
        for part in parts {
            assert!(toml.contains(part), "{text}\n{part}\n{toml}");
        }
        assert!(!toml.contains(absent), "{text}\n{absent}\n{toml}");
    }
    let toml = imported("conky.text = [[CPU $cpu]] .. name .. [[ $mem]]\n");
    for part in ["# not carried over: name, which Lua computes", "\"CPU {busy", "{used}"] {
        assert!(toml.contains(part), "{part}\n{toml}");
    }
}

/// Parts of both kinds of configurations, right and wrong.
const PARTS: [&str; 52] = [
    "general { ",
    "order += \"load\"\n",
    "order += \"cpu_usage 0\"\n",
    "order += \"disk /\"\n",
    "order += \"disk x\"\n",
    "order += \"battery 0\"\n",
    "order += \"memory\"\n",
    "order += \"tztime local\"\n",
    "order += \"wireless _first_\"\n",
    "order += \"run_watch A B\"\n",
    "order += \"read_file é\"\n",
    "load {\n",
    "cpu_usage {\n",
    "disk \"/\" {\n",
    "battery 0 {\n",
    "memory {\n",
    "tztime local {\n",
    "wireless _first_ {\n",
    "run_watch \"A B\" {\n",
    "read_file é {\n",
    "}\n",
    "}\n",
    "format = \"%1min {x} [y] 5% %%\"\n",
    "format = \"%usage\\n\\\"\"\n",
    "format = \"%avail\"\n",
    "format = '%percentage'\n",
    "format = \"${HOME} %time\"\n",
    "timezone = Mars/X\n",
    "max_threshold = nan\n",
    "low_threshold = 1e300\n",
    "threshold_type = gbytes_avail\n",
    "color_bad = red\n",
    "color_bad = \"#12345\"\n",
    "path = \"/sys/%d\"\n",
    "path = \"\"\n",
    "interval = 0\n",
    "interval = 99999999999\n",
    "separator = \"\\\\\"\n",
    "align = center\n",
    "min_width = -5\n",
    "conky.text = [[\n",
    "]]\n",
    "TEXT\n",
    "${cpu cpu9} ",
    "${fs_used /é\"} ",
    "${execi 1e9 a 'b} ",
    "${time %Q %} ",
    "${tztime X %H} ",
    "${freq_g 99999999999} ",
    "${addr \"x\\} ",
    "${battery BAT\"} ",
    "{ [ ] } ' \" \\ ",
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(
        std::env::var("WHIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
    ))]
    #[test]
    fn what_is_imported_is_a_configuration(places in proptest::collection::vec(0..PARTS.len(), 0..24)) {
        let text: String = places.iter().map(|place| PARTS[*place]).collect();
        if import(&text).is_ok() {
            imported(&text);
        }
    }
}
