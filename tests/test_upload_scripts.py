"""The commands: a dry run that needs nothing, the upload it names, its proof, and the way back into a cache."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.arena import MethodMetadata
from benchwright.bridge.published import registered_methods
from benchwright.publish.destination import declared_location
from object_servers import KEY_ID, QUICK, SECRET, refuse, settings
from published_artifacts import SUITE, add_sidecar, artifact_folder, genuine
from scripts_in_process import Script

pytestmark = pytest.mark.usefixtures("no_credentials")
ROOT = Path(__file__).resolve().parents[1]
PLACE = f"artifacts/{SUITE}/methods/LinearModel"
DRY = "DRY RUN: nothing written"
INFO = f"""
linear_method_metadata = MethodMetadata.config(
    method="LinearModel",
    suite="{SUITE}",
    ag_key="LR",
    config_default="LinearModel_c1_default_BAG_L1",
    can_hpo=True,
    is_bag=True,
    date="2026-11-29",
    verified=False,
    display_name="Linear",
    cache_type="r2",
    cache_kwargs={{"bucket": "results", "prefix": "cache"}},
)
"""


@pytest.fixture
def cache(tmp_path):
    """A cache with a genuine artifact, its raw results, and the declaration of the method beside it."""
    genuine(tmp_path / "cache")
    (tmp_path / "checkout" / "models").mkdir(parents=True)
    (tmp_path / "checkout" / "models" / "linear.py").write_text(INFO)
    return tmp_path / "cache"


@pytest.fixture
def answer(capsys, cache, tmp_path):
    """The envelope of an upload script's call in this process, for the declared method."""
    options = ["--cache-root", cache, "--repo", tmp_path / "checkout"]
    script = Script.named("run_upload_results", capsys, *options)

    def call(*words, source=("--method-metadata", "models.linear:linear_method_metadata")):
        return script.answer(*source, *words)

    return call


@pytest.fixture
def fetched(capsys):
    return Script.named("fetch_method", capsys).answer


def run(*words, script="run_upload_results.py", **environment):
    command = [sys.executable, str(ROOT / "scripts" / script), *map(str, words)]
    bare = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return subprocess.run(command, env=bare | environment, capture_output=True, text=True, check=False)


def r2(server, secret=SECRET):
    return {"R2_ENDPOINT_URL": server.url, "R2_ACCESS_KEY_ID": KEY_ID, "R2_SECRET_ACCESS_KEY": secret}


def codes(envelope):
    return [problem["code"] for problem in envelope["problems"]]


# --- the dry run -----------------------------------------------------------------------------------------------------


def test_a_dry_run_says_everything_and_needs_nothing(cache):
    done = run("--from-cache", "LinearModel", SUITE, "--cache-root", cache)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{DRY}; LinearModel, suite {SUITE}: 7 objects, ")
    assert lines[0].endswith(f" bytes, complete, for r2://tabarena/cache/{PLACE}")
    assert lines[1] == "parts: results, hpo_trajectories, processed, raw, metadata"
    assert lines[2].startswith("  results/model_results.parquet: 9,825 bytes, SHA-256 cbd82f5e7910...")
    assert "credentials: r2: R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY not set" in lines
    assert "  R2_ACCOUNT_ID: the account id on the overview page of R2 in the Cloudflare dashboard." in lines
    assert lines[-1] == DRY and len(lines) <= 40
    words = ["--from-cache", "LinearModel", SUITE, "--cache-root", str(cache), "--apply"]
    command = shlex.join([sys.executable, str(ROOT / "scripts" / "run_upload_results.py"), *words])
    assert lines[lines.index("next:") + 1] == f"    {command}"


def test_a_dry_run_sends_no_request_even_with_credentials(moto, answer, monkeypatch):
    for name, value in r2(moto).items():
        monkeypatch.setenv(name, value)
    envelope = answer()
    assert envelope["ok"] and envelope["data"]["applied"] is False
    assert envelope["data"]["credentials"] == []
    assert envelope["data"]["destination"] == f"r2://results/cache/{PLACE}"
    assert codes(envelope) == ["metadata-updated", "no-sidecar", "machine-path"]
    assert moto.seen == []


def test_the_command_that_a_dry_run_names_uploads_from_any_folder(cache, tmp_path):
    (tmp_path / "checkout" / "store").mkdir()
    words = ["--method-metadata", "models.linear:linear_method_metadata", "--cache-root", "../cache"]
    dry = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "run_upload_results.py"), *words, "--store", "local:store"],
        cwd=tmp_path / "checkout", capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = dry.stdout.splitlines()
    command = shlex.split(lines[lines.index("next:") + 1])
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert DRY not in done.stdout
    assert done.stdout.splitlines()[0] == (
        f"LinearModel, suite {SUITE}: 7 sent, 0 there already: 7 objects proved at "
        f"local:{tmp_path}/checkout/store/{PLACE}"
    )
    assert (tmp_path / "checkout" / "store" / PLACE / "metadata.yaml").is_file()


def test_an_incomplete_artifact_is_no_ok(cache, answer):
    (cache / PLACE / "results" / "hpo_trajectories.parquet").unlink()
    envelope = answer()
    assert (envelope["exit"], codes(envelope)) == (1, ["artifact-incomplete"])


def test_what_the_artifact_records_must_be_declared(cache, answer):
    add_sidecar(artifact_folder(cache), "8x1")
    envelope = answer()
    assert (envelope["exit"], codes(envelope)) == (1, ["protocol-not-declared"])
    assert answer(source=("--from-cache", "LinearModel", SUITE))["ok"]


def test_a_method_without_a_store_is_wrong_usage(cache, answer, tmp_path):
    source = INFO.replace('    cache_type="r2",\n', "").replace(
        '    cache_kwargs={"bucket": "results", "prefix": "cache"},\n', ""
    )
    (tmp_path / "checkout" / "models" / "linear.py").write_text(source)
    envelope = answer()
    assert (envelope["exit"], codes(envelope)) == (2, ["no-store"])
    assert answer("--store", f"local:{tmp_path / 'store'}")["ok"]


def test_a_store_that_is_not_named_is_told_with_all_that_is_missing(cache, answer, tmp_path):
    declaration = tmp_path / "checkout" / "models" / "linear.py"
    text = declaration.read_text().replace('    cache_type="r2",\n', "")
    declaration.write_text(text.replace('    cache_kwargs={"bucket": "results", "prefix": "cache"},\n', ""))
    (cache / PLACE / "results" / "hpo_trajectories.parquet").unlink()
    shutil.rmtree(cache / PLACE / "raw")
    for mode in ((), ("--apply",)):
        envelope = answer(*mode)
        assert envelope["exit"] == 2
        assert codes(envelope) == ["no-store", "artifact-incomplete", "artifact-incomplete"]
    assert codes(answer("--verify-only")) == ["no-store"]
    shutil.rmtree(cache)
    envelope = answer()
    assert (envelope["exit"], codes(envelope)) == (2, ["no-store", "no-artifact"])


@pytest.mark.parametrize("mode", [(), ("--apply",), ("--verify-only",)])
def test_a_cache_without_the_artifact_is_told_and_no_store_judged(answer, cache, mode):
    envelope = answer(*mode, source=("--from-cache", "LinearModel", "nosuite"))
    (problem,) = envelope["problems"]
    assert (envelope["exit"], problem["code"]) == (1, "no-artifact")
    assert problem["where"] == str(cache / "artifacts" / "nosuite" / "methods" / "LinearModel")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--from-cache", "X"],
        ["--from-cache", "X", "Y", "--method-metadata", "a:b"],
        ["--from-cache", "X", "Y", "--apply", "--verify-only"],
    ],
)
def test_wrong_usage_leaves_with_two(words):
    assert run(*words).returncode == 2


def blocks(sheet):
    """The bash blocks of a command sheet, each by its lines."""
    return [part.partition("```")[0].splitlines() for part in sheet.split("```bash\n")[1:]]


def test_a_command_sheet_says_what_why_and_how(answer, tmp_path):
    plan = answer("--handoff", str(tmp_path / "sheet.md"))["data"]
    sheet = (tmp_path / "sheet.md").read_text()
    assert sheet.startswith(f"# Upload LinearModel, suite {SUITE}\n\nThe artifact was checked and is complete;")
    here, after = blocks(sheet)
    assert [command.split()[-1] for command in here] == ["--apply", "--verify-only"]
    assert "- R2_ACCOUNT_ID: the account id" in sheet
    assert "- provenance.json: not there" in sheet
    for one in plan["objects"]:
        assert f"| `{one['key']}` | {one['size']:,} | `{one['sha256']}` |" in sheet
    assert [Path(shlex.split(command)[1]).name for command in after] == ["register_method.py", "log_run.py"]
    assert after[-1].endswith(f" --suite {SUITE}")
    assert (
        "- Not as it is: metadata.yaml in the folder differs from the declaration in "
        "cache_kwargs. Process again, which records it, and write this sheet anew." in sheet
    )


def test_a_command_sheet_for_another_machine_hosts_the_very_same(answer, cache, tmp_path):
    folder = artifact_folder(cache)
    text = folder / "processed" / "context.json"
    text.write_text(text.read_text().replace("/data/bench", "."))
    add_sidecar(folder, None)
    recorded = MethodMetadata.from_yaml(folder)
    fields = ", ".join(f"{name}={value!r}" for name, value in recorded.to_dict().items() if value is not None)
    checkout = tmp_path / "checkout"
    (checkout / "models" / "linear.py").write_text(f"linear_method_metadata = MethodMetadata({fields})\n")
    for words in (["init", "--quiet"], ["add", "--intent-to-add", "models"]):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    store = f"local:{tmp_path / 'store'}"
    plan = answer("--store", store, "--handoff", str(tmp_path / "sheet.md"))["data"]
    sheet = (tmp_path / "sheet.md").read_text()
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    assert f"- `{checkout}/models/linear.py` is not committed: the commands above need it" in sheet
    assert f"- Copy `{folder}`: {len(files)} files, {size:,} bytes.\n- To `{PLACE}` below the cache there" in sheet
    _, check, there, _ = blocks(sheet)
    copied = tmp_path / "theirs" / PLACE
    shutil.copytree(folder, copied)
    done = subprocess.run(["bash", "-c", *check], cwd=copied, capture_output=True, text=True, check=True)
    assert f"`{done.stdout.split()[0]}`" in sheet
    command = shlex.split(there[0])
    assert command[-3:] == ["--store", store, "--apply"]
    done = run(*command[2:], TABARENA_CACHE=str(tmp_path / "theirs"))
    assert done.returncode == 0, done.stdout
    assert answer("--store", store, "--verify-only")["ok"]
    assert f"{len(plan['objects'])} objects proved" in done.stdout


# --- the upload ------------------------------------------------------------------------------------------------------


def test_an_upload_ends_proved_and_names_the_next_step(seaweed, answer, cache, tmp_path, monkeypatch):
    for name, value in r2(seaweed).items():
        monkeypatch.setenv(name, value)
    store = f"r2://results/{tmp_path.name}"
    done = answer("--store", store, "--no-dry-run")
    assert done["ok"] and done["data"]["applied"] is True
    assert done["summary"] == (
        f"LinearModel, suite {SUITE}: 7 sent, 0 there already: 7 objects proved at {store}/{PLACE}"
    )
    assert {one["proved"] for one in done["data"]["verification"]["objects"]} == {
        "read back: size and digest as expected"
    }
    assert shlex.split(done["next"][0])[1:] == [
        f"{ROOT}/scripts/register_method.py", "models.linear:linear_method_metadata",
        "--repo", str(tmp_path / "checkout"), "--arena", "tabarena",
    ]  # fmt: skip
    again = answer("--store", store, "--apply")
    assert (again["data"]["sent"], len(again["data"]["kept"])) == ([], 7)
    proof = answer("--store", store, "--verify-only")
    assert proof["ok"] and proof["data"]["applied"] is False
    assert proof["data"]["verification"]["basis"] == "the files of the local artifact"
    shutil.rmtree(cache)
    proof = answer("--store", store, "--verify-only")
    assert proof["data"]["verification"]["basis"] == "the digests in manifest.json"
    proof = answer("--store", store, "--verify-only", source=("--from-cache", "LinearModel", SUITE))
    assert proof["ok"] and len(proof["data"]["verification"]["objects"]) == 7


def test_raw_results_that_were_not_kept_are_left_out_by_word_and_not_missed_in_the_proof(answer, cache, tmp_path):
    folder, store = artifact_folder(cache, "LinearModel"), f"local:{tmp_path / 'hosted'}"
    shutil.rmtree(folder / "raw")
    metadata = folder / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("has_raw: true", "has_raw: false"))
    assert [one["found"] for one in answer("--store", store, "--apply")["problems"]] == ["not there"]
    assert answer("--store", store, "--apply", "--no-upload-raw")["exit"] == 0
    assert answer("--store", store, "--verify-only")["ok"]


@pytest.mark.parametrize(
    ("suite", "protocol", "arena"),
    [
        ("tabarena-2026-11-29", "8x1", "tabarena"),
        ("tabarena-2026-11-29", "dynamic:8x1,5x5<=500", "beyondarena"),
        ("beyond_iid_benchmark_2026", None, "beyondarena"),
    ],
)
def test_the_arena_to_register_in_is_the_one_of_the_protocol_or_the_suite(
    answer, cache, tmp_path, suite, protocol, arena
):
    folder = artifact_folder(cache)
    there = folder.parents[2] / suite / "methods" / "LinearModel"
    there.parent.mkdir(parents=True)
    folder.rename(there)
    recorded = MethodMetadata.from_yaml(there)
    (there / "metadata.yaml").write_text(MethodMetadata.from_dict(recorded.to_dict() | {"suite": suite}).to_yaml())
    declared = INFO.replace(SUITE, suite).replace("verified=False", f"verified=False, validation_protocol={protocol!r}")
    (tmp_path / "checkout" / "models" / "linear.py").write_text(declared)
    done = answer("--store", f"local:{tmp_path / 'store'}", "--apply")
    assert shlex.split(done["next"][0])[3:] == [
        "--repo", str(tmp_path / "checkout"), "--arena", arena,
    ]  # fmt: skip


def test_a_different_hosted_artifact_is_refused_and_verifying_says_how_it_differs(answer, cache, tmp_path):
    store = f"local:{tmp_path / 'store'}"
    assert answer("--store", store, "--apply")["ok"]
    for path in (cache / PLACE / "raw").rglob("results.pkl"):
        path.write_bytes(path.read_bytes() + b"x")
    envelope = answer("--store", store, "--apply")
    assert (envelope["exit"], codes(envelope)) == (5, ["hosted-differs"])
    assert envelope["next"][0].endswith("--verify-only")
    envelope = answer("--store", store, "--verify-only")
    assert (envelope["exit"], codes(envelope)) == (1, ["digest-mismatch", "manifest-differs"])
    envelope = answer("--store", store, "--apply", "--replace")
    assert envelope["ok"] and envelope["data"]["replaced"] == ["raw.zip"]


def test_an_object_that_was_damaged_is_mended_as_the_verification_says(answer, cache, tmp_path):
    words = ("--store", f"local:{tmp_path / 'store'}")
    assert answer(*words, "--apply")["ok"]
    damaged = tmp_path / "store" / PLACE / "raw.zip"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    envelope = answer(*words, "--verify-only")
    assert (envelope["exit"], codes(envelope)) == (1, ["digest-mismatch"])
    assert envelope["problems"][0]["fix"] == (
        "upload it again: scripts/run_upload_results.py --apply; what is damaged there takes --replace with it"
    )
    envelope = answer(*words, "--apply")
    assert (envelope["exit"], codes(envelope)) == (5, ["hosted-damaged"])
    envelope = answer(*words, "--apply", "--replace")
    assert (envelope["ok"], envelope["data"]["replaced"]) == (True, ["raw.zip"])
    assert answer(*words, "--verify-only")["ok"]


def test_what_is_known_of_the_declaration_stands_in_every_fix(answer, cache, tmp_path):
    words = f"models.linear:linear_method_metadata --repo {tmp_path}/checkout"
    declaration = tmp_path / "checkout" / "models" / "linear.py"
    declaration.write_text(INFO.replace('date="2026-11-29"', "date=None").replace("verified=False", "verified=True"))
    fixes = {problem["code"]: problem["fix"] for problem in answer()["problems"]}
    assert fixes["no-date"] == f"scripts/set_method_info.py {words} --set date=YYYY-MM-DD"
    assert fixes["verified"] == f"unless they are: scripts/set_method_info.py {words} --set verified=false"
    (cache / PLACE / "results" / "hpo_results.parquet").unlink()
    again = f"process again: scripts/run_process_method.py PATH --method-metadata {words} --process"
    assert [each["fix"] for each in answer()["problems"] if each["code"] == "artifact-incomplete"] == [again]
    by_cache = answer(source=("--from-cache", "LinearModel", SUITE))
    assert "MODULE:ATTR" in next(each["fix"] for each in by_cache["problems"] if each["code"] == "artifact-incomplete")


def test_no_command_is_offered_that_a_manifest_which_is_none_would_stop(answer, tmp_path):
    words = ("--store", f"local:{tmp_path / 'store'}")
    place = tmp_path / "store" / PLACE
    place.mkdir(parents=True)
    (place / "manifest.json").write_text("{")
    for more in (("--apply",), ("--apply", "--replace"), ("--verify-only",)):
        envelope = answer(*words, *more)
        (problem,) = [each for each in envelope["problems"] if each["code"] == "bad-manifest"]
        assert (envelope["exit"], envelope["next"]) == (1, [])
        assert problem["fix"] == (
            "look at who wrote it; it must be removed by hand before anything can be uploaded here"
        )


def test_after_the_sign_off_the_metadata_alone_is_replaced(answer, fetched, cache, tmp_path):
    words = ["--store", f"local:{tmp_path / 'store'}"]
    assert answer(*words, "--apply")["ok"]
    declaration = tmp_path / "checkout" / "models" / "linear.py"
    declaration.write_text(declaration.read_text().replace("verified=False", "verified=True"))
    envelope = answer(*words, "--apply")
    assert (envelope["exit"], codes(envelope)) == (5, ["hosted-differs"])
    assert envelope["problems"][0]["found"] == "another artifact: only metadata.yaml differs: verified False -> True"
    (dry,) = envelope["next"]
    assert shlex.split(dry)[-3:] == [*words, "--replace"]
    done = subprocess.run(shlex.split(dry), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith(DRY)
    lines = done.stdout.splitlines()
    command = shlex.split(lines[lines.index("next:") + 1])
    assert command[-2:] == ["--replace", "--apply"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"LinearModel, suite {SUITE}: 1 sent, 6 there already, 1 of a predecessor replaced")
    assert answer(*words, "--verify-only")["ok"]
    by_cache = {"source": ("--from-cache", "LinearModel", SUITE)}
    assert answer(*words, "--verify-only", **by_cache)["exit"] == 1, "the cache has it as it was processed"
    fetch = ("LinearModel", SUITE, *words, "--cache-root", cache)
    assert fetched(*fetch)["exit"] == 5
    assert fetched(*fetch, "--replace")["ok"]
    assert answer(*words, "--verify-only", **by_cache)["ok"]


def test_wrong_credentials_leave_with_three_and_without_the_secret(seaweed, cache, tmp_path):
    words = ["--from-cache", "LinearModel", SUITE, "--cache-root", cache, "--apply", "--store", "r2://results/x"]
    done = run(*words)
    assert done.returncode == 3 and "R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY not set" in done.stdout
    done = run(*words, **r2(seaweed, secret="not-the-secret-of-tests"))
    assert done.returncode == 3, done.stdout
    assert "set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY in the environment or in a .env file" in done.stdout
    assert "not-the-secret-of-tests" not in done.stdout + done.stderr


def test_missing_credentials_are_said_before_a_check_that_would_fail(cache, answer):
    (cache / PLACE / "results" / "hpo_trajectories.parquet").unlink()
    for mode in ("--apply", "--verify-only"):
        envelope = answer(mode)
        assert (envelope["exit"], codes(envelope)) == (3, ["no-credentials"] * len(envelope["problems"]))


def test_credentials_of_an_env_file_do(seaweed, answer, tmp_path):
    (tmp_path / ".env").write_text("".join(f"{name}='{value}'\n" for name, value in r2(seaweed).items()))
    envelope = answer("--store", f"r2://results/{tmp_path.name}", "--apply")
    assert envelope["ok"], envelope


def test_an_env_file_that_cannot_be_read_does_not_stop_a_dry_run(answer, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHWRIGHT_ENV_FILE", str(tmp_path / "none"))
    envelope = answer()
    assert envelope["ok"]
    assert envelope["data"]["credentials"][0] == f"credentials: {tmp_path / 'none'}: no such file or directory"


def test_a_role_of_the_machine_may_do_for_s3(answer):
    lines = answer("--store", "s3://results/x")["data"]["credentials"]
    assert lines[0] == "credentials: s3: none set here; those of a profile or a role would be used"


@pytest.fixture
def at_moto(moto, monkeypatch):
    """The commands reach moto, and do not wait long."""
    for name, value in settings(moto.url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("benchwright.objects.location.Patience", lambda: QUICK)
    return moto


def test_throttling_without_end_leaves_with_four_and_the_command_to_go_on(at_moto, answer, tmp_path):
    at_moto.fault = lambda environ, start: (
        refuse(environ, start, "503 Slow Down", "SlowDown") if "raw.zip" in environ["PATH_INFO"] else None
    )
    store = f"s3://results/{tmp_path.name}"
    envelope = answer("--store", store, "--apply")
    assert (envelope["exit"], codes(envelope)) == (4, ["store-unavailable"])
    assert shlex.split(envelope["next"][0])[-3:] == ["--store", store, "--apply"]
    at_moto.fault = None
    assert answer("--store", store, "--apply")["ok"]


def test_no_permission_leaves_with_three_at_once(at_moto, answer, tmp_path):
    at_moto.fault = lambda environ, start: (
        refuse(environ, start, "403 Forbidden", "AccessDenied") if environ["REQUEST_METHOD"] == "PUT" else None
    )
    envelope = answer("--store", f"s3://results/{tmp_path.name}", "--apply")
    assert (envelope["exit"], codes(envelope)) == (3, ["no-permission"])
    assert len([line for line in at_moto.seen if line.startswith("PUT")]) == 1


# --- and back --------------------------------------------------------------------------------------------------------


def test_what_was_uploaded_is_fetched_by_a_colleague(answer, fetched, cache, tmp_path):
    store = f"local:{tmp_path / 'store'}"
    answer("--store", store, "--apply")
    words = ["LinearModel", SUITE, "--store", store, "--cache-root", str(tmp_path / "theirs")]
    envelope = fetched(*words)
    assert envelope["ok"] and envelope["data"]["written"]
    assert envelope["summary"].endswith(" bytes; it is in the cache")
    assert MethodMetadata.from_cache("LinearModel", SUITE, tmp_path / "theirs").display_name == "Linear"
    envelope = fetched(*words)
    assert not envelope["data"]["written"]
    assert envelope["summary"].endswith(" bytes; it was in the cache already, the same")
    words[-1] = str(cache)
    envelope = fetched(*words)
    assert (envelope["exit"], codes(envelope)) == (5, ["local-differs"])
    assert fetched(*words, "--replace")["data"]["written"]
    done = run(*words, "--no-raw", script="fetch_method.py")
    assert done.returncode == 0 and done.stdout.splitlines()[1] == f"folder: {cache / PLACE}"


def test_a_fetch_that_broke_off_names_the_command_to_go_on(at_moto, fetched, tmp_path):
    at_moto.fault = lambda environ, start: refuse(environ, start, "503 Slow Down", "SlowDown")
    store = f"s3://results/{tmp_path.name}"
    envelope = fetched("LinearModel", SUITE, "--store", store, "--cache-root", "cache", "--no-raw")
    assert envelope["exit"] == 4
    assert [shlex.split(command) for command in envelope["next"]] == [
        [
            sys.executable, f"{ROOT}/scripts/fetch_method.py", "LinearModel", SUITE, "--store", store,
            "--cache-root", str(tmp_path / "cache"), "--no-raw",
        ]
    ]  # fmt: skip
    at_moto.fault = None
    envelope = fetched("LinearModel", SUITE, "--store", f"s3://results/{tmp_path.name}")
    assert (envelope["exit"], codes(envelope)) == (1, ["not-hosted"])


def test_the_declaration_says_where_to_fetch_from(at_moto, answer, fetched, cache, tmp_path):
    declaration = tmp_path / "checkout" / "models" / "linear.py"
    declaration.write_text(declaration.read_text().replace('"r2"', '"s3"').replace('cache"', f'{tmp_path.name}"'))
    assert answer("--apply")["ok"]
    named = ["--method-metadata", "models.linear:linear_method_metadata", "--repo", tmp_path / "checkout"]
    words = ["--cache-root", tmp_path / "theirs", *named]
    assert fetched("LinearModel", SUITE, *words)["data"]["written"]
    envelope = fetched("LinearModel", "another", *words)
    assert (envelope["exit"], codes(envelope)) == (2, ["no-store"])
    assert envelope["problems"][0]["found"] == f"not among the declared methods, where LinearModel has suite {SUITE}"


def test_a_registered_method_is_fetched_from_where_it_is_registered(fetched, tmp_path):
    envelope = fetched("TabPFN-3", "tabarena-2026-07-13", "--cache-root", tmp_path)
    assert envelope["exit"] == 3 and codes(envelope) == ["no-credentials"] * len(envelope["problems"])
    historical = declared_location("AutoGluon_v140_bq_5m8c", "tabarena-2025-11-01", registered_methods())
    assert str(historical) == "s3://tabarena/cache"


@pytest.mark.parametrize(
    ("method", "suite", "found"),
    [("LightGBM", "mini-arena-1", "declared without a store"), ("Nobody", "x", "not among the declared methods")],
)
def test_a_method_that_is_registered_nowhere_needs_a_store(fetched, method, suite, found):
    (problem,) = fetched(method, suite)["problems"]
    assert (problem["code"], problem["found"]) == ("no-store", found)
    assert "--store LOCATION" in problem["fix"] and "--method-metadata MODULE:ATTR" in problem["fix"]
