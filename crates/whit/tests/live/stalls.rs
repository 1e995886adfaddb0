//! Readers that stop reading, and files that nobody writes to: TERM ends whit all the same.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

use super::machine::{Scratch, WHIT, shell};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("term_ends_a_writer_without_a_reader", &[Need::Root], nobody_reads),
        exact("term_ends_top_on_a_terminal_without_a_reader", &[Need::Program("python3")], nobody_looks),
        exact("a_bar_that_was_not_read_goes_on_with_whole_lines", &[], reading_again),
        exact("named_files_are_opened_without_waiting", &[Need::Program("mkfifo")], named_files),
        exact("a_captured_machine_does_not_lead_out_of_itself", &[], captured),
        exact("what_commands_leave_behind_is_ended", &[Need::Program("setsid")], left_behind),
        timed(
            "commands_that_flood_are_shown_ten_times_a_second",
            &[],
            "5 to 60 lines in two seconds, of which ten a second are whit's and ten the schedule's",
            flood,
        ),
    ]
}

/// A pipe that is full.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    let mut file = File::from(writer.try_clone().unwrap());
    while file.write(&[b'x'; 4096]).is_ok() {}
    while file.write(b"x").is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

/// Whether it ends on TERM. Who waits for the end gives up sooner.
fn ends_on_term(child: &mut Child) -> bool {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    ends(child)
}

fn ends(child: &mut Child) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

fn nobody_reads() -> Result<(), Failed> {
    for (words, is_on_stderr) in [
        ("bar -i 0.1", false),
        ("bar -i 0.1 --for i3bar", false),
        ("free -s 0.1", false),
        ("top -b -d 0.1", false),
        ("delays -a -i 0.1", false),
        ("delays --exits", false),
        ("delays --exits -- sleep 30", false),
        ("delays -- true", false),
        ("sink --udp --port 0 --duration 0.2s", false),
        ("run -- true", true),
    ] {
        let (_reader, writer) = full_pipe();
        let mut command = Command::new(WHIT);
        command.args(words.split(' ')).stdin(Stdio::null());
        if is_on_stderr {
            command.stdout(Stdio::null()).stderr(writer);
        } else {
            command.stdout(writer).stderr(Stdio::null());
        }
        let mut child = command.spawn()?;
        drop(command);
        // Something to be told.
        std::thread::sleep(Duration::from_millis(400));
        shell("true; true");
        std::thread::sleep(Duration::from_millis(400));
        assert!(ends_on_term(&mut child), "whit {words} waits for its reader");
    }
    Ok(())
}

/// A pseudo-terminal takes a few kilobytes, and nobody takes them out.
fn nobody_looks() -> Result<(), Failed> {
    let script = format!(
        "import os, pty, signal, time\n\
         pid, master = pty.fork()\n\
         if pid == 0:\n    os.execv('{WHIT}', ['whit', 'top', '-d', '0.1'])\n\
         import fcntl, struct, termios\n\
         fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 200, 400, 0, 0))\n\
         time.sleep(2)\n\
         os.kill(pid, signal.SIGTERM)\n\
         for _ in range(6000):\n    \
             if os.waitpid(pid, os.WNOHANG)[0]:\n        print('ended')\n        break\n    \
             time.sleep(0.01)\n\
         else:\n    os.kill(pid, signal.SIGKILL)\n"
    );
    let output = Command::new("python3").args(["-c", &script]).output()?;
    assert_eq!(String::from_utf8(output.stdout)?, "ended\n", "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn reading_again() -> Result<(), Failed> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::pipe::fcntl_setpipe_size(&writer, 4096)?;
    // A line that has not changed is not written: one that always changes, however idle the machine is.
    let scratch = Scratch::new("clock");
    let config = scratch.0.join("whit.toml");
    std::fs::write(&config, "[[segment]]\ntype = \"date\"\nformat = \"%H:%M:%S%.9f\"\n")?;
    let mut command = Command::new(WHIT);
    command.args(["bar", "-i", "0.02", "--for", "i3bar", "--config"]).arg(&config);
    command.stdin(Stdio::null()).stdout(writer);
    let mut child = command.spawn()?;
    drop(command);
    std::thread::sleep(Duration::from_millis(1_500));
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    while text.iter().filter(|byte| **byte == b'\n').count() < 60 {
        let length = rustix::io::read(&reader, &mut chunk)?;
        text.extend_from_slice(&chunk[..length]);
    }
    assert!(ends_on_term(&mut child));
    let text = String::from_utf8(text)?;
    let lines: Vec<&str> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).skip(2).collect();
    assert!(lines.len() > 10, "{text}");
    for line in lines {
        let _: serde_json::Value = serde_json::from_str(line.trim_matches([',', '\n']))?;
    }
    Ok(())
}

fn named_files() -> Result<(), Failed> {
    let scratch = Scratch::new("named");
    let fifo = scratch.0.join("fifo");
    assert!(shell(&format!("mkfifo {}", fifo.display())).status.success());
    let fifo = fifo.to_str().unwrap();
    for path in [fifo, "/dev/zero", "/dev/tty", "/"] {
        for words in [
            format!("bar --once --config {path}"),
            format!("sink --udp --port 0 --replies {path}"),
            format!("age --tmpfiles {path}"),
        ] {
            let mut child = Command::new(WHIT)
                .args(words.split(' '))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?;
            assert!(ends(&mut child), "whit {words} waits");
            let output = child.wait_with_output()?;
            let errors = String::from_utf8(output.stderr)?;
            // A pipe to which nobody writes is an empty file of replies.
            let is_pipe = path == fifo && words.contains("--replies");
            let refusal = if is_pipe { "no [[reply]] is in it" } else { "is not a regular file" };
            assert!(!output.status.success() && errors.contains(refusal), "whit {words}: {errors}");
        }
    }
    let long = scratch.0.join("long.toml");
    std::fs::write(&long, vec![b'#'; (1 << 20) + 1])?;
    let output = shell(&format!("{WHIT} bar --once --config {}", long.display()));
    assert!(String::from_utf8(output.stderr)?.contains("is longer than 1024 KiB"));
    Ok(())
}

/// Symlinks, absolute and relative, and a FIFO where a file is expected.
fn captured() -> Result<(), Failed> {
    let scratch = Scratch::new("captured");
    let root = scratch.0.join("root");
    std::fs::create_dir_all(root.join("proc/net"))?;
    std::fs::write(scratch.0.join("meminfo"), "MemTotal: 12345678 kB\nMemFree: 1 kB\nMemAvailable: 1 kB\n")?;
    for target in [scratch.0.join("meminfo").display().to_string(), "../../meminfo".to_owned()] {
        let link = root.join("proc/meminfo");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&target, &link)?;
        let output = shell(&format!("{WHIT} free --root {} --json", root.display()));
        let told = String::from_utf8(output.stdout)?;
        assert!(!told.contains("12641974272"), "{target}: {told}");
    }
    let meminfo = root.join("proc/meminfo");
    std::fs::remove_file(&meminfo)?;
    assert!(shell(&format!("mkfifo {}", meminfo.display())).status.success());
    let mut child = Command::new(WHIT)
        .args(["free", "--root", root.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    assert!(ends(&mut child), "a FIFO in a captured machine is waited for");
    Ok(())
}

/// A command that says more than anybody reads, for two seconds.
fn flood() -> Result<(), Failed> {
    let scratch = Scratch::new("flood");
    let config = scratch.0.join("whit.toml");
    std::fs::write(
        &config,
        "[[segment]]\ntype = \"command\"\ncommand = [\"python3\", \"-c\", \"import os\\ni = 0\\nwhile 1:\\n \
         os.write(1, b'%d\\\\n' % i)\\n i += 1\"]\nruns = \"on\"\n",
    )?;
    let output = shell(&format!("timeout 2 {WHIT} bar --for plain --config {}", config.display()));
    let lines = String::from_utf8(output.stdout)?.lines().count();
    // Ten a second, the schedule's, and as many again for a machine that is late.
    assert!((5..60).contains(&lines), "{lines} lines in two seconds");
    Ok(())
}

/// Commands whose children go into sessions of their own, and that run out of time.
fn left_behind() -> Result<(), Failed> {
    let scratch = Scratch::new("left-behind");
    let config = scratch.0.join("whit.toml");
    let segment = |script: &str| {
        format!(
            "[[segment]]\ntype = \"command\"\ninterval = 0.2\ntimeout = 0.3\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"
        )
    };
    let text = [
        segment("setsid sleep 4243 & sleep 0.05; echo hi"),
        segment("(setsid sh -c 'sleep 4243 & sleep 4243' &); sleep 3"),
    ];
    std::fs::write(&config, text.concat())?;
    let mut child = Command::new(WHIT)
        .args(["bar", "--for", "plain", "--config", config.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let count = || -> usize {
        let output = shell("ps -eo args | grep -c '^sleep 424[3]'");
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    };
    std::thread::sleep(Duration::from_secs(3));
    let most = (0..5).map(|_| count()).max().unwrap_or_default();
    assert!(ends_on_term(&mut child));
    let left = count();
    shell("pkill -f '^sleep 4243'");
    assert!(most <= 8 && left == 0, "{most} while it ran, {left} at its end");
    Ok(())
}
