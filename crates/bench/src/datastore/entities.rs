//! Add, get and verify, update, get and verify, delete, in batches of 1 to 10,000 entities of 1 KB.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use formats::series_name::SeriesName;
use remote_store::RemoteStore;
use store::{PlainTables, Records, StoreError};

use super::super::measurement::{Measurement, Unit, own_wall};
use super::super::options::BenchOptions;
use super::super::scanning::Scratch;
use probe::random;

const ENTITY_BYTES: usize = 1024;

/// The steps of the table, each with the batches that it is measured for.
const STEPS: [(Step, [&str; 5], &str); 4] = [
    (
        Step::Add,
        ["datastore-add-1", "datastore-add-10", "datastore-add-100", "datastore-add-1k", "datastore-add-10k"],
        "Add entities of 1 KB, in a batch of",
    ),
    (
        Step::Get,
        ["datastore-get-1", "datastore-get-10", "datastore-get-100", "datastore-get-1k", "datastore-get-10k"],
        "Get and verify entities of 1 KB, in a batch of",
    ),
    (
        Step::Update,
        [
            "datastore-update-1",
            "datastore-update-10",
            "datastore-update-100",
            "datastore-update-1k",
            "datastore-update-10k",
        ],
        "Update entities of 1 KB, in a batch of",
    ),
    (
        Step::Delete,
        [
            "datastore-delete-1",
            "datastore-delete-10",
            "datastore-delete-100",
            "datastore-delete-1k",
            "datastore-delete-10k",
        ],
        "Delete entities of 1 KB, in a batch of",
    ),
];
const BATCHES: [u32; 5] = [1, 10, 100, 1_000, 10_000];

const HOW: &str = "Time that passes for an entity. All are added, read and compared, updated, read and compared, and deleted, each by its \
    key and each step in a batch; the files are not synced. whit's records have a checksum; the tables are SQLite with a write-ahead \
    log; a file is made for each entity.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Add,
    Get,
    Update,
    Delete,
}

/// Something that keeps entities.
trait Entities {
    fn put(&mut self, entities: &[Vec<u8>]) -> Result<(), String>;
    fn get(&mut self, key: usize) -> Result<Option<Vec<u8>>, String>;
    fn delete(&mut self, count: usize) -> Result<(), String>;
}

pub(super) fn measurements(options: &BenchOptions, remote: Option<&RemoteStore>) -> Vec<Measurement> {
    let scratch = Scratch::new(&options.directory, "entities", |_| Ok(()));
    let of = |step: Step, name: &'static str, title: &'static str, batch: u32| {
        let side = |open: fn(&Path) -> Result<Box<dyn Entities>, String>| {
            let scratch = scratch.clone();
            move || {
                let directory = scratch.path()?.join(random::hex());
                fs::create_dir(&directory).map_err(|error| error.to_string())?;
                let measured = open(&directory).and_then(|mut entities| time(entities.as_mut(), step, batch));
                let _ = fs::remove_dir_all(&directory);
                measured
            }
        };
        let measurement = Measurement::new(name, title, Unit::Wall("an entity"), HOW)
            .side("whit's records", &[], side(records))
            .side("tables of SQLite", &[], side(tables))
            .side("files", &[], side(files));
        match (remote, step) {
            (Some(remote), Step::Add | Step::Get) => {
                let remote = remote.clone();
                // A store of series changes and deletes no samples.
                measurement.side("the store at the URL", &[], move || {
                    time(&mut Remote { remote: remote.clone(), run: String::new() }, step, batch)
                })
            }
            _ => measurement,
        }
    };
    STEPS
        .iter()
        .flat_map(|(step, names, title)| {
            names.iter().zip(BATCHES).map(move |(name, batch)| of(*step, name, title, batch))
        })
        .collect()
}

/// Nanoseconds for each entity of a batch in one step. The steps before it are done, too.
fn time(entities: &mut dyn Entities, step: Step, batch: u32) -> Result<f64, String> {
    let made = |seed: u8| -> Vec<Vec<u8>> {
        let byte = |key: u32, place: usize| (key as usize).wrapping_mul(31).wrapping_add(place) as u8 ^ seed;
        (0..batch).map(|key| (0..ENTITY_BYTES).map(|place| byte(key, place)).collect()).collect()
    };
    let (first, second) = (made(0), made(0x5a));
    let verify = |entities: &mut dyn Entities, expected: &[Vec<u8>]| -> Result<(), String> {
        for (key, expected) in expected.iter().enumerate() {
            if entities.get(key)?.as_ref() != Some(expected) {
                return Err(format!("entity {key} is not what was written"));
            }
        }
        Ok(())
    };
    // A whole batch is one unit of work.
    let each = |ns: f64| ns / f64::from(batch);
    match step {
        Step::Add => return own_wall(1, || entities.put(&first)).map(each),
        _ => entities.put(&first)?,
    }
    match step {
        Step::Get => return own_wall(1, || verify(entities, &first)).map(each),
        _ => verify(entities, &first)?,
    }
    match step {
        Step::Update => return own_wall(1, || entities.put(&second)).map(each),
        _ => entities.put(&second)?,
    }
    verify(entities, &second)?;
    let measured = own_wall(1, || entities.delete(second.len())).map(each)?;
    match entities.get(0)? {
        None => Ok(measured),
        Some(_) => Err("an entity is there after it was deleted".to_owned()),
    }
}

fn keyed(entities: &[Vec<u8>]) -> impl Iterator<Item = (i64, &[u8])> {
    (0..).zip(entities.iter().map(Vec::as_slice))
}

fn keys(count: usize) -> impl Iterator<Item = i64> {
    (0..).take(count)
}

fn described(error: StoreError) -> String {
    error.to_string()
}

fn records(directory: &Path) -> Result<Box<dyn Entities>, String> {
    Ok(Box::new(Records::open(&directory.join("records")).map_err(described)?))
}

fn tables(directory: &Path) -> Result<Box<dyn Entities>, String> {
    Ok(Box::new(PlainTables::open(&directory.join("tables")).map_err(described)?))
}

fn files(directory: &Path) -> Result<Box<dyn Entities>, String> {
    Ok(Box::new(Files(directory.to_owned())))
}

impl Entities for Records {
    fn put(&mut self, entities: &[Vec<u8>]) -> Result<(), String> {
        self.put(keyed(entities)).map_err(described)
    }

    fn get(&mut self, key: usize) -> Result<Option<Vec<u8>>, String> {
        Self::get(self, key as i64).map_err(described)
    }

    fn delete(&mut self, count: usize) -> Result<(), String> {
        self.delete(keys(count)).map_err(described)
    }
}

impl Entities for PlainTables {
    fn put(&mut self, entities: &[Vec<u8>]) -> Result<(), String> {
        self.put(keyed(entities)).map_err(described)
    }

    fn get(&mut self, key: usize) -> Result<Option<Vec<u8>>, String> {
        Self::get(self, key as i64).map_err(described)
    }

    fn delete(&mut self, count: usize) -> Result<(), String> {
        self.delete(keys(count)).map_err(described)
    }
}

/// A file for each.
struct Files(PathBuf);

impl Files {
    fn path(&self, key: usize) -> PathBuf {
        self.0.join(key.to_string())
    }
}

impl Entities for Files {
    fn put(&mut self, entities: &[Vec<u8>]) -> Result<(), String> {
        let write = |(key, data)| fs::write(self.path(key), data);
        entities.iter().enumerate().try_for_each(write).map_err(|error| error.to_string())
    }

    fn get(&mut self, key: usize) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.path(key)) {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn delete(&mut self, count: usize) -> Result<(), String> {
        (0..count).try_for_each(|key| fs::remove_file(self.path(key))).map_err(|error| error.to_string())
    }
}

/// A series for each, whose samples are the entity, eight bytes each.
struct Remote {
    remote: RemoteStore,
    /// A label that no other run has.
    run: String,
}

/// As numbers that survive JSON: six bytes are a whole number that a float represents.
const BYTES_A_SAMPLE: usize = 6;

impl Entities for Remote {
    fn put(&mut self, entities: &[Vec<u8>]) -> Result<(), String> {
        self.run = random::hex();
        let now_ms = (probe::clock_now().realtime.0 / 1_000_000).cast_signed();
        let series: Vec<(SeriesName, Vec<(i64, f64)>)> = entities
            .iter()
            .enumerate()
            .map(|(key, data)| {
                let mut name = SeriesName::new("whit_bench_entity");
                name.set("run", &self.run);
                name.set("key", &key.to_string());
                let numbers = data.chunks(BYTES_A_SAMPLE).map(|bytes| {
                    bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)) as f64
                });
                let count = data.len().div_ceil(BYTES_A_SAMPLE) as i64;
                (name, (now_ms - count..).zip(numbers).collect())
            })
            .collect();
        self.remote.append(series.iter().map(|(name, samples)| (name, samples.as_slice()))).map(drop)
    }

    fn get(&mut self, key: usize) -> Result<Option<Vec<u8>>, String> {
        let selector = format!("whit_bench_entity{{run=\"{}\",key=\"{key}\"}}[5m]", self.run);
        let now_s = probe::clock_now().realtime.0 as f64 / 1e9;
        let found = self.remote.select(&selector, now_s + 1.0)?;
        let Some(samples) = found.first() else { return Ok(None) };
        let bytes = samples
            .iter()
            .flat_map(|(_, value)| (*value as u64).to_le_bytes().into_iter().take(BYTES_A_SAMPLE));
        Ok(Some(bytes.take(ENTITY_BYTES).collect()))
    }

    fn delete(&mut self, _count: usize) -> Result<(), String> {
        Err("a store of series deletes nothing".to_owned())
    }
}
