"""What became of a batch: one line a method, and the same as data."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from benchwright.contract import DRY_RUN, Exit, Outcome, Problem, counted
from benchwright.processing.findings import Finding, failing_codes
from benchwright.publish.batch_manifest import BatchMethod
from benchwright.publish.batch_steps import Answer, StepName

DRY = f"{DRY_RUN} to any store"


@dataclass(frozen=True)
class MethodReport:
    """How far a method came: the answers of the steps it went through, and those that are left.

    ``label`` is its name among the batch's methods. ``folder`` holds its logs, ``<step>.log`` with the talk and
    ``<step>.json`` with the whole answer of each step.
    """

    batched: BatchMethod
    label: str
    answers: Mapping[StepName, Answer]
    left: tuple[StepName, ...]
    folder: Path

    @property
    def method(self) -> str:
        """The method's name."""
        return self.batched.metadata.method

    @property
    def failed(self) -> tuple[StepName, Answer] | None:
        """The step that failed, with its answer."""
        return next(((step, answer) for step, answer in self.answers.items() if not answer.ok), None)

    @property
    def state(self) -> Literal["done", "failed", "left"]:
        """What the method is; ``left`` when the batch was stopped before it."""
        if self.failed:
            return "failed"
        return "left" if self.left else "done"

    def line(self) -> str:
        """The method's end as one line."""
        if self.failed:
            step, answer = self.failed
            return f"FAILED {self.label} at {step} (exit {answer.exit}): {self._reason(answer)}"
        if self.left:
            return f"LEFT {self.label} before {self.left[0]}"
        last = _uploaded(self.answers["upload"]) if "upload" in self.answers else _planned(self.answers["dry-run"])
        return f"DONE {self.label}: {_processed(self.answers['process'])}; {last}"

    def problems(self) -> list[Problem]:
        """The problems that its steps told, failed or not, each with the method before its place."""
        told = dict.fromkeys(problem for answer in self.answers.values() for problem in answer.problems)
        return [
            replace(problem, where=f"{self.label}: {self._place(problem)}", fix=self._fix(problem)) for problem in told
        ]

    def _reason(self, answer: Answer) -> str:
        """The first problem in one line, and how many more there are."""
        if not answer.problems:
            return answer.summary
        first = answer.problems[0]
        more = f" (and {len(answer.problems) - 1} more)" if len(answer.problems) > 1 else ""
        return f"{replace(first, where=self._place(first), fix='')}{more}"

    def _fix(self, problem: Problem) -> str:
        """What mends a problem here: losses are accepted in the manifest, which the next batch goes by."""
        if problem.code != "findings-not-accepted":
            return problem.fix
        findings = map(Finding.from_dict, self.answers["process"].data["artifact"]["findings"])
        codes = sorted({*self.batched.accepted, *failing_codes(findings)})
        accept = f"{self.batched.entry}: accept_finding: [{', '.join(codes)}]"
        return f"mend the results and run the batch again; or accept the loss, at their owner's word, in {accept}"

    def _place(self, problem: Problem) -> str:
        return problem.where.removeprefix(f"{self.method}: ")

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        steps = {
            step: {"exit": answer.exit, "summary": answer.summary, "adopted": answer.adopted}
            for step, answer in self.answers.items()
        }
        return {
            "method": self.method,
            "suite": self.batched.metadata.suite,
            "state": self.state,
            "line": self.line(),
            "steps": steps,
            "left": list(self.left),
            "logs": str(self.folder),
        }


def labels(methods: Sequence[BatchMethod]) -> list[str]:
    """What to call each of the methods: by its suite too where another has the same name."""
    keys = [method.metadata.key for method in methods]
    counts = Counter(name for name, _ in keys)
    return [f"{name} ({suite})" if counts[name] > 1 else name for name, suite in keys]


def _processed(answer: Answer) -> str:
    when = " before" if answer.adopted else ""
    return f"{answer.data['artifact']['counts']['results']} results processed{when}"


def _planned(answer: Answer) -> str:
    return f"{len(answer.data['objects'])} objects, {answer.data['size']:,} bytes, to be uploaded"


def _uploaded(answer: Answer) -> str:
    data = answer.data
    return (
        f"{len(data['sent'])} objects uploaded, {len(data['kept'])} there already, "
        f"{len(data['verification']['objects'])} verified"
    )


@dataclass(frozen=True)
class BatchReport:
    """What became of every method, in the manifest's order; ``signal`` is the one that stopped the batch, if any."""

    methods: tuple[MethodReport, ...]
    applied: bool
    signal: int | None = None

    def outcome(self, command: str) -> Outcome:
        """The report in a script's form; ``command`` is the batch's own, without ``--apply``.

        The exit code is the highest of the failed steps'; a step that crashed counts as 1.
        """
        failed = [method.failed[1].exit for method in self.methods if method.failed]
        exits = [Exit(code) if code in set(Exit) else Exit.NO for code in failed]
        summary = self._summary()
        return Outcome(
            summary if self.applied else f"{DRY}; {summary}",
            data={
                "applied": self.applied,
                "methods": [method.to_dict() for method in self.methods],
                **{state: self._count(state) for state in ("done", "failed", "left")},
            },
            details=[method.line() for method in self.methods],
            problems=[problem for method in self.methods for problem in method.problems()],
            next=self._next(command),
            closing=() if self.applied else (DRY,),
            exit=max(exits, default=Exit.DONE),
            signal=self.signal,
        )

    def _count(self, state: str) -> int:
        return sum(method.state == state for method in self.methods)

    def _summary(self) -> str:
        text = f"{counted(len(self.methods), 'method')}: {self._count('done')} done, {self._count('failed')} failed"
        if self.signal is None:
            return text
        name = signal.Signals(self.signal).name
        return f"{text}, {self._count('left')} left; stopped by {name}, what is finished is kept"

    def _next(self, command: str) -> Sequence[str]:
        complete = self._count("done") == len(self.methods)
        if complete and self.applied:
            return [step for method in self.methods for step in method.answers["upload"].next]
        repairs = [step for method in self.methods if method.failed for step in method.failed[1].next]
        return [*dict.fromkeys(repairs), f"{command} --apply" if complete or self.applied else command]
