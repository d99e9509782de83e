"""What kept sources from answering while an audit went on without them."""

from __future__ import annotations

from benchwright.contract import Exit, Failure, Problem


class Troubles:
    """The problems of sources, each once, and the exit code that they amount to: 4 where asking again may help."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.exit: Exit | None = None

    def tell(self, problem: Problem) -> None:
        """Keep what is worth knowing and keeps no source from answering."""
        self.problems.append(problem)

    def add(self, failure: Failure) -> str:
        """Keep a failure; what it says, as a clause."""
        self.problems += [problem for problem in failure.problems if problem not in self.problems]
        self.exit = failure.exit if self.exit is None else max(self.exit, failure.exit)
        return "; ".join(f"{problem.where}: {problem.found}" for problem in failure.problems[:2])
