"""Where compiled kernels are kept, and what happens where they cannot be."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.contract import Exit, Failure
from benchwright.processing.ensemble import compiled

FIT = """
import numpy as np
from benchwright.processing.ensemble import EnsembleSelection
labels = np.array([0, 1, 1, 0])
predictions = list(np.random.default_rng(0).random((4, 4)).astype(np.float32))
print(EnsembleSelection.of("log_loss", labels, predictions).select(size=5).indices)
"""


def fit(tmp_path, **changes):
    """The indices that a process of its own selects, and its environment's home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    environment = kept | {"HOME": str(tmp_path / "home")} | {name: str(value) for name, value in changes.items()}
    done = subprocess.run(
        [sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(FIT, {})
    return output.getvalue()


def test_a_chosen_cache_folder_is_used_and_a_damaged_cache_made_anew(tmp_path, expected):
    chosen = tmp_path / "chosen folder"
    assert fit(tmp_path, NUMBA_CACHE_DIR=chosen) == expected
    assert not (tmp_path / "home" / ".cache").exists()
    for suffix in ("nbi", "nbc"):
        for path in chosen.rglob(f"*.{suffix}"):
            path.write_bytes(b"" if suffix == "nbi" else path.read_bytes()[:100])
        assert fit(tmp_path, NUMBA_CACHE_DIR=chosen) == expected
        assert all(path.stat().st_size > 100 for path in chosen.rglob("*.nb?"))


def test_without_any_folder_to_write_to_kernels_are_compiled_for_the_process(tmp_path, expected):
    (tmp_path / "file").write_text("")
    unwritable = {
        "NUMBA_CACHE_DIR": tmp_path / "file" / "below",
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    assert fit(tmp_path, **unwritable) == expected


def test_without_numba_the_failure_names_the_command(monkeypatch):
    compiled.kernels.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    try:
        with pytest.raises(Failure) as caught:
            compiled.kernels()
    finally:
        compiled.kernels.cache_clear()
    assert caught.value.exit == Exit.ENVIRONMENT
    (problem,) = caught.value.problems
    assert str(problem) == (
        "numba: not installed, expected numba, to fit ensembles\n"
        "    fix: make setup in a checkout, or pip install numba"
    )


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({}, "/home/someone/.cache/benchwright/numba"),
        ({"XDG_CACHE_HOME": "/scratch/cache"}, "/scratch/cache/benchwright/numba"),
        ({"XDG_CACHE_HOME": "/scratch/cache", "NUMBA_CACHE_DIR": "/chosen"}, "/chosen"),
    ],
)
def test_the_cache_lies_in_the_users_cache_folder_unless_told_otherwise(monkeypatch, environment, folder):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/someone", **environment}.items():
        monkeypatch.setenv(name, value)
    assert compiled.cache_folder() == Path(folder)


def test_a_user_without_a_home_gets_no_cache_folder(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert compiled.cache_folder() is None
