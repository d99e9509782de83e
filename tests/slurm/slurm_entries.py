"""Entries of the arrays that the tests submit: what an item does is named by its experiment."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import time
from pathlib import Path


def preload():
    pass


def run(item, defaults):
    ACTIONS[item["experiment"].partition("-")[0]](item, defaults)


def write(item, defaults):
    path = Path(
        defaults["output_dir"], "data", item["experiment"], item["task_key"], f"{item['repeat']}_{item['fold']}",
        "results.pkl",
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".results.pkl.{os.getpid()}.tmp")
    temporary.write_bytes(gzip.compress(pickle.dumps({"item": item, "predictions": os.urandom(3000)}, protocol=4)))
    temporary.replace(path)


def fail(item, defaults):
    print("fitting 8 folds")
    prepare(item["fold"])


def prepare(fold):
    raise ValueError(f"could not convert string to float: 'red' (fold {fold})")


def wait(item, defaults):
    """Hang at the first attempt, write at the second."""
    if not os.environ.get("SLURM_RESTART_COUNT"):
        time.sleep(600)
    write(item, defaults)


def hang(item, defaults):
    time.sleep(600)


def lacks_package(item, defaults):
    import a_library_that_is_missing  # noqa: F401


def lacks_weights(item, defaults):
    """What a job does that runs without network, and whose checkpoint nobody fetched."""
    from huggingface_hub import hf_hub_download

    hf_hub_download("autogluon/a-model", "weights.safetensors", local_files_only=True)


class OutOfMemoryError(RuntimeError):
    """PyTorch's, by its name: no test machine has a card to exhaust."""

    __module__ = "torch"


def exhausts_card(item, defaults):
    raise OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {2 + item['fold']}.00 GiB. GPU 0 has a total capacity of 94.97 GiB of "
        "which 1.12 GiB is free. Including non-PyTorch memory, this process has 93.84 GiB memory in use."
    )


def fails_in_a_chain(item, defaults):
    try:
        prepare(item["fold"])
    except ValueError as error:
        raise RuntimeError("the model could not be fitted") from error


def is_killed(item, defaults):
    os.kill(os.getpid(), signal.SIGKILL)


def runs_out_of_time(item, defaults):
    from autogluon.core.utils.exceptions import TimeLimitExceeded

    raise TimeLimitExceeded


ACTIONS = {
    "write": write,
    "fail": fail,
    "wait": wait,
    "hang": hang,
    "package": lacks_package,
    "weights": lacks_weights,
    "card": exhausts_card,
    "chain": fails_in_a_chain,
    "killed": is_killed,
    "time": runs_out_of_time,
}
