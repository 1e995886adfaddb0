//! Batched answers equal those of one replay for each expression.

use query::{Answer, Limits, Query, QueryError, Source};

use super::BatchedSource;
use super::machine;
use super::scratch::Scratch;

const ROUNDS: usize = 700;
const EXPRESSIONS: [&str; 19] = [
    "sum by (comm) (rate(whit_task_on_cpu_seconds_total[1m]))",
    "sum by (comm, pid) (increase(whit_task_on_cpu_seconds_total[5m]))",
    "topk(3, sum by (comm) (increase(whit_task_run_queue_seconds_total[5m])))",
    "sum(rate(whit_task_run_queue_seconds_total[2m])) + sum(rate(whit_task_block_io_seconds_total[2m]))",
    "sum by (user) (rate(whit_task_read_bytes_total{comm!~\"a.*\"}[1m]))",
    "sum without (pid, tid) (rate(whit_task_written_bytes_total[1m]))",
    "rate(whit_task_voluntary_switches_total[1m])",
    "count(rate(whit_task_on_cpu_seconds_total{pid=\"7\"}[10m]))",
    "max_over_time(whit_task_resident_bytes[1m])",
    "avg by (comm) (whit_task_resident_bytes)",
    "increase(whit_task_on_cpu_seconds_total[1m] offset 2m)",
    "sum by (comm) (rate(whit_task_on_cpu_seconds_total[1m])) / on () group_left () sum(rate(whit_task_on_cpu_seconds_total[1m]))",
    "sum by (comm) (rate({__name__=~\"whit_task_on_cpu.*\"}[1m]))",
    "topk(1, sum by (comm, pid) (rate(whit_task_on_cpu_seconds_total[5m])))",
    "topk(4, sum by (comm, pid) (increase(whit_task_run_queue_seconds_total{comm!=\"x\"}[10m])))",
    "topk(2, sum without (tid) (rate(whit_task_on_cpu_seconds_total[3s])))",
    "topk(1, sum by (pid) (rate(whit_task_read_bytes_total[1m]))) + topk(2, sum by (pid) (rate(whit_task_read_bytes_total[1m])))",
    "topk(2, sum by (comm) (rate({__name__=~\"whit_task_(on_cpu|run_queue)_seconds_total\"}[5m])))",
    "no_such_series",
];

type Answers = Vec<Result<Answer, QueryError>>;

fn answers(source: &dyn Source, at_ms: i64) -> Answers {
    let limits = Limits::default();
    let queries: Vec<Query> = EXPRESSIONS.iter().map(|text| Query::parse(text).unwrap()).collect();
    let at = queries.iter().map(|query| query.at(source, at_ms, &limits));
    let between =
        queries.iter().map(|query| query.between(source, [at_ms - 120_000, at_ms], 15_000, &limits));
    at.chain(between).collect()
}

#[test]
fn batched_answers_are_the_same() {
    let scratch = Scratch::new("batching");
    let past = scratch.past(|store| {
        let mut machine = machine::Machine::new(1);
        for _ in 0..ROUNDS {
            machine.advance();
            machine::record(store, &machine);
        }
    });
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    for at_ms in [last_ns / 1_000_000, last_ns / 1_000_000 - 200_500] {
        let each = answers(&past, at_ms);
        let batched =
            BatchedSource::evaluate(&past, &Limits::default(), |source| Ok(answers(source, at_ms))).unwrap();
        // As text: NaN equals nothing.
        for (place, (one, other)) in each.iter().zip(&batched).enumerate() {
            let expression = EXPRESSIONS[place % EXPRESSIONS.len()];
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "{expression}");
        }
        let is_found = |answer: &Result<Answer, QueryError>| matches!(answer, Ok(Answer::Vector(found)) if !found.is_empty());
        assert!(each.iter().filter(|answer| is_found(answer)).count() > 6, "{each:?}");
    }
}
