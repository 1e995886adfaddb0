//! The attacks on `whit age --delete`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::arena::{Arena, DAY, Found, Random, SKIPPED, make, set_age, text};

const OLD: Duration = Duration::from_secs(30 * 86_400);
const WEEK: [&str; 3] = ["-r", "--older", "7d"];

/// Runs an attacker beside the victim until the victim is done.
fn beside<T>(attacker: impl Fn(&AtomicBool) + Sync, victim: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| attacker(&is_over));
        let done = victim();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

fn missing(found: &Found, expected: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut deleted, mut hidden) = (Vec::new(), Vec::new());
    for content in expected {
        if found.seen.contains(&content) {
            continue;
        }
        if found.hidden.contains(&content) { &mut hidden } else { &mut deleted }.push(content);
    }
    match (deleted.first(), hidden.first()) {
        (None, None) => Ok(()),
        (Some(first), _) => Err(format!("{} files were deleted, for example \"{first}\"", deleted.len())),
        (_, Some(first)) => Err(format!("{} files are hidden, for example \"{first}\"", hidden.len())),
    }
}

/// Symlinks to the outside in the place of directories.
pub(super) fn swapped_directories(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let (tree, outside) = (arena.tree(), arena.outside());
    fs::create_dir(&outside).map_err(text)?;
    for number in 0..20 {
        make(&outside.join(format!("f{number}")), &format!("outside {number}"), OLD)?;
    }
    let attack = |is_over: &AtomicBool| {
        let mut round = 0_u64;
        while !is_over.load(Ordering::Relaxed) {
            round += 1;
            let directory = tree.join(format!("d{}", round % 5));
            let _ = fs::remove_file(&directory);
            let _ = fs::create_dir(&directory);
            (0..20).for_each(|number| drop(make(&directory.join(format!("f{number}")), "inside", OLD)));
            let _ = fs::rename(&directory, tree.join(format!("aside{round}")));
            // Some checks see only a path that begins at the root.
            let relative = Path::new("..").join(outside.file_name().unwrap_or_default());
            let _ = symlink(if round.is_multiple_of(2) { &outside } else { &relative }, &directory);
        }
    };
    let began = Instant::now();
    beside(attack, || {
        while began.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(random.micros(500));
            arena.delete(&WEEK)?;
        }
        Ok::<_, String>(())
    })?;
    missing(&arena.found(&outside), (0..20).map(|number| format!("outside {number}")))
}

/// The victim's own private directories, renamed into the tree: as leftovers, and in the place of directories that whit makes.
pub(super) fn planted_leftovers(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let secret = |name: &str| -> Result<PathBuf, String> {
        let path = tree.join(name);
        DirBuilder::new().mode(0o700).create(&path).map_err(text)?;
        make(&path.join("key"), name, OLD)?;
        make(&path.join("f3"), &format!("{name}, too"), OLD)?;
        Ok(path)
    };
    let names = [".whit-age-1-2-3", ".whit-age-0123456789abcdef", "secret"];
    let paths: Vec<PathBuf> = names.iter().map(|name| secret(name)).collect::<Result<_, _>>()?;
    // Empty when whit may take it for its own; its owner uses it later.
    let empty = tree.join("empty");
    DirBuilder::new().mode(0o700).create(&empty).map_err(text)?;
    let holder = arena.outside();
    fs::create_dir(&holder).map_err(text)?;
    let attack = |is_over: &AtomicBool| {
        let mut turn = false;
        while !is_over.load(Ordering::Relaxed) {
            for entry in fs::read_dir(&tree).into_iter().flatten().flatten() {
                let path = entry.path();
                let is_private = entry.file_name().to_string_lossy().starts_with(".whit-age-");
                if !is_private || paths.contains(&path) {
                    continue;
                }
                // Another takes the place of a directory that whit has just made, for a moment.
                turn = !turn;
                let other = if turn { &paths[2] } else { &empty };
                if fs::rename(&path, holder.join("taken")).is_ok() {
                    let _ = fs::rename(other, &path);
                    std::thread::sleep(Duration::from_micros(300));
                    let _ = fs::rename(&path, other);
                    let _ = fs::remove_dir(holder.join("taken"));
                }
            }
        }
    };
    let began = Instant::now();
    beside(attack, || {
        // Not into directories: what lies in them is old.
        while began.elapsed() < Duration::from_secs(1) {
            (0..8).try_for_each(|number| make(&tree.join(format!("f{number}")), "old", OLD))?;
            match random.below(3) {
                0 => {
                    arena.delete_and_kill(&["--older", "7d"], random.micros(8_000))?;
                    let later = empty.join("later");
                    let _ = fs::write(&later, "later");
                    arena.delete(&["--older", "7d"])?;
                    if tree.join("later").exists() {
                        return Err("a file was moved out of a directory of the victim's".to_owned());
                    }
                    // The attacker may just have it elsewhere.
                    (0..100).for_each(|_| drop(fs::remove_file(&later)));
                }
                _ => drop(arena.delete(&["--older", "7d"])?),
            }
        }
        Ok::<_, String>(())
    })?;
    arena.delete(&["--older", "7d"])?;
    let all = |directory: &Path| -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
    };
    for (name, path) in names.iter().zip(&paths) {
        let mut contents = all(path);
        contents.retain(|content| content.starts_with(name));
        if contents.len() != 2 {
            return Err(format!("{name} holds {contents:?} and not its two files"));
        }
    }
    Ok(())
}

/// Young files put in the place of old ones, whose names are taken again at once.
pub(super) fn exchanged_files(arena: &Arena, random: &mut Random) -> Result<(), String> {
    exchange(arena, random, false)
}

/// Young files put in the place of old ones, as in [`exchanged_files`], while whit is killed.
pub(super) fn exchanged_files_and_kills(arena: &Arena, random: &mut Random) -> Result<(), String> {
    exchange(arena, random, true)
}

fn exchange(arena: &Arena, random: &mut Random, with_kills: bool) -> Result<(), String> {
    let tree = arena.tree();
    let (new, began) = (tree.with_file_name("new"), Instant::now());
    let rounds = std::sync::atomic::AtomicU64::new(0);
    let attack = |is_over: &AtomicBool| {
        while !is_over.load(Ordering::Relaxed) {
            let round = rounds.load(Ordering::Relaxed);
            let target = tree.join(format!("f{round}"));
            let is_made =
                make(&target, "old", OLD).is_ok() && fs::write(&new, format!("young {round}")).is_ok();
            // Whit may be looking at the old file now.
            (0..round % 50).for_each(|_| std::hint::spin_loop());
            if is_made && fs::rename(&new, &target).is_ok() {
                rounds.fetch_add(1, Ordering::Relaxed);
            }
            let until = Instant::now() + Duration::from_micros(200);
            while Instant::now() < until {
                let taken = OpenOptions::new().write(true).create_new(true).open(&target);
                if let Ok(mut file) = taken {
                    let _ = file.write_all(b"old");
                    let _ = set_age(&target, OLD);
                    break;
                }
            }
        }
    };
    beside(attack, || {
        while began.elapsed() < Duration::from_secs(2) {
            match with_kills {
                true => arena.delete_and_kill(&WEEK, random.micros(6_000))?,
                false => {
                    arena.delete(&WEEK)?;
                    // The next run must not wait.
                    if let Some(content) = arena.found(&tree).hidden.first() {
                        return Err(format!("\"{content}\" is hidden when the run is over"));
                    }
                }
            }
        }
        Ok::<_, String>(())
    })?;
    // What a killed run had aside comes back with the next; what is old goes with the one after it.
    arena.delete(&WEEK)?;
    arena.delete(&WEEK)?;
    let rounds = rounds.into_inner();
    missing(&arena.found(&tree), (0..rounds).map(|round| format!("young {round}")))
}

/// Kills at random moments: nothing young is lost, nothing stays aside, and what is old goes in the end.
pub(super) fn kills(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    for directory in 0..10 {
        let path = tree.join(format!("d{directory}"));
        fs::create_dir(&path).map_err(text)?;
        for number in 0..100 {
            make(&path.join(format!("old{number}")), "old", OLD)?;
            make(&path.join(format!("young{number}")), &format!("young {directory} {number}"), DAY)?;
        }
    }
    for _ in 0..40 {
        arena.delete_and_kill(&WEEK, random.micros(12_000))?;
    }
    arena.delete(&WEEK)?;
    arena.delete(&WEEK)?;
    let found = arena.found(&tree);
    let all = |directory| (0..100).map(move |number| format!("young {directory} {number}"));
    missing(&found, (0..10).flat_map(all))?;
    if found.seen.contains("old") || found.hidden.contains("old") {
        return Err("an old file is still there".to_owned());
    }
    Ok(())
}

/// Every private directory is removed or renamed as soon as it is there.
pub(super) fn taken_away(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let attack = |is_over: &AtomicBool| {
        let mut round = 0_u64;
        while !is_over.load(Ordering::Relaxed) {
            for entry in fs::read_dir(&tree).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with(".whit-age-") {
                    round += 1;
                    let _ = match round % 2 {
                        0 => fs::remove_dir(entry.path()),
                        _ => fs::rename(entry.path(), tree.with_file_name(format!("taken{round}"))),
                    };
                }
            }
        }
    };
    make(&tree.join("young"), "young", DAY)?;
    let began = Instant::now();
    beside(attack, || {
        while began.elapsed() < Duration::from_secs(1) {
            (0..5).try_for_each(|number| make(&tree.join(format!("f{number}")), "old", OLD))?;
            std::thread::sleep(random.micros(300));
            arena.delete(&WEEK)?;
        }
        Ok::<_, String>(())
    })?;
    missing(&arena.found(&tree), std::iter::once("young".to_owned()))
}

/// Files dated in the future beside a cap, which is to take no more than it must, oldest first.
pub(super) fn future_dates(arena: &Arena, random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let mut ages = Vec::new();
    for number in 0..60 {
        let path = tree.join(format!("f{number}"));
        make(&path, &format!("{number:08}"), DAY * (number + 1))?;
        ages.push(number);
    }
    // A year beyond 2^32 seconds, 2200, and one that fills half of the cap.
    for (name, date) in [("a", "@4400000000"), ("b", "2200-01-01"), ("c", "2300-01-01")] {
        let path = tree.join(name);
        let length = if name == "b" { 40 * 4096 } else { 1 };
        fs::write(&path, vec![b'x'; length]).map_err(text)?;
        let touched = Command::new("touch").args(["-d", date]).arg(&path).status().map_err(text)?;
        if !touched.success() {
            return Err(format!("{SKIPPED}touch -d {date}"));
        }
    }
    let keep = 3 + random.below(61);
    arena.delete(&["--keep-files", &keep.to_string()])?;
    let left = fs::read_dir(&tree).map_err(text)?.count() as u64;
    let old = |number: u64| tree.join(format!("f{number}")).exists();
    let expected = (0..60).all(|number| old(number) == (number + 3 < keep));
    if left != keep || !expected {
        return Err(format!("{left} of 63 files are left, and not the youngest {keep}"));
    }
    // The future ones are the youngest, but they can go.
    arena.delete(&["--keep-files", "1"])?;
    match fs::read_dir(&tree).map_err(text)?.count() {
        1 => Ok(()),
        left => Err(format!("{left} files are left, though one may be")),
    }
}

/// A filesystem without room for a directory: strict deletion stops, and nothing goes.
pub(super) fn no_space_left(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "nr_inodes=50", "whit-attack"]).arg(&tree).output();
    if !mounted.map_err(text)?.status.success() {
        return Err(format!("{SKIPPED}tmpfs cannot be mounted"));
    }
    let full = || -> Result<(), String> {
        let mut number = 0;
        while make(&tree.join(format!("f{number}")), &format!("old {number}"), OLD).is_ok() {
            number += 1;
        }
        let output = arena.delete(&WEEK)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !errors.contains("strict deletion is not possible") {
            return Err(format!("it did not stop: {}: {errors}", output.status));
        }
        missing(&arena.found(&tree), (0..number).map(|number| format!("old {number}")))?;
        let plain = Command::new(arena.program())
            .args(["age", "--delete=plain", "--older", "7d"])
            .arg(&tree)
            .output();
        match plain.map_err(text)?.status.success() && fs::read_dir(&tree).map_err(text)?.count() == 0 {
            true => Ok(()),
            false => Err("--delete=plain did not delete".to_owned()),
        }
    };
    let done = full();
    let _ = Command::new("umount").arg(&tree).status();
    done
}

/// Immutable, sticky and locked files stay, and so does what lies in an immutable directory.
pub(super) fn protected_files(arena: &Arena, _random: &mut Random) -> Result<(), String> {
    let tree = arena.tree();
    let path = |name: &str| tree.join(name);
    fs::create_dir(path("closed")).map_err(text)?;
    for name in ["plain", "sticky", "locked", "immutable", "closed/f"] {
        make(&path(name), name, OLD)?;
    }
    fs::set_permissions(path("sticky"), fs::Permissions::from_mode(0o1644)).map_err(text)?;
    let locked = File::open(path("locked")).map_err(text)?;
    locked.lock().map_err(text)?;
    let attribute = |sign: &str| {
        let words = [path("immutable"), path("closed")];
        Command::new("chattr")
            .arg(format!("{sign}i"))
            .args(words)
            .output()
            .is_ok_and(|done| done.status.success())
    };
    let is_immutable = attribute("+");
    let done = arena.delete(&WEEK);
    attribute("-");
    if !is_immutable {
        return Err(format!("{SKIPPED}chattr +i is not permitted"));
    }
    let found = arena.found(&tree);
    let names = ["sticky", "locked", "immutable", "closed/f"];
    missing(&found, names.iter().map(|name| (*name).to_owned()))?;
    match (done?.status.code(), found.seen.contains("plain")) {
        (Some(1), false) => Ok(()),
        (code, is_there) => Err(format!("status {code:?}, and the unprotected file is there: {is_there}")),
    }
}
