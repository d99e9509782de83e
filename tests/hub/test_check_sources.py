"""``check_sources.py`` as it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.rehearsal.hub.sample import fill
from scripts_in_process import Script, load

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".agents/skills/port-evals-to-hub/scripts/check_sources.py"


@pytest.fixture
def script(emulator, capsys, tmp_path):
    with emulator.at_once():
        fill(emulator)
    return Script(load(SCRIPT), capsys, ("--snapshots", tmp_path / "snapshots"))


@pytest.fixture
def spec(tmp_path):
    def write(*results):
        told = {}
        for repo, dataset, task, value, more in results:
            source = {"url": f"https://huggingface.co/{repo}", "name": "Model Card"}
            told.setdefault(repo, []).append(
                {"dataset": f"bench-org/{dataset}", "task_id": task, "value_text": value, "source": source, **more}
            )
        path = tmp_path / "spec.json"
        path.write_text(
            json.dumps({"version": 1, "repos": [{"repo": one, "results": all} for one, all in told.items()]})
        )
        return path

    return write


GOOD = ("nova-ai/nova-7b", "logic-1k", "logic_overall", "61.25", {})


def test_places_questions_and_origins_are_printed(script, spec):
    path = spec(GOOD, ("nova-ai/nova-shell-27b", "cliquest-2", "cliquest_2", "9.36", {"origin": "the model card"}))
    code, lines = script.run(path)
    assert code == 1
    digests = [line.rpartition(" ")[2] for line in lines if "SHA-256" in line]
    where = f"{path}:1: repos[1].results[0]"
    assert lines == [
        "2 results: 2 found; 1 question for a person",
        "nova-ai/nova-7b  bench-org/logic-1k (logic_overall)  61.25: found",
        f"    source: https://huggingface.co/nova-ai/nova-7b, SHA-256 {digests[0]}",
        "    61.25 in the model card, table (row Logic-1k; column Nova 7B; Nova 7B): Logic-1k | 61.25 | 58.10",
        '    origin, proposed: the table under "Nova 7B" of the model card (Logic-1k row, Nova 7B column)',
        "nova-ai/nova-shell-27b  bench-org/cliquest-2 (cliquest_2)  9.36: found",
        f"    source: https://huggingface.co/nova-ai/nova-shell-27b, SHA-256 {digests[1]}",
        "    9.36 in the model card, text (Nova Shell 27B): On CLIQuest 2.0 it scores 9.36%; with tools 19.365.",
        "    asks: tools: Was it measured with tools, and does the board allow them?",
        '        "On CLIQuest 2.0 it scores 9.36%; with tools 19.365."',
        "    origin: the model card",
        f"  - {where}: tools: Was it measured with tools, and does the board allow them?, expected an answer;"
        ' the source says "On CLIQuest 2.0 it scores 9.36%; with tools 19.365."',
        '    fix: a person answers in the spec: "answers": {"tools": "..."}; or take the result out',
    ]


def test_what_is_found_without_a_question_leaves_with_0(script, spec, emulator, tmp_path):
    envelope = script.answer(spec(GOOD))
    assert (envelope["exit"], envelope["problems"]) == (0, [])
    (told,) = envelope["data"]["results"]
    assert (told["state"], told["places"][0]["row"], told["places"][0]["column"]) == ("found", "Logic-1k", "Nova 7B")
    assert (tmp_path / "snapshots" / f"{told['digest']}.md").exists()
    assert {one.request.method for one in emulator.seen} == {"GET"}


def test_a_missing_model_a_gated_card_and_a_missing_number_are_told_together(script, spec):
    envelope = script.answer(
        spec(
            GOOD,
            ("nova-ai/none", "logic-1k", "logic_overall", "60.0", {}),
            ("guarded-lab/guarded-7b", "logic-1k", "logic_overall", "60.0", {}),
            ("nova-ai/nova-mystery", "logic-1k", "logic_overall", "70.2", {}),
        )
    )
    assert envelope["exit"] == 3
    assert envelope["summary"] == "4 results: 1 absent, 1 found, 2 unreachable; 1 question for a person"
    codes = [one["code"] for one in envelope["problems"]]
    assert codes == ["repo-missing", "gated", "value-not-found", "open-question"]


def test_a_wrong_spec_is_told_before_anything_is_asked(script, tmp_path, emulator):
    path = tmp_path / "spec.json"
    path.write_text('{"version": 1}')
    envelope = script.answer(path)
    assert (envelope["exit"], envelope["problems"][0]["where"], emulator.seen) == (2, f"{path}:1: repos", [])
