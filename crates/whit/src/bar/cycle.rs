//! The loop: sample, subtract, draw, write once, sleep to the next whole interval.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use facts::rate::Rates;
use facts::sample::Sample;
use facts::source::Wanted;
use facts::unit::Nanos;
use probe::{Probe, Request, clock_now, own_cpu_time};

use super::outputs::{I3bar, Plain};
use super::{Block, Output, Scene, Segment, segments};
use crate::args::{BarArgs, BarOutput};
use crate::failure::Failure;
use crate::output::Output as Stdout;
use crate::show::units::Span;
use crate::ticker::Ticker;
use crate::time_zone;

/// How long the first line waits for something to subtract.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// Draws until the count is reached or the reader goes away.
pub(crate) fn run(args: &BarArgs) -> Result<ExitCode, Failure> {
    let mut segments = segments::default_segments(&args.nets);
    let wanted = segments.iter().fold(Wanted::NONE, |wanted, segment| wanted.union(segment.wanted()));
    let request = Request { wanted, filesystems: args.disks.clone(), cpu_temperatures_only: true };
    let mut probe = Probe::open(&args.roots, &request)?;
    let width = probe.counter_width();
    // Boxed: they change places at every tick.
    let (mut before, mut now) = (Box::<Sample>::default(), Box::<Sample>::default());
    probe.sample(&mut before);
    if !args.roots.is_captured() {
        std::thread::sleep(FIRST_WAIT);
    }

    let mut output: Box<dyn Output> = match args.output {
        BarOutput::Plain => Box::new(Plain),
        BarOutput::I3bar => Box::new(I3bar::default()),
    };
    let time_zone = time_zone::system();
    let mut rates = Rates::default();
    let mut blocks: Vec<Block> =
        segments.iter().map(|segment| Block { name: segment.name(), ..Block::default() }).collect();
    let mut line = Vec::with_capacity(1024);
    output.start(&mut line);
    let mut stdout = Stdout::stdout();
    let mut ticker = Ticker::start(args.interval);
    let mut debug = args.is_debug.then(|| Debug::start(&mut blocks));
    let mut remaining = args.count;
    loop {
        if let Some(debug) = &mut debug {
            debug.begin_cycle();
        }
        probe.sample(&mut now);
        rates.fill(&before, &now, width);
        draw(&mut segments, &Scene { sample: &now, rates: &rates, time_zone: &time_zone }, &mut blocks);
        if let Some(debug) = &debug {
            debug.say(&mut blocks);
        }
        output.line(&blocks, &mut line);
        stdout.write(&line)?;
        line.clear();
        std::mem::swap(&mut before, &mut now);
        remaining = remaining.map(|remaining| remaining - 1);
        if remaining == Some(0) {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(debug) = &mut debug {
            debug.end_cycle(probe.system_calls() + stdout.calls + ticker.calls);
        }
        ticker.wait();
    }
}

fn draw(segments: &mut [Box<dyn Segment>], scene: &Scene<'_>, blocks: &mut [Block]) {
    for (segment, block) in segments.iter_mut().zip(blocks) {
        block.text.clear();
        block.urgency = super::Urgency::Normal;
        segment.say(scene, block);
    }
}

/// What each cycle costs, in a block of its own.
struct Debug {
    last: Option<Cost>,
    began: Nanos,
    calls_before: u64,
    cpu_before: Nanos,
}

/// Of a whole cycle: reading, drawing, writing, and the sleep's call.
struct Cost {
    wall: Nanos,
    cpu: Nanos,
    calls: u64,
}

impl Debug {
    fn start(blocks: &mut Vec<Block>) -> Self {
        blocks.push(Block { name: "debug", ..Block::default() });
        Self { last: None, began: Nanos(0), calls_before: 0, cpu_before: own_cpu_time() }
    }

    /// A line can only tell what the cycle before it cost.
    fn say(&self, blocks: &mut [Block]) {
        let (Some(block), Some(cost)) = (blocks.last_mut(), &self.last) else { return };
        block.text.clear();
        // A String takes whatever is written to it.
        let _ = write!(
            block.text,
            "last cycle {}, CPU {}, {} calls",
            Span(cost.wall),
            Span(cost.cpu),
            cost.calls
        );
    }

    fn begin_cycle(&mut self) {
        self.began = clock_now().monotonic;
    }

    fn end_cycle(&mut self, calls: u64) {
        // Reading the CPU time is itself a call, which a bar without --debug does not make.
        let (cpu, calls) = (own_cpu_time(), calls + 1);
        let wall = clock_now().monotonic.saturating_sub(self.began);
        let spent = cpu.saturating_sub(self.cpu_before);
        self.last = Some(Cost { wall, cpu: spent, calls: calls.saturating_sub(self.calls_before) });
        (self.cpu_before, self.calls_before) = (cpu, calls - 1);
    }
}
