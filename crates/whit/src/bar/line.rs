//! The line: its segments, what is due of them, and their blocks.

use std::time::Duration;

use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::clock_now;
use probe::orphans::Known;
use probe::spawn::Process;
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
    /// Slow things were asked when the line was opened: the first draw need not ask again.
    is_asked: bool,
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
        let mut line = Self { members, cadence_of, cadences, schedule, is_asked: true, blocks };
        line.members.iter_mut().for_each(|member| member.segment.tick(workshop));
        Ok(line)
    }

    /// Whether anything is due.
    pub(crate) fn is_due(&self, now: Nanos) -> bool {
        self.schedule.is_any_due(now)
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

    /// Reads and draws what is due at this time of the real-time clock, or everything.
    pub(crate) fn tick(&mut self, now: Nanos, everything: bool, workshop: &Workshop, time_zone: &TimeZone) {
        let is_asked = std::mem::take(&mut self.is_asked);
        for index in 0..self.cadences.len() {
            let is_due = self.schedule.take_due(index, now);
            if !is_due && !everything {
                continue;
            }
            self.cadences[index].sample(!is_due);
            for (member, cadence) in self.members.iter_mut().zip(&self.cadence_of) {
                if *cadence == index && !is_asked {
                    member.segment.tick(workshop);
                }
            }
            self.draw_cadence(index, true, time_zone);
        }
    }

    /// Draws with what was answered late, without reading anything again.
    pub(crate) fn redraw(&mut self, time_zone: &TimeZone) {
        for index in 0..self.cadences.len() {
            self.cadences[index].collect();
            self.draw_cadence(index, false, time_zone);
        }
    }

    /// Takes news of the network, reads and draws at once.
    pub(crate) fn hear(&mut self, cadence: usize, time_zone: &TimeZone) {
        self.cadences[cadence].hear();
        self.cadences[cadence].sample(true);
        self.draw_cadence(cadence, false, time_zone);
    }

    /// Lets a segment look after its command, and draws it.
    pub(crate) fn attend(&mut self, member: usize, time_zone: &TimeZone) {
        self.members[member].segment.attend();
        self.draw(member, false, time_zone);
    }

    /// Has one segment's time come at once: it was clicked on.
    pub(crate) fn hurry(&mut self, member: usize, workshop: &Workshop) {
        self.members[member].segment.hurry(workshop);
    }

    /// Ends what is under way, for another line to take this one's place; what is still dying.
    pub(crate) fn retire(&mut self) -> Vec<Process> {
        self.members.iter_mut().filter_map(|member| member.segment.retire()).collect()
    }

    fn draw_cadence(&mut self, cadence: usize, is_tick: bool, time_zone: &TimeZone) {
        for member in 0..self.members.len() {
            if self.cadence_of[member] == cadence {
                self.draw(member, is_tick, time_zone);
            }
        }
    }

    fn draw(&mut self, member: usize, is_tick: bool, time_zone: &TimeZone) {
        let scene = self.cadences[self.cadence_of[member]].scene(time_zone);
        let Member { segment, look, .. } = &mut self.members[member];
        segment.say(&scene, &mut Items::new(look, &mut self.blocks[member], is_tick));
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

    /// The text of the block for what a cycle costs.
    pub(crate) fn debug_text(&mut self) -> &mut String {
        &mut self.blocks[self.members.len() + 1].text
    }

    /// Segments, with their places.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.members.iter().enumerate()
    }

    /// The commands that are under way, and what becomes readable when they print something or end.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (usize, Watch<'_>)> {
        self.members().filter_map(|(index, member)| Some((index, member.segment.watch()?)))
    }

    /// The processes of all commands.
    pub(crate) fn processes(&self) -> impl Iterator<Item = Known<'_>> {
        self.members.iter().flat_map(|member| member.segment.processes()).flatten()
    }

    /// What becomes readable when links or addresses change that a cadence shows.
    pub(crate) fn news(&self) -> impl Iterator<Item = (usize, Watch<'_>)> {
        self.cadences.iter().enumerate().filter_map(|(index, cadence)| Some((index, cadence.watch()?)))
    }

    /// Whether a segment's first answer is still to come.
    pub(crate) fn is_waiting(&self) -> bool {
        self.members.iter().any(|member| member.segment.is_waiting())
    }

    /// System calls made to read the machine.
    pub(crate) fn system_calls(&self) -> u64 {
        self.cadences.iter().map(Cadence::system_calls).sum()
    }
}
