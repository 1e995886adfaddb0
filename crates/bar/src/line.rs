//! The line: its segments, which of them are due, and their blocks.

use std::time::Duration;

use facts::source::{Source, Wanted};
use facts::unit::Nanos;
use jiff::tz::TimeZone;
use probe::orphans::Known;
use probe::spawn::Process;
use probe::wait::Watch;
use probe::{Request, Roots, clock_now};

use super::appearance::ItemRenderer;
use super::config::{BarConfig, Member};
use super::{Block, SegmentContext, SegmentInput, Tone};
use command::failure::Failure;
use command::past::PastView;
use sampling::Formula;
use sampling::machine::MachineSampler;
use sampling::schedule::Schedule;

/// Segments and their blocks, in the order in which they are shown.
pub(crate) struct Line {
    members: Vec<Member>,
    /// For each member, the index of its sampler.
    sampler_of: Vec<usize>,
    /// One for each interval.
    samplers: Vec<MachineSampler>,
    schedule: Schedule,
    /// The members that run commands: only these are polled.
    command_segments: Vec<usize>,
    /// Background jobs were requested when the line was opened: the first tick does not request them again.
    are_jobs_requested: bool,
    /// A block for each member, then whit's own: a notice, and the text of `--debug`.
    blocks: Vec<Block>,
}

impl Line {
    /// Opens the sources that the segments request, and takes the first sample, so that the next one has rates.
    pub(crate) fn open(config: BarConfig, context: &SegmentContext) -> Result<Self, Failure> {
        let members = config.members;
        let mut intervals: Vec<Duration> = members.iter().map(|member| member.interval).collect();
        intervals.sort();
        intervals.dedup();
        let mut samplers = Vec::new();
        for interval in &intervals {
            let same = members.iter().filter(|member| member.interval == *interval);
            let sampler = open_sampler(same.clone(), &context.roots, context)?;
            samplers.push(match &context.before {
                None => sampler,
                Some(before) => sampler.since(open_sampler(same, before, context)?).ok_or_else(|| {
                    Failure::new("--root-before: not an earlier capture of the same boot: /proc/uptime of both says how much time is between them")
                })?,
            });
        }
        let place = |member: &Member| intervals.binary_search(&member.interval).unwrap_or_default();
        let sampler_of = members.iter().map(place).collect();
        let own = ["notice", "debug"].map(|kind| Block { kind, ..Block::default() });
        let blocks = members.iter().map(Member::block).chain(own).collect();
        let schedule = Schedule::new(intervals.iter().copied());
        let runs_commands = |index: &usize| members[*index].segment.commands().is_some();
        let command_segments = (0..members.len()).filter(runs_commands).collect();
        let mut line = Self {
            members,
            sampler_of,
            samplers,
            schedule,
            command_segments,
            are_jobs_requested: true,
            blocks,
        };
        match &context.past {
            None => line.members.iter_mut().for_each(|member| member.segment.tick(context)),
            // What segments read by themselves is of the present, and stays away.
            Some((at_ns, data)) => {
                let view = PastView::open(data)?;
                for sampler in &mut line.samplers {
                    *sampler = view.machine_at(*at_ns)?;
                }
            }
        }
        Ok(line)
    }

    /// Returns true if a segment is due.
    pub(crate) fn is_due(&self, now: Nanos) -> bool {
        self.schedule.is_any_due(now)
    }

    /// When a segment is due next, on the real-time clock.
    pub(crate) fn next_tick(&self, now: Nanos) -> Option<Nanos> {
        self.schedule.next(now)
    }

    /// When a segment must be polled at the latest, on the real-time clock.
    pub(crate) fn poll_deadline(&self, now: Nanos) -> Option<Nanos> {
        if self.command_segments.is_empty() { None } else { self.command_deadline(now) }
    }

    #[cold]
    fn command_deadline(&self, now: Nanos) -> Option<Nanos> {
        let members = self.command_segments.iter().map(|index| &self.members[*index]);
        let earliest = members.filter_map(|member| member.segment.commands()?.poll_deadline()).min()?;
        Some(now + earliest.saturating_sub(clock_now().boottime))
    }

    /// Samples and draws what is due at this time of the real-time clock, or everything.
    pub(crate) fn tick(
        &mut self,
        now: Nanos,
        everything: bool,
        context: &SegmentContext,
        time_zone: &TimeZone,
    ) {
        let are_jobs_requested = std::mem::take(&mut self.are_jobs_requested);
        for index in 0..self.samplers.len() {
            let is_due = self.schedule.take_due(index, now);
            if !is_due && !everything {
                continue;
            }
            match is_due {
                true => self.samplers[index].sample(),
                // Between two of its times.
                false => self.samplers[index].replace(),
            }
            for (member, sampler) in self.members.iter_mut().zip(&self.sampler_of) {
                if *sampler == index && !are_jobs_requested && context.past.is_none() {
                    member.segment.tick(context);
                }
            }
            self.draw_all_of(index, true, time_zone);
        }
    }

    /// Draws with late results of background jobs, without sampling again.
    pub(crate) fn redraw(&mut self, time_zone: &TimeZone) {
        for index in 0..self.samplers.len() {
            self.samplers[index].collect();
            self.draw_all_of(index, false, time_zone);
        }
    }

    /// After a change of the network: samples and draws at once.
    pub(crate) fn drain_events(&mut self, sampler: usize, time_zone: &TimeZone) {
        self.samplers[sampler].drain_events();
        self.samplers[sampler].replace();
        self.draw_all_of(sampler, false, time_zone);
    }

    /// Polls a segment, and draws it.
    pub(crate) fn poll(&mut self, member: usize, time_zone: &TimeZone) {
        if let Some(commands) = self.members[member].segment.commands_mut() {
            commands.poll();
        }
        self.draw(member, false, time_zone);
    }

    /// Refreshes a segment that was clicked.
    pub(crate) fn refresh(&mut self, member: usize, context: &SegmentContext) {
        self.members[member].segment.refresh(context);
    }

    /// Stops all commands, before another line replaces this one. Returns the processes that have not ended yet.
    pub(crate) fn shutdown(&mut self) -> Vec<Process> {
        self.members.iter_mut().filter_map(|member| member.segment.commands_mut()?.shutdown()).collect()
    }

    fn draw_all_of(&mut self, sampler: usize, is_tick: bool, time_zone: &TimeZone) {
        for member in 0..self.members.len() {
            if self.sampler_of[member] == sampler {
                self.draw(member, is_tick, time_zone);
            }
        }
    }

    fn draw(&mut self, member: usize, is_tick: bool, time_zone: &TimeZone) {
        let sampler = &self.samplers[self.sampler_of[member]];
        let (sample, rates, available) = (sampler.now(), sampler.rates(), sampler.available());
        let input = SegmentInput { sample, available, rates, time_zone };
        let Member { segment, appearance, .. } = &mut self.members[member];
        segment.render(&input, &mut ItemRenderer::new(appearance, &mut self.blocks[member], is_tick));
    }

    /// Returns the blocks that are shown.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Sets the notice, which is not shown if it is empty.
    pub(crate) fn set_notice(&mut self, text: &str) {
        let block = &mut self.blocks[self.members.len()];
        text.clone_into(&mut block.text);
        block.tone = if text.is_empty() { Tone::Normal } else { Tone::Urgent };
    }

    /// The text of the block of `--debug`.
    pub(crate) fn debug_text(&mut self) -> &mut String {
        &mut self.blocks[self.members.len() + 1].text
    }

    /// Polls all commands.
    pub(crate) fn poll_commands(&mut self, time_zone: &TimeZone) {
        for place in 0..self.command_segments.len() {
            self.poll(self.command_segments[place], time_zone);
        }
    }

    /// Segments, with their places.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, &Member)> {
        self.members.iter().enumerate()
    }

    /// The running commands, and what becomes readable when they print something or end.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (usize, Watch<'_>)> {
        let command_segments = self.command_segments.iter().copied();
        command_segments.filter_map(|index| Some((index, self.members[index].segment.commands()?.watch()?)))
    }

    /// The processes of all commands.
    pub(crate) fn processes(&self) -> impl Iterator<Item = Known<'_>> {
        let commands = self.members.iter().filter_map(|member| member.segment.commands());
        commands.flat_map(|commands| commands.processes()).flatten()
    }

    /// For each sampler that shows links or addresses, what becomes readable when these change.
    pub(crate) fn network_watches(&self) -> impl Iterator<Item = (usize, Watch<'_>)> {
        self.samplers.iter().enumerate().filter_map(|(index, sampler)| Some((index, sampler.watch()?)))
    }

    /// Returns true if a segment waits for its first result.
    pub(crate) fn is_waiting(&self) -> bool {
        self.members.iter().any(|member| member.segment.is_waiting())
    }

    /// System calls made for sampling.
    pub(crate) fn system_calls(&self) -> u64 {
        self.samplers.iter().map(MachineSampler::system_calls).sum()
    }
}

/// Opens the sources of segments with the same interval.
fn open_sampler<'a>(
    members: impl Iterator<Item = &'a Member> + Clone,
    roots: &Roots,
    context: &SegmentContext,
) -> Result<MachineSampler, Failure> {
    let segments = || members.clone().map(|member| &member.segment);
    let wanted = if context.before.is_some() { Wanted::NONE.with(Source::Uptime) } else { Wanted::NONE };
    let request = Request {
        wanted: segments().fold(wanted, |wanted, segment| wanted.union(segment.wanted())),
        filesystems: segments().flat_map(|segment| segment.filesystems().to_vec()).collect(),
        notifier: context.notifier.clone(),
    };
    Ok(MachineSampler::open(roots, request, Formula::IfNeeded)?)
}
