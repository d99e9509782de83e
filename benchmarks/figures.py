"""Every figure, page and table of one subset: ten methods of three variants, as an evaluation leaves them behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from measure import Bench, Row, Side, answer

if TYPE_CHECKING:
    from benchwright.leaderboard import Evaluation

_BAR_S = 10
_METHODS = 10
_FILES = 24  # a report, 5 tables, 7 figures in two formats, 4 pages


def measure(bench: Bench) -> list[Row]:
    """One row. The peer draws fewer things, with other names: its time is no measure of this work."""
    folder = bench.workspace / "figures"
    samples = [bench.run("figures", "ours", folder) for _ in range(1 if bench.quick else 3)]
    if (written := samples[0].answer["files"]) != _FILES:
        raise AssertionError(f"{written} files instead of {_FILES}")
    return [Row(f"figures: complete set of {_METHODS} methods", Side.of(samples), most_seconds=_BAR_S)]


def ours(folder: str) -> dict[str, int]:
    """Rate the methods, and write everything; the number of files."""
    from benchwright.leaderboard.outputs import write_outputs

    return {"files": len(write_outputs(_evaluation(Path(folder)), ("pdf", "png"), focus_new=True))}


def _evaluation(folder: Path) -> Evaluation:
    """The mini arena, entered by ten methods whose errors are LightGBM's with noise; the first one is the run's."""
    import numpy as np
    import pandas as pd

    from benchwright.arena import MethodMetadata
    from benchwright.leaderboard import Evaluation, SubsetEvaluation
    from benchwright.leaderboard.comparison import assemble, compare
    from benchwright.leaderboard.frame import results_frame
    from benchwright.mini import source

    arena = source()
    reference = results_frame([arena.reference_results()], where="the mini arena")
    family = reference[reference["config_type"] == "GBM"]
    random = np.random.default_rng(0)
    copies = []
    for number in range(_METHODS):
        noise = random.lognormal(0.02 * number, 0.1, len(family))
        copy = family.assign(metric_error=family["metric_error"] * noise, config_type=f"M{number}")
        copy["method"] = copy["method"].str.replace("GBM", f"M{number}", regex=False)
        suite = "run" if number == 0 else family["ta_suite"]
        copies.append(
            copy.assign(ta_name=f"Method {number}", ta_suite=suite, time_infer_s=copy["time_infer_s"] * noise)
        )
    rows = pd.concat(copies)
    metadata = {
        key: MethodMetadata.config(method=key[0], suite=key[1], ag_key="GBM", display_name=key[0])
        for key in dict.fromkeys(zip(rows["ta_name"], rows["ta_suite"], strict=True))
    }
    is_new = rows["ta_suite"] == "run"
    others = pd.concat([rows[~is_new], reference[reference["method"] == arena.spec.calibration_method]])
    display = {key: method.display_name for key, method in metadata.items()}
    field = assemble(others, rows[is_new], display, {("Method 0", "run"): "Method 0"})
    subset = compare(field, arena.spec.tasks, arena.spec, label="full", n_bootstraps=100)
    assert isinstance(subset, SubsetEvaluation)
    return Evaluation("bench", arena.spec.title, folder, (subset,), (), metadata, tuple(field.new), (), ())


if __name__ == "__main__":
    answer(ours=ours)
