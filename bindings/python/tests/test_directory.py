"""Directories by age, beside Python's own calls."""

import os
import time

import pytest

import whit


def make(directory, name, size, age):
    path = directory / name
    path.write_bytes(b"x" * size)
    at = time.time() - age
    os.utime(path, (at, at))
    return path


def test_files_are_added_up_by_age(tmp_path):
    make(tmp_path, "new", 10, 5)
    make(tmp_path, "old", 2000, 3 * 86400)
    below = tmp_path / "below" / "deep"
    below.mkdir(parents=True)
    make(below, "older", 300, 400 * 86400)
    (tmp_path / "link").symlink_to("/etc")
    shallow, deep = whit.scan(tmp_path), whit.scan(tmp_path, recurse=True)
    # The link is a file that was made just now, and is not followed.
    assert (shallow["files"], shallow["directories"], deep["files"], deep["directories"]) == (3, 1, 4, 3)
    assert deep["bytes"] == 2310 + len("/etc") and deep["failures"] == 0
    assert deep["allocated_bytes"] == sum(os.lstat(path).st_blocks * 512 for path in
                                          [tmp_path / "new", tmp_path / "old", below / "older", tmp_path / "link"])
    assert 400 * 86400 <= deep["oldest_ns"] / 1e9 < 400 * 86400 + 600
    ages = {one["below_ns"]: one["files"] for one in deep["ages"]}
    assert ages[60 * 10**9] == 2 and ages[604800 * 10**9] == 1 and ages[None] == 1 and sum(ages.values()) == 4


def test_a_deep_tree_needs_no_deep_stack(tmp_path):
    directory = tmp_path
    for _ in range(200):
        directory = directory / "d"
        directory.mkdir()
    assert whit.scan(tmp_path, recurse=True)["directories"] == 201


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        whit.scan(tmp_path / "nothing")
    file = make(tmp_path, "file", 1, 1)
    with pytest.raises(NotADirectoryError):
        whit.scan(file)
