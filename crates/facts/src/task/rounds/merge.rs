//! Several rounds that become one: differences add up, and exit records stay.

use foldhash::HashMap;
use std::ops::Range;

use super::fields::{self, LIVING};
use super::tables::{ROUND, Round, RoundTables};

impl RoundTables {
    /// Returns the same tables with one round for each range of rounds. The ranges follow each other, from the first round on.
    pub fn merge(&self, ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut merged = Self::default();
        let mut rows = [0; 3];
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            let mut one = Merged::default();
            for round in range.clone() {
                one.add(self, round, &mut rows);
            }
            one.push(self, range.end - 1, &mut merged);
        }
        merged
    }
}

/// Rounds that become one.
#[derive(Debug, Default)]
struct Merged {
    /// The sum of each task's differences, in the order in which they came.
    living: Vec<Option<[u64; LIVING]>>,
    place_of: HashMap<u64, usize>,
    /// Tasks that were there before these rounds.
    gone: Vec<u64>,
    /// Rows of exit records, with the rounds that they came in.
    ended: Vec<(usize, usize)>,
    sums: [u64; ROUND],
}

/// Numbers of a round that add up.
const SUMS: [Round; 4] = [Round::LostExits, Round::LeftOut, Round::LeftOutCpu, Round::EndedThreadsCpu];

impl Merged {
    /// Adds a round, whose rows begin at `rows`; these are then those of the next.
    fn add(&mut self, chunk: &RoundTables, round: usize, rows: &mut [usize; 3]) {
        let counts = chunk.row_counts(round);
        for row in rows[1]..rows[1] + counts[1] {
            let pid = chunk.gone.get(row, 0);
            let merged = self.place_of.remove(&pid).and_then(|place| self.living[place].take());
            // The differences of a task that started in these rounds begin with its start.
            if merged.is_none_or(|merged| !fields::is_first(&merged)) {
                self.gone.push(pid);
            }
        }
        for row in rows[0]..rows[0] + counts[0] {
            let difference = chunk.living.row(row);
            let place = *self.place_of.entry(chunk.living.get(row, 0)).or_insert_with(|| {
                self.living.push(None);
                self.living.len() - 1
            });
            let merged = self.living[place].get_or_insert([0; LIVING]);
            fields::add(merged, difference);
        }
        self.ended.extend((rows[2]..rows[2] + counts[2]).map(|row| (row, round)));
        for column in SUMS {
            self.sums[column as usize] += chunk.round(round, column);
        }
        self.sums[Round::IsFirst as usize] |= chunk.round(round, Round::IsFirst);
        rows.iter_mut().zip(counts).for_each(|(row, count)| *row += count);
    }

    /// Writes it as a round at the time of the last one.
    fn push(self, chunk: &RoundTables, last: usize, merged_tables: &mut RoundTables) {
        let mut round: Vec<u64> = chunk.rounds.row(last).collect();
        for column in SUMS.into_iter().chain([Round::IsFirst]) {
            round[column as usize] = self.sums[column as usize];
        }
        let living: Vec<_> = self.living.into_iter().flatten().collect();
        round[Round::Living as usize] = living.len() as u64;
        round[Round::Gone as usize] = self.gone.len() as u64;
        round[Round::Ended as usize] = self.ended.len() as u64;
        merged_tables.rounds.push(&round);
        living.iter().for_each(|row| merged_tables.living.push(row));
        self.gone.iter().for_each(|pid| merged_tables.gone.push(&[*pid]));
        let boottime = chunk.clock(last).boottime;
        for (row, came_in) in self.ended {
            let mut numbers: Vec<u64> = chunk.ended.row(row).collect();
            fields::delay_ended(&mut numbers, boottime.saturating_sub(chunk.clock(came_in).boottime));
            merged_tables.ended.push(&numbers);
        }
    }
}
