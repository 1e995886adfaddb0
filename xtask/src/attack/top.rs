//! The attack on the screen of `whit top`: a pseudo-terminal, random keys, sizes down to 0 by 0, and signals.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::arena::{Arena, Random, SKIPPED, text};

/// Typed at random: every key that does something, and some that do not.
const KEYS: [&[u8]; 52] = [
    b"h",
    b"?",
    b"q",
    b"\x1b",
    b"\r",
    b"\t",
    b" ",
    b"/",
    b"\\",
    b"t",
    b"H",
    b"1",
    b"c",
    b"p",
    b"u",
    b"g",
    b"s",
    b"r",
    b"k",
    b"n",
    b"o",
    b"f",
    b"F",
    b"d",
    b"i",
    b"+",
    b"-",
    b"<",
    b">",
    b"x",
    b"\x1a",
    b"\x0c",
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[C",
    b"\x1b[D",
    b"\x1b[5~",
    b"\x1b[6~",
    b"\x1b[H",
    b"\x1b[F",
    b"\x7f",
    b"abc",
    b"\xff\xfe",
    b"\x1b[<0;5;5M",
    b"\x1b[<64;3;9M",
    b"\x1b[200~x\x1b[201~",
    b"\xc3\xa9",
    // Cut: a program that waits for the rest hears no signal.
    b"\xc3",
    b"\x1b[",
    b"\x1bO",
    b"\x1b[<0;5",
    b"0",
];
const SIZES: [(u16, u16); 14] = [
    (0, 0),
    (0, 80),
    (24, 0),
    (1, 1),
    (1, 80),
    (24, 1),
    (2, 2),
    (3, 7),
    (5, 20),
    (15, 40),
    (24, 80),
    (50, 200),
    (500, 9),
    (65_535, 65_535),
];
const SIGNALS: [Signal; 10] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::IO,
];

/// One life of the screen. It ends by a key or a signal, and leaves the terminal as it found it.
pub(super) fn keys_sizes_and_signals(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(text)?;
    grantpt(&master).map_err(text)?;
    unlockpt(&master).map_err(text)?;
    let name = ptsname(&master, Vec::new()).map_err(text)?;
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).map_err(text)?;
    let before = tcgetattr(&slave).map_err(text)?.local_modes;
    resize(&master, SIZES[random.below(SIZES.len() as u64) as usize])?;
    let stream = || -> Result<Stdio, String> { Ok(slave.try_clone().map_err(text)?.into()) };
    let source = if random.below(4) == 0 { "bpf" } else { "procfs" };
    // A shell that starts this in the background has set INT and QUIT to be ignored.
    let spawned = Command::new("env")
        .args([
            "--default-signal",
            "setsid",
            "--ctty",
            arena.program(),
            "top",
            "-d",
            "0.1",
            "--tasks",
            source,
        ])
        .env("TERM", "xterm-256color")
        .env("XDG_CONFIG_HOME", arena.tree())
        .stdin(stream()?)
        .stdout(stream()?)
        .stderr(stream()?)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("{SKIPPED}no setsid"));
        }
        Err(error) => return Err(text(error)),
    };
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or("no pid")?;
    ioctl_fionbio(&master, true).map_err(text)?;
    let mut terminal = File::from(master.try_clone().map_err(text)?);
    let mut output = Vec::new();
    let mut log = String::new();
    let mut step = |what: String| {
        log.push_str(&what);
        log.push(' ');
    };
    let deadline = Instant::now() + Duration::from_millis(200 + random.below(1_500));
    let mut status = None;
    while status.is_none() && Instant::now() < deadline {
        drain(&mut terminal, &mut output);
        match random.below(12) {
            0..7 => {
                let key = KEYS[random.below(KEYS.len() as u64) as usize];
                step(format!("key {key:?}"));
                // A full queue of keys is not the matter here.
                let _ = terminal.write(key);
            }
            7..10 => {
                let size = SIZES[random.below(SIZES.len() as u64) as usize];
                step(format!("size {size:?}"));
                resize(&master, size)?;
                let _ = kill_process(pid, Signal::WINCH);
            }
            10 => {
                step("stop and continue".to_owned());
                for signal in [Signal::TSTP, Signal::STOP, Signal::CONT] {
                    let _ = kill_process(pid, signal);
                    std::thread::sleep(random.micros(3_000));
                }
            }
            _ => {}
        }
        std::thread::sleep(random.micros(40_000));
        status = child.try_wait().map_err(text)?;
    }
    let signal = SIGNALS[random.below(SIGNALS.len() as u64) as usize];
    if status.is_none() {
        step(format!("{signal:?}"));
        let _ = kill_process(pid, signal);
        let _ = kill_process(pid, Signal::CONT);
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut continue_at = Instant::now() + Duration::from_secs(1);
    while status.is_none() {
        // A Ctrl-Z may be carried out after it was continued; a person would continue it again.
        if Instant::now() > continue_at {
            let _ = kill_process(pid, Signal::CONT);
            continue_at += Duration::from_secs(1);
        }
        drain(&mut terminal, &mut output);
        std::thread::sleep(Duration::from_millis(5));
        status = child.try_wait().map_err(text)?;
        if Instant::now() > deadline {
            let waits_in = std::fs::read_to_string(format!("/proc/{}/wchan", child.id())).unwrap_or_default();
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it waits in {waits_in:?} and did not end after {log}"));
        }
    }
    drain(&mut terminal, &mut output);
    let ending = status.map(|status| (status.code(), status.signal())).unwrap_or_default();
    let modes = tcgetattr(&slave).map_err(text)?.local_modes;
    judge(&output, ending, modes == before && modes.contains(LocalModes::ICANON | LocalModes::ECHO), signal)
        .map_err(|finding| format!("{finding}, after {log}"))
}

fn judge(
    output: &[u8],
    ending: (Option<i32>, Option<i32>),
    is_restored: bool,
    signal: Signal,
) -> Result<(), String> {
    let last = |sequence: &[u8]| output.windows(sequence.len()).rposition(|window| window == sequence);
    let words = String::from_utf8_lossy(output);
    // Not the same words in the command line of a row.
    if let Some(place) = words.find(" panicked at ").or_else(|| words.find("memory allocation of")) {
        return Err(format!("it panicked: {}", words[place..].chars().take(200).collect::<String>()));
    }
    // A screen that was never taken need not be given back.
    for (taken, given_back) in [(&b"\x1b[?1049h"[..], &b"\x1b[?1049l"[..]), (b"\x1b[?1000h", b"\x1b[?1000l")]
    {
        if last(taken).is_some_and(|taken| last(given_back).is_none_or(|given_back| given_back < taken)) {
            return Err(format!("{:?} was not given back ({ending:?})", String::from_utf8_lossy(taken)));
        }
    }
    if !is_restored {
        return Err(format!("the terminal is still raw ({ending:?})"));
    }
    match ending {
        (Some(0), None) => Ok(()),
        (None, Some(by)) if by == signal.as_raw() => Ok(()),
        // Too small a limit, no permission: said in words.
        (Some(1), None) if words.contains("whit:") => Ok(()),
        ending => Err(format!("it ended as {ending:?}")),
    }
}

fn resize(master: &OwnedFd, (rows, columns): (u16, u16)) -> Result<(), String> {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master.as_fd(), size).map_err(text)
}

fn drain(terminal: &mut File, output: &mut Vec<u8>) {
    let mut chunk = [0; 64 * 1024];
    while let Ok(length @ 1..) = terminal.read(&mut chunk) {
        output.extend_from_slice(&chunk[..length]);
        // What matters is at the end; a sequence may be cut in two.
        if output.len() > 4 << 20 {
            output.drain(..2 << 20);
        }
    }
}
