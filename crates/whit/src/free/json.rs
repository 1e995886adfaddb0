//! Facts of the table of `whit free` as JSON, for programs. Every size in bytes.

use facts::memory::{AvailableSource, MemoryReport};
use serde::Serialize;

use super::render::extended;
use command::pressure_fields::PressureFields;

/// `whit free --json`.
#[derive(Serialize)]
pub(crate) struct MemoryJson {
    total_bytes: u64,
    used_bytes: Option<u64>,
    free_bytes: u64,
    anonymous_bytes: u64,
    kernel_bytes: u64,
    caches_bytes: u64,
    buffers_bytes: u64,
    file_cache_bytes: u64,
    reclaimable_slab_bytes: u64,
    others_bytes: i64,
    available_bytes: Option<u64>,
    available_source: Option<&'static str>,
    swap: Option<ThreeJson>,
    commitment: Option<CommitmentJson>,
    limit: Option<LimitJson>,
    huge_pages: Option<HugePagesJson>,
    zfs_arc: Option<ArcJson>,
    zram: Option<ZramJson>,
    pressure: Option<PressureFields>,
    extended: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct ThreeJson {
    total_bytes: u64,
    used_bytes: u64,
    free_bytes: u64,
}

#[derive(Serialize)]
struct CommitmentJson {
    limit_bytes: u64,
    committed_bytes: u64,
}

#[derive(Serialize)]
struct LimitJson {
    cgroup_version: u8,
    total_bytes: u64,
    used_bytes: u64,
    free_bytes: u64,
    caches_bytes: u64,
    available_bytes: u64,
}

#[derive(Serialize)]
struct HugePagesJson {
    total_bytes: u64,
    free_bytes: u64,
}

#[derive(Serialize)]
struct ArcJson {
    size_bytes: u64,
    minimum_bytes: u64,
}

#[derive(Serialize)]
struct ZramJson {
    used_bytes: u64,
    original_bytes: u64,
}

impl MemoryJson {
    /// From the report.
    pub(crate) fn new(report: &MemoryReport) -> Self {
        let parts = &report.breakdown;
        let source = |source| match source {
            AvailableSource::Kernel => "kernel",
            AvailableSource::Emulated => "emulated",
            AvailableSource::Estimated => "estimated",
        };
        Self {
            total_bytes: parts.total.0,
            used_bytes: report.used().map(|used| used.0),
            free_bytes: parts.free.0,
            anonymous_bytes: parts.anonymous.0,
            kernel_bytes: parts.kernel.0,
            caches_bytes: parts.caches.total().0,
            buffers_bytes: parts.caches.buffers.0,
            file_cache_bytes: parts.caches.files.0,
            reclaimable_slab_bytes: parts.caches.slab.0,
            others_bytes: parts.others_bytes,
            available_bytes: report.available.map(|available| available.bytes.0),
            available_source: report.available.map(|available| source(available.source)),
            swap: report.swap.map(|swap| ThreeJson {
                total_bytes: swap.total.0,
                used_bytes: swap.used.0,
                free_bytes: swap.free.0,
            }),
            commitment: report.commitment().map(|(limit, committed)| CommitmentJson {
                limit_bytes: limit.0,
                committed_bytes: committed.0,
            }),
            limit: report.limit.map(|limit| LimitJson {
                cgroup_version: limit.cgroup_version,
                total_bytes: limit.limit.0,
                used_bytes: limit.used.0,
                free_bytes: limit.free.0,
                caches_bytes: limit.caches.0,
                available_bytes: limit.available.0,
            }),
            huge_pages: report
                .huge_pages
                .map(|huge| HugePagesJson { total_bytes: huge.total.0, free_bytes: huge.free.0 }),
            zfs_arc: report.arc.map(|arc| ArcJson { size_bytes: arc.size.0, minimum_bytes: arc.minimum.0 }),
            zram: report
                .zram
                .map(|zram| ZramJson { used_bytes: zram.used.0, original_bytes: zram.original.0 }),
            pressure: report.pressure.as_ref().map(PressureFields::new),
            extended: extended(&report.meminfo)
                .map(|(_, field, bytes)| (field.to_owned(), bytes.map(|bytes| bytes.0).into()))
                .collect(),
        }
    }
}
