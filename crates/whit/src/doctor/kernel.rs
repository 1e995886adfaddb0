//! Findings about the kernel: how it was built and booted.

use facts::linux::mounts;
use facts::linux::version::KernelVersion;
use facts::sample::{Absence, Sample};
use probe::privilege;
use probe::survey::Survey;
use probe::tasks::{Refused, TaskReader, TaskSource};

use super::finding::Finding;

/// The capability that taskstats asks for, by its bit in linux/capability.h.
const CAP_NET_ADMIN: u32 = 12;

pub(super) fn version(survey: &mut Survey) -> Finding {
    let oldest = KernelVersion { major: 2, minor: 6, patch: 32 };
    let system = survey.system();
    match survey.release() {
        Ok(release) if system != "Linux" => Finding::limited(
            "kernel",
            format!("{system} {release}: written from the manuals and never run there"),
            "run whit doctor --selftest and whit doctor --capture DIR there, and send in both",
        ),
        Ok(release) if survey.kernel_version().is_some_and(|version| version >= oldest) => {
            Finding::ok("kernel", format!("Linux {release}"))
        }
        Ok(release) => Finding::limited(
            "kernel",
            format!("\"{release}\""),
            "whit knows the formats of Linux 2.6.32 and later",
        ),
        Err(absence) => {
            Finding::absent("kernel", format!("/proc/sys/kernel/osrelease: {absence}"), "mount /proc")
        }
    }
}

/// `reader` is the open reader of tasks; none of a captured machine. It was loaded for real: what a sandbox or a lockdown forbids
/// shows nowhere else.
pub(super) fn bpf(survey: &mut Survey, reader: Option<&TaskReader>) -> Finding {
    let btf = survey.exists("/sys/kernel/btf/vmlinux");
    let is_older = |version| version < KernelVersion::new(5, 8);
    if survey.kernel_version().is_some_and(is_older) {
        return Finding::absent("bpf", "the task iterator came with Linux 5.8", "");
    }
    if btf.is_err() {
        return Finding::absent(
            "bpf",
            "no BTF (/sys/kernel/btf/vmlinux)",
            "a kernel with CONFIG_DEBUG_INFO_BTF=y, or /sys mounted",
        );
    }
    let Some(reader) = reader else { return Finding::ok("bpf", "BTF is there") };
    match reader.refused().iter().find(|(source, _)| *source == TaskSource::Bpf) {
        None => Finding::ok("bpf", "the task iterator loads: all tasks are read by it"),
        Some((_, Refused { reason: Absence::Denied, .. })) => Finding::limited(
            "bpf",
            "BTF is there, but not permitted",
            "run as root, or with CAP_BPF and CAP_PERFMON; in a container also under a seccomp filter that permits bpf(2)",
        ),
        Some((_, Refused { reason: Absence::Exhausted, detail })) => Finding::limited(
            "bpf",
            format!("the task iterator does not load: {detail}"),
            "more memory (ulimit -v), or whit top --tasks taskstats",
        ),
        Some((_, Refused { detail, .. })) => Finding::limited(
            "bpf",
            format!("the task iterator does not load: {detail}"),
            "none known; please report it",
        ),
    }
}

/// By what source tasks are read.
pub(super) fn source(reader: &TaskReader) -> Finding {
    let name = format!("by {}", reader.source().name());
    match reader.refused().first() {
        None => Finding::ok("task table", name),
        Some((source, refused)) => Finding::limited(
            "task table",
            format!("{name}, since {} is not available: {}", source.name(), refused.detail),
            "see bpf and taskstats above; whit top --tasks forces a way",
        ),
    }
}

pub(super) fn capabilities(survey: &mut Survey) -> Option<Finding> {
    let status = survey.own_status().ok()?;
    let user = status.uid.map_or("unknown user".to_owned(), |uid| format!("uid {uid}"));
    if privilege::has(1 << CAP_NET_ADMIN) {
        let how =
            if privilege::is_given() { ", given by the binary and held for taskstats alone" } else { "" };
        return Some(Finding::ok("capabilities", format!("{user}: CAP_NET_ADMIN{how}")));
    }
    // Where root lacks it, a container or a unit has left it out.
    let remedy = match status.uid {
        Some(0) => "--cap-add NET_ADMIN for a container, CapabilityBoundingSet= of a unit",
        _ => "run as root, or give the binary CAP_NET_ADMIN; whit-install(7) says what that discloses",
    };
    Some(Finding::limited(
        "capabilities",
        format!("{user}, without CAP_NET_ADMIN (taskstats and exit records)"),
        remedy,
    ))
}

pub(super) fn pressure(sample: &Sample) -> Finding {
    let pressure = &sample.pressure;
    let files =
        [("cpu", &pressure.cpu), ("io", &pressure.io), ("memory", &pressure.memory), ("irq", &pressure.irq)];
    let found: Vec<_> = files.iter().filter(|(_, file)| file.get().is_ok()).map(|(name, _)| *name).collect();
    if !found.is_empty() {
        return Finding::ok("pressure", found.join(", "));
    }
    match pressure.memory.get() {
        Err(Absence::Denied) => {
            Finding::absent("pressure", "/proc/pressure: permission denied", "run as root")
        }
        _ => Finding::absent(
            "pressure",
            "no /proc/pressure that can be read",
            "Linux 4.20 or later with CONFIG_PSI=y, booted with psi=1 where it is off by default",
        ),
    }
}

pub(super) fn cgroups(survey: &mut Survey, sample: &Sample) -> Finding {
    let mut all = Vec::new();
    // A line that cannot be read ends the list; the mounts before it stand.
    let _ = mounts::parse(survey.text("/proc/self/mounts").unwrap_or_default().as_bytes(), &mut all);
    let has = |kind: &[u8]| all.iter().any(|mount| mount.filesystem == kind);
    let versions = match (has(b"cgroup2"), has(b"cgroup")) {
        (true, true) => "v1 and v2",
        (true, false) => "v2",
        (false, true) => "v1",
        (false, false) => {
            return Finding::absent(
                "cgroup",
                "no hierarchy is mounted",
                "mount -t cgroup2 none /sys/fs/cgroup",
            );
        }
    };
    let limits = match sample.cgroup.get() {
        Ok(limits) => limits,
        Err(Absence::Gone) => {
            return Finding::limited(
                "cgroup",
                format!("{versions}; the directories of the own cannot be seen, nor its limits"),
                "mount the hierarchies at /sys/fs/cgroup; in a container --cgroupns host or -v /sys/fs/cgroup:/sys/fs/cgroup:ro",
            );
        }
        Err(_) => return Finding::ok("cgroup", format!("{versions}; no memory hierarchy is mounted")),
    };
    let limit = match limits.memory_limit {
        Some(limit) => format!("own memory limit {}", text::units::Size(limit)),
        None => "no memory limit on the own".to_owned(),
    };
    Finding::ok("cgroup", format!("{versions}; {limit}"))
}
