//! The history that an agent has recorded, asked in PromQL.

use std::path::PathBuf;

use formats::series_name::SeriesName;
use history::HISTORY;
use history::past::Past;
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use query::{Answer, Limits, Query, QueryError};

use crate::error::failed;

/// The directory of an agent's history, which may be recording meanwhile.
#[pyclass(module = "whit", frozen)]
pub(crate) struct History {
    directory: PathBuf,
}

#[pymethods]
impl History {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        if !directory.join(HISTORY).exists() {
            let message =
                format!("{}: there is none yet; whit agent makes it", directory.join(HISTORY).display());
            return Err(PyFileNotFoundError::new_err(message));
        }
        Ok(Self { directory })
    }

    fn query<'py>(&self, py: Python<'py>, expression: &str, at_seconds: f64) -> PyResult<Bound<'py, PyAny>> {
        let answer = py.detach(|| {
            self.ask(expression, |query, past| query.at(past, ms(at_seconds), &Limits::default()))
        })?;
        series(py, answer)
    }

    fn range<'py>(
        &self,
        py: Python<'py>,
        expression: &str,
        range_seconds: [f64; 2],
        step_seconds: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (range, step) = (range_seconds.map(ms), ms(step_seconds));
        if step <= 0 || range[0] > range[1] {
            return Err(PyValueError::new_err("a step is above 0, and a range ends after it begins"));
        }
        let answer = py.detach(|| {
            self.ask(expression, |query, past| query.between(past, range, step, &Limits::default()))
        })?;
        series(py, answer)
    }
}

impl History {
    /// Opens the history anew for each question, so that the answer has what was recorded since the last.
    fn ask(
        &self,
        expression: &str,
        answer: impl FnOnce(&Query, &Past) -> Result<Answer, QueryError>,
    ) -> PyResult<Answer> {
        let wrong = |error: QueryError| match error {
            QueryError::Unreadable(message) => failed(message),
            other => PyValueError::new_err(format!("{expression}: {other}")),
        };
        let query = Query::parse(expression).map_err(wrong)?;
        let past = Past::open(&self.directory.join(HISTORY)).map_err(failed)?;
        answer(&query, &past).map_err(wrong)
    }
}

fn ms(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

/// Returns a list of labels, times in seconds since 1970, and values. A number without series has no labels.
fn series(py: Python<'_>, answer: Answer) -> PyResult<Bound<'_, PyAny>> {
    let one = |name: &SeriesName, points: &[query::Point]| {
        let labels = PyDict::new(py);
        for (label, value) in name.labels() {
            labels.set_item(label, value)?;
        }
        let times: Vec<f64> = points.iter().map(|point| point.at_ms as f64 / 1000.0).collect();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        PyTuple::new(
            py,
            [labels.into_any(), times.into_pyobject(py)?.into_any(), values.into_pyobject(py)?.into_any()],
        )
    };
    let all: Vec<Bound<'_, PyTuple>> = match answer {
        Answer::Scalar(point) => vec![one(&SeriesName::default(), &[point])?],
        Answer::Text(text) => return Ok(text.into_pyobject(py)?.into_any()),
        Answer::Vector(values) => {
            values.iter().map(|(name, point)| one(name, &[*point])).collect::<PyResult<_>>()?
        }
        Answer::Matrix(values) => {
            values.iter().map(|(name, points)| one(name, points)).collect::<PyResult<_>>()?
        }
    };
    Ok(all.into_pyobject(py)?.into_any())
}
