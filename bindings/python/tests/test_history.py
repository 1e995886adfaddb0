"""The history of an agent that the tests start."""

import math
import os
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

import whit

WHIT = os.environ.get("WHIT")


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    if not WHIT:
        # In a check nothing is left out.
        assert not os.environ.get("WHIT_NO_SKIP"), "WHIT names no program"
        pytest.skip("it needs WHIT: the program")
    directory = tmp_path_factory.mktemp("data")
    words = [WHIT, "agent", "--data", directory, "--socket", directory / "socket", "--now", directory / "now"]
    subprocess.run([*words, "--http", f"unix:{directory}/http", "--interval", "100ms", "--count", "20"], check=True)
    return whit.History(directory)


def test_an_answer_has_labels_times_and_values(history):
    (one,) = history.query("node_load1")
    assert one.labels == {"__name__": "node_load1"}
    assert len(one.times) == len(one.values) == 1 and one.values[0] >= 0
    # The load of the machine is that of its file, as whit itself says it.
    assert abs(one.values[0] - whit.load()[0]) < 5
    assert history.query("1 + 1")[0].values[0] == 2


def test_a_range_has_a_value_a_step(history):
    series = history.range("sum by (mode) (node_cpu_seconds_total)", since=timedelta(seconds=2), step=0.5)
    assert {one.labels["mode"] for one in series} >= {"idle", "user"}
    for one in series:
        assert len(one.values) >= 2
        assert all(later >= earlier for earlier, later in zip(one.values, one.values[1:]))
    with pytest.raises(ValueError, match="above 0"):
        history.range("node_load1", since=timedelta(seconds=2), step=0)


def test_instants_are_instants(history):
    now = datetime.now(timezone.utc)
    by_datetime, by_seconds = history.query("node_load1", at=now), history.query("node_load1", at=now.timestamp())
    assert list(by_datetime[0].values) == list(by_seconds[0].values)


def test_an_expression_that_is_wrong_says_where(history):
    with pytest.raises(ValueError, match="after 8 bytes"):
        history.query("sum(rate(")
    with pytest.raises(FileNotFoundError, match="whit agent makes it"):
        whit.History("/no/such/place")


def test_a_frame_has_a_column_a_series(history):
    frame = whit.frame(history.range("rate(node_cpu_seconds_total[1s])", since=timedelta(seconds=1), step=0.5))
    assert any("idle" in column for column in frame.columns)
    assert not frame.isna().all().all() and math.isfinite(frame.max().max())
