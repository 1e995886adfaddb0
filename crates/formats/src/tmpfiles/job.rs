//! Which lines count together, and what they come to.

use std::collections::{HashMap, HashSet};

use super::{Age, Line};
use crate::fnmatch;

/// Lines of several files, in the order in which they are read.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    literal: Vec<Line>,
    patterns: Vec<Line>,
    /// The index of the first owning line for a path: in `patterns` if the flag is true, otherwise in `literal`.
    first: HashMap<(bool, String), usize>,
    /// Ages that `X` lines inherit from a line for the same path or a directory above it, by index in `patterns`.
    inherited: HashMap<usize, Age>,
}

/// A directory to be cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its path, or a pattern for glob(3).
    pub path: String,
    /// The path is a pattern.
    pub is_pattern: bool,
    /// The age from which its content is deleted.
    pub age: Age,
}

/// Paths that are neither deleted nor entered, except by a job for the path itself.
#[derive(Clone, Debug, Default)]
pub struct Protection {
    paths: HashSet<Vec<u8>>,
    patterns: Vec<Vec<u8>>,
}

impl Protection {
    /// Returns whether a line names this path, or has a pattern that matches it.
    pub fn has(&self, path: &[u8]) -> bool {
        self.paths.contains(path) || self.patterns.iter().any(|pattern| fnmatch::matches(pattern, path))
    }
}

impl Configuration {
    /// Adds the lines of a file. Ignores an owning line if its fields differ from those of the first one for the same path.
    pub fn add(&mut self, lines: Vec<Line>) {
        for line in lines {
            let is_pattern = line.is_pattern();
            let table = if is_pattern { &mut self.patterns } else { &mut self.literal };
            if line.is_owning() {
                let key = (is_pattern, line.path.clone());
                if let Some(first) = self.first.get(&key).and_then(|place| table.get(*place)) {
                    if first.identity != line.identity {
                        continue;
                    }
                } else {
                    self.first.insert(key, table.len());
                }
            }
            table.push(line);
        }
        self.inherit();
    }

    /// An `X` line protects a directory, but not its content. The content is cleaned with the age of a `d`, `D`, `v`, `q` or `Q` line:
    /// that for the same path, otherwise the first one for a directory above it. A later line replaces that one if its path is
    /// below that directory and matches the pattern of the `X` line.
    fn inherit(&mut self) {
        for (place, line) in self.patterns.iter().enumerate().filter(|(_, line)| line.kind == b'X') {
            let mut candidate: Option<&Line> = None;
            for other in self.literal.iter().filter(|other| b"dDvqQ".contains(&other.kind)) {
                if other.path == line.path {
                    candidate = Some(other);
                    break;
                }
                let is_better = match candidate {
                    None => is_below(&line.path, &other.path),
                    Some(candidate) => {
                        is_below(&other.path, &candidate.path)
                            && fnmatch::matches(line.path.as_bytes(), other.path.as_bytes())
                    }
                };
                candidate = if is_better { Some(other) } else { candidate };
            }
            if let Some(age) = candidate.and_then(|candidate| candidate.age) {
                // Only the span is inherited. Which times count is set by the X line itself, or is the default.
                let own = line.age.or_else(|| Age::parse("0").ok());
                self.inherited.extend(own.map(|own| (place, Age { span_ns: age.span_ns, ..own })));
            }
        }
    }

    /// Returns the directories to clean, the deepest first.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for line in
            self.literal.iter().filter(|line| b"dDvqQC".contains(&line.kind) && !line.is_only_protecting)
        {
            jobs.extend(line.age.map(|age| Job { path: line.path.clone(), is_pattern: false, age }));
        }
        for (place, line) in self.patterns.iter().enumerate().filter(|(_, line)| !line.is_only_protecting) {
            let (is_pattern, age) = match line.kind {
                b'e' => (true, line.age),
                b'X' => (true, self.inherited.get(&place).copied().or(line.age)),
                // An x line with an age cleans the path as written, even if it contains wildcards.
                b'x' => (false, line.age),
                _ => continue,
            };
            jobs.extend(age.map(|age| Job { path: line.path.clone(), is_pattern, age }));
        }
        jobs.sort_by_key(|job| std::cmp::Reverse(job.path.matches('/').count()));
        jobs
    }

    /// Returns the paths that every job must leave alone.
    pub fn protection(&self) -> Protection {
        Protection {
            paths: self.literal.iter().map(|line| line.path.clone().into_bytes()).collect(),
            patterns: self.patterns.iter().map(|line| line.path.clone().into_bytes()).collect(),
        }
    }

    /// Lines that are not carried out because their user or group is not known.
    pub fn only_protecting(&self) -> impl Iterator<Item = &Line> {
        self.literal.iter().chain(&self.patterns).filter(|line| line.is_only_protecting && line.age.is_some())
    }
}

/// Returns whether a path lies below another.
fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}
