//! Metrics that only users with access to all tasks may see.

use crate::alert;

/// The totals over all tasks.
pub(crate) const TASK_TOTALS: &str = "whit_tasks_seconds_total";

/// The same of those of low priority.
pub(crate) const LOW_PRIORITY_TOTALS: &str = "whit_low_priority_run_queue_seconds_total";

/// Their names. Labels of alerts can be names of tasks, and totals contain the tasks of all users.
pub(crate) const METRICS: [&str; 3] = [alert::SERIES, TASK_TOTALS, LOW_PRIORITY_TOTALS];
