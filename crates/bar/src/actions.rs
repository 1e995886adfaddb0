//! The commands that a segment has for clicks.

/// The commands of a segment, button by button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actions {
    commands: Vec<(Button, Vec<String>)>,
}

/// A button, by the name it has in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Button {
    pub(crate) name: &'static str,
    /// X11's number.
    number: u32,
}

/// The buttons there are.
pub(crate) const BUTTONS: [Button; 9] = [
    Button { name: "left", number: 1 },
    Button { name: "middle", number: 2 },
    Button { name: "right", number: 3 },
    Button { name: "scroll_up", number: 4 },
    Button { name: "scroll_down", number: 5 },
    Button { name: "scroll_left", number: 6 },
    Button { name: "scroll_right", number: 7 },
    Button { name: "back", number: 8 },
    Button { name: "forward", number: 9 },
];

impl Actions {
    pub(crate) fn add(&mut self, button: Button, command: Vec<String>) {
        self.commands.push((button, command));
    }

    /// For a button, by X11's number.
    pub(crate) fn command(&self, number: u32) -> Option<&[String]> {
        let found = self.commands.iter().find(|(button, _)| button.number == number);
        found.map(|(_, command)| command.as_slice())
    }
}
