"""Ray sessions of items: who needs one, how large it is, and that nothing of it stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.bridge import open_arena, plan_grid
from benchwright.bridge.batch import load_experiment
from benchwright.bridge.ray_session import fits_in_ray
from benchwright.files import write_json

HERE = Path(__file__).parent
GIB = 1024**3


@pytest.mark.parametrize(
    ("arena", "model", "options", "wanted"),
    [
        ("tabarena", "LinearModel", {}, True),
        ("tabarena", "TabM", {}, True),
        ("tabarena", "LinearModel", {"sequential_local_fold_fitting": True}, False),
        ("tabarena", "TabPFN-v2.6", {}, False),
        ("mini", "LinearModel", {}, False),
    ],
    ids=["folds side by side", "a gpu model's too", "asked for", "the model's own way", "mini"],
)
def test_ray_is_for_folds_that_are_fitted_side_by_side(tmp_path, arena, model, options, wanted):
    source = open_arena(arena)
    scope = {"dataset_names": [source.spec.tasks.datasets[0]], "split_indices": "lite"}
    grid = plan_grid(source, models=[(model, 0)], subset=scope, options=options)
    experiment = load_experiment(grid.save(tmp_path / "batch"), grid.items[0].experiment)
    assert fits_in_ray(experiment.method_kwargs) is wanted


@pytest.mark.slow
def test_an_items_session_is_its_own_and_its_logs_are_kept_when_it_fails(tmp_path):
    item = {"experiment": "E", "dataset": "d", "repeat": 0, "fold": 0, "task_key": "d"}
    output = tmp_path / "output"
    output.mkdir()
    defaults = {
        "python": sys.executable,
        "output_dir": str(output),
        "entry": "ray_entries:run",
        "num_cpus": 1,
        "num_gpus": 0,
        "memory_limit": 1,
        "slurm_log_dir": str(tmp_path / "slurm_out"),
    }
    write_json(tmp_path / "jobs.json", {"defaults": defaults, "jobs": [{"items": [item]}]})
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0", "RAY_TMPDIR": str(tmp_path), "PYTHONPATH": path}
    command = [sys.executable, "-m", "benchwright.node.slurm_task", str(tmp_path / "jobs.json")]
    done = subprocess.run(command, env=os.environ | array, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 1, done.stderr
    assert done.stderr.endswith("RuntimeError: the fit failed\n")
    there = json.loads((output / "there.json").read_text())
    assert there["resources"]["CPU"] == 1
    assert "GPU" not in there["resources"]
    assert there["resources"]["object_store_memory"] == pytest.approx(0.3 * GIB, rel=0.01)
    session = Path(there["session"])
    assert not session.is_relative_to(tmp_path), "a folder that other tasks have, too"
    assert not session.parents[1].exists()
    kept = tmp_path / "slurm_out" / "7" / "ray_logs" / "task_0" / session.name
    assert (kept / "raylet.out").is_file()
    assert not any(str(session) in words for words in _command_lines())


def _command_lines():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_text()
        except OSError:
            continue
