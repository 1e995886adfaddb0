//! The cost of a figure by a subprocess, by reading the file in Python, by whit; and of a line of a bar.

use facts::sample::Sample;
use facts::source::{Source, Wanted};
use probe::{Probe, Request, Roots};

use super::measurement::{Measurement, Unit, own_cpu};
use super::programs::{cpu, own_program, python};

pub(super) fn measurements() -> Vec<Measurement> {
    vec![figure(), bar()]
}

const BY_SUBPROCESS: &str = include_str!("peers/figure_subprocess.py");

const BY_FILE: &str = include_str!("peers/figure_file.py");

fn figure() -> Measurement {
    let mut probe = None;
    let mut sample = Sample::default();
    let whit = move || {
        if probe.is_none() {
            let request = Request { wanted: Wanted::from([Source::MemInfo]), ..Request::default() };
            probe = Some(Probe::open(&Roots::live(), &request).map_err(|error| error.to_string())?);
        }
        let Some(probe) = &mut probe else { return Err("no probe".to_owned()) };
        Ok(own_cpu(2_000, || probe.sample(&mut sample)))
    };
    Measurement::new(
        "figure",
        "How much memory is used",
        Unit::Cpu("a reading"),
        "CPU time of a reading, children included: free piped through grep and awk by a shell, 30 times; /proc/meminfo opened, \
         read and split by Python, 2000 times; and read by whit from a descriptor that it keeps.",
    )
    .side("whit, a kept descriptor", &[], whit)
    .side("Python, reading /proc/meminfo", &["python3"], || python(BY_FILE))
    .side("Python, subprocess with free | grep | awk", &["python3", "free", "grep", "awk"], || python(BY_SUBPROCESS))
}

/// The difference of many ticks and one, so that starting is left out.
const TICKS: u32 = 41;

const SCRIPT: &str = include_str!("peers/bar.sh");

fn bar() -> Measurement {
    let of_ticks = |run: &dyn Fn(u32) -> Result<f64, String>| -> Result<f64, String> {
        let difference = run(TICKS)? - run(1)?;
        if difference <= 0.0 {
            Err("too little to be measured".to_owned())
        } else {
            Ok(difference / f64::from(TICKS - 1))
        }
    };
    let whit = move || {
        let program = own_program();
        of_ticks(&|ticks| cpu(&[&program, "bar", "--for", "plain", "-i", "0.02", "-n", &ticks.to_string()]))
    };
    let script = move || of_ticks(&|ticks| cpu(&["sh", "-c", &SCRIPT.replace("COUNT", &ticks.to_string())]));
    Measurement::new(
        "bar",
        "A line of a status bar",
        Unit::Cpu("a line"),
        "CPU time of a line, children included, as the difference of 41 lines and one. The script asks four programs for four \
         figures; whit shows what it shows without a configuration, which is more.",
    )
    .side("whit bar", &[], whit)
    .side("a shell script of pipes", &["sh", "free", "awk", "cut", "df", "date"], script)
}
