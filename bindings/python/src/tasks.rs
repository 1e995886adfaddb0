//! Tasks, and what they waited for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use facts::sample::Absence;
use facts::task::comm::Comm;
use facts::task::figure::{Figure, FigureSet};
use facts::task::store::TaskStore;
use facts::task::{Cause, TaskAccount, TaskRow};
use probe::Roots;
use probe::tasks::{TaskReader, TaskRequest, TaskSource};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{failed, unreadable};

fn open(sources: &[TaskSource], extra: FigureSet) -> PyResult<TaskReader> {
    TaskReader::open(&Roots::live(), &TaskRequest { sources, extra }).map_err(failed)
}

/// Returns the account of a process since it started, of its living threads: where its time went.
///
/// `wall_ns` is that of all threads together. A cause that is not counted (see `whit doctor`) is None.
#[pyfunction]
pub(crate) fn delays(py: Python<'_>, pid: u32) -> PyResult<Bound<'_, PyDict>> {
    let mut reader = open(&TaskSource::FOR_ONE_READING, FigureSet::default())?;
    let process =
        reader.read_process(pid).map_err(|absence| unreadable(format!("process {pid}"), absence))?;
    account(py, &process.living)
}

/// Returns a dictionary of each thread of the machine, with its counters since it started.
#[pyfunction]
pub(crate) fn tasks(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    Tasks::open(&TaskSource::FOR_ONE_READING)?.read(py)
}

/// Describes where the time of a process went.
pub(crate) fn account<'py>(py: Python<'py>, task: &TaskAccount) -> PyResult<Bound<'py, PyDict>> {
    let (sum, account) = (&task.sum, PyDict::new(py));
    account.set_item("pid", task.tgid.unwrap_or(task.key.pid))?;
    account.set_item("name", name(&task.comm))?;
    account.set_item("threads", sum.threads)?;
    account.set_item("wall_ns", sum.thread_time.0)?;
    account.set_item("on_cpu_ns", sum.on_cpu().map(|on_cpu| on_cpu.0))?;
    for cause in Cause::ALL {
        let (delay, of_cause) = (sum.delay(cause), PyDict::new(py));
        of_cause.set_item("count", delay.count())?;
        of_cause.set_item("total_ns", delay.total().map(|total| total.0))?;
        of_cause.set_item("max_ns", delay.max().map(|max| max.0))?;
        account.set_item(cause.name(), of_cause)?;
    }
    Ok(account)
}

/// A reader of all threads of the machine, by the best source that is permitted: BPF, taskstats, or /proc.
#[pyclass(module = "whit", frozen)]
pub(crate) struct Tasks(Mutex<(TaskReader, TaskStore)>);

#[pymethods]
impl Tasks {
    #[new]
    fn new() -> PyResult<Self> {
        Self::open(&TaskSource::ALL)
    }

    /// The source: "bpf", "taskstats" or "procfs".
    #[getter]
    fn source(&self) -> &'static str {
        self.lock().0.source().name()
    }

    /// Reads all threads, and returns a dictionary of each, with its counters since it started.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        // Without the interpreter's lock, as long as nothing is made of Python's.
        py.detach(|| {
            let (reader, store) = &mut *self.lock();
            read(reader, store)
        })
        .map_err(|absence| unreadable("tasks", absence))?;
        self.lock().1.rows().map(|row| thread(py, row)).collect()
    }
}

impl Tasks {
    fn open(sources: &[TaskSource]) -> PyResult<Self> {
        Ok(Self(Mutex::new((open(sources, FigureSet::ALL)?, TaskStore::default()))))
    }

    fn lock(&self) -> MutexGuard<'_, (TaskReader, TaskStore)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(comm: &Comm) -> String {
    String::from_utf8_lossy(comm.as_bytes()).into_owned()
}

fn read(reader: &mut TaskReader, store: &mut TaskStore) -> Result<(), Absence> {
    store.begin(probe::clock_now());
    reader.read(store)?;
    store.finish(&mut Vec::new());
    Ok(())
}

fn thread<'py>(py: Python<'py>, row: &TaskRow) -> PyResult<Bound<'py, PyDict>> {
    let (task, get) = (PyDict::new(py), |figure| row.figures.get(figure));
    task.set_item(intern!(py, "pid"), row.process())?;
    task.set_item(intern!(py, "tid"), row.key.pid)?;
    task.set_item(intern!(py, "ppid"), row.ppid)?;
    task.set_item(intern!(py, "uid"), row.uid)?;
    task.set_item(intern!(py, "name"), name(&row.comm))?;
    task.set_item(intern!(py, "state"), row.state.map(char::from))?;
    task.set_item(intern!(py, "nice"), row.nice)?;
    task.set_item(intern!(py, "wall_ns"), row.wall.0)?;
    task.set_item(intern!(py, "on_cpu_ns"), get(Figure::ON_CPU))?;
    task.set_item(intern!(py, "run_queue_ns"), get(Figure::delay(Cause::RunQueue)))?;
    task.set_item(intern!(py, "block_io_ns"), get(Figure::delay(Cause::BlockIo)))?;
    task.set_item(intern!(py, "resident_bytes"), get(Figure::RESIDENT_BYTES))?;
    task.set_item(intern!(py, "read_bytes"), get(Figure::READ_BYTES))?;
    task.set_item(intern!(py, "written_bytes"), get(Figure::WRITTEN_BYTES))?;
    Ok(task)
}
