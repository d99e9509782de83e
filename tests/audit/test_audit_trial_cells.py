"""Trials as cells: one for each attempt, where the folder of each is, and what has no room on a page."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import msgspec
from report_cases import NASTY

from benchwright.audit.heat_map import HeatMaps
from benchwright.audit.trial_cells import TrialCell, trial_cells
from benchwright.harbor import read_job, resolve_job_folder
from benchwright.rehearsal.harbor_jobs import EXTRAS, KINDS, JobShape, grow_job


def beginning(cell: TrialCell) -> str:
    return json.loads((Path(cell.folder) / "result.json").read_text())["started_at"]


def test_every_trial_that_counts_has_a_cell_with_its_folder(tmp_path: Path) -> None:
    kinds = list(KINDS) * 2
    truth = grow_job(tmp_path / "eval-job", kinds[: len(kinds) // 3 * 3], extras=EXTRAS)
    cells = trial_cells(read_job(tmp_path / "eval-job"))

    assert {Path(cell.folder).name: cell.state for cell in cells} == truth.states
    assert all((Path(cell.folder) / "result.json").exists() for cell in cells if cell.state != "missing")
    assert {cell.attempt for cell in cells} == {1, 2, 3}
    assert cells == sorted(cells, key=lambda cell: (cell.task, cell.attempt))
    for task in {cell.task for cell in cells}:
        began = [beginning(cell) for cell in cells if cell.task == task and cell.state in ("valid", "unscored")]
        assert began == sorted(began)


def test_an_attempt_that_has_no_folder_is_missing(tmp_path: Path) -> None:
    grow_job(tmp_path / "eval-job", ["pass", "fail", "pass", "fail"], JobShape(attempts=3))
    cells = trial_cells(read_job(tmp_path / "eval-job"))

    assert [(cell.attempt, cell.state, cell.why, bool(cell.folder)) for cell in cells[-3:]] == [
        (1, "valid", "", True),
        (2, "missing", "no folder", False),
        (3, "missing", "no folder", False),
    ]


def test_shards_keep_the_folders_of_their_trials(tmp_path: Path) -> None:
    for shard in range(2):
        grow_job(tmp_path / f"eval-job_shard{shard}", ["pass"] * 3, seed=shard)
    cells = trial_cells(read_job(resolve_job_folder(tmp_path / "eval-job")))

    assert Counter(Path(cell.folder).parent.name for cell in cells) == {"eval-job_shard0": 3, "eval-job_shard1": 3}
    assert all(Path(cell.folder).is_dir() for cell in cells)


def test_one_of_several_evals_has_its_own_cells(tmp_path: Path) -> None:
    grow_job(tmp_path / "eval-job", ["pass"] * 6)
    for folder in sorted(tmp_path.glob("eval-job/*__*"))[:3]:
        content = json.loads((folder / "result.json").read_text())
        content["agent_info"]["name"] = "other-agent"
        (folder / "result.json").write_text(json.dumps(content))
    job = read_job(tmp_path / "eval-job")
    of_each = {key: trial_cells(job, key) for key in job.evals}

    present = {key: sum(cell.folder != "" for cell in cells) for key, cells in of_each.items()}
    assert present == dict.fromkeys(job.evals, 3) and len(present) == 2
    assert {cell.task.partition(" (")[2] for cell in trial_cells(job)} == {f"{key})" for key in job.evals}


def test_what_has_no_room_is_counted_and_the_worst_tasks_stay() -> None:
    good = [TrialCell(f"good-{at}", 1, "valid", 1.0, folder=f"/jobs/run/good-{at}__abcdefg") for at in range(50)]
    bad = [TrialCell(f"bad-{at}", 1, "unscored", why="DaytonaError", folder=f"/jobs/run/bad-{at}") for at in range(9)]
    maps = HeatMaps(None, most_bytes=700)
    drawn = maps.draw(good + bad, planned=70)
    names = [maps.texts[row[0]] for row in drawn.rows]

    assert {name for name in names if name.startswith("bad")} == {cell.task for cell in bad}
    assert names == sorted(names)
    assert drawn.left_out == 59 - len(names) > 0
    assert len(json.dumps([drawn.rows, maps.texts], separators=(",", ":"))) <= 800
    assert (drawn.states, drawn.undrawn) == (Counter(valid=50, unscored=9), 11)
    assert maps.draw(bad, planned=None).left_out > 0


def test_links_lead_from_the_page_to_the_folders() -> None:
    cells = [TrialCell("t", at, "valid", 1.0, folder=f"/jobs/r\u00fcn %/t__{at}") for at in (1, 2)]
    remote = [msgspec.structs.replace(cell, folder=f"gs://bucket/run/t__{cell.attempt}") for cell in cells]

    assert HeatMaps(Path("/jobs/pages")).draw(cells, 2).to_dict() == {
        "rows": [[0, "t__", [[1, "1"], [1, "2"]]]],
        "base": "../r%C3%BCn%20%25",
        "attempts": 2,
    }
    assert HeatMaps(None).draw(cells, 2).base is None
    assert HeatMaps(Path("/jobs/pages")).draw(remote, 2).to_dict() == {
        "rows": [[0, "gs%3A//bucket/run/t__", [[1, "1"], [1, "2"]]]],
        "base": None,
        "attempts": 2,
    }


def test_cells_hold_what_is_hard_to_hold() -> None:
    cells = [
        TrialCell(NASTY, 1, "valid", 0.123456789, why=NASTY, folder="/jobs/run/\udcff\n"),
        TrialCell(NASTY, 3, "corrupt", why="x" * 10_000),
    ]
    maps = HeatMaps(Path("/jobs"))
    (row,) = maps.draw(cells, None).rows

    assert row == [0, "%FF%0A", [[0.123457, "", 0], None, ["c", None, 1]]]
    assert maps.texts[1] == "x" * 199 + "…"
    json.dumps([row, maps.texts], ensure_ascii=False).encode()
