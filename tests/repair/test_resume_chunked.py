"""The script resume_chunked: what a launcher is told, what is refused before, and that it is called once."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from audit_runs import settle
from benchwright.rehearsal.harbor_jobs import JobShape, grow_job
from benchwright.repair.resume.listener import _DEFAULTS
from kills import kills
from real_harbor import HARBOR
from scripts_in_process import Script
from waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
LISTENER = """\
import json, os, sys, time
from pathlib import Path
here = Path(__file__).parent
with open(here / "calls.jsonl", "a") as calls:
    calls.write(json.dumps({"words": sys.argv[1:], "org": os.environ.get("SANDBOX_ORG")}) + "\\n")
models = Path(sys.argv[sys.argv.index("--priority-file") + 1]).read_text().split()
for number, model in enumerate(models):
    print("Submitted batch job", 100 + number, flush=True)
while "LISTENS_UNTIL" in os.environ and not Path(os.environ["LISTENS_UNTIL"]).exists():
    time.sleep(0.02)
sys.exit(7 if "org/broken" in models else 0)
"""
"""A launcher that notes how it was called."""
SAID = ("--preset", "small", "--org", "eval", "--tp-size", "2", "--dp-size", "2", "--timeout-multiplier", "16.0")
MODELS = ("org/one", "org/two", "org/three")


class Cluster:
    """A harness's checkout, and a folder of jobs to be resumed, one of each model."""

    def __init__(self, root: Path) -> None:
        self.root, self.jobs = root, root / "jobs"
        self.harness = root / "the harness"
        for name, content in {
            "eval/unified_eval_listener.py": LISTENER,
            "hpc/dotenv/alpha_eval.env": "export SANDBOX_ORG=evals\n",
        }.items():
            path = self.harness / name
            path.parent.mkdir(parents=True)
            path.write_text(content)
        self.list = root / "models.txt"
        self.models(*MODELS)

    def models(self, *models: str) -> None:
        self.list.write_text("# to resume\n" + "".join(f"{model}\n" for model in models))
        for model in models:
            self.job(model)

    def job(self, model: str, **settings: object) -> Path:
        folder = self.jobs / f"small_bench_{model.rpartition('/')[2]}_20260901"
        if not folder.exists():
            grow_job(folder, ("pass", "no-sandbox"), JobShape(model=f"hosted_vllm/{model}"))
        config = folder / "config.json"
        launched = {"timeout_multiplier": 16.0, "n_concurrent_trials": 32}
        config.write_text(json.dumps(json.loads(config.read_text()) | launched | settings))
        settle(folder)
        return folder

    @property
    def calls(self) -> list[dict]:
        file = self.harness / "eval" / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def words(self) -> list[str]:
        always = [
            "--jobs-dir",
            self.jobs,
            "--tag-prefix",
            "batch",
            "--harness",
            self.harness,
            "--python",
            sys.executable,
        ]
        return [str(word) for word in (*always, *SAID, "--chunk-size", "2", "--sleep-between", "0")]

    @property
    def state(self) -> Path:
        return self.jobs / ".resume-chunks" / "batch_small"


@pytest.fixture
def cluster(tmp_path, settings):
    settings.setenv("BENCHWRIGHT_CLUSTER_CONFIG", "eval/clusters/alpha.yaml")
    return Cluster(tmp_path)


@pytest.fixture
def script(capsys, settings, cluster):
    return Script.named("eval/resume_chunked", capsys, *cluster.words)


def codes(answer):
    return [problem["code"] for problem in answer["problems"]]


def states(answer):
    return [chunk["state"] for chunk in answer["data"]["chunks"]]


def value(words, flag):
    return words[words.index(flag) + 1]


def test_each_chunk_is_one_call_with_all_that_the_launch_said(script, cluster):
    code, lines = script.run("--priority-file", cluster.list, "--agent-parser", "", "--conda-env", "an env")
    assert (code, cluster.calls, (cluster.jobs / ".resume-chunks").exists()) == (0, [], False)
    assert (lines[0], lines[-1]) == (
        "DRY RUN: nothing written; 2 chunks of 3 models: 2 waiting",
        "DRY RUN: nothing written",
    )
    (command,) = [line.strip() for line in lines if line.endswith("--apply")]
    done = subprocess.run(shlex.split(command), cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = cluster.calls
    assert (first["org"], second["org"]) == ("evals", "evals")
    assert value(first["words"], "--agent-parser") == ""
    assert value(first["words"], "--conda-env") == "an env"
    assert [value(call["words"], "--max-jobs-submitted") for call in (first, second)] == ["2", "1"]
    assert [Path(value(call["words"], "--priority-file")).read_text() for call in (first, second)] == [
        "org/one\norg/two\n",
        "org/three\n",
    ]
    assert first["words"][-3:] == ["--resume-only", "--once", "--force-reeval"]
    expected = {"--preset": "small", "--tp-size": "2", "--dp-size": "2", "--timeout-multiplier": "16.0"}
    expected |= {"--n-concurrent": "32", "--slurm-time": "11:59:00", "--max-resume-count": "1"}
    expected |= {"--jobs-dir": str(cluster.jobs), "--cluster-config": "eval/clusters/alpha.yaml"}
    assert {flag: value(first["words"], flag) for flag in expected} == expected
    assert "--pinggy-url" not in first["words"]
    assert "  chunk 1: fired; org/one, org/two" in done.stdout
    assert "    Submitted batch job 101" in done.stdout


def test_run_again_nothing_is_fired_twice(script, cluster):
    words = ("--priority-file", cluster.list, "--apply")
    assert states(script.answer(*words)) == ["fired", "fired"]
    again = script.answer(*words)
    assert (again["exit"], again["summary"], len(cluster.calls)) == (0, "2 chunks of 3 models: 2 fired", 2)
    assert script.answer(*words, "--again", "2")["data"]["chunks"][1]["state"] == "fired"
    assert len(cluster.calls) == 2
    wrong = script.answer(*words, "--again", "3")
    assert (wrong["exit"], wrong["problems"][0]["expected"]) == (2, "one of 1 to 2")


def test_a_launcher_that_fails_stops_no_other_and_is_not_called_again(script, cluster):
    cluster.models("org/broken", "org/one", "org/two")
    words = ("--priority-file", cluster.list, "--apply")
    answer = script.answer(*words)
    assert (answer["exit"], states(answer), codes(answer)) == (1, ["failed", "fired"], ["launcher-failed"])
    assert answer["problems"][0] == {
        "code": "launcher-failed",
        "where": "chunk 1",
        "found": "its launcher left with 7",
        "expected": "0",
        "fix": f"read {cluster.state}/chunk-01.log; once more, if nothing of it was submitted: --again 1",
    }
    assert (script.answer(*words)["exit"], len(cluster.calls)) == (1, 2)
    assert (script.answer(*words, "--again", "1")["exit"], len(cluster.calls)) == (1, 3)
    assert (cluster.state / "chunk-01.log.1").exists()


def test_other_models_under_the_same_tag_are_refused(script, cluster):
    script.answer("--priority-file", cluster.list, "--apply")
    cluster.models("org/four", *MODELS)
    answer = script.answer("--priority-file", cluster.list, "--apply", "--again", "1")
    assert (answer["exit"], codes(answer), len(cluster.calls)) == (5, ["other-plan"], 2)


def test_killed_while_a_launcher_is_at_work_it_is_not_called_again(script, cluster, settings):
    settings.setenv("LISTENS_UNTIL", str(cluster.root / "enough"))
    command = [sys.executable, ROOT / "eval" / "resume_chunked.py", *cluster.words, "--priority-file", cluster.list]
    fires = subprocess.Popen([*command, "--apply"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: cluster.calls)
    fires.send_signal(signal.SIGKILL)
    fires.communicate()
    answer = script.answer("--priority-file", cluster.list)
    assert (answer["exit"], states(answer), codes(answer)) == (5, ["firing", "waiting"], ["being-fired"])
    (cluster.root / "enough").touch()
    wait_until(lambda: states(script.answer("--priority-file", cluster.list))[0] != "firing")
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], states(answer), len(cluster.calls)) == (0, ["fired", "fired"], 2)


def test_what_nobody_knows_the_end_of_is_not_called_again(script, cluster):
    script.answer("--priority-file", cluster.list, "--apply")
    (cluster.state / "chunk-02.rc").unlink()  # as where the machine went down meanwhile
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], states(answer), codes(answer)) == (5, ["fired", "unknown"], ["end-unknown"])
    assert len(cluster.calls) == 2
    assert script.answer("--priority-file", cluster.list, "--apply", "--again", "2")["exit"] == 0


def test_killed_at_any_step_each_chunk_is_fired_once(script, cluster):
    calls = cluster.harness / "calls"
    (cluster.harness / "quick.sh").write_text('echo called >>"$(dirname "$0")/calls"\n')
    launcher = ("--program", "quick.sh", "--python", "sh")
    script = replace(script, always=(*script.always, *launcher))
    words = ("--priority-file", cluster.list, "--apply")

    def fresh():
        shutil.rmtree(cluster.state, ignore_errors=True)
        calls.unlink(missing_ok=True)

    steps = 0
    for steps in kills(lambda: script.run(*words), fresh):  # noqa: B007
        wait_until(lambda: "firing" not in states(script.answer(*words)), pause=0.02)
        assert states(script.answer(*words)) == ["fired", "fired"]
        assert calls.read_text() == "called\ncalled\n"
    assert steps > 8


def test_a_table_says_which_are_to_be_resumed(script, cluster, tmp_path):
    cluster.job("org/late")
    table = tmp_path / "resume.csv"
    table.write_text(
        "preset,status,hf_model,run_tag\n"
        "small,INCOMPLETE,org/one,small_bench_one_20260901\n"
        "small,DONE,org/two,\n"
        "other,INCOMPLETE,org/two,\n"
        "small,AT_RESUME_LIMIT,org/late,\n"
        "small,EARLY_KILL,org/three,no-such-run\n"
    )
    answer = script.answer("--csv", table)
    assert ([chunk["models"] for chunk in answer["data"]["chunks"]], answer["data"]["at_limit"]) == (
        [["org/one", "org/three"]],
        ["org/late"],
    )
    assert (answer["exit"], codes(answer)) == (1, ["no-job"])
    assert answer["problems"][0]["found"] == f"no job of it in {cluster.jobs}"
    table.write_text("model\norg/one\n")
    assert script.answer("--csv", table)["exit"] == 2


@pytest.mark.parametrize("launcher", ["listener", "harbor"])
def test_a_token_is_named_and_never_said(script, cluster, launcher):
    secret = "this-is-the-token-itself"
    words = ["--priority-file", cluster.list, "--pinggy-token", secret, "--launcher", launcher]
    answer = script.answer(*words, "--apply")
    assert (answer["exit"], codes(answer), cluster.calls) == (2, ["literal-secret"], [])
    assert answer["problems"][0]["fix"] == "export EVAL_PINGGY_TOKEN=..., then --pinggy-token env:EVAL_PINGGY_TOKEN"
    assert secret not in json.dumps(answer)


@pytest.mark.parametrize("name", ["../elsewhere", "/elsewhere", "", "two\nlines"])
def test_a_batch_is_called_as_a_folder_may_be(script, cluster, name):
    script = replace(script, always=(*script.always, "--tag-prefix", name))
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], answer["problems"][0]["where"], cluster.calls) == (2, "--tag-prefix", [])


@pytest.mark.parametrize(
    "table", ['hf_model\n"org/one\norg/two"\n', "hf_model\n--once\n", f"hf_model\n{'x' * 200_000}\n"]
)
def test_a_table_of_what_is_no_model(script, cluster, tmp_path, table):
    (tmp_path / "table.csv").write_text(table)
    answer = script.answer("--csv", tmp_path / "table.csv", "--apply")
    assert (answer["exit"], codes(answer), cluster.calls) == (2, ["bad-table"], [])


def test_what_the_launch_scripts_resume_would_delete_is_told(script, cluster):
    cluster.models("org/one")
    folder = cluster.job("org/one")
    (folder / "notes").mkdir()
    passed = next(path for path in folder.glob("*/result.json") if '"reward": 1' in path.read_text())
    error = {"exception_type": "CancelledError", "exception_message": "", "exception_traceback": "", "occurred_at": ""}
    passed.write_text(json.dumps(json.loads(passed.read_text()) | {"exception_info": error}))
    settle(folder)
    told = ("--ended", "--db", "none", "--no-slurm", "--max-resume-count", "3")
    answer = script.answer("--priority-file", cluster.list, *told, "--apply")
    prepare = f".venv/bin/python scripts/eval/prepare_resume.py {folder} --max-resume-count 3"
    assert answer["problems"][0]["fix"] == f"{prepare} --ended --db none --no-slurm --apply"
    assert (answer["exit"], [(one["code"], one["found"]) for one in answer["problems"]], cluster.calls) == (
        1,
        [
            ("not-prepared", "folders that a resume deletes: notes"),
            ("valid-trials", "the filter of the launch deletes 1 valid trial"),
        ],
        [],
    )
    assert (folder / "notes").exists()


def test_an_installed_harness_needs_all_that_leads_to_its_tunnel(script, cluster, settings):
    cluster.models("org/one")
    cluster.job("org/one", agents=[{"name": "swe-agent", "model_name": "hosted_vllm/org/one"}])
    words = ["--priority-file", cluster.list]
    answer = script.answer(*words)
    assert (answer["exit"], codes(answer)) == (2, ["tunnel-flags"])
    assert answer["problems"][0]["found"] == (
        "swe-agent calls the model through a tunnel, and --pinggy-url, --pinggy-token, --config-yaml, --agent-parser "
        "is missing"
    )
    words += ["--pinggy-url", "env:EVAL_PINGGY_URL", "--pinggy-token", "env:EVAL_PINGGY_TOKEN"]
    words += ["--config-yaml", "swe_agent.yaml", "--agent-parser", ""]
    assert script.answer(*words)["exit"] == 0
    unset = script.answer(*words, "--apply")
    assert (unset["exit"], unset["summary"], cluster.calls) == (3, "not set", [])
    settings.setenv("EVAL_PINGGY_URL", "free.a.pinggy.link")
    settings.setenv("EVAL_PINGGY_TOKEN", "not-to-be-seen-1")
    answer = script.answer(*words, "--apply")
    assert answer["exit"] == 0
    (call,) = cluster.calls
    assert (value(call["words"], "--pinggy-url"), value(call["words"], "--pinggy-token")) == (
        "free.a.pinggy.link",
        "not-to-be-seen-1",
    )
    written = "".join(path.read_text() for path in cluster.state.iterdir())
    assert "not-to-be-seen" not in written + json.dumps(answer)
    assert value(answer["data"]["chunks"][0]["command"], "--pinggy-token") == "env:EVAL_PINGGY_TOKEN"


def test_what_harbor_would_refuse_is_told_before_anything_is_fired(script, cluster):
    one = cluster.job("org/one", timeout_multiplier=8.0, n_concurrent_trials=16)
    two = cluster.job("org/two")
    (two / ".no-resume").touch()
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], codes(answer)) == (5, ["config-conflict", "config-conflict", "rejected"])
    assert answer["problems"][0] == {
        "code": "config-conflict",
        "where": f"{one}: timeout_multiplier",
        "found": "8.0",
        "expected": "16.0, as the options say",
        "fix": "say what the launch said: --timeout-multiplier 8.0",
    }
    assert answer["summary"] == "nothing was fired; 2 chunks of 3 models: 2 waiting"
    assert (cluster.calls, cluster.state.exists()) == ([], False)


def test_what_harbor_left_out_is_its_default(script, cluster):
    """Harbor writes no defaults, and compares them all the same."""
    cluster.models("org/one")
    config = cluster.job("org/one") / "config.json"
    settings = json.loads(config.read_text())
    del settings["timeout_multiplier"], settings["n_concurrent_trials"]
    config.write_text(json.dumps(settings))
    settle(config.parent)
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], codes(answer), cluster.calls) == (1, ["config-conflict", "config-conflict"], [])
    assert [(problem["found"], problem["fix"]) for problem in answer["problems"]] == [
        ("1.0", "say what the launch said: --timeout-multiplier 1.0"),
        ("4", "say what the launch said: --n-concurrent 4"),
    ]
    script = replace(script, always=(*script.always, "--timeout-multiplier", "1.0"))
    words = ("--priority-file", cluster.list)
    assert script.answer(*words, "--n-concurrent", "4")["exit"] == 0
    config.write_text(json.dumps(settings | {"orchestrator": {"type": "local", "n_concurrent_trials": 8}}))
    settle(config.parent)
    assert script.answer(*words, "--n-concurrent", "4")["problems"][0]["found"] == "8"
    assert script.answer(*words, "--n-concurrent", "8")["exit"] == 0


def test_the_defaults_are_those_of_real_harbor():
    python = HARBOR.with_name("python")
    ask = "from harbor.models.job.config import JobConfig; import json; "
    ask += f"print(json.dumps({{name: JobConfig.model_fields[name].default for name in {sorted(_DEFAULTS)}}}))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == _DEFAULTS


def test_a_job_that_may_be_live_is_not_resumed(script, cluster):
    folder = cluster.job("org/two")
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(result | {"finished_at": None}))
    for path in folder.glob("*/result.json"):
        path.touch()
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], codes(answer), cluster.calls) == (5, ["live"], [])


def test_what_is_missing_is_told_at_once(script, cluster, capsys, settings):
    (cluster.harness / "eval" / "unified_eval_listener.py").unlink()
    (cluster.harness / "hpc" / "dotenv" / "alpha_eval.env").unlink()
    dry = script.answer("--priority-file", cluster.list)
    assert (dry["exit"], codes(dry)) == (0, ["no-launcher", "no-environment"])
    assert script.answer("--priority-file", cluster.list, "--apply")["exit"] == 3
    settings.delenv("BENCHWRIGHT_CLUSTER_CONFIG")
    bare = Script.named("eval/resume_chunked", capsys, "--jobs-dir", cluster.jobs, "--tag-prefix", "x")
    answer = bare.answer("--priority-file", cluster.list)
    assert (answer["exit"], [problem["where"] for problem in answer["problems"]]) == (
        2,
        ["--preset", "--org", "--tp-size", "--timeout-multiplier", "--cluster-config"],
    )


def test_another_retry_policy_than_the_launchs_is_told(script, cluster):
    cluster.models("org/one")
    cluster.job("org/one", retry={"exclude_exceptions": ["BadRequestError"]})
    (cluster.harness / "eval" / "agent.yaml").write_text("retry: {exclude_exceptions: [RewardFileEmptyError]}\n")
    answer = script.answer("--priority-file", cluster.list, "--config-yaml", "eval/agent.yaml")
    assert (answer["data"]["comparable"], answer["data"]["changes"]) == (
        False,
        ["now tried again: BadRequestError", "now final: RewardFileEmptyError"],
    )


def test_chunks_are_some_time_apart(script, cluster):
    script = replace(script, always=(*script.always, "--sleep-between", "1"))
    assert script.answer("--priority-file", cluster.list, "--apply")["exit"] == 0
    first, second = ((cluster.state / name).stat().st_mtime for name in ("chunk-01.rc", "chunk-02.started"))
    assert second - first >= 0.99


def test_an_environment_that_fails_is_as_a_launcher_that_does(script, cluster):
    (cluster.harness / "hpc" / "dotenv" / "alpha_eval.env").write_text("false\n")
    answer = script.answer("--priority-file", cluster.list, "--apply")
    assert (answer["exit"], states(answer), cluster.calls) == (1, ["failed", "failed"], [])


def test_real_harbor_resumes_a_chunk_of_prepared_jobs(capsys, settings, bench, tmp_path):
    table = tmp_path / "resume.csv"
    table.write_text("hf_model,run_tag\norg/one,done\n")
    for name in ("PYTHONPATH", "BENCH_STATE", "HARBOR_TELEMETRY", "PATH"):
        settings.setenv(name, bench.environment[name])
    jobs = bench.root / "jobs"
    words = ("--csv", table, "--jobs-dir", jobs, "--tag-prefix", "x", "--launcher", "harbor", "--apply")
    script = Script.named("eval/resume_chunked", capsys)
    unprepared = script.answer(*words)
    assert (unprepared["exit"], codes(unprepared)) == (1, ["not-prepared"])
    assert Script.named("eval/prepare_resume", capsys).answer(jobs / "done", "--apply")["exit"] == 0
    bench.mend()
    answer = script.answer(*words)
    assert (answer["exit"], states(answer)) == (0, ["fired"]), (jobs / ".resume-chunks/x/chunk-01.log").read_text()
    aggregate = json.loads((jobs / "done" / "result.json").read_text())
    assert aggregate["stats"]["evals"]["oracle__tasks"]["n_trials"] == 8


class TestThePreset:
    FILES, TABLE = "a file for each", "a table in the source"

    @pytest.fixture(params=[FILES, TABLE])
    def presets(self, request, cluster):
        if request.param == self.FILES:
            folder = cluster.harness / "eval" / "presets"
            folder.mkdir()
            for name in ("swebench", "small", "v2"):
                (folder / f"{name}.yaml").write_text("n_concurrent: 32\n")
        else:
            table = "PRESETS: dict = {'swebench': {'n_concurrent': 32}, 'small': {}, 'v2': {}}\n"
            (cluster.harness / "eval" / "unified_eval_listener.py").write_text(table + LISTENER)

    def test_of_another_name_is_refused_with_what_may_be_meant(self, script, cluster, presets):
        words = ("--priority-file", cluster.list, "--ended")
        for more in ((), ("--apply",)):
            answer = _of_preset(script, "smal").answer(*words, *more)
            assert answer["exit"] == 2
            (problem,) = [one for one in answer["problems"] if one["code"] == "no-such-preset"]
            assert (problem["where"], problem["found"]) == ("--preset", "'smal'")
            assert problem["expected"] == "one of small, swebench, v2"
            assert problem["fix"] == "did you mean 'small'?"
        assert cluster.calls == []
        problems = _of_preset(script, "x").answer(*words)["problems"]
        (problem,) = [one for one in problems if one["code"] == "no-such-preset"]
        assert problem["fix"] == "--preset small, or another of them"

    def test_that_the_launcher_has_is_not_mentioned(self, script, cluster, presets):
        answer = script.answer("--priority-file", cluster.list, "--ended")
        assert (answer["exit"], answer["problems"], answer["data"]["notes"]) == (0, [], [])

    def test_that_nobody_can_check_is_told(self, script, cluster):
        launcher = cluster.harness / "eval" / "unified_eval_listener.py"
        told = f"the presets of {launcher} are not known here: 'small' is passed on unchecked"
        answer = script.answer("--priority-file", cluster.list, "--ended")
        assert (answer["exit"], answer["data"]["notes"]) == (0, [told])
        assert f"  {told}" in script.run("--priority-file", cluster.list, "--ended")[1]


def _of_preset(script, name):
    return replace(script, always=[name if word == "small" else word for word in script.always])
