//! The line: its segments, what is due of them, and their blocks.

use std::time::Duration;

use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::clock_now;
use probe::wait::Watch;

use super::cadence::Cadence;
use super::config::{BarConfig, Member};
use super::look::Items;
use super::schedule::Schedule;
use super::{Block, Tone, Workshop};
use crate::failure::Failure;

/// Segments and their blocks, in the order in which they are shown.
pub(crate) struct Line {
    members: Vec<Member>,
    /// Of each member the place of its cadence.
    cadence_of: Vec<usize>,
    cadences: Vec<Cadence>,
    schedule: Schedule,
    /// A block for each member, then whit's own: a notice, and what `--debug` says.
    blocks: Vec<Block>,
}

impl Line {
    /// Opens what the segments want, and takes the first reading, so that the next has something to subtract.
    pub(crate) fn open(config: BarConfig, workshop: &Workshop) -> Result<Self, Failure> {
        let members = config.members;
        let mut intervals: Vec<Duration> = members.iter().map(|member| member.interval).collect();
        intervals.sort();
        intervals.dedup();
        let mut cadences = Vec::new();
        for interval in &intervals {
            let same = members.iter().filter(|member| member.interval == *interval);
            cadences.push(Cadence::open(*interval, same, workshop)?);
        }
        let place = |member: &Member| intervals.binary_search(&member.interval).unwrap_or_default();
        let cadence_of = members.iter().map(place).collect();
        let own = ["notice", "debug"].map(|kind| Block { kind, ..Block::default() });
        let blocks = members.iter().map(Member::block).chain(own).collect();
        let schedule = Schedule::new(cadences.iter().map(|cadence| cadence.interval));
        let mut line = Self { members, cadence_of, cadences, schedule, blocks };
        line.cadences.iter_mut().for_each(|cadence| cadence.sample(false));
        line.members.iter_mut().for_each(|member| member.segment.tick(workshop));
        Ok(line)
    }

    /// Reads and draws what is due at this time of the real-time clock, or everything.
    /// Whether anything was due.
    pub(crate) fn tick(
        &mut self,
        now: Nanos,
        everything: bool,
        workshop: &Workshop,
        time_zone: &TimeZone,
    ) -> bool {
        let mut any = false;
        for index in 0..self.cadences.len() {
            let is_due = self.schedule.take_due(index, now);
            if !is_due && !everything {
                continue;
            }
            any = true;
            self.cadences[index].sample(!is_due);
            for member in 0..self.members.len() {
                if self.cadence_of[member] == index {
                    self.members[member].segment.tick(workshop);
                    self.draw(member, true, time_zone);
                }
            }
        }
        any
    }

    /// Draws with what was answered late, without reading anything again.
    pub(crate) fn redraw(&mut self, time_zone: &TimeZone) {
        self.cadences.iter_mut().for_each(Cadence::collect);
        for member in 0..self.members.len() {
            self.draw(member, false, time_zone);
        }
    }

    fn draw(&mut self, index: usize, is_tick: bool, time_zone: &TimeZone) {
        let scene = self.cadences[self.cadence_of[index]].scene(time_zone);
        let member = &mut self.members[index];
        let mut items = Items::new(&mut member.look, &mut self.blocks[index], is_tick);
        member.segment.say(&scene, &mut items);
    }

    /// Lets a segment look after its command, and draws it.
    pub(crate) fn attend(&mut self, index: usize, time_zone: &TimeZone) {
        self.members[index].segment.attend();
        self.draw(index, false, time_zone);
    }

    /// Has one segment's time come at once: it was clicked on.
    pub(crate) fn hurry(&mut self, index: usize, workshop: &Workshop) {
        self.members[index].segment.tick(workshop);
    }

    /// What is shown.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Says something of whit's own; nothing where it is empty.
    pub(crate) fn set_notice(&mut self, text: &str) {
        let block = &mut self.blocks[self.members.len()];
        text.clone_into(&mut block.text);
        block.tone = if text.is_empty() { Tone::Normal } else { Tone::Urgent };
    }

    /// The block for what a cycle costs.
    pub(crate) fn debug_text(&mut self) -> &mut String {
        &mut self.blocks[self.members.len() + 1].text
    }

    /// Segments, with their places.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.members.iter().enumerate()
    }

    /// What segments wait for, with their places.
    pub(crate) fn watches(&self) -> impl Iterator<Item = (usize, Watch<'_>)> {
        self.members().filter_map(|(index, member)| Some((index, member.segment.watch()?)))
    }

    /// When a segment is due next, on the real-time clock.
    pub(crate) fn next_tick(&self, now: Nanos) -> Option<Nanos> {
        self.schedule.next(now)
    }

    /// When a segment has to attend to what it has under way at the latest, on the real-time clock.
    pub(crate) fn attend_by(&self, now: Nanos) -> Option<Nanos> {
        let earliest = self.members.iter().filter_map(|member| member.segment.attend_by()).min()?;
        Some(now + earliest.saturating_sub(clock_now().boottime))
    }

    /// System calls made to read the machine.
    pub(crate) fn system_calls(&self) -> u64 {
        self.cadences.iter().map(Cadence::system_calls).sum()
    }
}
