"""Entries that the node's tests fork for real: what an item does is named by its experiment."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path


def preload():
    note("preloaded")


def broken_preload():
    raise ImportError("No module named 'a_library_that_is_missing'")


def slow_preload():
    note(f"pids {os.getpid()}")
    time.sleep(300)


def preload_that_kills_the_server():
    os.kill(os.getpid(), signal.SIGSEGV)


def run(item, defaults):
    note(f"run {item['experiment']} fold {item['fold']}")
    print(f"output of {item['experiment']} fold {item['fold']}", flush=True)
    action = item["experiment"].partition("-")[0]
    ACTIONS[action](item, defaults)


def note(line):
    """Append to the journal of the test that is running."""
    with Path(os.environ["TEST_JOURNAL"]).open("a") as journal:
        journal.write(line + "\n")


def result_of(item, defaults):
    split = f"{item['repeat']}_{item['fold']}"
    return Path(defaults["output_dir"], "data", item["experiment"], item["task_key"], split, "results.pkl")


def write(item, defaults):
    path = result_of(item, defaults)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".results.pkl.abc123.tmp")
    temporary.write_bytes(gzip.compress(pickle.dumps({"item": item, "pid": os.getpid()})))
    temporary.replace(path)


def write_large(item, defaults):
    """Write a megabyte with the project's own writer, on a disk that holds a tenth of it until TEST_DISK says more."""
    import resource

    from benchwright.files import write_bytes

    if not os.environ.get("TEST_DISK"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    write_bytes(result_of(item, defaults), gzip.compress(pickle.dumps(os.urandom(1_000_000))))


def write_slowly(item, defaults):
    time.sleep(0.03)
    write(item, defaults)
    time.sleep(0.03)


def fail(item, defaults):
    raise ValueError(f"no luck with fold {item['fold']}\nsecond line")


def leave(item, defaults):
    sys.exit(7)


def be_killed(item, defaults):
    os.kill(os.getpid(), signal.SIGKILL)


def forget(item, defaults):
    pass


def hang(item, defaults):
    """Stop in the middle of writing, as a fit that is killed would."""
    path = result_of(item, defaults)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(".results.pkl.abc123.tmp").write_bytes(b"half")
    Path("artifact").write_text("a model")
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    daemon = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True, stdout=subprocess.DEVNULL
    )
    note(f"pids {os.getpid()} {sleeper.pid} {daemon.pid} {server_pid()}")
    time.sleep(300)


def leave_daemon(item, defaults):
    daemon = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
    note(f"pids {daemon.pid}")
    write(item, defaults)


def kill_server(item, defaults):
    note(f"pids {os.getpid()}")
    os.kill(server_pid(), signal.SIGKILL)
    time.sleep(300)


def meet(item, defaults):
    """Succeed only when another item of the run is at work at the same time."""
    folder = Path(defaults["output_dir"], "meeting")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / str(item["fold"])).touch()
    latest = time.monotonic() + defaults.get("patience", 60)
    while len(list(folder.iterdir())) < 2:
        if time.monotonic() > latest:
            raise TimeoutError("alone")
        time.sleep(0.01)
    for number in range(200):
        print(f"line {number} of fold {item['fold']}")
    write(item, defaults)


def show_place(item, defaults):
    note(f"place {Path.cwd()} {os.environ['TABARENA_MODEL_ARTIFACTS_BASE_PATH']}")
    Path("artifact").write_text("a model")
    write(item, defaults)


def show_folders(item, defaults):
    """Note where this item's files would go, and leave some there."""
    for name in ("NUMBA_CACHE_DIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH", "TMPDIR", "RAY_TMPDIR"):
        note(f"{name} {os.environ.get(name)}")
    note(f"artifacts {os.environ['TABARENA_MODEL_ARTIFACTS_BASE_PATH']}")
    Path(os.environ["TABARENA_MODEL_ARTIFACTS_BASE_PATH"], "a model").write_text("large")
    Path(os.environ["NUMBA_CACHE_DIR"]).mkdir()
    write(item, defaults)


def fail_with_ray(item, defaults):
    """Leave the logs that a Ray session of this process would leave."""
    logs = Path(defaults["ray_temp_dir"], f"session_2026-11-30_01-02-03_000001_{os.getpid()}", "logs")
    logs.mkdir(parents=True)
    (logs / "raylet.err").write_text("worker died")
    other = Path(defaults["ray_temp_dir"], "session_2026-11-30_01-02-03_000001_1", "logs")
    other.mkdir(parents=True, exist_ok=True)
    raise RuntimeError("ray is gone")


def fit(item, defaults):
    """Fit with OpenMP threads, which hang for good in a process that was forked after another fit."""
    import lightgbm
    import numpy as np

    rng = np.random.default_rng(0)
    data = lightgbm.Dataset(rng.normal(size=(500, 8)), rng.integers(0, 2, 500))
    lightgbm.train({"objective": "binary", "num_threads": 2, "verbosity": -1}, data, num_boost_round=20)
    write(item, defaults)


def preload_lightgbm():
    import lightgbm  # noqa: F401

    preload()


def server_pid():
    """The process above this item's supervisor."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])


def ask(item, defaults):
    note(f"heard {sys.stdin.read()!r}")
    write(item, defaults)


ACTIONS = {
    "large": write_large,
    "ask": ask,
    "write": write,
    "slow": write_slowly,
    "fail": fail,
    "leave": leave,
    "killed": be_killed,
    "forget": forget,
    "hang": hang,
    "daemon": leave_daemon,
    "kill_server": kill_server,
    "meet": meet,
    "place": show_place,
    "folders": show_folders,
    "ray": fail_with_ray,
    "fit": fit,
}
