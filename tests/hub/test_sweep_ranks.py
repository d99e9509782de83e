"""The ranks that a sweep keeps: what they say, and what is done where they cannot be kept."""

from __future__ import annotations

from datetime import UTC, datetime

from ported_pulls import FIFTY, LOGIC, B, only

from benchwright.contract import Failure
from benchwright.hub.boards import Boards
from benchwright.hub.sweep.command import swept_registry
from benchwright.rehearsal.hub.sample import card


def test_ranks_are_kept_and_drawn(sweeper, ported, nova, peers, emulator):
    peers(["70", "60"])
    ported.open(nova, {"logic": "62.5"})
    named = ported.path.with_name("ranks.csv")
    code, lines = sweeper.run("--ranks", named)
    assert (code, lines[0]) == (0, "DRY RUN: nothing written to the Hub; 1 pull request: 1 visible")
    assert named.read_text().splitlines()[1].split(",", 1)[1] == (
        f"nova-ai/nova-27b,1,{LOGIC},logic,Logic-1k,62.5,visible,2,all,yes,2"
    )
    assert "nova-ai/nova-27b#1" in named.with_suffix(".html").read_text()
    for _ in range(2):
        sweeper.answer("--apply")
    assert len(ported.ranks.read_text().splitlines()) == 2
    ported.ranks.write_text("day\n")
    before = len(emulator.seen)
    envelope = sweeper.answer("--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"], len(emulator.seen)) == (2, "bad-history", before)


def test_what_a_sweep_drops_or_closes_was_in_no_view_that_day(sweeper, ported, nova, peers, emulator):
    """The ranks keep what was seen before it: the line of the same day says no more that it is visible."""
    alone = emulator.add_model("nova-ai/alone-27b", {"README.md": card("Alone")}, parameters={"BF16": 27 * B})
    peers(["70"])
    ported.open(nova, {"quest": "38.75", "logic": "62.5"})
    ported.open(alone, {"logic": "62.0"})
    sweeper.answer("--apply")
    peers(FIFTY, size=1, lab="new-lab")
    for _ in range(2):
        answer = sweeper.answer("--apply")
        assert [one["class"] for one in answer["data"]["pull_requests"]] == ["visible", "closed"]
        assert sorted(line.split(",", 1)[1] for line in ported.ranks.read_text().splitlines()[1:]) == [
            f"nova-ai/alone-27b,1,{LOGIC},logic,Logic-1k,62.0,invisible,,,,53",
            "nova-ai/nova-27b,1,bench-org/cliquest-2,quest,CLIQuest 2.0,38.75,visible,1,all,yes,1",
            f"nova-ai/nova-27b,1,{LOGIC},logic,Logic-1k,62.5,invisible,,,,52",
        ]
    assert f"62.5, {datetime.now(UTC).date()}: in no view" in ported.ranks.with_suffix(".html").read_text()


def test_a_link_that_is_led_elsewhere_counts_as_it_is_afterwards(sweeper, ported, nova, peers):
    peers(FIFTY, size=70)
    ported.open(nova, {"logic": "62.5"})
    sweeper.answer("--apply")
    assert ",62.5,visible,1,32B,yes," in ported.ranks.read_text()


def test_what_ranks_cannot_keep_is_not_dropped(sweeper, ported, nova, peers, written, tmp_path, monkeypatch):
    """Its rank would be known to nobody afterwards."""
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})

    def full(*words):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benchwright.hub.sweep.rank_history.write_text", full)
    envelope = sweeper.answer("--apply")
    (problem,) = envelope["problems"]
    assert (only(envelope)["class"], envelope["exit"], written()) == ("invisible", 3, [])
    assert (problem["where"], problem["found"]) == (str(ported.ranks), "cannot be written (no space left on device)")
    assert problem["fix"] == "make room for it, or name another file with --ranks"
    monkeypatch.undo()


def test_what_was_done_is_told_even_if_ranks_cannot_be_written(sweeper, ported, nova, peers, tmp_path):
    peers(FIFTY, size=1)
    ported.open(nova, {"logic": "62.5"})
    (tmp_path / "ranks.html").mkdir()
    envelope = sweeper.answer("--apply", "--ranks", tmp_path / "ranks.csv")
    assert (only(envelope)["class"], envelope["exit"]) == ("closed", 3)
    assert envelope["problems"][0]["code"] == "ranks-not-written"


def test_two_sweeps_do_not_keep_the_same_ranks_at_once(sweeper, ported, nova, peers, emulator, open_hub, tmp_path):
    """Both would read them, and the one that ends last would write them without the other's lines."""
    peers(["70"])
    ported.open(nova, {"logic": "62.5"})
    ranks, refused = tmp_path / "ranks.csv", []

    def comes(request):
        emulator.fault = None
        try:
            words = {"progress": lambda *_, **__: None, "again": "", "apply": False}
            swept_registry(Boards(open_hub()), ported.path, ranks=ranks, **words)
        except Failure as failure:
            refused.append(failure)

    emulator.fault = comes
    for _ in range(2):
        envelope = sweeper.answer("--ranks", ranks)
        assert (envelope["exit"], only(envelope)["class"]) == (0, "visible")
    (problem,) = refused[0].problems
    assert (refused[0].exit, problem.code, problem.where) == (5, "locked", f"{ranks}.lock")


def test_ranks_in_a_folder_that_cannot_be_written_are_told_before_anything_is_sent(sweeper, ported, nova, emulator):
    ported.open(nova, {"logic": "62.5"})
    envelope = sweeper.answer("--apply", "--ranks", ported.path / "ranks.csv")
    assert (envelope["exit"], envelope["problems"][0]["code"], emulator.seen) == (3, "history-unreadable", [])
    assert sweeper.answer("--ranks", ".")["exit"] == 3
