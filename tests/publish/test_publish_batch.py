"""A batch publishes each method whatever becomes of others, says how each ended, and goes on where it was killed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchwright.arena import MethodMetadata
from benchwright.arena.acceptable import FIELDS, LOSSES
from benchwright.contract import Exit, Failure
from benchwright.files import FileLock
from benchwright.objects import StoreLocation
from benchwright.publish.batch import BatchOptions, run_batch
from benchwright.publish.batch_manifest import BatchMethod, read_batch
from benchwright.publish.batch_options import OPTIONS
from benchwright.publish.batch_record import inputs_of
from benchwright.publish.batch_report import MethodReport, labels
from benchwright.publish.batch_steps import step_command
from scripts_in_process import load
from waiting import PATIENCE, children_of, is_alive, wait_for_ends, wait_until

ROOT = Path(__file__).resolve().parents[2]
RAW = ROOT / "tests" / "data" / "tabarena_raw"
SUITE = "local-2026-11-29"
DECLARATIONS = f"""
from benchwright.arena import MethodMetadata

forest_method_metadata = MethodMetadata.config(
    method="RandomForest", suite="{SUITE}", ag_key="RF", config_default="RandomForest_c1_default_BAG_L1",
    can_hpo=False, is_bag=True, date="2026-11-29", verified=False, validation_protocol="8x1",
)
system_method_metadata = MethodMetadata.system(
    method="DemoLogisticSystem", suite="{SUITE}", date="2026-11-29", verified=False,
)
wrong_method_metadata = MethodMetadata.config(
    method="LinearModel", suite="{SUITE}", ag_key="LR", config_default="LinearModel_c1_default_BAG_L1",
    can_hpo=False, is_bag=True, verified=False, validation_protocol="8x1",
)
tuned_method_metadata = MethodMetadata.config(
    method="LightGBM", suite="{SUITE}", ag_key="GBM", config_default="LightGBM_c1_default_BAG_L1", can_hpo=True,
    is_bag=True, verified=False, validation_protocol="8x1",
)
hosted_method_metadata = MethodMetadata.config(
    method="RandomForest", suite="tabarena-2026-06-30", ag_key="RF", is_bag=True, can_hpo=False,
    cache_type="r2", cache_kwargs={{"bucket": "benchwright-tests", "prefix": "cache"}}, verified=False,
)
"""
FOREST = {"method_metadata": "demo.info:forest_method_metadata", "method": "RandomForest"}
SYSTEM = {"method_metadata": "demo.info:system_method_metadata", "method": "DemoLogisticSystem"}
TUNED = {"method_metadata": "demo.info:tuned_method_metadata", "method": "LightGBM"}
WRONG = {"method_metadata": "demo.info:wrong_method_metadata", "method": "LinearModel"}


def prepare(folder):
    """Make the checkout that the manifests name."""
    info = folder / "a checkout" / "src" / "demo" / "info.py"
    info.parent.mkdir(parents=True)
    info.write_text(DECLARATIONS)
    return folder


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path)


def manifest(folder, *methods, **shared):
    path = folder / "publish.yaml"
    path.write_text(yaml.safe_dump({"repo": "a checkout", "data": str(RAW), **shared, "methods": list(methods)}))
    return path


def problems_of(path):
    with pytest.raises(Failure) as caught:
        read_batch(path)
    return caught.value.exit, [str(problem).replace(f"{path}: ", "") for problem in caught.value.problems]


def test_what_stands_at_the_top_holds_for_all_and_paths_start_at_the_manifest(folder, monkeypatch):
    shutil.copytree(RAW / "data" / "RandomForest_c1_default_BAG_L1", folder / "runs" / "RandomForest_c1_default_BAG_L1")
    monkeypatch.chdir("/")
    own = FOREST | {"data": "runs", "store": "s3://a-bucket/cache", "upload_raw": False, "accept_mismatch": ["is_bag"]}
    path = manifest(folder, SYSTEM, own, store="local:hosted", expect_validation_protocol="tabarena")
    system, forest = read_batch(path)
    assert (system.data, system.repository) == (RAW, folder / "a checkout")
    assert (system.metadata.method, str(system.store)) == ("DemoLogisticSystem", f"local:{folder}/hosted")
    expected = ("--expect-validation-protocol", "tabarena")
    assert (system.processing, system.uploading) == (expected, ())
    assert (forest.data, str(forest.store)) == (folder / "runs", "s3://a-bucket/cache")
    assert forest.processing == (*expected, "--accept-mismatch", "is_bag")
    assert forest.uploading == ("--no-upload-raw",)


def test_options_of_the_scripts_reach_them(folder):
    """Each key but the defaults that it stands for becomes an option that the script's own parser takes."""
    values = {
        "expect_validation_protocol": "beyondarena", "accept_mismatch": ["is_bag", "compute"],
        "ignore_metadata_mismatch": True, "accept_finding": ["dataset-lost"], "cache_raw": False,
        "cache_hpo_trajectories": False, "backend": "ray", "replace_raw": True, "upload_raw": False, "replace": True,
    }  # fmt: skip
    assert values.keys() == OPTIONS.keys()
    defaults = {key: not value for key, value in values.items() if isinstance(value, bool)}
    given, plain = read_batch(manifest(folder, FOREST | values, SYSTEM | defaults, store="local:hosted"))

    def parsed(method, step):
        command = step_command(step, method, ROOT / "scripts", None, 3)
        return load(Path(command[1])).build_parser().parse_args(command[2:])

    process, upload = parsed(given, "process"), parsed(given, "upload")
    assert (process.expect_validation_protocol, process.accept_mismatch) == ("beyondarena", ["is_bag", "compute"])
    assert process.ignore_metadata_mismatch and process.replace and process.accept_finding == ["dataset-lost"]
    assert (process.cache_raw, process.cache_hpo_trajectories) == (False, False)
    assert (process.backend, process.jobs) == ("ray", None)
    assert upload.replace and not upload.raw and upload.apply
    process, upload = parsed(plain, "process"), parsed(plain, "dry-run")
    assert not (process.ignore_metadata_mismatch or process.replace) and process.jobs == 3
    assert process.cache_raw and process.cache_hpo_trajectories
    assert not (upload.replace or upload.apply) and upload.raw


@pytest.mark.parametrize("key", sorted(OPTIONS))
def test_what_else_is_processed_is_not_adopted(folder, key):
    """Of the options of the upload it does not matter how they were."""
    value = {"backend": "ray", "expect_validation_protocol": "tabarena"}.get(key)
    if value is None:
        value = [OPTIONS[key].known[0]] if key.startswith("accept") else OPTIONS[key].when
    store, kept = "local:hosted", {"upload_raw": False}
    inputs = {
        inputs_of(read_batch(manifest(folder, FOREST | own, store=store))[0]) for own in (kept, kept | {key: value})
    }
    assert len(inputs) == (2 if OPTIONS[key].script == "process" else 1)


def test_json_is_a_manifest_too(folder):
    path = folder / "publish.json"
    path.write_text(json.dumps({"repo": "a checkout", "data": str(RAW), "store": "local:s", "methods": [FOREST]}))
    assert [method.reference for method in read_batch(path)] == ["demo.info:forest_method_metadata"]


def test_every_problem_of_a_manifest_is_told_at_once(folder):
    methods = [
        FOREST | {"metod": "x", "upload_raw": "no", "replace": 1, "backend": "slurm", "data": "nowhere"},
        {"method_metadata": "demo.info:forrest_method_metadata"},
        {"method": "LinearModel"},
        "LinearModel",
        WRONG | {"accept_mismatch": "is_bag", "store": "ftp://bucket"},
        WRONG | {"expect_validation_protocol": "tabarina", "store": "local:x"},
        WRONG | {"store": "local:x"},
        SYSTEM | {"accept_finding": ["nonsense", "trunkated"], "accept_mismatch": ["bogusfield"], "store": "local:x"},
        TUNED | {"cache_hpo_trajectories": False, "cache_raw": False, "store": "local:x"},
    ]
    exit, problems = problems_of(manifest(folder, *methods, jbos=2))
    assert exit == Exit.USAGE
    assert problems == [
        "'jbos': no such key\n    fix: one of accept_finding, accept_mismatch, backend, cache_hpo_trajectories, "
        "cache_raw, data, expect_validation_protocol, ignore_metadata_mismatch, method, method_metadata, replace, "
        "replace_raw, repo, store, upload_raw",
        "method 1: backend: 'slurm', expected local or ray\n    fix: correct it there",
        "method 1: 'metod': no such key\n    fix: did you mean 'method'?",
        "method 1: replace: the number 1, expected true or false\n    fix: correct it there",
        "method 1: upload_raw: 'no', expected true or false\n    fix: correct it there",
        f"method 1: data: {folder}/nowhere is no folder, expected the path of a folder of results\n"
        "    fix: correct it there; paths are relative to the manifest",
        "method 1: RandomForest: cache_type: 'local', which names no store, expected r2 or s3\n    fix: declare one: "
        f"scripts/set_method_info.py demo.info:forest_method_metadata --repo '{folder}/a checkout' "
        '--set cache_type=r2 --set \'cache_kwargs={"bucket": "BUCKET", "prefix": "PREFIX"}\', '
        "or name one with --store LOCATION",
        "method 2: demo.info:forrest_method_metadata: no forrest_method_metadata in src/demo/info.py, expected a "
        "name that a method is declared under\n    fix: did you mean 'forest_method_metadata' or "
        "'hosted_method_metadata' or 'system_method_metadata'?",
        "method 3: method_metadata: missing, expected MODULE:ATTR\n    fix: add it there",
        "method 4: 'LinearModel', expected a mapping with data and method_metadata\n    fix: correct it there",
        "method 5: accept_mismatch: 'is_bag', expected a list of fields\n    fix: correct it there",
        "method 5: store: ftp://bucket: no store, expected local:FOLDER, gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or "
        "r2://BUCKET/PREFIX\n"
        "    fix: correct it where the store is named, an option, the environment or the metadata",
        "method 6: expect_validation_protocol: 'tabarina', expected tabarena or beyondarena\n    fix: correct it there",
        f"method 8: accept_finding: 'nonsense', which is none of them, expected a list of codes\n    fix: one of "
        f"{', '.join(LOSSES)}",
        "method 8: accept_finding: 'trunkated', which is none of them, expected a list of codes\n    "
        "fix: did you mean 'truncated'?",
        "method 8: accept_mismatch: 'bogusfield', which is none of them, expected a list of fields\n    fix: one of "
        f"{', '.join(sorted(FIELDS))}",
        "method 9: cache_hpo_trajectories: false, for LightGBM, which is tuned: it cannot be uploaded without them, "
        "expected true\n    fix: take it out; scripts/run_process_method.py --no-cache-hpo-trajectories is for a look "
        "at home",
        "method 9: cache_raw: false, for LightGBM, whose raw copies are to be uploaded, expected true\n"
        "    fix: take it out, or add upload_raw: false",
        f"method 7: 'LinearModel' of '{SUITE}' again, as in method 6, expected each method once\n    "
        "fix: take one out, or give the other run a suite of its own",
    ]


def test_what_all_methods_share_is_wrong_once(folder):
    exit, problems = problems_of(manifest(folder, FOREST, WRONG, repo="no checkout", store="ftp:"))
    assert exit == Exit.USAGE
    assert problems == [
        f"repo: {folder}/no checkout is no folder, expected the path of a checkout\n"
        "    fix: correct it there; paths are relative to the manifest",
        "store: ftp:: no store, expected local:FOLDER, gs://BUCKET/PREFIX, s3://BUCKET/PREFIX or r2://BUCKET/PREFIX\n"
        "    fix: correct it where the store is named, an option, the environment or the metadata",
    ]


def test_the_skill_explains_the_keys_that_there_are(folder):
    page = (ROOT / ".agents/skills/upload-method/references/batches.md").read_text()
    explained = re.findall(r"^\| `(\w+)` \|", page, re.M)
    _, (problem, *_) = problems_of(manifest(folder, FOREST, nonsense=1))
    assert problem == f"'nonsense': no such key\n    fix: one of {', '.join(sorted(explained))}"
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)
    values = yaml.safe_load(example)
    used = {*values, *(key for method in values["methods"] for key in method)}
    assert used - {"methods"} <= set(explained)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("- a\n", "a list, expected a mapping of field names to values"),
        ("methods: []\n", "methods: an empty list, expected a list of at least one method"),
        ("methods: [}\n", "not plain YAML"),
        ("data: a\ndata: b\n", "the key 'data' appears twice"),
        ("methods: &a [*a]\n", "not plain YAML"),
        ("a: " + "x" * 70_000, "more than 65,536 bytes"),
    ],
)
def test_a_file_that_is_no_manifest(tmp_path, content, problem):
    path = tmp_path / "publish.yaml"
    path.write_text(content)
    exit, (found, *_) = problems_of(path)
    assert exit == Exit.USAGE
    assert problem in found


WORKER = """
import json, os, subprocess, sys, time
from pathlib import Path

name = sys.argv[sys.argv.index("--method-metadata") + 1].partition(":")[2]
print(f"{name} at work", file=sys.stderr, flush=True)
step = "process" if "--process" in sys.argv else "upload"
with open("journal", "a") as journal:
    print(name, step, file=journal)
for pair in (("one", "upload"), ("meets-one", "process")), (("meets-one", "process"), ("one", "upload")):
    while (name, step) == pair[0] and " ".join(pair[1]) not in Path("journal").read_text():
        time.sleep(0.05)
if name == "silent":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path("child").write_text(str(child.pid))
    time.sleep(600)
if name == "lost":
    os.kill(os.getpid(), 9)
if name == "crashed":
    raise SystemExit("no such luck")
if name.startswith("talkative"):
    for _ in range(10):
        print("still here", file=sys.stderr, flush=True)
        time.sleep(0.2)
data = {"artifact": {"counts": {"results": 9}}, "objects": [], "size": 0}
print(json.dumps({"exit": 0, "summary": "", "data": data, "problems": [], "next": []}))
"""


def workers(folder, *names, **options):
    """Run a batch whose steps are little programs that behave as their method is called."""
    for script in ("run_process_method.py", "run_upload_results.py"):
        (folder / script).write_text(WORKER)
    store = StoreLocation("local", str(folder / "store"))
    methods = [BatchMethod(folder, f"demo:{name}", MethodMetadata(method=name, suite="s"), store) for name in names]
    told = []
    report = run_batch(
        methods,
        BatchOptions(folder, folder / "logs", cache_root=folder / "cache", **options),
        lambda line, event: told.append((line, event)),
    )
    return report, told


def test_methods_that_are_processed_side_by_side_share_the_processors(tmp_path):
    processors = len(os.sched_getaffinity(0))
    assert [BatchOptions(tmp_path, tmp_path, jobs=jobs).processes for jobs in (1, 2, 10**6)] == [
        None, max(1, processors // 2), 1,
    ]  # fmt: skip


def test_a_folder_that_cannot_be_read_is_not_one_without_results(folder):
    hidden = folder / "data" / "hidden"
    hidden.mkdir(parents=True)
    (method,) = read_batch(manifest(folder, FOREST, data="data", store="local:hosted"))
    before, user = inputs_of(method), os.geteuid()
    hidden.chmod(0o000)
    try:
        if user == 0:  # who reads everything, and so becomes an ordinary user for a while
            os.seteuid(65534)
        during = inputs_of(method)
    finally:
        os.seteuid(user)
        hidden.chmod(0o755)
    assert inputs_of(method) == before != during


def test_a_silent_step_is_told_of_and_ended_only_at_the_timeout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report, told = workers(tmp_path, "silent", "talkative", jobs=2, stall=1.5, timeout=5)
    log = tmp_path / "logs" / "s" / "silent" / "process.log"
    stalled = [(line, event) for line, event in told if event["event"] == "stalled"]
    assert len(stalled) >= 2
    assert re.fullmatch(rf"STALLED silent at process: nothing written for \d s; look at {log}", stalled[0][0])
    assert {(event["method"], event["step"], event["log"]) for _, event in stalled} == {("silent", "process", str(log))}
    silent, talkative = report.methods
    assert silent.line() == f"FAILED silent at process (exit 4): {log}: ended after 5 s in which it wrote nothing"
    assert talkative.line() == "DONE talkative: 9 results processed; 0 objects, 0 bytes, to be uploaded"
    child = int((tmp_path / "child").read_text())
    wait_for_ends([child])


def test_a_step_that_ends_without_an_answer_fails_its_method_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report, told = workers(tmp_path, "lost", "crashed", "fine")
    logs = tmp_path / "logs" / "s"
    assert [line for line, _ in told][1:] == [
        f"FAILED lost at process (exit 137): {logs}/lost/process.log: ended without an answer (killed by SIGKILL): "
        "lost at work",
        f"FAILED crashed at process (exit 1): {logs}/crashed/process.log: ended without an answer (exit 1): "
        "no such luck",
        "DONE fine: 9 results processed; 0 objects, 0 bytes, to be uploaded",
    ]
    outcome = report.outcome("python batch.py")
    assert (outcome.code, outcome.data["done"], outcome.data["failed"]) == (1, 1, 2)
    assert list(outcome.next) == ["python batch.py"]


def test_the_next_is_processed_while_the_last_is_uploaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report, _ = workers(tmp_path, "one", "meets-one", timeout=PATIENCE)
    assert [method.state for method in report.methods] == ["done", "done"]
    assert (tmp_path / "journal").read_text().splitlines()[0] == "one process"


SCRIPT = ROOT / "scripts" / "publish_batch.py"
DRY = "DRY RUN: nothing written to any store"


def command(path, *words):
    return [sys.executable, str(SCRIPT), str(path), "--cache-root", str(path.parent / "cache"), *words]


def publish(path, *words, cwd="/"):
    return subprocess.run(command(path, *words), cwd=cwd, capture_output=True, text=True, check=False)


def digests(folder):
    """The objects of a local store by their names."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (folder / "artifacts").rglob("*")
        if file.is_file()
    }


def digests_below(folder):
    return {file.relative_to(folder): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in folder.rglob("*") if file.is_file()}  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A manifest of two methods, what a dry run and an upload of it said, and the objects that are there then."""
    folder = tmp_path_factory.mktemp("undisturbed")
    prepare(folder)
    path = manifest(folder, FOREST, SYSTEM, store="local:hosted")
    dry = publish(path)
    hosted = (folder / "hosted").exists()
    applied = publish(path, "--apply", "--json")
    return path, dry, hosted, applied, digests(folder / "hosted")


def test_a_dry_run_fills_the_cache_and_no_store(undisturbed):
    path, dry, hosted, _, _ = undisturbed
    assert (dry.returncode, dry.stderr, hosted) == (0, "", False)
    lines = dry.stdout.splitlines()
    cache, logs = path.parent / "cache", path.parent / "publish_logs"
    assert lines[0] == f"{DRY}; 2 methods; processing fills the cache {cache}; logs in {logs}"
    assert lines[1].startswith("DONE RandomForest: 9 results processed; 8 objects, ")
    assert lines[2].startswith("DONE DemoLogisticSystem: 9 results processed; 6 objects, ")
    assert lines[3] == f"{DRY}; 2 methods: 2 done, 0 failed"
    assert lines[-1] == DRY
    assert lines[-2].endswith(" --apply")
    assert (cache / "artifacts" / SUITE / "methods" / "RandomForest" / "metadata.yaml").is_file()


def test_with_apply_finished_processing_is_adopted_and_every_object_verified(undisturbed):
    applied = undisturbed[3]
    events = [json.loads(line) for line in applied.stdout.splitlines()]
    assert (applied.returncode, applied.stderr) == (0, "")
    assert [event.get("event") for event in events] == ["started", "done", "done", None]
    assert {event["line"] for event in events[1:3]} == {
        "DONE RandomForest: 9 results processed before; 8 objects uploaded, 0 there already, 8 verified",
        "DONE DemoLogisticSystem: 9 results processed before; 6 objects uploaded, 0 there already, 6 verified",
    }
    envelope = events[-1]
    assert (envelope["ok"], envelope["summary"]) == (True, "2 methods: 2 done, 0 failed")
    forest, system = envelope["data"]["methods"]
    assert (forest["method"], forest["suite"], forest["state"], forest["left"]) == ("RandomForest", SUITE, "done", [])
    assert {step: told["adopted"] for step, told in system["steps"].items()} == {
        "process": True, "dry-run": False, "upload": False,
    }  # fmt: skip
    assert [shlex.split(words)[1:3] for words in envelope["next"]] == [
        [str(SCRIPT.with_name("register_method.py")), f"demo.info:{name}_method_metadata"]
        for name in ("forest", "system")
    ]


def test_what_changed_is_processed_again_and_what_is_hosted_is_not_sent_again(tmp_path):
    prepare(tmp_path)
    shutil.copytree(
        RAW / "data" / "RandomForest_c1_default_BAG_L1", tmp_path / "run" / "RandomForest_c1_default_BAG_L1"
    )
    path = manifest(tmp_path, FOREST, data="run", store="local:hosted")
    uploaded = "9 results processed; 8 objects uploaded, 0 there already, 8 verified"
    repeated = "9 results processed; 0 objects uploaded, 8 there already, 8 verified"
    assert publish(path, "--apply").stdout.splitlines()[1] == f"DONE RandomForest: {uploaded}"
    os.utime(next((tmp_path / "run").rglob("results.pkl")))
    assert publish(path, "--apply").stdout.splitlines()[1] == f"DONE RandomForest: {repeated}"
    shutil.rmtree(tmp_path / "cache")
    assert publish(path, "--apply").stdout.splitlines()[1] == f"DONE RandomForest: {repeated}"


def adopted_or_not(path):
    """The lines of a dry run that follow the first, and whether it took over finished processing."""
    *events, envelope = [json.loads(line) for line in publish(path, "--json").stdout.splitlines()]
    (method,) = envelope["data"]["methods"]
    return [event["line"] for event in events[1:]], method["steps"]["process"]["adopted"]


def test_an_artifact_that_was_damaged_is_processed_again(tmp_path):
    prepare(tmp_path)
    path = manifest(tmp_path, FOREST, store="local:hosted")
    (done,), adopted = adopted_or_not(path)
    assert not adopted and done.startswith("DONE RandomForest: 9 results processed; ")
    folder = tmp_path / "cache" / "artifacts" / SUITE / "methods" / "RandomForest"
    whole = digests_below(folder)
    table = folder / "results" / "model_results.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    assert adopted_or_not(path) == (
        [
            f"AGAIN RandomForest from process: {folder}: changed: results/model_results.parquet "
            "(since it was processed)",
            done,
        ],
        False,
    )
    assert digests_below(folder) == whole
    (folder / "metadata.yaml").unlink()
    assert adopted_or_not(path) == ([done], False)
    assert digests_below(folder) == whole


def test_a_failed_method_stops_no_other(tmp_path):
    prepare(tmp_path)
    path = manifest(tmp_path, WRONG, SYSTEM, store="local:hosted")
    done = publish(path, "--apply", "--json")
    *events, envelope = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == envelope["exit"] == 1
    assert [event["line"] for event in events[1:]] == [
        "FAILED LinearModel at process (exit 1): demo.info:wrong_method_metadata: can_hpo: False (3 configs), "
        "expected True",
        "DONE DemoLogisticSystem: 9 results processed; 6 objects uploaded, 0 there already, 6 verified",
    ]
    assert envelope["problems"][0]["code"] == "metadata-mismatch"
    assert envelope["problems"][0]["where"] == "LinearModel: demo.info:wrong_method_metadata: can_hpo"
    mend, again = envelope["next"]
    words = shlex.split(mend)
    assert words[1:5] == [
        str(SCRIPT.with_name("set_method_info.py")), "demo.info:wrong_method_metadata", "--set", "can_hpo=true",
    ]  # fmt: skip
    assert again.endswith(" --apply")


def test_losses_are_accepted_in_the_manifest_and_nowhere_else(tmp_path):
    prepare(tmp_path)
    runs = tmp_path / "runs" / "RandomForest_c1_default_BAG_L1"
    shutil.copytree(RAW / "data" / runs.name, runs)
    first, second, *_ = sorted(runs.glob("*/0_0/results.pkl"))
    first.write_bytes(b"garbage")
    second.write_bytes(b"")
    own = FOREST | {"data": "runs"}
    path = manifest(tmp_path, SYSTEM, own | {"accept_finding": ["not-a-pickle"]}, store="local:hosted")
    done = publish(path, "--json")
    envelope = json.loads(done.stdout.splitlines()[-1])
    (problem,) = [each for each in envelope["problems"] if each["code"] == "findings-not-accepted"]
    assert problem["fix"] == (
        "mend the results and run the batch again; or accept the loss, at their owner's word, in "
        f"{path}: method 2: accept_finding: [empty-file, not-a-pickle]"
    )
    assert not [step for step in envelope["next"] if "run_process_method" in step]
    told = yaml.safe_load(problem["fix"].partition("method 2: ")[2])
    done = publish(manifest(tmp_path, SYSTEM, own | told, store="local:hosted"))
    assert (done.returncode, "DONE RandomForest: 7 results processed" in done.stdout) == (0, True)


def test_two_runs_of_one_method_are_told_apart(folder):
    other = FOREST | {"method_metadata": "demo.info:hosted_method_metadata"}
    methods = read_batch(manifest(folder, FOREST, SYSTEM, other, store="local:hosted"))
    names = [f"RandomForest ({SUITE})", "DemoLogisticSystem", "RandomForest (tabarena-2026-06-30)"]
    assert labels(methods) == names
    reports = [
        MethodReport(method, name, {}, ("process",), folder) for method, name in zip(methods, names, strict=True)
    ]
    assert [report.line() for report in reports] == [f"LEFT {name} before process" for name in names]
    assert [(report.to_dict()["method"], report.to_dict()["suite"]) for report in reports][::2] == [
        ("RandomForest", SUITE), ("RandomForest", "tabarena-2026-06-30"),
    ]  # fmt: skip


def test_missing_credentials_are_told_before_anything_is_processed(tmp_path):
    prepare(tmp_path)
    path = manifest(tmp_path, FOREST | {"method_metadata": "demo.info:hosted_method_metadata"})
    words = [
        "env",
        *(f"-u{name}" for name in os.environ if name.startswith("R2_")),
        *command(path, "--apply", "--json"),
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["found"] == "R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY not set"
    assert not (tmp_path / "cache").exists()


def test_two_batches_in_one_place_are_one_too_many(tmp_path):
    prepare(tmp_path)
    path = manifest(tmp_path, FOREST, store="local:hosted")
    with FileLock(tmp_path / "publish_logs" / "batch.lock", "batch of 1 method"):
        done = publish(path)
    assert done.returncode == 5
    assert "batch of 1 method (process" in done.stdout


@pytest.mark.parametrize("option", ["--jobs=0", "--stall=-1", "--timeout=nan"])
def test_a_number_that_means_nothing_is_refused(tmp_path, option):
    done = publish(tmp_path / "publish.yaml", option)
    name, _, value = option.partition("=")
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: argument {name}: {value}, expected a number above 0\n")


def started(path, step, *words):
    """A batch whose first method has come to a step, and the processes that it has then."""
    batch = subprocess.Popen(command(path, *words), stdout=subprocess.PIPE, text=True, cwd="/")
    log = path.parent / "publish_logs" / SUITE / "RandomForest" / f"{step}.log"
    wait_until(lambda: log.exists() and children_of(batch.pid), pause=0.02)
    return batch, children_of(batch.pid)


@pytest.mark.parametrize("step", ["process", "upload"])
def test_a_killed_batch_takes_its_steps_along_and_is_repeated_to_the_same_end(tmp_path, undisturbed, step):
    prepare(tmp_path)
    path = manifest(tmp_path, FOREST, store="local:hosted")
    batch, children = started(path, step, "--apply")
    batch.kill()
    batch.communicate()
    wait_for_ends(children)
    again = publish(path, "--apply")
    assert again.returncode == 0, again.stdout
    wanted = {name: digest for name, digest in undisturbed[-1].items() if "RandomForest" in name}
    assert len(wanted) == 9
    assert digests(tmp_path / "hosted") == wanted


def test_a_stopped_batch_ends_its_steps_and_says_what_is_left_and_how_to_go_on(tmp_path, undisturbed):
    prepare(tmp_path)
    path = manifest(tmp_path, FOREST, SYSTEM, store="local:hosted")
    batch, children = started(path, "process", "--apply", "--json")
    batch.send_signal(signal.SIGTERM)
    envelope = json.loads(batch.communicate()[0].splitlines()[-1])
    assert batch.returncode == envelope["exit"] == 128 + signal.SIGTERM
    assert not any(map(is_alive, children))
    assert envelope["summary"] == "2 methods: 0 done, 0 failed, 2 left; stopped by SIGTERM, what is finished is kept"
    assert envelope["data"]["methods"][1]["line"] == "LEFT DemoLogisticSystem before process"
    (go_on,) = envelope["next"]
    again = subprocess.run(shlex.split(go_on), cwd="/", capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stdout
    assert digests(tmp_path / "hosted") == undisturbed[-1]


def test_ctrl_c_is_heeded_too(tmp_path):
    prepare(tmp_path)
    batch, children = started(manifest(tmp_path, FOREST, store="local:hosted"), "process")
    batch.send_signal(signal.SIGINT)
    lines = batch.communicate()[0].splitlines()
    assert batch.returncode == 128 + signal.SIGINT
    assert "1 method: 0 done, 0 failed, 1 left; stopped by SIGINT, what is finished is kept" in lines[1]
    assert lines[-1] == DRY
    assert not any(map(is_alive, children))
