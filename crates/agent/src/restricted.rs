//! Metrics that only users with access to all tasks may see.

use crate::alert;

/// The totals over all tasks.
pub(crate) const TASK_TOTALS: &str = "whit_tasks_seconds_total";

/// Their names. Labels of alerts can be names of tasks, and totals contain the tasks of all users.
pub(crate) const METRICS: [&str; 2] = [alert::SERIES, TASK_TOTALS];
