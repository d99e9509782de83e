"""Job states, and what each means for a task that is watched."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Phase(Enum):
    """Where an attempt at a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    """Ended without success. Whether another attempt follows is the queue's to say."""
    UNKNOWN = "unknown"


_WAITING = "PENDING REQUEUED REQUEUE_HOLD REQUEUE_FED RESV_DEL_HOLD SPECIAL_EXIT"
_RUNNING = "RUNNING COMPLETING CONFIGURING POWER_UP_NODE RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED UPDATE_DB"
_FAILED = (
    "FAILED TIMEOUT CANCELLED NODE_FAIL PREEMPTED OUT_OF_MEMORY BOOT_FAIL DEADLINE LAUNCH_FAILED RECONFIG_FAIL REVOKED"
)
_PHASES = {
    **dict.fromkeys(_WAITING.split(), Phase.WAITING),
    **dict.fromkeys(_RUNNING.split(), Phase.RUNNING),
    **dict.fromkeys(_FAILED.split(), Phase.FAILED),
    "COMPLETED": Phase.DONE,
}


@dataclass(frozen=True)
class State:
    """A state; ``by`` is the id of the user who cancelled the job."""

    name: str
    by: str = ""

    @property
    def phase(self) -> Phase:
        """What the state means."""
        return _PHASES.get(self.name, Phase.UNKNOWN)

    def __str__(self) -> str:
        """The state as SLURM prints it."""
        return f"{self.name} by {self.by}" if self.by else self.name


def parse_state(text: str) -> State:
    """Read ``CANCELLED by 1000``, or a state that a narrow column cut to ``CANCELLED+``.

    What could be two states, as ``COMPLET+``, stays as it is, and its phase is unknown.
    """
    name, _, rest = text.strip().partition(" ")
    if name.endswith("+"):
        matches = [known for known in _PHASES if known.startswith(name[:-1])]
        return State(matches[0]) if len(matches) == 1 else State(name)
    return State(name, rest[3:].strip() if rest.startswith("by ") else "")
