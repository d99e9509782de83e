"""``hub_leaderboard.py``: its commands, what it answers where nothing is told, and its functions for importers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.hub import leaderboard
from benchwright.hub.client import HubPatience
from benchwright.rehearsal.hub import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import card, fill
from scripts_in_process import Script, load

FILE = Path(__file__).resolve().parents[2] / ".agents/skills/port-evals-to-hub/scripts/hub_leaderboard.py"
LOGIC = "bench-org/logic-1k"
NO_NUMBERS = ("NaN", "inf", "62,7", "1e3", "1_0", " 5", "5%", "\u0665", "")


@pytest.fixture
def script(emulator, capsys, monkeypatch):
    """The script, asking the emulator with a token of its own, and soon tired of asking."""
    monkeypatch.setenv("HF_TOKEN", emulator.token("porter"))
    monkeypatch.setattr(HubPatience.__init__, "__defaults__", (2, 0.01, 0.05, 5.0))
    leaderboard.session.cache_clear()
    yield Script(load(FILE), capsys)
    leaderboard.session.cache_clear()


@pytest.fixture
def sample(emulator):
    fill(emulator)


def test_views(script, emulator):
    envelope = script.answer("views")
    assert envelope["summary"] == "16 views, the broadest first"
    assert envelope["data"]["views"][3] == {"max_params": "500B", "base_only": False, "words": "up to 500B, all models"}
    assert emulator.seen == []


def test_tasks(script, sample):
    envelope = script.answer("tasks", "bench-org/fixit-verified")
    assert envelope["data"]["tasks"] == ["fixit_%_resolved"]
    assert envelope["summary"] == ("Fixit Verified, bench-org/fixit-verified, official; 1 task, the default first")
    assert "bench-org/almost" not in script.answer("tasks")["data"]["benchmarks"]


def test_a_board(script, sample, emulator):
    envelope = script.answer("board", "bench-org/cliquest-2", "--max-params", "12B")
    data = envelope["data"]
    assert (data["unit"], data["lower_is_better"], data["rows"][0]["rank"]) == ("percent", False, 1)
    assert data["link"] == (
        f"{emulator.url}/datasets/bench-org/cliquest-2?leaderboard_task_id=cliquest_2&leaderboard_max_params=12B"
    )
    code, lines = script.run("board", "bench-org/cliquest-2", "--all-models")
    assert (code, lines[0]) == (
        0,
        "cliquest_2 of bench-org/cliquest-2, all sizes, all models: 64 rows; higher is better, it looks like percent",
    )
    assert lines[1] == "     1       60.0  peer-lab-0/peer-00  (main)"
    assert len(lines) <= 40


def test_a_prediction(script, sample, emulator):
    envelope = script.answer("predict", "nova-ai/nova-7b", LOGIC, "61.25")
    assert envelope["summary"] == "nova-ai/nova-7b with 61.25 would be number 8 at worst: all sizes, base models only"
    data = envelope["data"]
    assert (data["rank"], data["fits_scale"], data["owner"], data["own_row"]) == (8, True, "org", None)
    assert data["link"].endswith("?eval_result=nova-ai/nova-7b&leaderboard_task_id=logic_overall")
    shell = script.answer("predict", "nova-ai/nova-shell-27b", "bench-org/cliquest-2", "29.75")["data"]
    assert (shell["rank"], shell["view"]["words"]) == (48, "up to 128B, all models")


def test_a_prediction_of_what_may_be_a_fraction(script, sample):
    _, lines = script.run("predict", "nova-ai/nova-7b", LOGIC, "1")
    assert lines[-1] == "  the value may be a fraction, or percent"


def test_a_prediction_of_nothing(script, sample):
    envelope = script.answer("predict", "visitor/own-model", LOGIC, "90")
    assert (envelope["exit"], envelope["data"]["view"]) == (1, None)
    assert envelope["summary"] == "visitor/own-model belongs to a person: it is on no leaderboard"
    code, lines = script.run("predict", "nova-ai/nova-7b", "bench-org/cliquest-2", "0.627")
    assert code == 0
    assert "  the value does not look like one of this board's: is its unit right?" in lines
    envelope = script.answer("predict", "nova-ai/nova-mystery", "bench-org/cliquest-2", "20")
    assert envelope["summary"] == "nova-ai/nova-mystery with 20 would be in the top 50 of no view"
    assert [one["code"] for one in envelope["problems"]] == ["no-parameter-count"]


def test_what_is_visible(script, sample):
    envelope = script.answer("visible", "nova-ai/nova-next", LOGIC, "64")
    assert (envelope["exit"], envelope["data"]["rank"]) == (0, 6)
    assert script.answer("visible", "nova-ai/nova-next", LOGIC, "64.0", "--pr", "1")["exit"] == 0
    other = script.answer("visible", "nova-ai/nova-next", LOGIC, "64", "--main")
    assert (other["exit"], other["summary"]) == (1, "no view shows 64 of nova-ai/nova-next in its top 50")
    assert other["data"]["widest_row"]["pull_request"] == 1


def test_what_is_declared(script, sample):
    envelope = script.answer("declared", "nova-ai/nova-old")
    told = [(one["origin"], one["value_text"], one["author"]) for one in envelope["data"]["declared"]]
    assert told == [("main", "55.0", None), ("pr 1", "57.5", "visitor")]
    code, lines = script.run("declared", "nova-ai/nova-odd")
    assert (code, lines[0]) == (0, "nova-ai/nova-odd declares 1 result")
    line = "  bench-org/logic-1k, logic_overall: 50 (main, .eval_results/logic.yaml; broken: source.url is no text)"
    assert lines[1] == line
    assert script.answer("declared", "https://hf.co/nova-ai/nova-beta")["data"]["model"] == "nova-ai/nova-8b"


def test_kinds(script, sample, emulator):
    assert script.answer("kind", "nova-ai")["summary"] == "nova-ai: an organisation"
    assert script.answer("kind", "nova-ai", "visitor", "nobody")["data"]["kinds"] == {
        "nova-ai": "org",
        "visitor": "user",
        "nobody": None,
    }
    emulator.seen.clear()
    assert set(script.answer("kind", "nova-ai/nova-7b", "../x", "")["data"]["kinds"].values()) == {None}
    assert emulator.seen == []


@pytest.mark.parametrize(
    ("words", "exit", "code"),
    [
        (("board", LOGIC, "--task", "logic"), 2, "unknown-task"),
        (("predict", "nova-ai/nova-7b", LOGIC, "5", "--task", "logic"), 2, "unknown-task"),
        (("predict", "nova-7b", LOGIC, "5"), 2, "usage"),
        (("predict", "nova-ai/none", LOGIC, "5"), 1, "repo-missing"),
        (("board", "bench-org/almost"), 1, "not-official"),
        (("board", "bench-org/none"), 1, "not-on-hub"),
        (("board", f"{LOGIC}?task_id=x"), 1, "not-on-hub"),
        (("tasks", "../models/nova-ai"), 1, "not-on-hub"),
        (("declared", "nova-ai/nova-inside"), 1, "repo-missing"),
    ],
)
def test_what_there_is_not_is_said(script, sample, words, exit, code):
    envelope = script.answer(*words)
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (exit, code)


@pytest.mark.parametrize(
    "words",
    [("predict", "--json", "a/b"), *(("--json", "predict", "a/b", "c/d", value) for value in NO_NUMBERS)],
)
def test_wrong_usage_is_an_object_too(script, words):
    with pytest.raises(SystemExit) as left:
        script.run(*words)
    assert left.value.code == 2
    assert '"exit": 2' in script.capsys.readouterr().out


def test_the_output_may_be_asked_for_before_the_command_and_behind_it(script, tmp_path):
    before, behind = script.run("--json", "views"), script.run("views", "--json")
    assert before == behind
    script.run("--out", tmp_path / "views.json", "views")
    assert (tmp_path / "views.json").read_text().startswith("{")


def test_a_hub_that_does_not_answer_is_no_answer(script, sample, emulator):
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=503), path="*/leaderboard", times=9)])
    envelope = script.answer("visible", "nova-ai/nova-next", LOGIC, "64")
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (4, "hub-unavailable")


def test_nothing_is_written_and_no_token_is_needed(script, sample, emulator, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    emulator.seen.clear()
    for words in (
        ("tasks",),
        ("board", LOGIC),
        ("predict", "nova-ai/nova-7b", LOGIC, "61.25"),
        ("visible", "nova-ai/nova-7b", LOGIC, "61.25"),
        ("declared", "nova-ai/nova-old"),
        ("kind", "nova-ai"),
    ):
        assert script.answer(*words)["exit"] in (0, 1)
    assert {one.request.method for one in emulator.seen} == {"GET"}
    assert {one.request.user for one in emulator.seen} == {None}


def test_its_functions_are_there_for_importers(script, sample, emulator):
    module = script.module
    assert module.task_ids(LOGIC) == ("logic_overall", "logic_hard")
    assert module.bench_name("sum-arena/sums_2026") == "Sums 2026"
    assert module.NAMES["openai/gsm8k"] == "GSM8K"
    assert (len(module.views()), module.namespace_kind("visitor")) == (16, "user")
    board = module.board("hear-lab/open-speech", "mean_wer", base_only=False)
    assert module.predicted_rank(board.rows, 6.05, board.lower_is_better, "hear-lab/listener-large") == 4
    found = module.predicted_view("hear-lab/open-speech", "mean_wer", "6.05", 1_540_000_000, has_base=False)
    assert (found.rank, found.lower_is_better) == (4, True)
    assert module.visible_view(LOGIC, "logic_overall", "nova-ai/nova-next", 64, pull_request=1).rank == 6
    assert list(module.declared("nova-ai/nova-next")) == [(LOGIC, "logic_overall")]
    assert module.view_link(LOGIC, "a_%", base_only=False) == (
        f"{emulator.url}/datasets/{LOGIC}?leaderboard_task_id=a_%25&leaderboard_base_model=false"
    )
    with pytest.raises(AttributeError):
        _ = module.nothing_of_the_kind


def test_it_is_imported_by_its_name():
    words = f"import sys; sys.path.insert(0, {str(FILE.parent)!r}); from hub_leaderboard import predicted_view, NAMES"
    subprocess.run([sys.executable, "-c", words], check=True)


def test_a_card_that_names_its_own_model_is_reported(script, emulator, logic):
    emulator.add_model("nova-ai/nova-7b", {"README.md": card("N", base_model="nova-ai/nova-7b")}, parameters={"F32": 7})
    envelope = script.answer("predict", "nova-ai/nova-7b", LOGIC, "5")
    assert envelope["data"]["view"]["base_only"] is False
    assert [one["code"] for one in envelope["problems"]] == ["odd-parameter-count", "own-base"]
