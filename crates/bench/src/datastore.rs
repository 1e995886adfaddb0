//! The datastore's table: entities of 1 KB by key, and what they were needed for, series with many samples.

mod entities;
mod series;

use remote_store::RemoteStore;

use super::measurement::Measurement;
use super::options::BenchOptions;

pub(super) fn measurements(options: &BenchOptions) -> Vec<Measurement> {
    let remote = options.url.as_deref().map(RemoteStore::new);
    let entities = entities::measurements(options, remote.as_ref());
    entities.into_iter().chain(series::measurements(options, remote.as_ref())).collect()
}
