"""``open_eval_prs.py``: the dry run, the real one with its table, a change, a registry written anew, the hand-off."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from opening_runs import RESULTS, add_model, pulls_of, result_of, spec_of, writes

from benchwright.contract import DRY_RUN
from benchwright.hub.client import Hub, HubPatience, where_of
from benchwright.hub.opening.live import Polling
from benchwright.hub.registry import Registry
from benchwright.hub.writing import alone
from benchwright.rehearsal.hub.conversation import add_event
from benchwright.rehearsal.hub.faults import Fault, FaultRule, RuledFaults
from benchwright.rehearsal.hub.sample import results_file
from scripts_in_process import Script, load

FILE = Path(__file__).resolve().parents[2] / ".agents/skills/port-evals-to-hub/scripts/open_eval_prs.py"
NOVA = "nova-ai/nova-7b"


@pytest.fixture
def token(emulator, monkeypatch):
    value = emulator.token("porter")
    monkeypatch.setenv("HF_TOKEN", value)
    return value


@pytest.fixture
def script(emulator, capsys, monkeypatch, registry, token):
    """The script with a registry of its own, which waits for no board."""
    monkeypatch.setattr(Polling.__init__, "__defaults__", (2, 0.0))
    return Script(load(FILE), capsys, ("--registry", registry))


@pytest.fixture
def board(logic, peers, emulator):
    with emulator.at(datetime(2026, 3, 1, tzinfo=UTC)):
        peers([80, 70, 60, 50, 40, 35])


def cited(value="61.25", repo=NOVA, **more):
    """A result that the model's card tells."""
    source = {"url": f"https://huggingface.co/{repo}", "name": "Model Card"}
    return result_of(value, **{"source": source, **more})


@pytest.fixture
def spec(emulator, board, tmp_path):
    """The spec of a model whose card tells its result."""
    add_model(emulator, NOVA)
    return spec_of(tmp_path, {NOVA: [cited()]}).path


def test_a_dry_run_shows_all_and_writes_nothing(script, spec, emulator, registry, token, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    code, lines = script.run(spec)
    assert (code, lines[0], lines[-1]) == (0, f"{DRY_RUN}; 1 model: 1 to open", DRY_RUN)
    text = "\n".join(lines)
    assert "    title: Add community evaluation results for Logic-1k\n" in text
    assert "    Logic-1k: 61.25 would be number 3 at worst: all sizes, base models only\n" in text
    assert f"    {RESULTS}:\n        - dataset:\n" in text
    assert "        These results were extracted from the model card.\n" in text
    assert "to open them (where a client blocks this, a person runs it):" in lines
    envelope = script.answer(spec)
    assert envelope["data"]["applied"] is False
    (command,) = envelope["next"]
    assert shlex.split(command)[1:] == [str(FILE), str(spec), "--registry", str(registry), "--apply"]
    assert {one.request.method for one in emulator.seen} <= {"GET", "HEAD"}
    assert not any("whoami" in one.request.path for one in emulator.seen)
    assert not registry.parent.exists()


def test_apply_opens_and_says_where_the_results_stand(script, spec, emulator, registry):
    envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["summary"]) == (0, "1 model: 1 opened")
    address = f"{emulator.url}/{NOVA}/discussions/1"
    (result,) = envelope["data"]["results"]
    assert (result["rank"], result["view"], result["url"]) == (3, "all sizes, base models only", address)
    assert envelope["next"][0].endswith(f"sweep_eval_prs.py --registry {registry}")
    code, lines = script.run(spec, "--apply")
    assert (code, lines[:4]) == (
        0,
        [
            "1 model: 1 there already",
            "| pull request | benchmark | value | live rank | view |",
            "|---|---|---|---|---|",
            f"| {address} | Logic-1k | 61.25 | 3 | all sizes, base models only |",
        ],
    )
    assert len(pulls_of(emulator, NOVA)) == 1


def test_apply_keeps_what_the_sources_said_beside_the_registry(script, spec, emulator, registry, hub):
    script.answer(spec, "--apply")
    (kept,) = registry.with_name("hf-eval-results-sources").glob("*.md")
    assert kept.read_text() == hub.text(NOVA, "README.md", emulator.repo(NOVA).main.oid)
    assert kept.stem == sha256(kept.read_bytes()).hexdigest()


def test_a_value_that_the_source_lacks_blocks_apply_unless_the_origin_names_a_figure(script, board, emulator, tmp_path):
    add_model(emulator, NOVA, value="9.99")
    spec = spec_of(tmp_path, {NOVA: [cited()]}).path
    envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (1, "value-not-found")
    assert writes(emulator) == []
    spec = spec_of(tmp_path, {NOVA: [cited(origin="the model card (Figure 2, the bar of Logic-1k)")]}).path
    assert script.answer(spec, "--apply")["summary"] == "1 model: 1 opened"
    assert "(Figure 2, the bar of Logic-1k)" in pulls_of(emulator, NOVA)[0].events[0].data["latest"]["raw"]


def test_what_is_refused_does_not_keep_others_back(script, board, emulator, tmp_path):
    add_model(emulator, NOVA)
    add_model(emulator, "nova-ai/old")
    emulator.commit(emulator.repo("nova-ai/old"), {RESULTS: results_file("bench-org/logic-1k", "logic", 55)})
    spec = spec_of(tmp_path, {"nova-ai/old": [cited(repo="nova-ai/old", row=46)], NOVA: [cited(row=47)]}).path
    envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["summary"]) == (1, "2 models: 1 opened, 1 refused")
    assert envelope["problems"][0]["code"] == "declared"
    assert [(one["rows"], one["outcome"]) for one in envelope["data"]["repos"]] == [([46], "refused"), ([47], "opened")]
    assert pulls_of(emulator, "nova-ai/old") == []


def test_where_all_are_refused_nothing_was_applied(script, board, emulator, tmp_path):
    add_model(emulator, NOVA, value="9.99")
    spec = spec_of(tmp_path, {NOVA: [cited()]}).path
    envelope = script.answer(spec, "--apply")
    assert (envelope["summary"], envelope["data"]["applied"], envelope["next"]) == ("1 model: 1 refused", False, [])
    _, lines = script.run(spec, "--apply")
    assert lines[:2] == ["1 model: 1 refused", f"{NOVA}: refused"]
    assert not any("DRY RUN" in line for line in lines)


def test_without_anything_to_open_there_is_no_command_to_open_it(script, spec, emulator, registry, tmp_path):
    add_model(emulator, "nova-ai/other", value="9.99")
    script.answer(spec, "--apply")
    both = spec_of(tmp_path, {NOVA: [cited()], "nova-ai/other": [cited(repo="nova-ai/other")]}).path
    sheet = tmp_path / "sheet.md"
    envelope = script.answer(both, "--handoff", sheet)
    assert (envelope["summary"], envelope["next"]) == (f"{DRY_RUN}; 2 models: 1 there already, 1 refused", [])
    assert "--apply" not in sheet.read_text()
    registry.unlink()
    assert len(script.answer(both)["next"]) == 1  # there is one to be adopted


def test_a_token_that_only_reads_is_refused_first(script, spec, emulator, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", emulator.token("porter", "read"))
    envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (3, "token-rights")
    assert [one.request.path for one in emulator.seen] == ["/api/whoami-v2"]


def test_a_spec_with_mistakes_asks_nobody(script, emulator, tmp_path):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"version": 1, "repos": [{"repo": NOVA, "results": [{"dataset": "x"}]}]}))
    envelope = script.answer(path)
    assert envelope["exit"] == 2
    assert len(envelope["problems"]) > 1
    assert emulator.seen == []


def test_a_damaged_registry_is_refused_and_written_anew(script, spec, board, emulator, registry, tmp_path):
    add_model(emulator, "nova-ai/second")
    both = spec_of(tmp_path, {NOVA: [cited()], "nova-ai/second": [cited(repo="nova-ai/second")]}).path
    script.answer(both, "--apply")
    emulator.close_pull_request(emulator.repo("nova-ai/second"), 1)
    before = registry.read_bytes()
    registry.write_bytes(before[:-40])
    (problem,) = script.answer(both)["problems"]
    assert problem["code"] == "registry-damaged"
    words = [sys.executable, str(FILE), str(both), "--registry", str(registry), "--rebuild"]
    assert shlex.split(problem["fix"].partition("from the Hub: ")[2]) == words
    spec_of(tmp_path, {NOVA: [cited()]})  # what is left of the file names the other
    assert script.answer(both, "--apply")["exit"] == 5
    emulator.seen.clear()
    envelope = script.answer(both, "--rebuild")
    assert (envelope["exit"], envelope["summary"]) == (0, f"{registry}: 2 pull requests found on the Hub")
    assert envelope["data"]["before"] == f"{registry}.before-rebuild"
    assert Path(envelope["data"]["before"]).read_bytes() == before[:-40]
    records = {one.repo: one for one in Registry.load(registry).records}
    assert {repo: (one.state, one.num) for repo, one in records.items()} == {
        NOVA: ("open", 1),
        "nova-ai/second": ("closed", 1),
    }
    for one in records.values():
        assert [(held.filename, held.value_text) for held in one.results] == [(RESULTS, "61.25")]
        assert one.results[0].shown.model == one.repo
    assert writes(emulator) == []
    assert script.answer(both, "--apply")["summary"] == "1 model: 1 there already"


def test_rebuild_finds_what_only_the_boards_know_and_leaves_others_alone(
    script, spec, emulator, registry, tmp_path, result
):
    script.answer(spec, "--apply")
    registry.unlink()
    emulator.add_user("visitor")
    for repo, author in (("nova-ai/theirs", "visitor"), ("nova-ai/by-hand", "porter"), ("nova-ai/in-spec", "porter")):
        made = add_model(emulator, repo)
        emulator.open_pull_request(made, {RESULTS: result(45)}, author=author, title="Add", body="no marker")
    other = spec_of(tmp_path, {"nova-ai/in-spec": [cited(repo="nova-ai/in-spec")]}).path
    script.answer(other, "--rebuild")
    assert [one.repo for one in Registry.load(registry).records] == [NOVA]


def test_what_one_rebuild_could_not_look_at_the_next_one_does(script, spec, emulator, registry, tmp_path):
    """A closed one is on no board: the damaged file alone names its model, and the rebuilt one does not."""
    script.answer(spec, "--apply")
    emulator.close_pull_request(emulator.repo(NOVA), 1)
    damaged = registry.read_bytes()[:-40]
    registry.write_bytes(damaged)
    emulator.fault = RuledFaults([FaultRule(Fault("error", status=404), path=f"/api/models/{NOVA}/discussions*")])
    envelope = script.answer("--rebuild")
    assert (envelope["exit"], envelope["data"]["records"]) == (1, [])
    emulator.fault = None
    envelope = script.answer("--rebuild")
    assert [one["state"] for one in envelope["data"]["records"]] == ["closed"]
    assert envelope["data"]["before"] == f"{registry}.before-rebuild-2"
    assert registry.with_name(f"{registry.name}.before-rebuild").read_bytes() == damaged


@pytest.fixture
def two(script, board, emulator, tmp_path):
    """The spec of two models, whose pull requests are open; nobody but the registry knows of the second one."""
    second = "nova-ai/second"
    add_model(emulator, NOVA)
    add_model(emulator, second)
    script.answer(spec_of(tmp_path, {NOVA: [cited()], second: [cited(repo=second)]}).path, "--apply")
    emulator.close_pull_request(emulator.repo(second), 1)
    return second


def test_a_rebuild_that_is_not_told_all_leaves_the_registry_as_it_is(script, two, emulator, registry, monkeypatch):
    """However often it fails: the next one knows as much as the first."""
    monkeypatch.setattr(HubPatience.__init__, "__defaults__", (2, 0.01, 0.05, 5.0))
    damaged = registry.read_bytes()[:-40]
    registry.write_bytes(damaged)
    for path in (f"/api/models/{two}", "*/leaderboard"):
        emulator.fault = RuledFaults([FaultRule(Fault("error", status=500), path=path, times=99)])
        envelope = script.answer("--rebuild")
        assert (envelope["exit"], envelope["data"]["written"], envelope["data"]["before"]) == (4, False, None)
        assert envelope["summary"].startswith(f"{registry} stays as it is: the Hub did not tell all, ")
        assert envelope["next"][0].endswith(f"--registry {registry} --rebuild")
        assert registry.read_bytes() == damaged
    assert [one.name for one in registry.parent.iterdir() if "before" in one.name] == []
    emulator.fault = None
    envelope = script.answer("--rebuild")
    assert (envelope["exit"], [one["state"] for one in envelope["data"]["records"]]) == (0, ["open", "closed"])


def test_a_rebuild_keeps_the_records_of_what_cannot_be_looked_at(script, two, emulator, registry):
    before = {one.repo: one for one in Registry.load(registry).records}
    emulator.delete(emulator.repo(two))
    envelope = script.answer("--rebuild")
    assert (envelope["exit"], envelope["data"]["written"]) == (1, True)
    assert [(one["code"], one["where"]) for one in envelope["problems"]] == [("repo-missing", two)]
    assert {one.repo: one.key for one in Registry.load(registry).records} == {
        repo: one.key for repo, one in before.items()
    }
    assert Registry.load(registry).of(two) == (before[two],)


def test_a_benchmark_behind_a_gate_is_a_remark_of_a_rebuild(script, two, emulator):
    files = {"eval.yaml": "name: Closed\nevaluation_framework: harbor\ntasks:\n  - id: closed\n"}
    emulator.change(emulator.add_dataset("bench-org/closed", files, official=True), gated="manual")
    envelope = script.answer("--rebuild")
    assert (envelope["exit"], len(envelope["data"]["records"])) == (0, 2)
    assert [(one["code"], one["where"]) for one in envelope["problems"]] == [("gated", "datasets/bench-org/closed")]


def test_a_registry_of_another_hub_is_not_rebuilt_from_this_one(script, spec, emulator, registry):
    script.answer(spec, "--apply")
    other = registry.read_bytes().replace(emulator.url.encode(), b"https://hub.example")[:-40]
    registry.write_bytes(other)
    envelope = script.answer(spec, "--rebuild")
    assert (envelope["exit"], envelope["problems"][0]["code"], registry.read_bytes()) == (5, "other-hub", other)


def test_rebuild_needs_no_spec(script, spec, emulator, registry):
    """Whatever the damaged file names is looked at, and the models that boards show a pull request of."""
    script.answer(spec, "--apply")
    (before,) = Registry.load(registry).records
    emulator.close_pull_request(emulator.repo(NOVA), 1)
    registry.write_bytes(registry.read_bytes()[:-40])
    envelope = script.answer("--rebuild")
    assert (envelope["exit"], envelope["summary"]) == (0, f"{registry}: 1 pull request found on the Hub")
    (record,) = Registry.load(registry).records
    assert (record.key, record.state, record.results) == (before.key, "closed", before.results)


@pytest.mark.parametrize("words", [(), ("--apply",), ("--amend", 1)])
def test_without_a_spec_nothing_is_opened(words, script, emulator):
    envelope = script.answer(*words)
    assert (envelope["exit"], emulator.seen) == (2, [])
    assert str(envelope["problems"][0]["fix"]) == "name it; --rebuild alone needs none"


class TestAmending:
    """``--amend``: a commit to our own pull request, never a second one."""

    @pytest.fixture
    def opened(self, script, spec, emulator):
        assert script.answer(spec, "--apply")["exit"] == 0
        emulator.seen.clear()
        return spec

    @pytest.fixture
    def amended(self, opened, emulator, tmp_path):
        """A spec with other digits and one more result."""
        emulator.commit(emulator.repo(NOVA), {"README.md": "# Nova\nLogic-1k: 61.5. On the hard part 12.5.\n"})
        return spec_of(tmp_path, {NOVA: [cited("61.5"), cited("12.5", task="hard", unit_checked=True)]}).path

    def texts(self, emulator):
        repo = emulator.repo(NOVA)
        (pull,) = pulls_of(emulator, NOVA)
        files = repo.commits[pull.head].files
        return {path: repo.blobs[one.oid].decode() for path, one in files.items() if path.startswith(".eval_results/")}

    def test_shown_first(self, script, amended, emulator):
        code, lines = script.run(amended, "--amend", 1)
        summary = f"{DRY_RUN}; pull request 1 of {NOVA}: write {RESULTS}; write its body"
        assert (code, lines[0], lines[-1]) == (0, summary, DRY_RUN)
        assert lines[-3] == "to change it (where a client blocks this, a person runs it):"
        assert writes(emulator) == []

    def test_files_body_and_registry(self, script, amended, emulator, registry):
        envelope = script.answer(amended, "--amend", 1, "--apply")
        assert (envelope["exit"], [one["value_text"] for one in envelope["data"]["results"]]) == (0, ["61.5", "12.5"])
        text = self.texts(emulator)[RESULTS]
        assert "  value: 61.5\n" in text
        assert "  value: 12.5\n" in text
        (pull,) = pulls_of(emulator, NOVA)
        (record,) = Registry.load(registry).records
        assert (record.head, [one.value_text for one in record.results]) == (pull.head, ["61.5", "12.5"])
        assert f"port-evals:{record.spec_hash}" in pull.events[0].data["latest"]["raw"]
        assert [one.what for one in record.history] == ["intent", "opened", "amending", "amended"]
        emulator.seen.clear()
        assert script.answer(amended, "--amend", 1)["summary"].endswith(
            "pull request 1 of nova-ai/nova-7b says it already"
        )
        assert script.answer(amended, "--apply")["summary"] == "1 model: 1 there already"
        assert writes(emulator) == []

    def test_a_file_is_pointed_at_another_board(self, script, opened, emulator, tmp_path, peers):
        other = {"eval.yaml": "name: Logic-2k\nevaluation_framework: harbor\ntasks:\n  - id: two\n"}
        emulator.add_dataset("bench-org/logic-2k", other, official=True)
        emulator.commit(emulator.repo(NOVA), {"README.md": "# Nova\nOn Logic-2k it scores 61.25.\n"})
        named = cited(dataset="bench-org/logic-2k", task="two", filename="logic-1k.yaml", unit_checked=True)
        assert script.answer(spec_of(tmp_path, {NOVA: [named]}).path, "--amend", 1, "--apply")["exit"] == 0
        assert list(self.texts(emulator)) == [RESULTS]
        (pull,) = pulls_of(emulator, NOVA)
        assert pull.title == "Add community evaluation results for Logic-2k"
        unnamed = cited(dataset="bench-org/logic-2k", task="two", filename="other.yaml", unit_checked=True)
        assert script.answer(spec_of(tmp_path, {NOVA: [unnamed]}).path, "--amend", 1, "--apply")["exit"] == 0
        assert list(self.texts(emulator)) == [".eval_results/other.yaml"]

    def test_what_its_readers_have_changed_is_theirs(self, script, amended, emulator, tmp_path):
        (pull,) = pulls_of(emulator, NOVA)
        emulator.add_user("keeper")
        add_event(emulator.state, pull, "title-change", "keeper", {"from": pull.title, "to": "Scores"})
        pull.title = "Scores"
        assert script.answer(amended, "--amend", 1, "--apply")["data"]["steps"] == [
            f"write {RESULTS}",
            "write its body",
        ]
        assert pull.title == "Scores"
        body = pull.events[0].data
        body["latest"] |= {"raw": "By hand.\n" + body["latest"]["raw"], "author": "keeper"}
        body["edited"] = True
        envelope = script.answer(spec_of(tmp_path, {NOVA: [cited("61.5")]}).path, "--amend", 1, "--apply")
        assert (envelope["exit"], envelope["problems"][0]["found"]) == (5, "pull request 1 has a body of others")
        assert body["latest"]["raw"].startswith("By hand.")

    def test_a_kill_after_the_commit_is_mended(self, script, amended, emulator, registry, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr("benchwright.hub.writing.Writer.edit_comment", lambda *args: 1 / 0)
            assert script.answer(amended, "--amend", 1, "--apply")["exit"] == 70
        assert script.answer(amended, "--amend", 1)["data"]["steps"] == ["write its body"]
        assert script.answer(amended, "--amend", 1, "--apply")["exit"] == 0
        assert len([one for one in writes(emulator) if "/commit/" in one.path]) == 1
        assert Registry.load(registry).records[0].head == pulls_of(emulator, NOVA)[0].head

    def test_a_lost_answer_is_no_second_commit(self, script, amended, emulator):
        lost = Fault("cut", takes_effect=True)
        emulator.fault = RuledFaults([FaultRule(lost, "POST", path) for path in ("*/commit/*", "*/comment/*/edit")])
        for _ in range(2):
            envelope = script.answer(amended, "--amend", 1, "--apply")
            assert (envelope["exit"], envelope["problems"][0]["code"]) == (4, "answer-lost")
        envelope = script.answer(amended, "--amend", 1, "--apply")
        assert (envelope["exit"], envelope["summary"]) == (0, f"pull request 1 of {NOVA} says it already")
        assert Counter(one.path.rpartition("/")[2] for one in writes(emulator)) == {"refs%2Fpr%2F1": 2, "edit": 1}

    def test_a_commit_of_somebody_else_meanwhile_is_kept(self, script, amended, emulator, monkeypatch, result):
        from benchwright.hub.registry import Registry as Writing

        put = Writing.put

        def put_late(self, *args, **more):
            put(self, *args, **more)
            emulator.commit(emulator.repo(NOVA), {"x.txt": "x"}, ref="refs/pr/1", author="nova-ai")
            monkeypatch.setattr(Writing, "put", put)

        monkeypatch.setattr(Writing, "put", put_late)
        envelope = script.answer(amended, "--amend", 1, "--apply")
        assert (envelope["exit"], envelope["problems"][0]["code"]) == (4, "stale")
        assert "A commit has happened since" in envelope["problems"][0]["found"]
        assert "61.25" in self.texts(emulator)[RESULTS]
        envelope = script.answer(amended, "--amend", 1, "--apply")
        assert (envelope["exit"], envelope["summary"]) == (5, "pull request 1 has 1 commit of others")

    @pytest.mark.parametrize(
        ("number", "exit", "found"),
        [
            (2, 5, "pull request 2 by visitor is not ours: somebody else opened it"),
            (3, 5, "pull request 3 by porter is not ours: its body has no marker"),
            (4, 1, "pull request 4 is closed"),
            (9, 1, "nova-ai/nova-7b has no pull request 9 (HTTP 404, Discussion not found)"),
        ],
    )
    def test_only_our_own_open_ones(self, number, exit, found, script, amended, emulator, result):
        repo = emulator.repo(NOVA)
        emulator.add_user("visitor")
        for author, body in (("visitor", "<!-- port-evals:0123456789ab -->"), ("porter", "by hand"), ("porter", "")):
            emulator.open_pull_request(repo, {"x.txt": author}, author=author, title="T", body=body)
        emulator.close_pull_request(repo, 4)
        envelope = script.answer(amended, "--amend", number, "--apply")
        assert (envelope["exit"], envelope["problems"][0]["found"]) == (exit, found)
        assert writes(emulator) == []

    @pytest.mark.parametrize("word", [(), ("--apply",)])
    def test_one_that_is_refused_says_whether_it_was_a_dry_run(self, word, script, opened, emulator, tmp_path):
        refused = spec_of(tmp_path, {NOVA: [cited("61.5")]}).path  # which the card does not tell
        code, lines = script.run(refused, "--amend", 1, *word)
        dry = not word
        kept = f"pull request 1 of {NOVA} stays as it is: 1 problem"
        assert (code, lines[0]) == (1, f"{DRY_RUN}; {kept}" if dry else kept)
        assert ("DRY RUN" in "\n".join(lines)) is dry
        assert f"{NOVA}: refused, 1 problem" in lines
        envelope = script.answer(refused, "--amend", 1, *word)
        assert (envelope["data"]["applied"], envelope["next"]) == (False, [])
        assert writes(emulator) == []

    def test_a_board_that_somebody_said_no_to_is_not_added(self, script, amended, emulator, result):
        emulator.add_user("visitor")
        repo = emulator.repo(NOVA)
        emulator.open_pull_request(repo, {".eval_results/h.yaml": result(9, "hard")}, author="visitor", title="Add")
        emulator.close_pull_request(repo, 2)
        envelope = script.answer(amended, "--amend", 1, "--apply")
        assert (envelope["exit"], writes(emulator)) == (1, [])
        problem, *remarks = envelope["problems"]
        assert [problem["code"], *{one["code"] for one in remarks}] == ["closed", "source-changed"]
        assert problem["found"] == "pr 2 had 9 for bench-org/logic-1k, hard, and was closed by nova-ai"

    def test_a_spec_of_one_model(self, script, opened, tmp_path):
        two = spec_of(tmp_path, {NOVA: [cited()], "nova-ai/other": [cited()]}).path
        envelope = script.answer(two, "--amend", 1)
        assert (envelope["exit"], envelope["summary"]) == (2, "2 models")
        assert script.answer(opened, "--amend", 1, "--rebuild")["exit"] == 2


def test_a_board_that_lags_is_polled(script, spec, emulator, monkeypatch):
    monkeypatch.setattr(Polling.__init__, "__defaults__", (50, 0.05))
    emulator.settings.board_lag = 0.5
    assert script.answer(spec, "--apply")["data"]["results"][0]["rank"] == 3


def test_a_result_that_nobody_sees_yet_is_said(script, spec, emulator):
    emulator.settings.board_lag = 3600
    envelope = script.answer(spec, "--apply")
    assert envelope["data"]["results"][0]["rank"] is None
    (problem,) = envelope["problems"]
    assert (problem["code"], problem["found"]) == ("not-seen", "61.25 is in the top 50 of no view so far")
    assert envelope["exit"] == 0  # it is open, which was asked for; the sweep looks again


def test_a_file_that_the_hub_does_not_take_is_said(script, board, emulator, monkeypatch, tmp_path):
    refused = "✖ Invalid input: expected cats → at [0]"
    add_model(emulator, NOVA, value="47.11")
    spec = spec_of(tmp_path, {NOVA: [cited("47.11")]}).path
    monkeypatch.setattr(
        "benchwright.rehearsal.hub.results.problem_of",
        lambda told: refused if told[0]["value"] == 47.11 else None,
    )
    (problem,) = script.answer(spec, "--apply")["problems"]
    assert (problem["code"], problem["found"]) == ("file-refused", f"{RESULTS}: {refused}")


def test_what_the_hub_says_of_another_file_is_not_said_of_ours(script, spec, emulator):
    """Ours only ends like the name of the other one."""
    emulator.settings.board_lag = 3600
    script.answer(spec, "--apply")
    broken = {".eval_results/1k.yaml": "- value: [\n"}
    emulator.commit(emulator.repo(NOVA), broken, ref="refs/pr/1", author="porter")
    (problem,) = script.answer(spec, "--apply")["problems"]
    assert problem["code"] == "not-seen"


def test_the_hand_off_has_the_commands_and_what_they_do(script, spec, tmp_path):
    sheet = tmp_path / "sheet.md"
    script.run(spec, "--handoff", sheet)
    text = sheet.read_text()
    assert re.search(r"```bash\n\S+ \S+open_eval_prs\.py \S+spec\.json --registry \S+ --apply\n\S+ \S+sweep", text)
    assert "title: Add community evaluation results for Logic-1k" in text
    assert "porter" not in text
    script.run(spec, "--apply", "--handoff", sheet)
    assert re.search(r"```bash\n\S+ \S+sweep_eval_prs\.py --registry \S+\n```", sheet.read_text())
    assert "nothing is to be done; the command only looks at what is there" in sheet.read_text()


def test_a_sheet_that_cannot_be_written_does_not_hide_what_was_opened(script, spec, emulator, registry):
    for words, done in (((), "1 to open"), (("--apply",), "1 opened")):
        envelope = script.answer(spec, *words, "--handoff", registry.parent.parent)
        assert (envelope["exit"], envelope["summary"].endswith(f"1 model: {done}")) == (3, True)
        assert [one["code"] for one in envelope["problems"]] == ["sheet-not-written"]
    assert len(envelope["data"]["results"]) == 1


def test_opening_forty_takes_seven_requests_a_model_and_one_or_two_for_each_pull_request(
    script, board, emulator, tmp_path
):
    repos = {f"lab-{number:02}/model": 7 for number in range(40)}
    for number, repo in enumerate(repos):
        made = add_model(emulator, repo)
        if number % 3 == 0:  # results: the list of its files, and the one that it has
            other = {".eval_results/hard.yaml": results_file("bench-org/logic-1k", "hard", 50 + number)}
            emulator.open_pull_request(made, other, author="lab-00", title="Another task")
            repos[repo] += 2
        for _ in range(number % 4):  # none of them is known to have no results before its files are listed
            pull = emulator.open_pull_request(made, {"NOTES.md": "Words"}, author="lab-00", title="Words")
            repos[repo] += 1
        if number % 4 == 3:
            emulator.merge_pull_request(made, pull.num)
        if number % 4 == 2:
            emulator.close_pull_request(made, pull.num)
    spec = spec_of(tmp_path, {repo: [cited(repo=repo)] for repo in repos}).path
    emulator.seen.clear()
    assert script.answer(spec, "--apply")["summary"] == "40 models: 40 opened"
    asked = Counter(where_of(one.request.target) for one in emulator.seen)
    owners = Counter(one.request.path.split("/")[3] for one in emulator.seen if "/overview" in one.request.path)
    assert {repo: asked[repo] + owners[repo.partition("/")[0]] for repo in repos} == repos


def test_two_runs_with_two_registries_do_not_open_at_once(script, spec, emulator, token, registry):
    with alone(Hub(emulator.url, token), "open_eval_prs.py with other.json"):
        envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (5, "locked")
    assert writes(emulator) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HOME", str(spec))  # no folder
        envelope = script.answer(spec, "--apply")
    assert (envelope["exit"], envelope["problems"][0]["where"]) == (3, "HF_HOME")
    assert script.answer(spec, "--apply")["summary"] == "1 model: 1 opened"


@pytest.mark.parametrize("field", ["origin", "notes"])
def test_half_a_character_is_refused_before_anything_is_sent(field, script, board, emulator, tmp_path):
    add_model(emulator, NOVA)
    envelope = script.answer(spec_of(tmp_path, {NOVA: [cited(**{field: "Table 4\ud800"})]}).path, "--apply")
    assert (envelope["exit"], envelope["problems"][0]["code"]) == (1, "unseen-characters")
    assert writes(emulator) == []


def test_the_command_as_a_person_runs_it(spec, emulator, token, tmp_path):
    environment = {"HF_ENDPOINT": emulator.url, "HF_TOKEN": token, "HF_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [sys.executable, str(FILE), str(spec), "--apply"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 model: 1 opened\n")
    assert (tmp_path / "reports" / "hf-eval-results-prs.json").exists()  # below the folder that it was run in
