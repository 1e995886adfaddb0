use store::History;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    let history = History::open(std::path::Path::new(&path)).unwrap();
    let mut replay = history.tasks(0, i64::MAX).unwrap().unwrap();
    let (mut rounds, mut ended, mut cpu_l, mut cpu_e, mut unrec) = (0, 0, 0u64, 0u64, 0u64);
    let mut busy = 0;
    while replay.advance().unwrap() {
        rounds += 1;
        let s = replay.store();
        ended += s.ended().len();
        cpu_e += s.ended().filter_map(|e| e.cpu_ns()).sum::<u64>();
        busy += s.changed_rows().len();
        cpu_l +=
            s.rows().filter_map(|r| s.delta(r.key.pid, facts::task::figure::Figure::ON_CPU)).sum::<u64>();
        unrec += replay.round().unrecorded_cpu.map_or(0, |n| n.0);
    }
    println!(
        "rounds {rounds} changed {busy} ended {ended} living {:.3}s ended {:.3}s unrecorded {:.3}s damaged {} in {:?}",
        cpu_l as f64 / 1e9,
        cpu_e as f64 / 1e9,
        unrec as f64 / 1e9,
        replay.damaged(),
        t.elapsed()
    );
    let mut total = [0.0; 2];
    for (name, _) in history.series() {
        if name.starts_with("node_cpu_seconds_total") {
            let (mut first, mut last) = (None, 0.0);
            history
                .read(name, 0, i64::MAX, |s| {
                    first.get_or_insert(s.value);
                    last = s.value;
                })
                .unwrap();
            let d = last - first.unwrap();
            let idle = name.contains("idle") || name.contains("iowait") || name.contains("steal");
            let irq = name.contains("irq");
            if !idle {
                total[usize::from(irq)] += d;
            }
        }
    }
    println!("node_cpu busy {:.3}s irq {:.3}s", total[0], total[1]);
}
