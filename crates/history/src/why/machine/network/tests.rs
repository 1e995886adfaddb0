//! A minute of counters, and what is said of them.

use query::Limits;
use store::SeriesKind;

use crate::past::scratch::{Scratch, append};
use crate::why::sentence::Window;

const FIRST_MS: i64 = 1_700_000_000_000;

/// Records a minute in which counters grow by so much in each second, and returns the sentences about it.
fn said(name: &str, rates: &[(&str, f64)]) -> Vec<String> {
    let scratch = Scratch::new(&format!("network-{name}"));
    let past = scratch.past(|store| {
        let series = |(name, rate): &(&str, f64)| {
            (store.series(&format!("node_netstat_{name}"), SeriesKind::Counter), *rate)
        };
        let ids: Vec<_> = rates.iter().map(series).collect();
        for second in 0..=60 {
            let values: Vec<_> = ids.iter().map(|(id, rate)| (*id, 1000.0 + second as f64 * rate)).collect();
            append(store, FIRST_MS + second * 1000, &values);
        }
    });
    let window = Window { from_ms: FIRST_MS, to_ms: FIRST_MS + 60_000 };
    let found = crate::why::examine(&past, window, None, &Limits::default()).unwrap();
    found.sentences.into_iter().map(|sentence| sentence.text).collect()
}

#[test]
fn some_losses_are_none() {
    for (name, rates) in [
        ("quiet", &[("Tcp_RetransSegs", 0.0), ("Tcp_OutSegs", 900.0)][..]),
        // Every way loses some.
        ("few", &[("Tcp_RetransSegs", 20.0), ("Tcp_OutSegs", 900.0), ("TcpExt_TCPTimeouts", 1.0)]),
        ("one", &[("TcpExt_ListenOverflows", 0.02), ("Udp_RcvbufErrors", 0.5), ("Udp6_RcvbufErrors", 0.2)]),
        // An old kernel counts no more, and one without IPv6.
        ("old", &[("Tcp_RetransSegs", 0.5), ("Udp_RcvbufErrors", 0.0)]),
    ] {
        let sentences = said(name, rates);
        assert!(sentences.is_empty(), "{name}: {sentences:?}");
    }
}

#[test]
fn segments_that_are_sent_again_are_named() {
    let lossy = [("Tcp_RetransSegs", 110.0), ("TcpExt_TCPSynRetrans", 10.0), ("Tcp_OutSegs", 900.0)];
    assert_eq!(
        said("lossy", &lossy),
        [
            "10 % of the segments that TCP sent were sent again, 100 in each second: on a way packets are lost or held up."
        ]
    );
    let unanswered = [("Tcp_RetransSegs", 35.0), ("TcpExt_TCPSynRetrans", 35.0), ("Tcp_OutSegs", 900.0)];
    assert_eq!(
        said("unanswered", &unanswered),
        [
            "35 attempts to begin a connection, or answers to such, were sent again in each second: nothing came back."
        ]
    );
}

#[test]
fn a_full_queue_explains_what_is_sent_again() {
    let full = [("Tcp_RetransSegs", 35.0), ("TcpExt_TCPSynRetrans", 35.0), ("TcpExt_ListenOverflows", 40.0)];
    let sentences = said("full", &full);
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(
        sentences[0].starts_with("40 attempts to connect in each second found the queue"),
        "{sentences:?}"
    );
}

#[test]
fn datagrams_of_both_versions_count() {
    let sentences = said("datagrams", &[("Udp_RcvbufErrors", 0.7), ("Udp6_RcvbufErrors", 0.7)]);
    assert!(sentences[0].starts_with("1.4 datagrams in each second were lost"), "{sentences:?}");
    // A machine without IPv6 has only the first counter.
    assert!(said("version-4", &[("Udp_RcvbufErrors", 7.0)])[0].starts_with("7.0 datagrams"));
}
