//! The bar in a real i3bar, and as the name of the root window, on a screen in memory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use super::machine::{Load, PATIENCE, Scratch, WHIT};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let screen = Need::Program("Xvfb");
    vec![
        exact(
            "a_real_i3bar_shows_the_bar_and_tells_clicks",
            &[screen, Need::Program("i3"), Need::Program("xdotool")],
            i3bar,
        ),
        exact("dwm_reads_the_root_windows_name", &[screen, Need::Program("xprop")], dwm),
    ]
}

/// A screen, which goes with the trial.
struct Screen {
    server: Child,
    display: String,
}

impl Screen {
    fn start() -> Self {
        // It takes the first number that is free, and tells it when it is ready.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1600x400x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { server, display: format!(":{}", line.trim()) }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Tries until there is an answer.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Failed> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(found) = look() {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(format!("{what}: nothing in {} seconds", PATIENCE.as_secs()).into())
}

fn i3bar() -> Result<(), Failed> {
    let scratch = Scratch::new("i3bar");
    let at = |name: &str| scratch.0.join(name).display().to_string();
    // Told by nothing but its parent whom it writes for. One block fills the bar: wherever the click goes, it is meant.
    let write = format!("[\"sh\", \"-c\", \"echo $WHIT_SEGMENT $WHIT_BUTTON > {}\"]", at("clicked"));
    let words = "x".repeat(120);
    fs::write(
        at("bar.toml"),
        format!("[[segment]]\ntype = \"text\"\nformat = \"{words}\"\nclick = {write}\n"),
    )?;
    let config = format!(
        "# i3 config file (v4)\nfont pango:monospace 12\nbar {{\n  position top\n  status_command {WHIT} bar --config {}\n}}\n",
        at("bar.toml")
    );
    fs::write(at("i3.conf"), config)?;
    let screen = Screen::start();
    let _i3 = until("the screen", || {
        let mut child =
            screen.command("i3").args(["-c", &at("i3.conf")]).stdout(Stdio::null()).spawn().ok()?;
        std::thread::sleep(Duration::from_millis(700));
        // Before the screen is there it ends at once.
        child.try_wait().ok()?.is_none().then_some(Load(child))
    })?;
    // i3bar has a window for each screen, of the class i3bar.
    let window = until("i3bar's window", || {
        let found = screen.command("xdotool").args(["search", "--class", "i3bar"]).output().ok()?;
        let text = String::from_utf8(found.stdout).ok()?;
        text.lines().last().map(str::to_owned)
    })?;
    let clicked = until("the click", || {
        // The block stands at the right end of a bar 1600 wide.
        let moved = ["mousemove", "--window", &window, "1400", "8", "click", "1"];
        screen.command("xdotool").args(moved).status().ok()?;
        fs::read_to_string(at("clicked")).ok().filter(|text| text.ends_with('\n'))
    })?;
    assert_eq!(clicked, "text 1\n");
    Ok(())
}

fn dwm() -> Result<(), Failed> {
    let screen = Screen::start();
    let scratch = Scratch::new("dwm");
    let config = scratch.0.join("bar.toml");
    fs::write(
        &config,
        "[[segment]]\ntype = \"text\"\nformat = \"whit ß\"\n[[segment]]\ntype = \"uptime\"\n",
    )?;
    let name = until("the name", || {
        let mut bar = screen.command(WHIT);
        bar.args(["bar", "--once", "--for", "dwm", "--config"]).arg(&config);
        // Before the screen is there it says so.
        bar.status().ok().filter(std::process::ExitStatus::success)?;
        let output = screen.command("xprop").args(["-root", "-notype", "WM_NAME"]).output().ok()?;
        String::from_utf8(output.stdout).ok()
    })?;
    assert!(name.contains("whit") && name.contains("| up "), "{name}");
    let refused = Command::new(WHIT)
        .args(["bar", "--once", "--for", "dwm", "--config"])
        .arg(&config)
        .env("DISPLAY", ":99999")
        .output()?;
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr)?;
    assert!(told.starts_with("whit: the X server ($DISPLAY): "), "{told}");
    Ok(())
}
