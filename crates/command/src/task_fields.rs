//! The fields of a task's figures in JSON, by the catalogue: one list for `delays`, `run` and `top`.

use facts::catalog::task_metric;
use facts::task::figure::Figure;
use facts::task::{Cause, Delay, TaskSum};
use facts::unit::Nanos;
use sampling::asleep::Reasons;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

/// Some figures of a sum, as fields; to be flattened into an object.
#[derive(Debug)]
pub struct FigureFields {
    values: Vec<(&'static str, Option<u64>)>,
}

impl FigureFields {
    /// These figures in this order; what is not known is null.
    pub fn new(sum: &TaskSum, figures: &[Figure]) -> Self {
        let field = |figure: &Figure| (task_metric(*figure).field, sum.get(*figure));
        Self { values: figures.iter().map(field).collect() }
    }

    /// Creates fields with 0 for what is not known, where something else says that it is a lower bound.
    pub fn at_least(sum: &TaskSum, figures: &[Figure]) -> Self {
        let mut fields = Self::new(sum, figures);
        fields.values.iter_mut().for_each(|(_, value)| *value = Some(value.unwrap_or(0)));
        fields
    }
}

impl Serialize for FigureFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (field, value) in &self.values {
            map.serialize_entry(field, value)?;
        }
        map.end()
    }
}

/// Delays by cause, with the average of each or without.
pub fn delays(of_cause: impl Fn(Cause) -> Delay, with_average: bool) -> Map<String, Value> {
    let of_cause = |cause: Cause| {
        let delay = of_cause(cause);
        let field = |figure| task_metric(figure).field.to_owned();
        let nanos = |time: Option<Nanos>| Value::from(time.map(|time| time.0));
        let mut object = Map::new();
        object.insert(field(Figure::count(cause)), delay.count().into());
        object.insert(field(Figure::delay(cause)), nanos(delay.total()));
        if with_average {
            object.insert("average_ns".to_owned(), nanos(delay.average()));
        }
        object.insert(field(Figure::maximum(cause)), nanos(delay.max()));
        (cause.name().to_owned(), Value::Object(object))
    };
    Cause::ALL.into_iter().map(of_cause).collect()
}

/// How often a reason for which threads slept was seen.
#[derive(Debug, Serialize)]
pub struct AsleepJson {
    reason: &'static str,
    samples: u64,
}

impl AsleepJson {
    /// A list of them.
    pub fn of(reasons: &Reasons) -> Vec<Self> {
        reasons.iter().map(|(reason, samples)| Self { reason: reason.name(), samples: *samples }).collect()
    }
}
