//! Operations on two vectors: which series belong together.
//!
//! <https://prometheus.io/docs/prometheus/latest/querying/operators/#vector-matching>

use std::collections::{HashMap, HashSet};

use formats::series_name::{METRIC, SeriesName};

use crate::error::{QueryError, unanswerable};
use crate::expression::{Binary, Cardinality, LabelChoice, Matching, Operator, SetOperator};
use crate::limits::Limits;
use crate::operate::{arithmetic, as_number, holds};
use crate::value::{Column, merge_same};

/// Applies an operation to two numbers; `None` if a comparison does not hold.
pub(crate) fn operate(binary: &Binary, left: f64, right: f64, kept: f64) -> Option<f64> {
    match binary.operator {
        Operator::Arithmetic(operator) => Some(arithmetic(operator, left, right)),
        Operator::Comparison(operator) if binary.is_bool => Some(as_number(holds(operator, left, right))),
        Operator::Comparison(operator) => holds(operator, left, right).then_some(kept),
        Operator::Set(_) => None,
    }
}

/// Returns whether the result is of another metric.
pub(crate) fn drops_metric(binary: &Binary) -> bool {
    binary.is_bool || matches!(binary.operator, Operator::Arithmetic(_))
}

/// Numbers the groups of labels that columns match by.
fn number_groups(
    columns: &[Column],
    labels: &LabelChoice,
    numbers: &mut HashMap<SeriesName, usize>,
) -> Vec<usize> {
    columns
        .iter()
        .map(|column| {
            let next = numbers.len();
            *numbers.entry(labels.of(&column.name)).or_insert(next)
        })
        .collect()
}

/// Arithmetic or comparison of two vectors.
pub(crate) fn between_vectors(
    binary: &Binary,
    left: &[Column],
    right: &[Column],
    steps: usize,
    limits: &Limits<'_>,
) -> Result<Vec<Column>, QueryError> {
    let matching = &binary.matching;
    let is_swapped = matching.cardinality == Cardinality::OneToMany;
    // "Many" may have several series in a group, "one" may not.
    let (many, one) = if is_swapped { (right, left) } else { (left, right) };
    let mut numbers = HashMap::new();
    let one_groups = number_groups(one, &matching.labels, &mut numbers);
    let many_groups = number_groups(many, &matching.labels, &mut numbers);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); numbers.len()];
    one_groups.iter().enumerate().for_each(|(place, group)| members[*group].push(place));
    check_unique(one, &members, steps, if is_swapped { "left" } else { "right" })?;
    let mut results: Vec<Column> = Vec::new();
    // Which group has a result at which step already.
    let mut has_result: HashSet<(usize, usize)> = HashSet::new();
    for (column, group) in many.iter().zip(many_groups) {
        if (limits.is_interrupted)() {
            return Err(QueryError::Interrupted);
        }
        for partner in &members[group] {
            let partner = &one[*partner];
            let mut values = vec![None; steps];
            for (step, value) in values.iter_mut().enumerate() {
                let (Some(of_many), Some(of_one)) = (column.values[step], partner.values[step]) else {
                    continue;
                };
                let (left, right) = if is_swapped { (of_one, of_many) } else { (of_many, of_one) };
                *value = operate(binary, left, right, left);
                if value.is_some()
                    && matching.cardinality == Cardinality::OneToOne
                    && !has_result.insert((group, step))
                {
                    return unanswerable(
                        "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
                    );
                }
            }
            if values.iter().any(Option::is_some) {
                results.push(Column { name: result_name(binary, &column.name, &partner.name), values });
            }
        }
    }
    merge_same(results).map_err(|_| {
        QueryError::Unanswerable(
            "multiple matches for labels: grouping labels must ensure unique matches".to_owned(),
        )
    })
}

/// Refuses groups of which more than one series has a value at the same step.
fn check_unique(one: &[Column], members: &[Vec<usize>], steps: usize, side: &str) -> Result<(), QueryError> {
    for group in members.iter().filter(|group| group.len() > 1) {
        for step in 0..steps {
            let mut present =
                group.iter().map(|place| &one[*place]).filter(|column| column.values[step].is_some());
            if let (Some(first), Some(second)) = (present.next(), present.next()) {
                return unanswerable(format!(
                    "found duplicate series for the match group on the {side} hand-side of the operation: [{}, {}];\
                     many-to-many matching not allowed: matching labels must be unique on one side",
                    first.name, second.name
                ));
            }
        }
    }
    Ok(())
}

fn result_name(binary: &Binary, many: &SeriesName, one: &SeriesName) -> SeriesName {
    let Matching { labels, cardinality, included } = &binary.matching;
    let mut name = many.clone();
    if drops_metric(binary) {
        name.set(METRIC, "");
    }
    if *cardinality == Cardinality::OneToOne {
        match labels {
            LabelChoice::Only(only) => name.retain(|label| only.iter().any(|one| one == label)),
            LabelChoice::Without(without) => name.retain(|label| without.iter().all(|one| one != label)),
        }
    }
    for label in included {
        name.set(label, one.get(label));
    }
    name
}

/// `and`, `or` and `unless`.
pub(crate) fn of_sets(
    operator: SetOperator,
    labels: &LabelChoice,
    left: Vec<Column>,
    right: Vec<Column>,
    steps: usize,
) -> Result<Vec<Column>, QueryError> {
    let mut numbers = HashMap::new();
    let left_groups = number_groups(&left, labels, &mut numbers);
    let right_groups = number_groups(&right, labels, &mut numbers);
    let presence = |columns: &[Column], groups: &[usize]| {
        let mut is_present = vec![false; numbers.len() * steps];
        for (column, group) in columns.iter().zip(groups) {
            for (step, _) in column.values.iter().enumerate().filter(|(_, value)| value.is_some()) {
                is_present[group * steps + step] = true;
            }
        }
        is_present
    };
    let filter = |columns: Vec<Column>, groups: &[usize], is_present: &[bool], wanted: bool| {
        let filtered = columns.into_iter().zip(groups).map(|(mut column, group)| {
            for (step, value) in column.values.iter_mut().enumerate() {
                if is_present[group * steps + step] != wanted {
                    *value = None;
                }
            }
            column
        });
        filtered.collect::<Vec<_>>()
    };
    Ok(match operator {
        SetOperator::And => filter(left, &left_groups, &presence(&right, &right_groups), true),
        SetOperator::Unless => filter(left, &left_groups, &presence(&right, &right_groups), false),
        SetOperator::Or => {
            let is_left = presence(&left, &left_groups);
            let mut all = left;
            all.extend(filter(right, &right_groups, &is_left, false));
            return merge_same(all);
        }
    })
}
