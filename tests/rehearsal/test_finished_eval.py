"""The sample eval: it is what the audit takes it for, complete or not."""

from __future__ import annotations

import pytest

from audit_runs import settle
from benchwright.rehearsal.finished_eval import main
from scripts_in_process import Script


@pytest.mark.parametrize(("errors", "verdict"), [(0, "STOP"), (27, "RESUME")])
def test_it_is_what_was_asked_for(errors, verdict, tmp_path, capsys, settings):
    words = [str(tmp_path), "--errors", str(errors)]
    assert main(words) == 0
    folder = tmp_path / "trace_jobs" / f"terminal_bench_2_model-{errors}-errors_20260901_100000"
    assert capsys.readouterr().out == f"{folder}\n"
    settle(folder)
    audit = Script.named("eval/audit_evals", capsys, "--no-hub", "--db", "none", "--no-cache")
    (found,) = audit.answer(folder)["data"]["evals"]
    assert (found["verdict"], found["benchmark"]) == (verdict, "terminal_bench_2")
    assert found["model"] == f"example-org/model-{errors}-errors"
    assert [found[name] for name in ("valid", "invalid", "planned")] == [267 - errors, errors, 267]
    assert len(list(folder.glob("*/agent/trajectory.json"))) == 267
    assert main(words) == 2


def test_more_errors_than_trials_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--errors", "268"])
    assert capsys.readouterr().err.endswith("error: --errors: 268 is none of 0 to 267\n")
