//! One output, one file: for whom, in what form.

mod detect;
#[cfg(feature = "x11")]
mod dwm;
mod escape;
mod i3bar;
mod lemonbar;
mod plain;
mod tmux;
mod waybar;
mod xmobar;

pub(crate) use detect::detect;
pub(crate) use i3bar::STOP_SIGNAL;

use super::LineOutput;
use crate::arguments::BarOutput;
use command::failure::Failure;

/// The output for a reader.
///
/// # Errors
/// If it has to be connected to, and cannot.
pub(crate) fn open(output: BarOutput) -> Result<Box<dyn LineOutput>, Failure> {
    Ok(match output {
        BarOutput::Plain => Box::new(plain::Plain::new()),
        BarOutput::I3bar => Box::new(i3bar::I3bar::default()),
        BarOutput::Waybar => Box::new(waybar::Waybar::default()),
        BarOutput::Tmux => Box::new(tmux::Tmux),
        BarOutput::Xmobar => Box::new(xmobar::Xmobar),
        BarOutput::Lemonbar => Box::new(lemonbar::Lemonbar),
        BarOutput::Polybar => Box::new(lemonbar::Polybar),
        #[cfg(feature = "x11")]
        BarOutput::Dwm => Box::new(dwm::Dwm::open()?),
        #[cfg(not(feature = "x11"))]
        BarOutput::Dwm => return Err(Failure::new("--for dwm: this whit was built without X11")),
    })
}
