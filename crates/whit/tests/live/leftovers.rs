//! Private directories of `whit age --delete`: of runs that were killed, and planted by neighbours.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use super::age::{DAY, find, make};
use super::machine::{Scratch, WHIT, documents, shell};
use super::trials::{Need, Trial, exact};

/// Kills whit where it would delete, with what it deletes in a private directory.
const KILLED: &str = "strace -f -o /dev/null -e inject=unlinkat:error=EIO:signal=KILL:when=1";

pub(crate) fn trials() -> Vec<Trial> {
    let strace = Need::Program("strace");
    vec![
        exact("a_planted_leftover_is_left_alone", &[], planted_leftover),
        exact("what_a_killed_run_had_aside_is_put_back", &[strace], killed_run),
        exact("what_cannot_be_put_back_is_reported_until_it_can", &[Need::Root, strace], obstacle),
        exact("a_directory_that_takes_the_place_of_a_new_one_is_not_emptied_later", &[strace], taken_for_own),
        exact("a_locked_private_directory_delays_no_other_run", &[Need::Program("flock")], locked_directory),
    ]
}

/// Deletion from a tree with one old file, by runs that share the place of their records.
struct Deletion {
    scratch: Scratch,
    tree: PathBuf,
}

impl Deletion {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let tree = scratch.0.join("tree");
        fs::create_dir(&tree).unwrap();
        make(&tree.join("old"), DAY * 30);
        Self { scratch, tree }
    }

    fn run(&self, before: &str) -> Output {
        // A directory that is as new as the run could be another run's.
        std::thread::sleep(Duration::from_millis(20));
        let (state, tree) = (self.scratch.0.join("state"), self.tree.display());
        let state = state.display();
        shell(&format!("XDG_STATE_HOME={state} {before} {WHIT} age --delete --older 7d --json {tree}"))
    }
}

/// The user's own private directory, which a neighbour renamed: nothing proves that whit made it.
fn planted_leftover() -> Result<(), Failed> {
    let scratch = Scratch::new("planted");
    for name in [".whit-age-4194304-17-0", ".whit-age-0123456789abcdef"] {
        let private = scratch.0.join(name);
        fs::create_dir(&private)?;
        fs::set_permissions(&private, fs::Permissions::from_mode(0o700))?;
        make(&private.join("old"), DAY * 30);
    }
    // A directory that is as new as the run could be another run's.
    std::thread::sleep(Duration::from_millis(20));
    for words in [&["--older", "7d"][..], &["-r", "--older", "7d", "--empty"], &["-r", "--keep-files", "0"]] {
        let output =
            Command::new(WHIT).args(["age", "--delete", "--json"]).args(words).arg(&scratch.0).output()?;
        let told = &documents(std::str::from_utf8(&output.stdout)?)[0];
        assert_eq!(
            (&told["deleted"]["files"], &told["unproven_directories"]),
            (&0.into(), &2.into()),
            "{told}"
        );
        let errors = String::from_utf8(output.stderr)?;
        assert_eq!(errors.matches("left alone").count(), 2, "{errors}");
        assert_eq!(find(&scratch.0, "-type f").len(), 2);
    }
    Ok(())
}

/// Killed between moving a file aside and deleting it. The next run puts it back and the one after it deletes it.
fn killed_run() -> Result<(), Failed> {
    let deletion = Deletion::new("killed");
    let (scratch, tree) = (&deletion.scratch, &deletion.tree);
    deletion.run(KILLED);
    assert_eq!(find(tree, "-path */.whit-age-*/old").len(), 1, "it was not killed in time");
    // Its old name is taken by now.
    make(&tree.join("old"), DAY);
    let output = deletion.run("");
    let told = &documents(std::str::from_utf8(&output.stdout)?)[0];
    assert_eq!((&told["restored_files"], &told["deleted"]["files"]), (&1.into(), &0.into()), "{told}");
    assert!(String::from_utf8(output.stderr)?.contains("was moved back"));
    assert_eq!((find(tree, "-type f").len(), find(tree, "-name old.whit-kept-*").len()), (2, 1));
    let told = &documents(std::str::from_utf8(&deletion.run("").stdout)?)[0];
    assert_eq!((&told["restored_files"], &told["deleted"]["files"]), (&0.into(), &1.into()), "{told}");
    assert_eq!(find(&scratch.0, "-type f"), find(tree, "-name old"), "no record is left, either");
    Ok(())
}

/// One file of a killed run's directory is immutable: the others come back, it is reported at each run, and it comes back in the end.
fn obstacle() -> Result<(), Failed> {
    let deletion = Deletion::new("obstacle");
    let (scratch, tree) = (&deletion.scratch, &deletion.tree);
    deletion.run(KILLED);
    let aside = find(tree, "-name .whit-age-*").pop_first().ok_or("it was not killed in time")?;
    let aside = Path::new(OsStr::from_bytes(&aside));
    for name in ["a", "stays", "z"] {
        make(&aside.join(name), DAY);
    }
    assert!(shell(&format!("chattr +i {}/stays", aside.display())).status.success());
    for restored in [3, 0] {
        let output = deletion.run("");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("cannot move everything back"), "{error}");
        assert_eq!(documents(std::str::from_utf8(&output.stdout)?)[0]["restored_files"], restored);
    }
    assert_eq!(find(tree, "-path */.whit-age-*/stays").len(), 1);
    shell(&format!("chattr -i {}/stays", aside.display()));
    assert_eq!(documents(std::str::from_utf8(&deletion.run("").stdout)?)[0]["restored_files"], 1);
    assert_eq!(find(&scratch.0, "-type f").len(), 3, "and no record is left");
    Ok(())
}

/// Every directory that whit makes is exchanged for one that another process holds a lock on.
fn locked_directory() -> Result<(), Failed> {
    let scratch = Scratch::new("locked");
    let (tree, aside) = (scratch.0.join("tree"), scratch.0.join("aside"));
    fs::create_dir(&tree)?;
    fs::create_dir(&aside)?;
    let bait = scratch.0.join("bait");
    fs::create_dir(&bait)?;
    fs::set_permissions(&bait, fs::Permissions::from_mode(0o700))?;
    let mut holder = Command::new("flock").arg(&bait).args(["sleep", "60"]).spawn()?;
    let is_over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !is_over.load(Ordering::Relaxed) {
                for entry in fs::read_dir(&tree).into_iter().flatten().flatten() {
                    let path = entry.path();
                    if entry.file_name().to_string_lossy().starts_with(".whit-age-") {
                        round += 1;
                        let is_moved = fs::rename(&path, aside.join(round.to_string())).is_ok();
                        if is_moved && fs::rename(&bait, &path).is_ok() {
                            std::thread::sleep(Duration::from_millis(1));
                            let _ = fs::rename(&path, &bait);
                        }
                    }
                }
            }
        });
        let ended = (0..200).all(|_| {
            make(&tree.join("old"), DAY * 30);
            let words = format!("timeout 5 {WHIT} age --delete --older 7d {}", tree.display());
            shell(&words).status.code() != Some(124)
        });
        is_over.store(true, Ordering::Relaxed);
        ended
    });
    holder.kill()?;
    holder.wait()?;
    assert!(ended, "whit waits for another process' lock");
    Ok(())
}

/// Between making a directory and opening it whit is held up, and meets an older one of its own user's, which is empty. It is
/// killed there. That directory's owner uses it again: the next run leaves it alone.
fn taken_for_own() -> Result<(), Failed> {
    let deletion = Deletion::new("taken");
    let own = deletion.tree.join("own");
    fs::create_dir(&own)?;
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700))?;
    let is_private = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".whit-age-");
    let place = std::thread::scope(|scope| {
        let exchanged = scope.spawn(|| {
            let deadline = Instant::now() + Duration::from_secs(20);
            while Instant::now() < deadline {
                if let Some(made) = fs::read_dir(&deletion.tree).ok()?.flatten().find(is_private) {
                    fs::rename(made.path(), deletion.scratch.0.join("made")).ok()?;
                    fs::rename(&own, made.path()).ok()?;
                    return Some(made.path());
                }
            }
            None
        });
        deletion.run(&format!("{KILLED} -e inject=mkdirat:delay_exit=300000"));
        exchanged.join().unwrap()
    });
    let place = place.ok_or("whit made no private directory")?;
    assert!(place.join("old").exists(), "it was not killed in time, or did not take the directory");
    make(&place.join("later"), DAY * 30);
    let output = deletion.run("");
    assert!(String::from_utf8(output.stderr)?.contains("left alone"));
    assert!(place.join("later").exists() && place.join("old").exists());
    Ok(())
}
