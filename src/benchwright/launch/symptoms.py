"""What a failed item or task shows, what it means, and what to do: the symptom table as data."""

from __future__ import annotations

from dataclasses import dataclass

MOST_OF_ONE_CAUSE = 5
"""More items than these with one cause are a person's decision, whatever the cause."""


_CLASS = r"^[\w.()]*"
"""What may stand before an exception's name in its line: modules, or Ray's wrapper around it."""


@dataclass(frozen=True)
class Symptom:
    """A class of failures.

    ``said`` are regular expressions for the exceptions of an item, or for its output where it raised none; ``ended``
    for what the scheduler wrote into the log of an item that was stopped; ``states`` are job states. ``ask_if`` is the
    case in which a person has to decide; ``relaunch`` whether setup is to be run again once it is mended.
    """

    code: str
    meaning: str
    action: str
    said: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    ask_if: str = ""
    relaunch: bool = True


SYMPTOMS = (
    Symptom(
        "node-lost",
        "the node went away, or was taken back",
        "nothing: the task runs again by itself, unless it may not be requeued",
        ended=(r"DUE TO NODE FAILURE", r"DUE TO PREEMPTION", r"DUE TO JOB REQUEUE"),
        states=("NODE_FAIL", "PREEMPTED", "REQUEUED", "BOOT_FAIL"),
        relaunch=False,
    ),
    Symptom(
        "timeout",
        "the bundle took longer than its limits and the overhead allow",
        "is the dataset a known long tail? a higher time_limit, or a smaller bundle_size for it",
        ended=(r"DUE TO TIME LIMIT",),
        states=("TIMEOUT", "DEADLINE"),
    ),
    Symptom(
        "cancelled",
        "someone cancelled the task",
        "ask who and why; its items are missing until they are launched again",
        ended=(r"CANCELLED AT [^*]*\*\*\*",),
        states=("CANCELLED",),
    ),
    Symptom(
        "gpu-memory",
        "folds side by side on the card, or one table too large for it",
        "confirm fake_memory_for_estimates; for one wide table PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the "
        "wrapper's warm-up, a smaller support size, or its folds one after another",
        said=(
            r"CUDA out of memory",
            r"CUDA error: out of memory",
            r"cuda\w*Malloc\w*.*out of memory",
            r"cudaErrorMemoryAllocation",
            r"CUBLAS_STATUS_ALLOC_FAILED",
            rf"{_CLASS}NotEnoughCudaMemoryError\b",
        ),
        ask_if="the dataset cannot fit the card even with its folds one after another",
    ),
    Symptom(
        "weights-missing",
        "the job ran offline, and a checkpoint was not in the shared cache",
        "setup again: it fetches the weights first; or offline_weights=False on the plan of this run",
        said=(
            rf"{_CLASS}(LocalEntryNotFoundError|WeightsUnavailableError|OfflineModeIsEnabled)\b",
            r"Cannot reach .* offline mode is enabled",
        ),
    ),
    Symptom(
        "memory",
        "the node's memory ran out, or the model's estimate says it would",
        "a node with more memory, or fewer folds side by side",
        said=(
            rf"{_CLASS}MemoryError\b",
            r"killed by SIGKILL",
            r"[Oo]om[-_ ]kill",
        ),
        ended=(r"[Oo]om[-_ ]kill",),
        states=("OUT_OF_MEMORY",),
        ask_if="the fit is too large for the largest node",
    ),
    Symptom(
        "disk-full",
        "a disk is full: the workspace's, or the node's scratch",
        "free some; scratch goes where TABARENA_MODEL_ARTIFACTS_BASE_PATH says",
        said=(r"No space left on device", r"Disk quota exceeded"),
    ),
    Symptom(
        "environment",
        "the environment is at fault, not the model",
        "mend the environment: scripts/run_venv.py --install MODEL says what it lacks",
        said=(
            rf"{_CLASS}(ModuleNotFoundError|ImportError)\b",
            r"No module named",
            r"command not found",
            r": not found$",
            r"cannot open shared object file",
            r"##### no item can run:",
            r"is no program on",
        ),
    ),
    Symptom(
        "unreadable-result",
        "something is in the result's place, and nobody knows whether it is whole",
        "have it made readable for you, or wait for its disk; setup refuses until then",
        said=(r"^##### .*results\.pkl cannot be read \(",),
    ),
    Symptom(
        "fit-time",
        "no fold was finished within the arena's time limit for a config",
        "the limit is the protocol's: leave the item missing and report it",
        said=(rf"{_CLASS}(TimeLimitExceeded|InsufficientTime)\b",),
        ask_if="more than single configs of a long-tailed dataset are lost",
    ),
    Symptom(
        "unsuitable-task",
        "the task is outside what the model can do",
        "no bug: leave the item missing and report it as such",
        said=(rf"{_CLASS}(NoValidFeatures|NoStackFeatures)\b",),
        ask_if="the smoke fit or the registry says that the model can do such tasks",
        relaunch=False,
    ),
    Symptom(
        "log-folder",
        "SLURM could not open the task's log: its folder was not there, or full",
        "make the folder that --output names, on a disk that the nodes share",
        said=(r"^exit code 0:53$",),
    ),
)
WRAPPER = Symptom(
    "wrapper-traceback",
    "a bug in the model's wrapper that the smoke fit did not reach",
    "mend it in the wrapper, with the smoke fit as the first test of the mend",
)
UNFINISHED = Symptom(
    "unfinished",
    "the log ends within the item: it runs still, or was killed without a word",
    "with --job-id the scheduler says which",
)
UNEXPLAINED = Symptom(
    "unexplained",
    "nothing in the log says why",
    "read the log; Ray's logs of the item are beside it, in ray_logs",
)
