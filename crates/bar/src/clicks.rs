//! Carries out clicks on a block, and turns of the wheel over it. They come from i3bar and swaybar only: the other bars run a shell for
//! them.

use formats::i3bar::Click;
use probe::orphans::Known;
use probe::spawn::Process;

use super::config::Member;
use command::failure::write_stderr_if_ready;

/// Commands that clicks have started and that still run, and others that are dying.
#[derive(Debug, Default)]
pub(crate) struct Started(Vec<Running>);

/// A command that was started by a click, and the segment that was clicked.
#[derive(Debug)]
struct Running {
    process: Process,
    /// `None` if that is gone.
    member: Option<usize>,
}

/// A finger that rests on a button, or a wheel that is spun, must not fill the machine; windows that were opened count.
const MAX_RUNNING: usize = 64;

impl Started {
    /// Carries a click out. The place of the segment that was meant, if there is one.
    pub(crate) fn click<'a>(
        &mut self,
        click: &Click,
        mut members: impl Iterator<Item = (usize, &'a Member)>,
    ) -> Option<usize> {
        let is_meant = |member: &Member| {
            click.name.as_deref() == Some(member.kind.name)
                && click.instance.as_deref().is_none_or(|instance| instance == member.instance)
        };
        let (index, member) = members.find(|(_, member)| is_meant(member))?;
        if let Some(command) = member.actions.command(click.button)
            && self.0.len() < MAX_RUNNING
        {
            let numbers = [click.button.into(), click.x, click.y, click.relative_x, click.relative_y];
            let [button, x, y, relative_x, relative_y] = numbers.map(|number: i64| number.to_string());
            let modifiers = click.modifiers.join(" ");
            let environment = [
                ("WHIT_SEGMENT", member.kind.name),
                ("WHIT_INSTANCE", &member.instance),
                ("WHIT_BUTTON", &button),
                ("WHIT_X", &x),
                ("WHIT_Y", &y),
                ("WHIT_RELATIVE_X", &relative_x),
                ("WHIT_RELATIVE_Y", &relative_y),
                ("WHIT_MODIFIERS", &modifiers),
                // What scripts for i3blocks look at.
                ("BLOCK_NAME", member.kind.name),
                ("BLOCK_INSTANCE", &member.instance),
                ("BLOCK_BUTTON", &button),
            ];
            match Process::start(command, &environment) {
                Ok(process) => self.0.push(Running { process, member: Some(index) }),
                Err(error) => write_stderr_if_ready(&format!("whit: {}: {error}\n", command[0])),
            }
        }
        Some(index)
    }

    /// Another line takes the place of the one that was clicked on; what is still dying of that one comes here.
    pub(crate) fn take_over(&mut self, dying: Vec<Process>) {
        self.0.iter_mut().for_each(|running| running.member = None);
        self.0.extend(dying.into_iter().map(|process| Running { process, member: None }));
    }

    /// Returns the processes that run.
    pub(crate) fn processes(&self) -> impl Iterator<Item = Known<'_>> {
        self.0.iter().map(|running| Known { pid: running.process.id().cast_unsigned(), run: None })
    }

    /// Removes those that have ended, and returns their segments, whose values may have changed.
    pub(crate) fn reap(&mut self) -> Vec<usize> {
        let mut clicked = Vec::new();
        self.0.retain_mut(|running| {
            let has_ended = running.process.ended().is_some();
            clicked.extend(running.member.filter(|_| has_ended));
            !has_ended
        });
        clicked
    }
}

impl Drop for Started {
    /// Leaves those that still run to themselves: a terminal that was opened by a click outlives the bar.
    fn drop(&mut self) {
        self.0.drain(..).for_each(|running| running.process.leave());
    }
}
