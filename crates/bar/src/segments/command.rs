//! The output of a user's own command: once each time, or line by line for as long as it runs.

mod outcome;

use std::time::Duration;

use facts::unit::Nanos;
use probe::clock_now;
use probe::orphans::Known;
use probe::spawn::Process;
use probe::wait::Watch;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::segment::SegmentCommands;
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use configuration::{Fault, Options};
use outcome::{Outcome, Syntax};
use sampling::command::{CommandRun, Event};
use text::template::{Unit, Value};

pub(crate) const KIND: Kind = Kind {
    name: "command",
    about: "What a command prints. It is run without a shell, in a process group of its own, and when it or its time is over \
            all that it started is ended, too. What is to stay must be started without WHIT_RUN in its environment.",
    fields: &[
        field("text", "its first line; JSON's full_text or text"),
        field("short", "its second line; JSON's short_text"),
        field("percent", "JSON's percentage"),
        field("state", "ok, failed, timeout, missing (it could not be started)"),
        field("status", "its exit status; absent where a signal ended it, or while it runs"),
        field("cpu", "the time that its last run took on a CPU, what it started and waited for included"),
    ],
    format: "{text}",
    thresholds: &[(Tone::Warning, "state != ok")],
    interval: Some(Duration::from_secs(5)),
    options: &[
        ("command", "the program and its arguments: [\"date\", \"+%H:%M\"]"),
        (
            "output",
            "plain: lines for text, short text and colour; json: an object; auto: JSON where it begins with {",
        ),
        ("runs", "once: it prints and ends, each time; on: it runs on, and each line is shown as it comes"),
        ("timeout", "how long it may take: seconds, or \"500ms\"; 10"),
    ],
    make: |options| Ok(Box::new(Command::new(options)?)),
    ..Kind::DEFAULT
};

/// A command that runs on and ended is started again no sooner.
const RESTART_PAUSE: Nanos = Nanos(5_000_000_000);

/// One that floods the bar with lines must not keep it from everything else; the other results are reported at once.
const EVENTS_AT_A_TIME: usize = 4;

struct Command {
    words: Vec<String>,
    syntax: Syntax,
    is_running_on: bool,
    timeout: Nanos,
    run: Option<CommandRun>,
    /// Was killed and is not dead yet.
    dying: Option<Process>,
    /// Something happened while it ran: what it says may be old already.
    is_wanted_again: bool,
    /// Its last outcome.
    outcome: Outcome,
    not_before: Nanos,
}

impl Command {
    fn new(options: &Options<'_, '_>) -> Result<Self, Fault> {
        let words = options.words("command")?;
        let words = words.ok_or_else(|| options.fault("this needs command = [\"program\", \"argument\"]"))?;
        let syntaxes = [("auto", Syntax::Auto), ("plain", Syntax::Plain), ("json", Syntax::Json)];
        let timeout = options.duration("timeout")?.unwrap_or(Duration::from_secs(10));
        Ok(Self {
            words,
            syntax: options.choice("output", &syntaxes)?.unwrap_or_default(),
            is_running_on: options.choice("runs", &[("once", false), ("on", true)])?.unwrap_or(false),
            timeout: Nanos::from(timeout),
            run: None,
            dying: None,
            is_wanted_again: false,
            outcome: Outcome::default(),
            not_before: Nanos(0),
        })
    }

    /// One that still runs is not started a second time.
    fn start(&mut self) {
        let now = clock_now().boottime;
        self.bury();
        if self.run.is_some() || self.dying.is_some() || (self.is_running_on && now < self.not_before) {
            return;
        }
        self.is_wanted_again = false;
        let deadline = (!self.is_running_on).then(|| now + self.timeout);
        match CommandRun::start(&self.words, self.is_running_on, deadline) {
            Ok(run) => self.run = Some(run),
            Err(error) => {
                self.not_before = now + RESTART_PAUSE;
                self.outcome = Outcome::not_started(&self.words[0], &error);
            }
        }
    }

    fn bury(&mut self) {
        self.dying = self.dying.take().and_then(|mut process| process.ended().is_none().then_some(process));
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Line(line) => self.outcome = Outcome::of_line(&line, self.syntax),
            Event::Ended { output, ended } => {
                self.run = None;
                self.not_before = clock_now().boottime + RESTART_PAUSE;
                self.outcome = match self.is_running_on {
                    // It was to run on; its last line stands, and that it ended shows.
                    true => self.outcome.clone().ended(&self.words[0], ended),
                    false => Outcome::of_output(&output, self.syntax).ended(&self.words[0], ended),
                };
            }
            Event::TimedOut => {
                self.dying = self.run.take().map(CommandRun::kill);
                self.outcome = self.outcome.clone().timed_out(&self.words[0]);
            }
        }
    }
}

impl Segment for Command {
    fn tick(&mut self, _workshop: &SegmentContext) {
        self.start();
    }

    fn refresh(&mut self, context: &SegmentContext) {
        self.is_wanted_again = self.run.is_some() && !self.is_running_on;
        self.tick(context);
    }

    fn commands(&self) -> Option<&dyn SegmentCommands> {
        Some(self)
    }

    fn commands_mut(&mut self) -> Option<&mut dyn SegmentCommands> {
        Some(self)
    }

    fn is_waiting(&self) -> bool {
        self.run.is_some() && self.outcome.is_nothing()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let outcome = &self.outcome;
        if outcome.is_nothing() {
            return;
        }
        items.only(&[
            Value::text(&outcome.text),
            Value::text(&outcome.short),
            Value::number_of(outcome.percent, Unit::Percent),
            Value::Text(outcome.state.name()),
            Value::number_of(outcome.status.map(f64::from), Unit::Count),
            Value::number_of(outcome.cpu.map(|cpu| cpu.as_secs_f64()), Unit::Seconds),
        ]);
        let tone = if outcome.is_urgent { Tone::Urgent } else { Tone::Normal };
        items.paint(tone, outcome.color, outcome.background);
    }
}

impl SegmentCommands for Command {
    fn watch(&self) -> Option<Watch<'_>> {
        self.run.as_ref().and_then(CommandRun::watch)
    }

    fn poll(&mut self) {
        self.bury();
        for _ in 0..EVENTS_AT_A_TIME {
            let event = self.run.as_mut().and_then(|run| run.next(clock_now().boottime));
            let Some(event) = event else { break };
            self.take(event);
        }
        if self.is_wanted_again && self.run.is_none() {
            self.start();
        }
    }

    fn shutdown(&mut self) -> Option<Process> {
        self.run.take().map(CommandRun::kill).or_else(|| self.dying.take())
    }

    fn processes(&self) -> [Option<Known<'_>>; 2] {
        let dying = self.dying.as_ref().map(|process| Known { pid: process.id().cast_unsigned(), run: None });
        [self.run.as_ref().map(CommandRun::known), dying]
    }

    fn poll_deadline(&self) -> Option<Nanos> {
        self.run.as_ref().and_then(CommandRun::deadline)
    }
}
