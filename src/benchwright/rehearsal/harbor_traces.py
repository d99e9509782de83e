"""Trajectories for the trials of a rehearsal's job folder, in the form and the sizes of an agent's at a terminal."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

WORDS = "ls cat grep pytest def return import self assert error warning build test file path line src git diff HEAD"


def grow_traces(job: Path, *, seed: int = 0, least: int = 50_000, most: int = 2_000_000) -> int:
    """Give every trial whose agent ran a trajectory of ``least`` to ``most`` bytes, small ones more often than large.

    Verifiers get something to print. Returns how many trajectories there are now.
    """
    rng = random.Random(seed)
    words = WORDS.split()
    text = " ".join(rng.choice(words) for _ in range(20_000))
    grown = 0
    for result in sorted(job.glob("*/result.json")):
        try:
            told = json.loads(result.read_bytes())
        except ValueError:
            continue
        if not isinstance(told, dict) or not told.get("agent_execution"):
            continue
        size = int(least * (most / least) ** (rng.random() ** 2))
        (result.parent / "agent").mkdir(exist_ok=True)
        content = json.dumps(trajectory(rng, text, size, told["config"]["agent"]["model_name"]), indent=2)
        (result.parent / "agent" / "trajectory.json").write_text(content)
        (result.parent / "verifier").mkdir(exist_ok=True)
        (result.parent / "verifier" / "test-stdout.txt").write_text(text[: rng.randint(500, 20_000)])
        grown += 1
    return grown


def trajectory(rng: random.Random, text: str, size: int, model: str) -> dict[str, Any]:
    """A trajectory of about so many bytes, made of pieces of a text."""

    def piece(length: int) -> str:
        start = rng.randrange(len(text) - 10_000)
        return text[start : start + length]

    moment = "2026-09-01T10:00:00+00:00"
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "timestamp": moment, "source": "user", "message": f"Do this: {piece(4000)}"}
    ]
    left = size - 5000
    while left > 0 or len(steps) == 1:
        length = max(20, min(left, rng.randint(1500, 9000)) - 700)
        call = f"call_{len(steps)}"
        arguments = {"keystrokes": f"{piece(80)}\n", "duration": 1.0}
        steps.append(
            {
                "step_id": len(steps) + 1,
                "timestamp": moment,
                "source": "agent",
                "model_name": model,
                "message": f"Analysis: {piece(400)}",
                "tool_calls": [{"tool_call_id": call, "function_name": "bash_command", "arguments": arguments}],
                "observation": {"results": [{"source_call_id": call, "content": f"New output:\n{piece(length)}"}]},
                "metrics": {"prompt_tokens": 1000 + 100 * len(steps), "completion_tokens": 120},
            }
        )
        left -= length + 700
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": "rehearsal",
        "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": model},
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
    }
