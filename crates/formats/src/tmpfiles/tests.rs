//! Lines as distributions and their users write them.

use super::*;

fn machine() -> Machine<'static> {
    Machine {
        specifier: &|letter| match letter {
            'b' => Some("b00t".to_owned()),
            'C' => Some("/var/cache".to_owned()),
            _ => None,
        },
        exists: &|path| path.starts_with("/usr/share/factory") || path == "/there",
        has_user: &|name| name == "root",
        has_group: &|name| name == "root",
    }
}

fn configuration(text: &str) -> Configuration {
    let mut configuration = Configuration::default();
    configuration.add(parse(text, &machine()).unwrap());
    configuration
}

/// Paths and ages in days of what is cleaned.
fn jobs(text: &str) -> Vec<(String, u64)> {
    const DAY_NS: u64 = 86_400_000_000_000;
    let mut jobs: Vec<_> =
        configuration(text).jobs().into_iter().map(|job| (job.path, job.age.span_ns / DAY_NS)).collect();
    jobs.sort();
    jobs
}

#[test]
fn what_distributions_write_is_read() {
    let text = "# a comment\n\
        q /tmp 1777 root root 10d\n\
        \tQ  /var/tmp 1777 root root 30d\n\
        x /tmp/systemd-private-%b-*\n\
        X /tmp/systemd-private-%b-*/tmp\n\
        e /var/cache/*/old - - - am:1w2d\n\
        d %C/man - - - ~12h -\n\
        D! /tmp/.X11-unix/ 1777 root root 0\n\
        d /tmp//a[b]/ - - - -\n\
        L /run/log - - - - /var/log\n\
        d \"/var/with space\" - - - -\n";
    let expected = [
        ("/tmp", 10),
        ("/tmp/systemd-private-b00t-*/tmp", 10),
        ("/var/cache/*/old", 9),
        ("/var/cache/man", 0),
        ("/var/tmp", 30),
    ];
    assert_eq!(jobs(text), expected.map(|(path, days)| (path.to_owned(), days)));
    let protection = configuration(text).protection();
    for path in ["/tmp/systemd-private-b00t-x", "/tmp/a[b]", "/run/log", "/var/with space", "/tmp"] {
        assert!(protection.has(path.as_bytes()), "{path}");
    }
    // Only at boot; and a bracket in a literal path is no pattern.
    assert!(!protection.has(b"/tmp/.X11-unix") && !protection.has(b"/tmp/ab"));
}

#[test]
fn the_first_line_for_a_path_counts() {
    let day = |text: &str| jobs(text).into_iter().map(|(_, days)| days).collect::<Vec<_>>();
    assert_eq!(day("d /t - - - 30d\nd /t - - - 10d\n"), [30]);
    assert_eq!(day("d /t - - - 30d\nq /t - - - 10d\n"), [30]);
    // The first has no age, or is of a type that cleans nothing.
    for first in ["d /t", "f /t", "L /t"] {
        assert_eq!(day(&format!("{first}\nd /t/. - - - 10d\n")), [0_u64; 0]);
    }
    assert_eq!(day("x /t\ne /t - - - 10d\n"), [0_u64; 0]);
    // Types that take patterns and those that do not are two tables.
    assert_eq!(day("d /t - - - 30d\ne /t - - - 10d\n").len(), 2);
    assert_eq!(day("z /t\ne /t - - - 10d\n"), [10]);
    // What does not count is not the first.
    assert_eq!(day("d! /t - - - 30d\nC /t - - - 20d /missing\nd /t - - - 10d\n"), [10]);
}

#[test]
fn an_x_directory_has_the_age_of_a_line_above_it() {
    assert_eq!(jobs("d /t - - - 10d\nd /t/a - - - 30d\nX /t/a/k\n")[2], ("/t/a/k".to_owned(), 10));
    assert_eq!(jobs("d /t/a - - - 30d\nd /t - - - 10d\nX /t/a/k\n")[2], ("/t/a/k".to_owned(), 30));
    assert_eq!(jobs("d /t - - - 10d\nX /t/k - - - 3d\n")[1], ("/t/k".to_owned(), 10));
    // Not below a line of type e or C.
    assert_eq!(jobs("e /t - - - 10d\nX /t/k\n").len(), 1);
    assert_eq!(jobs("d /t - - - 10d\nx /t/k - - - 30d\n")[1], ("/t/k".to_owned(), 30));
}

#[test]
fn a_copy_counts_if_its_source_is_there() {
    assert_eq!(jobs("C /t - - - 10d /there\n").len(), 1);
    assert_eq!(jobs("C /t - - - 10d\n").len(), 1);
    assert_eq!(jobs("C /t - - - 10d /missing\n").len(), 0);
}

#[test]
fn backslashes_quote_and_dots_go() {
    let path = |text: &str| parse(text, &machine()).unwrap()[0].path.clone();
    assert_eq!(path("d /a\\x20b"), "/ax20b");
    assert_eq!(path("d /a\\ b//./c/"), "/a b/c");
    assert_eq!(path("d '/a b'\"c\"/../d"), "/a bc/../d");
    assert_eq!(path("d /var/run/x"), "/run/x");
}

#[test]
fn a_user_that_is_not_known_protects_and_cleans_nothing() {
    let text = "d /t - nobody-knows root 10d\n";
    assert_eq!((jobs(text).len(), configuration(text).only_protecting().count()), (0, 1));
    assert!(configuration(text).protection().has(b"/t"));
    assert_eq!(jobs("d /t - 5 :root 10d\n").len(), 1);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, place, what) in [
        ("d", (1, 2), "missing"),
        ("\nd tmp", (2, 3), "absolute"),
        ("d /tmp - - - 10x", (1, 14), "not an age"),
        ("d /tmp - - - xy:1d", (1, 14), "times"),
        ("d /%z - - - 1d", (1, 3), "%z is not known"),
        ("d \"/tmp", (1, 3), "not closed"),
        ("9 /tmp", (1, 1), "not a type"),
        ("d /tmp 0999", (1, 8), "not a mode"),
        ("d^ /tmp - - - 1d", (1, 1), "credential"),
        ("f~ /tmp - - - - !!!!", (1, 1), "base64"),
        ("w /tmp", (1, 7), "argument"),
        ("f /tmp - - - 5parsecs", (1, 14), "not an age"),
    ] {
        let error = parse(text, &machine()).unwrap_err();
        assert_eq!((error.line, error.column), place, "{text}: {error}");
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn a_line_of_a_newer_systemd_protects_its_path_and_stops_nothing_else() {
    for kind in ["d*", "d--", "k", "kx!", "N+"] {
        let text = format!("d /t - - - 10d\n{kind} /t/new - - - 5parsecs\n");
        let configuration = configuration(&text);
        assert_eq!(jobs(&text).len(), 1, "{kind}");
        assert!(configuration.protection().has(b"/t/new"), "{kind}");
        let lines = parse(&text, &machine()).unwrap();
        assert_eq!((lines[1].unknown.as_deref(), lines[1].number), (Some(kind), 2));
    }
    // Those of systemd 256 and later.
    for text in ["d$ /t - - - 10d", "d!$ /t - - - 10d", "L? /t - - - - /there", "L$ /t"] {
        assert!(parse(text, &machine()).unwrap().iter().all(|line| line.unknown.is_none()), "{text}");
    }
    // Which path it is must be known.
    assert!(parse("k new", &machine()).is_err());
}
