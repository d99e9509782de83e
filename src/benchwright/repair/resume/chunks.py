"""Resumes fired chunk by chunk, each once: what was fired is known from its own files, whoever was killed when.

<folder>/plan.json           the chunks, written before the first is fired
<folder>/chunk-01.txt        its models, for the launcher
<folder>/chunk-01.lock       held by whatever fires it, and by nobody after that has ended
<folder>/chunk-01.started    made by the firing process itself, before the launcher
<folder>/chunk-01.rc         what the launcher left with
<folder>/chunk-01.log        what it said
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchwright.contract import Exit, Failure, Problem
from benchwright.files import FileLock, read_json, write_json, write_text
from benchwright.repair.resume.listener import Word

ChunkState = Literal["waiting", "fired", "failed", "firing", "unknown"]
"""Not yet; the launcher ended well, or not; it is at work; it was begun, and nobody knows how it ended."""
ONCE_MORE: frozenset[ChunkState] = frozenset({"failed", "unknown"})
_FIRE = """\
: >"$1.started" || exit
mark=$1 env_file=$2
shift 2
code=0
if [ -n "$env_file" ]; then set -a; . "$env_file" || code=$?; set +a; fi
if [ $code = 0 ]; then "$@" || code=$?; fi
echo $code >"$mark.rc.new" && mv "$mark.rc.new" "$mark.rc"
"""
"""A shell's script: it outlives the process that starts it, so that a kill there loses nothing."""


@dataclass(frozen=True)
class Chunk:
    """Some models, and the command that resumes their jobs; ``mark`` is how the names of its files begin."""

    number: int
    models: Sequence[str]
    words: Sequence[Word]
    mark: Path

    def file(self, ending: str) -> Path:
        """One of its files."""
        return self.mark.with_name(f"{self.mark.name}.{ending}")

    def lock(self) -> FileLock:
        """The right to fire it; the launcher inherits it."""
        return FileLock(self.file("lock"), f"firing chunk {self.number}")

    @property
    def code(self) -> int | None:
        """What its launcher left with, None where it has not."""
        try:
            return int(self.file("rc").read_text())
        except (FileNotFoundError, ValueError):
            return None

    @property
    def state(self) -> ChunkState:
        """Where it is."""
        if self.code is not None:
            return "failed" if self.code else "fired"
        if self.lock().is_held():
            return "firing"
        if not self.file("started").exists():
            return "waiting"
        return "unknown" if self.code is None else self.state  # unless it ended just now


@dataclass(frozen=True)
class Chunks:
    """All chunks of one plan and the folder of their files."""

    folder: Path
    chunks: Sequence[Chunk]

    def lock(self) -> FileLock:
        """The right to fire any of them."""
        return FileLock(self.folder / "lock", f"firing {self.folder.name}")

    def keep(self) -> None:
        """Write the plan down, or see that it is the one that was written.

        Raises:
            Failure: the folder has another plan (code ``other-plan``, exit 5).
        """
        plan = [{"models": list(one.models), "words": [str(word) for word in one.words]} for one in self.chunks]
        file = self.folder / "plan.json"
        if not file.exists():
            write_json(file, plan, indent=1)
        elif read_json(file) != plan:
            fix = "say what was said then, or name another --tag-prefix; what was fired under this one stays fired"
            problem = Problem("other-plan", str(file), "other models or options", "the plan that was begun", fix)
            raise Failure(problem, exit=Exit.REFUSED)

    def again(self, numbers: Sequence[int]) -> None:
        """Let chunks be fired once more whose launcher failed, or of which nobody knows how it ended.

        The files of the first time stay under other names.

        Raises:
            Failure: it is being fired (exit 5).
        """
        for chunk in self.chunks:
            if chunk.number not in numbers or chunk.state not in ONCE_MORE:
                continue
            with chunk.lock():
                before = len(list(self.folder.glob(f"{chunk.mark.name}.log.*")))
                for ending in ("log", "started", "rc"):  # what says that it was fired goes last
                    if chunk.file(ending).exists():
                        chunk.file(ending).rename(chunk.file(f"{ending}.{before + 1}"))


def fire(chunk: Chunk, words: Sequence[str], *, cwd: Path, env_file: Path | None, environment: dict[str, str]) -> None:
    """Fire a chunk that waits, and wait for its launcher; its output goes to the chunk's log.

    Raises:
        Failure: another process fires it (exit 5).
    """
    with chunk.lock() as lock:
        if chunk.file("started").exists():
            return
        write_text(chunk.file("txt"), "".join(f"{model}\n" for model in chunk.models))
        with chunk.file("log").open("wb") as log:
            launcher = subprocess.Popen(
                ["bash", "-c", _FIRE, "fire", str(chunk.mark), str(env_file or ""), *words],
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(lock.fileno(),),
                start_new_session=True,
            )
    launcher.wait()


def rest_since(chunks: Sequence[Chunk], seconds: float, talk: Callable[[str], None]) -> None:
    """Wait until the last chunk that ended did so some seconds ago."""
    ended = [one.file("rc").stat().st_mtime for one in chunks if one.code is not None]
    left = max(ended) + seconds - time.time() if ended else 0.0
    if left > 0:
        talk(f"waiting {left:.0f} s before the next chunk")
        time.sleep(left)
