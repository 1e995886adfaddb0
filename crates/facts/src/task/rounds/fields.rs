//! A task's row as numbers, in an order that is part of the format (docs/FORMAT.md): new ones are added at the end.

use crate::linux::taskstats::ExitInfo;
use crate::task::cause::Cause;
use crate::task::comm::Comm;
use crate::task::exit_record::ExitRecord;
use crate::task::figure::{ABSENT, Figure, FigureSet};
use crate::task::wait::Wait;
use crate::task::{Accounting, TaskKey, TaskRow};
use crate::unit::Nanos;
use crate::varint::{optional, present};

/// Before the figures.
const IDENTITY: usize = 12;
/// Numbers that living tasks and exit records have.
const COMMON: usize = IDENTITY + Figure::COUNT;
/// Numbers of a living task: those, and what it waits for.
pub const LIVING: usize = COMMON + 1;
/// Numbers of an exit record: those, its age, how it ended, and when.
pub const ENDED: usize = COMMON + 6;
/// The place of the start in both.
const START: usize = 1;
/// The step in microseconds of the end of an exit record, which is known to be between two readings, and no better.
const END_STEP: i64 = 100;
/// The places of the name's two halves in both.
pub const NAME: [usize; 2] = [5, 6];
/// The place of what a living task waits for, and of an exit record's age.
const WAIT: usize = COMMON;
const AGE: usize = COMMON;

/// The place of a figure in both.
pub const fn of_figure(figure: Figure) -> usize {
    IDENTITY + figure.index()
}

/// A row's numbers.
pub type Fields = [u64; LIVING];

fn small<N: TryFrom<u64>>(number: u64) -> Option<N> {
    present(number).and_then(|number| N::try_from(number).ok())
}

/// Times are kept in microseconds: nanoseconds would take twice the space.
fn microseconds(nanoseconds: u64) -> u64 {
    nanoseconds.saturating_add(500) / 1000
}

/// The numbers of a row.
pub fn of_row(row: &TaskRow) -> Fields {
    let mut fields = [0; LIVING];
    let (first, second) = row.comm.0.split_at(8);
    let letters = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let identity: [u64; IDENTITY] = [
        row.key.pid.into(),
        row.key.start.0,
        optional(row.tgid.map(u64::from)),
        optional(row.ppid.map(u64::from)),
        optional(row.uid.map(u64::from)),
        letters(first),
        letters(second),
        optional(row.state.map(u64::from)),
        i64::from(row.nice).cast_unsigned(),
        optional(row.policy.map(u64::from)),
        optional(row.cgroup),
        match row.accounting {
            Accounting::Unsure => 0,
            Accounting::On => 1,
            Accounting::Off => 2,
        },
    ];
    fields[..IDENTITY].copy_from_slice(&identity);
    for figure in Figure::all() {
        let value = row.figures.get(figure);
        let value = if FigureSet::TIMES.contains(figure) { value.map(microseconds) } else { value };
        fields[IDENTITY + figure.index()] = optional(value);
    }
    fields[WAIT] = row.wait.map_or(0, Wait::code);
    fields
}

/// The row of these numbers. It has lived since its start, until `boottime`.
pub fn to_row(fields: &Fields, boottime: Nanos) -> TaskRow {
    let mut name = [0; 16];
    name[..8].copy_from_slice(&fields[5].to_le_bytes());
    name[8..].copy_from_slice(&fields[6].to_le_bytes());
    let start = Nanos(fields[START]);
    let mut row = TaskRow {
        key: TaskKey { pid: u32::try_from(fields[0]).unwrap_or(0), start },
        tgid: small(fields[2]),
        ppid: small(fields[3]),
        uid: small(fields[4]),
        comm: Comm(name),
        state: small(fields[7]),
        nice: i8::try_from(fields[8].cast_signed()).unwrap_or(0),
        policy: small(fields[9]),
        cgroup: present(fields[10]),
        accounting: match fields[11] {
            1 => Accounting::On,
            2 => Accounting::Off,
            _ => Accounting::Unsure,
        },
        wall: boottime.saturating_sub(start),
        wait: Wait::of_code(fields[WAIT]),
        ..TaskRow::default()
    };
    for figure in Figure::all() {
        let value = present(fields[IDENTITY + figure.index()]);
        let value = if FigureSet::TIMES.contains(figure) {
            value.map(|value| value.saturating_mul(1000))
        } else {
            value
        };
        row.figures.set(figure, value.filter(|value| *value != ABSENT));
    }
    row
}

/// The start of a task.
pub fn start(fields: &Fields) -> Nanos {
    Nanos(fields[START])
}

/// Returns the differences of a task's row from the one before; the pid is not a difference, since the row is found by it.
pub fn difference(now: &Fields, before: &Fields) -> Fields {
    let mut difference = *now;
    for (number, before) in difference.iter_mut().zip(before).skip(1) {
        *number = number.wrapping_sub(*before);
    }
    difference
}

/// Adds what [`difference`] returned.
pub fn add(fields: &mut [u64], difference: impl Iterator<Item = u64>) {
    for (column, (number, difference)) in fields.iter_mut().zip(difference).enumerate() {
        *number = if column == 0 { difference } else { number.wrapping_add(difference) };
    }
}

/// Returns true if a difference is that of a task's first row: the start itself, and not a correction of it.
pub fn is_first(difference: &Fields) -> bool {
    difference[START].cast_signed().unsigned_abs() > Nanos::SECOND.0
}

/// The numbers of an exit record that are kept as differences from others, which they are close to: of the first the others are
/// subtracted. A task that never slept has an age that is 0 here.
const CLOSE: [(usize, &[usize]); 2] = {
    const RUN_QUEUE: usize = of_figure(Figure::delay(Cause::RunQueue));
    const MAX_RUN_QUEUE: usize = of_figure(Figure::maximum(Cause::RunQueue));
    const ON_CPU: usize = of_figure(Figure::ON_CPU);
    [(AGE, &[ON_CPU, RUN_QUEUE]), (MAX_RUN_QUEUE, &[RUN_QUEUE])]
};

/// The numbers of an exit record of a round at `boottime`: times before that, so that they are small.
pub fn of_ended(record: &ExitRecord, boottime: Nanos) -> [u64; ENDED] {
    let mut fields = [0; ENDED];
    fields[..COMMON].copy_from_slice(&of_row(&record.row)[..COMMON]);
    let before = |time: Nanos| microseconds(boottime.0.saturating_sub(time.0));
    let rest = [
        microseconds(record.row.wall.0),
        record.exit.code.into(),
        record.exit.flags.into(),
        before(record.between.0),
        before(record.between.1),
        record.tick.0,
    ];
    fields[COMMON..].copy_from_slice(&rest);
    // A record is received after its round began: what ended meanwhile did so less than no time before.
    let before_start = boottime.0.wrapping_sub(record.row.key.start.0).cast_signed().div_euclid(1000);
    let before_end = before_start.wrapping_sub(fields[AGE].cast_signed());
    fields[START] = before_end.div_euclid(END_STEP).cast_unsigned();
    for (number, others) in CLOSE {
        fields[number] = others.iter().fold(fields[number], |rest, other| rest.wrapping_sub(fields[*other]));
    }
    fields
}

/// The exit record of these numbers.
pub fn to_ended(fields: &[u64; ENDED], boottime: Nanos) -> ExitRecord {
    let nanoseconds = |microseconds: u64| Nanos(microseconds.saturating_mul(1000));
    let before = |microseconds: u64| boottime.saturating_sub(nanoseconds(microseconds));
    let mut fields = *fields;
    for (number, others) in CLOSE.into_iter().rev() {
        fields[number] = others.iter().fold(fields[number], |sum, other| sum.wrapping_add(fields[*other]));
    }
    let mut living = [0; LIVING];
    living[..COMMON].copy_from_slice(&fields[..COMMON]);
    let before_end = fields[START].cast_signed().saturating_mul(END_STEP);
    let before_start = before_end.saturating_add_unsigned(fields[AGE]).saturating_mul(1000);
    living[START] = boottime.0.saturating_add_signed(before_start.saturating_neg());
    let [wall, code, flags, from, to, tick] = [0, 1, 2, 3, 4, 5].map(|place| fields[COMMON + place]);
    ExitRecord {
        row: TaskRow { wall: nanoseconds(wall), ..to_row(&living, boottime) },
        exit: ExitInfo { code: u32::try_from(code).unwrap_or(0), flags: u8::try_from(flags).unwrap_or(0) },
        between: (before(from), before(to)),
        tick: Nanos(tick),
    }
}

/// Lets the numbers of an exit record be those of a round so much later.
pub fn delay_ended(numbers: &mut [u64], delay: Nanos) {
    let delay = microseconds(delay.0);
    numbers[START] = numbers[START].wrapping_add(delay / END_STEP.cast_unsigned());
    for column in [COMMON + 3, COMMON + 4] {
        numbers[column] = numbers[column].wrapping_add(delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row() -> TaskRow {
        let key = TaskKey { pid: 4711, start: Nanos(1_234_567_891) };
        let mut row = TaskRow {
            key,
            tgid: Some(4700),
            ppid: Some(0),
            uid: Some(1000),
            comm: Comm::new(b"a long task nam"),
            state: Some(b'D'),
            nice: -20,
            policy: Some(3),
            cgroup: Some(1 << 63 | 42),
            accounting: Accounting::On,
            wall: Nanos(5_000_000_000),
            wait: Wait::of_code(0x101),
            ..TaskRow::default()
        };
        for figure in Figure::all().filter(|figure| figure.index() % 5 != 0) {
            row.figures.set(figure, Some(figure.index() as u64 * 1_000_000));
        }
        row
    }

    #[test]
    fn rows_and_records_are_the_same_again() {
        let row = row();
        let boottime = row.key.start + row.wall;
        assert_eq!(to_row(&of_row(&row), boottime), row);
        let between = (Nanos(boottime.0 - 1_000_000_000), boottime);
        let row = TaskRow { key: TaskKey { start: Nanos(1_234_567_000), ..row.key }, ..row };
        let exit = ExitInfo { code: 9, flags: 0x21 };
        let record = ExitRecord { row, exit, between, tick: Nanos(4_000_000) };
        let boottime = boottime + Nanos(109);
        assert_eq!(to_ended(&of_ended(&record, boottime), boottime).row.figures, record.row.figures);
        assert_eq!(to_ended(&of_ended(&record, boottime), boottime).exit, exit);
    }

    proptest! {
        /// Also of tasks that started after the round had begun, and ended before their records were received.
        #[test]
        fn starts_of_records_are_as_exact_as_their_ends(
            after_ns in -5_000_000_000_i64..50_000_000,
            wall_ns in 0_u64..5_000_000_000,
        ) {
            let boottime = Nanos(1_000_000_000_000);
            let start = Nanos(boottime.0.saturating_add_signed(after_ns));
            let row = TaskRow { key: TaskKey { start, ..row().key }, wall: Nanos(wall_ns), ..row() };
            let exit = ExitInfo { code: 0, flags: 0 };
            let record = ExitRecord { row, exit, between: (start, boottime), tick: Nanos(0) };
            let decoded = to_ended(&of_ended(&record, boottime), boottime).row.key.start;
            prop_assert!(decoded >= start && decoded.0 - start.0 <= 102_000, "{decoded:?} {start:?}");
        }
    }

    #[test]
    fn the_order_of_the_figures_is_that_of_the_format() {
        let places = [
            (Figure::ON_CPU, 0),
            (Figure::delay(Cause::BlockIo), 4),
            (Figure::count(Cause::RunQueue), 11),
            (Figure::maximum(Cause::RunQueue), 19),
            (Figure::VOLUNTARY_SWITCHES, 27),
            (Figure::RESIDENT_BYTES, 33),
            (Figure::PEAK_VIRTUAL_BYTES, 37),
        ];
        for (figure, place) in places {
            assert_eq!(figure.index(), place);
        }
    }
}
