"""Sweeps that are disturbed: whatever fails, wherever one is killed, the next end where an undisturbed one does."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ported_pulls import PORTER, Ported

from benchwright.contract import Failure
from benchwright.hub.boards import Boards
from benchwright.hub.client import Hub, HubPatience
from benchwright.hub.registry import Registry
from benchwright.hub.sweep import command, rank_history
from benchwright.hub.sweep.command import swept_registry
from benchwright.hub.writing import Writer
from benchwright.rehearsal.hub import HubEmulator, RandomFaults, Repo
from benchwright.rehearsal.hub.sample import eval_file, results_file

SOON = HubPatience(attempts=2, first_wait=0.001, longest_wait=0.002, timeout=5)
SHOULD_CLOSE = {"gone", "gone-twice"}
UNREGISTERED = {"more-by-hand", "edit-by-hand"}
"""What these have beside their registered results is seen, or is an edit of main's: a sweep of them leaves with 1."""
B = 10**9


class Killed(BaseException):
    """The end of a process."""


class World:
    """Benchmarks that have moved on, and pull requests of each kind."""

    def __init__(self, emulator: HubEmulator, folder: Path, *, whole: bool = True) -> None:
        self.emulator = emulator
        self.token = emulator.token(PORTER)
        self.ported = Ported(emulator, folder)
        with emulator.at_once():
            for dataset, name, tasks in (
                ("logic-1k", "Logic-1k", ("logic", "hard")),
                ("cliquest-2", "CLIQuest 2.0", ("quest",)),
            ):
                files = {"eval.yaml": eval_file(name, *tasks)}
                emulator.add_dataset(f"bench-org/{dataset}", files, official=True, lower=["hard"])
            for number in range(50):  # small ones pass everybody in all views of logic, large ones in some of quest
                for task, dataset, size in (("logic", "logic-1k", 1), ("quest", "cliquest-2", 70)):
                    files = {".eval_results/x.yaml": results_file(f"bench-org/{dataset}", task, 90 - number / 10)}
                    emulator.add_model(f"peer-lab/{task}-{number}", files, parameters={"BF16": size * B})
        self.models: dict[str, tuple[Repo, int]] = {}
        self.add("drifted", {"quest": "62.5"})
        self.add("gone", {"logic": "62.50"})
        self.add("one-of-two", {"logic": "62.50", "hard": "8.0"})
        if whole:
            self.add_the_rest(emulator)

    def add_the_rest(self, emulator: HubEmulator) -> None:
        self.add("shown", {"hard": "7.0"})
        self.add("gone-twice", {"logic": "62.50"})
        self.add("in-one-file", {"logic": "62.50", "hard": "9.0"}, files=["x", "x"])
        self.add("all-at-once", {"quest": "60.0", "logic": "44.90", "hard": "9.5"})
        repo, _ = self.add("edit", {"logic": "62.50"}, main="61.0")
        repo, num = self.add("commented", {"logic": "62.50"})
        emulator.comment(repo, num, "Please stop.")
        quest = {".eval_results/quest.yaml": results_file("bench-org/cliquest-2", "quest", "62.5")}
        for name in sorted(UNREGISTERED):
            repo, num = self.add(name, {"logic": "62.50"}, files=["ours"], main="61.0" if "edit" in name else None)
            by_hand = {".eval_results/logic.yaml": results_file("bench-org/logic-1k", "logic", "62.5")}
            emulator.commit(repo, by_hand if "edit" in name else quest, ref=f"refs/pr/{num}", author=PORTER)

    def add(self, name: str, values: dict[str, str], *, files=(), main: str | None = None) -> tuple[Repo, int]:
        held = {".eval_results/logic.yaml": results_file("bench-org/logic-1k", "logic", main)} if main else {}
        repo = self.emulator.add_model(f"nova-ai/{name}", held, parameters={"BF16": 27 * B})
        self.models[name] = repo, self.ported.open(repo, values, files=files)
        return self.models[name]

    def sweep(self) -> int:
        """Sweep with --apply; returns the exit code."""
        boards = Boards(Hub(self.emulator.url, self.token, SOON))
        words = {"progress": lambda *_, **__: None, "again": ""}
        try:
            return swept_registry(boards, self.ported.path, apply=True, ranks=None, **words).exit
        except Failure as failure:
            return failure.exit

    def check(self) -> None:
        """Only what is to be closed is; nothing is said twice; what is not ours is as it was."""
        for name, (repo, num) in self.models.items():
            pull = self.ported.pull(repo, num)
            assert pull.status == "open" or name in SHOULD_CLOSE, name
            comments = [one for one in pull.events if one.type == "comment"]
            assert len(comments) == 1 + (pull.status == "closed") + (name == "commented")
            commits = [one for one in pull.events if one.type == "commit"]
            assert len(commits) <= 1 + (name in {"one-of-two", "in-one-file", "all-at-once", *UNREGISTERED})
            if name in {"edit", "commented", *UNREGISTERED}:
                assert len(commits) == 1 + (name in UNREGISTERED)
                assert not comments[0].data["edited"]

    def ranks(self) -> list[str]:
        """The lines of the ranks, without the day and the last word, the rank of all, which others' ends change."""
        lines = self.ported.ranks.read_text().splitlines()[1:]
        return [line.partition(",")[2].rpartition(",")[0] for line in lines]

    def states(self) -> dict[str, object]:
        """How all is in the end, but for the port, and for ranks, which others' ends change."""
        told = {name: repr(self.ported.state(*one)) for name, one in self.models.items()}
        return {name: re.sub(rf"{self.emulator.url}|number \d+ of all", "", one) for name, one in told.items()}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Makes worlds that are all alike."""
    tmp_path = tmp_path_factory.mktemp("worlds")

    @contextmanager
    def world(name: object, **more: bool) -> Iterator[World]:
        folder = tmp_path / str(name)
        with HubEmulator(folder / "hub") as emulator:
            yield World(emulator, folder, **more)
            assert emulator.unknown == []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchwright.rehearsal.hub.state.write_bytes", lambda path, content: None)  # in memory alone
        yield world


@pytest.fixture(scope="module")
def undisturbed(worlds):
    """How an undisturbed sweep ends."""
    with worlds("undisturbed") as world:
        assert world.sweep() == 1
        world.check()
        states = world.states()
        assert world.sweep() == 1 and world.states() == states
        closed = {name for name, (repo, num) in world.models.items() if world.ported.pull(repo, num).status == "closed"}
        assert closed == SHOULD_CLOSE
        repo, num = world.models["all-at-once"]
        assert set(world.ported.files(repo, num)) == {".eval_results/hard.yaml", ".eval_results/quest.yaml"}
        assert "max_params=32B" in world.ported.body(repo, num)
        return states


def test_random_faults(worlds, undisturbed):
    """At every request, reads and writes: answers cut, halved, lost after they took effect."""
    for seed in range(4):
        with worlds(f"faults-{seed}") as world:
            for number in range(3):
                world.emulator.fault = RandomFaults(10 * seed + number, 0.1 if number else 0.3)
                world.sweep()
                world.check()
            world.emulator.fault = None
            assert world.sweep() == 1
            world.check()
            assert world.states() == undisturbed


def test_kills(worlds, undisturbed, monkeypatch):
    """At any request that writes, before or after it, and at any change of the registry."""
    left = [-1]

    def dying(call):
        def called(*words, **more):
            left[0] -= 1
            if left[0] == 1:
                raise Killed
            told = call(*words, **more)
            left[0] -= 1
            if left[0] == 1:
                raise Killed
            return told

        return called

    for owner, name in (
        (Writer, "amend"),
        (Writer, "edit_comment"),
        (Writer, "rename"),
        (Writer, "close"),
        (Registry, "put"),
    ):
        monkeypatch.setattr(owner, name, dying(getattr(owner, name)))
    kills = 0
    for seed in range(4):
        with worlds(f"kills-{seed}") as world:
            points = random.Random(seed)
            for _ in range(5):
                left[0] = points.randint(2, 16)
                try:
                    world.sweep()
                except Killed:
                    kills += 1
                world.check()
            left[0] = -1
            assert world.sweep() == 1
            world.check()
            assert world.states() == undisturbed
    assert kills > 8


def test_no_kill_loses_a_rank(worlds, monkeypatch):
    """Right before each write to the Hub or a file, and so right after the one before it: the next sweep ends it."""
    left = [0]

    def dying(call):
        def called(*words, **more):
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return call(*words, **more)

        return called

    for owner, name in (
        *((Writer, name) for name in ("amend", "edit_comment", "rename", "close")),
        (Registry, "put"),
        (rank_history, "write_text"),
        (command, "write_text"),
    ):
        monkeypatch.setattr(owner, name, dying(getattr(owner, name)))
    with worlds("to-the-end", whole=False) as world:
        left[0] = 0
        assert world.sweep() == 0
        writes, ranks, states = -left[0], world.ranks(), world.states()
    assert writes >= 8
    assert [line.split(",")[6] for line in ranks] == ["visible", "invisible", "visible", "invisible"]
    for number in range(1, writes + 1):
        with worlds(f"killed-{number}", whole=False) as world:
            left[0] = number
            with pytest.raises(Killed):
                world.sweep()
            assert world.sweep() == 0
            assert (number, world.ranks(), world.states()) == (number, ranks, states)
