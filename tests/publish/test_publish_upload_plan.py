"""The plan of an upload: what is published, and everything that must be right before any of it is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.objects import StoreLocation
from benchwright.processing.sidecar import read_sidecar
from benchwright.publish.artifact import open_artifact, open_recorded
from benchwright.publish.destination import destination_of
from benchwright.publish.hosted import key_prefix
from benchwright.publish.upload_plan import plan_upload
from published_artifacts import GENUINE, SUITE, add_sidecar, artifact_folder, facts, genuine, opened, recorded

STORE = StoreLocation.parse("r2://tabarena/cache")
AGAIN = "process again: scripts/run_process_method.py PATH --method-metadata MODULE:ATTR --process"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def refused(artifact, **options):
    with pytest.raises(Failure) as failure:
        plan_upload(artifact, STORE, **options)
    return failure.value


def published(plan):
    """The metadata that a plan publishes."""
    return MethodMetadata.from_yaml(plan.objects[-1].source)


def codes(problems):
    return [problem.code for problem in problems]


def test_the_objects_are_those_of_the_public_pipeline_and_two_of_ours(cache):
    recorded(cache)
    plan = plan_upload(opened(cache), STORE)
    assert [(planned.part, planned.name) for planned in plan.objects] == [
        ("sidecar", "provenance.json"),
        ("results", "results/model_results.parquet"),
        ("results", "results/hpo_results.parquet"),
        ("hpo_trajectories", "results/hpo_trajectories.parquet"),
        ("processed", "processed/configs_hyperparameters.json"),
        ("processed", "processed.zip"),
        ("raw", "raw.zip"),
        ("metadata", "metadata.yaml"),
    ]
    assert plan.url == f"r2://tabarena/cache/artifacts/{SUITE}/methods/LinearModel"
    assert plan.parts == ("sidecar", "results", "hpo_trajectories", "processed", "raw", "metadata")
    for planned in plan.objects:
        content = b"".join(planned.chunks())
        assert (len(content), hashlib.sha256(content).hexdigest()) == (planned.size, planned.sha256)
    assert plan.remarks == ()
    assert json.loads(json.dumps(plan.to_dict()))["objects"][0]["key"] == f"{plan.prefix}/provenance.json"


def test_two_copies_of_an_artifact_have_the_same_plan(cache, tmp_path):
    shutil.copytree(recorded(cache), artifact_folder(tmp_path / "elsewhere"))
    plans = [plan_upload(opened(root), STORE) for root in (cache, tmp_path / "elsewhere")]
    assert plans[0].to_dict() == plans[1].to_dict()
    assert plans[0].manifest.to_bytes() == plans[1].manifest.to_bytes()


def test_an_artifact_of_tabarena_can_be_published_and_what_it_lacks_is_said(cache):
    genuine(cache)
    plan = plan_upload(opened(cache), STORE)
    assert "provenance.json" not in [planned.name for planned in plan.objects]
    assert codes(plan.remarks) == ["no-sidecar", "machine-path"]
    assert str(plan.remarks[1]) == (
        "processed/context.json: relative_path: "
        f"'/data/bench/tabarena_cache/artifacts/{SUITE}/methods/LinearModel/processed', "
        f"expected no folder of one machine\n    fix: {AGAIN}; the store written there names no folder"
    )


def test_a_system_has_fewer_parts(cache):
    genuine(cache, "DemoLogisticSystem")
    plan = plan_upload(opened(cache, "DemoLogisticSystem", validation_protocol="system"), STORE)
    assert [planned.name for planned in plan.objects] == [
        "results/model_results.parquet",
        "processed/configs_hyperparameters.json",
        "processed.zip",
        "raw.zip",
        "metadata.yaml",
    ]


def test_the_published_metadata_is_read_by_tabarena(cache):
    from tabarena.models._method_metadata import MethodMetadata as Peers

    recorded(cache)
    content = plan_upload(opened(cache), STORE).objects[-1].source
    folder = cache / "downloaded"
    folder.mkdir()
    (folder / "metadata.yaml").write_bytes(content)
    assert Peers.from_yaml(path=folder).config_default == "LinearModel_c1_default_BAG_L1"


# --- parts that ought to be there ------------------------------------------------------------------------------------


def test_missing_trajectories_of_tuning_are_refused_not_left_out(cache):
    """``tabarena``'s dry run says OK here, and its upload leaves them out in silence."""
    (genuine(cache) / "results" / "hpo_trajectories.parquet").unlink()
    failure = refused(opened(cache))
    assert failure.exit == Exit.NO
    assert str(failure) == (
        f"{artifact_folder(cache)}/results/hpo_trajectories.parquet: not there, expected a table\n    fix: {AGAIN}"
    )


def test_trajectories_of_a_lone_config_are_no_must_and_their_absence_is_said(cache):
    folder = genuine(cache)
    (folder / "results" / "hpo_trajectories.parquet").unlink()
    metadata = MethodMetadata.from_dict(MethodMetadata.from_yaml(folder).to_dict() | {"can_hpo": False})
    (folder / "metadata.yaml").write_text(metadata.to_yaml())
    plan = plan_upload(opened(cache), STORE)
    assert "hpo_trajectories" not in plan.parts
    assert "no-trajectories" in codes(plan.remarks)


def test_every_part_that_is_missing_or_damaged_is_named_at_once(cache):
    folder = genuine(cache)
    (folder / "results" / "model_results.parquet").write_bytes(b"PAR1 and no more PAR1")
    empty = pq.read_table(folder / "results" / "hpo_results.parquet").slice(0, 0)
    pq.write_table(empty, folder / "results" / "hpo_results.parquet")
    (folder / "processed" / "configs.parquet").unlink()
    store = folder / "processed" / "model_predictions" / "local_wine-0ae0b9dbb2cc"
    shutil.rmtree(store)
    (folder / "processed" / "configs_hyperparameters.json").write_text("{}")
    shutil.rmtree(folder / "raw")
    failure = refused(opened(cache))
    found = {Path(problem.where).name: (problem.code, problem.found) for problem in failure.problems}
    assert found.pop("model_results.parquet")[1].startswith("cannot be read: ")
    assert found == {
        "hpo_results.parquet": ("artifact-incomplete", "no rows"),
        "processed": (
            "artifact-incomplete",
            "not there, or empty: processed/configs.parquet, "
            "processed/model_predictions/local_wine-0ae0b9dbb2cc/0/metadata.json, "
            "processed/model_predictions/local_wine-0ae0b9dbb2cc/0/pred-test.dat and 13 more",
        ),
        "configs_hyperparameters.json": ("artifact-incomplete", "no config: {}"),
        "raw": ("artifact-incomplete", "not there"),
    }
    fixes = {problem.fix for problem in failure.problems}
    assert fixes == {AGAIN, f"{AGAIN}; or leave the raw results out: --no-upload-raw"}


def test_a_damaged_context_is_a_problem(cache):
    (genuine(cache) / "processed" / "context.json").write_text("[" * 5000)
    assert codes(refused(opened(cache)).problems) == ["damaged-context"]


def test_a_damaged_page_of_a_table_is_found_where_no_digest_tells(cache):
    path = genuine(cache) / "results" / "model_results.parquet"
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)
    assert codes(refused(opened(cache)).problems) == ["damaged-table"]


@pytest.mark.parametrize(("kept", "found"), [(0, "no results.pkl"), (26, "26 results.pkl")])
def test_raw_results_are_complete_or_refused(cache, kept, found):
    folder = genuine(cache)
    for path in sorted(folder.glob("raw/*/*/*/results.pkl"))[kept:]:
        path.unlink()
    (problem,) = refused(opened(cache)).problems
    assert problem.where == str(folder / "raw") and problem.found == found


def test_raw_results_may_be_left_out(cache):
    folder = recorded(cache)
    shutil.rmtree(folder / "raw")
    plan = plan_upload(opened(cache), STORE, upload_raw=False)
    assert "raw" not in plan.parts
    assert [str(remark) for remark in plan.remarks] == [
        "raw.zip: not published: --no-upload-raw\n    fix: if it should be: leave that option out"
    ]
    assert not published(plan).has_raw


def test_raw_results_are_published_as_declared_and_the_metadata_says_whether_they_are(cache):
    folder = recorded(cache)
    assert published(plan_upload(opened(cache), STORE)).has_raw
    plan = plan_upload(opened(cache, has_raw=False), STORE)
    assert "raw" not in plan.parts and not published(plan).has_raw
    assert "not published: the metadata declares has_raw false" in [remark.found for remark in plan.remarks]
    metadata = folder / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("has_raw: true", "has_raw: false"))
    add_sidecar(folder)
    plan = plan_upload(opened(cache, has_raw=True), STORE)  # copied there since processing, which kept none
    assert "raw" in plan.parts and published(plan).has_raw


def test_links_in_the_artifact_are_refused_by_name(cache):
    folder = genuine(cache)
    (folder / "raw" / "link").symlink_to("/etc")
    (folder / "processed" / "link").symlink_to("context.json")
    failure = refused(opened(cache))
    assert {(problem.code, problem.where, problem.found) for problem in failure.problems} == {
        ("odd-file", str(folder / "raw" / "link"), "a link"),
        ("odd-file", str(folder / "processed" / "link"), "a link"),
    }


PARTS = ("metadata.yaml", "provenance.json", "results", "results/model_results.parquet",
         "results/hpo_trajectories.parquet", "processed", "processed/configs_hyperparameters.json", "raw")  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_a_link_out_of_the_artifact_is_not_followed(cache, tmp_path, name):
    path = recorded(cache) / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Failure) as failure:
        plan_upload(opened(cache), STORE)
    assert ("odd-file", str(path), "a link") in {(one.code, one.where, one.found) for one in failure.value.problems}


@pytest.mark.parametrize("name", [name for name in PARTS if name != "metadata.yaml"])
def test_a_named_pipe_is_not_waited_for(cache, name):
    path = recorded(cache) / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    os.mkfifo(path)
    with pytest.raises(Failure) as failure:
        plan_upload(opened(cache), STORE)
    found = {(one.code, one.where, one.found) for one in failure.value.problems}
    assert ("odd-file", str(path), "no regular file") in found


def test_a_named_pipe_for_the_marker_is_none(cache):
    path = recorded(cache) / "metadata.yaml"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Failure, match=r"an artifact without metadata\.yaml"):
        open_recorded("LinearModel", SUITE, cache)


def test_other_files_of_the_folder_are_left_out_and_named(cache):
    folder = genuine(cache)
    (folder / "notes.txt").write_text("x")
    (folder / "results" / "old.parquet").write_text("x")
    remark = plan_upload(opened(cache), STORE).remarks[-1]
    assert remark.found == "not published: notes.txt, results/old.parquet"


# --- what processing recorded ----------------------------------------------------------------------------------------


def test_files_that_are_not_those_processing_wrote_are_refused(cache):
    folder = recorded(cache)
    table = folder / "results" / "model_results.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(table)] * 2).slice(0, 27), table)
    (folder / "raw" / "stale" / "1" / "0_0").mkdir(parents=True)
    (folder / "raw" / "stale" / "1" / "0_0" / "results.pkl").write_bytes(b"x")
    (folder / "processed" / "metadata.json").write_text("{} ")
    shutil.rmtree(folder / "processed" / "model_predictions" / "local_wine-0ae0b9dbb2cc" / "0")
    said = {problem.found for problem in refused(opened(cache)).problems if problem.code == "artifact-changed"}
    wine = "processed/model_predictions/local_wine-0ae0b9dbb2cc/0"
    assert said == {
        f"not there: {wine}/label-test.csv.zip, {wine}/label-val.csv.zip, {wine}/metadata.json and 2 more",
        "changed: processed/metadata.json, results/model_results.parquet",
        "not written by processing: raw/stale/1/0_0/results.pkl",
    }


def test_a_protocol_that_is_not_declared_or_another_one_is_refused(cache):
    recorded(cache, protocol="8x1")
    (problem,) = refused(opened(cache, validation_protocol=None)).problems
    assert str(problem) == (
        "LinearModel: validation_protocol: not declared, expected '8x1', as the results show\n"
        "    fix: process again if the run used another protocol, else declare this one: --set validation_protocol=8x1"
    )
    assert codes(refused(opened(cache, validation_protocol="holdout:0.2")).problems) == ["protocol-differs"]


def test_a_protocol_that_was_declared_after_processing_was_never_compared(cache):
    recorded(cache, protocol=None)
    plan_upload(opened(cache, validation_protocol=None), STORE)
    (problem,) = refused(opened(cache, validation_protocol="holdout:0.2")).problems
    assert str(problem) == (
        "LinearModel: validation_protocol: declared as 'holdout:0.2' since processing, "
        "expected one that was compared with the results\n"
        "    fix: process again: scripts/run_process_method.py PATH --method-metadata MODULE:ATTR --process"
    )


def test_fields_that_processing_used_may_not_change_afterwards(cache):
    recorded(cache)
    changed = {
        "ag_key": "GBM",
        "model_key": "X",
        "config_default": "LinearModel_c2",
        "is_bag": False,
        "compute": "gpu",
        "name_suffix": "_x",
    }
    failure = refused(opened(cache, **changed))
    assert {problem.where for problem in failure.problems} == {f"LinearModel: {name}" for name in changed}
    assert str(failure.problems[0]) == (
        "LinearModel: ag_key: 'GBM', expected 'LR', as it was processed\n"
        "    fix: process again, or correct the declaration"
    )
    assert codes(refused(opened(cache, can_hpo=False)).problems) == ["metadata-changed"]


def test_a_default_config_that_is_not_declared_is_the_recorded_one(cache):
    recorded(cache)
    plan = plan_upload(opened(cache, config_default=None), STORE)
    assert b"config_default: LinearModel_c1_default_BAG_L1\n" in plan.objects[-1].source


def test_descriptive_fields_are_published_as_declared_now_and_said(cache):
    recorded(cache)
    plan = plan_upload(opened(cache, date="2026-11-30", verified=True, tags=("with-llm",)), STORE)
    content = plan.objects[-1].source
    assert b"date: '2026-11-30'\n" in content and b"verified: true\n" in content and b"- with-llm\n" in content
    assert [str(remark).partition("\n")[0] for remark in plan.remarks] == [
        "metadata.yaml: published as declared now: tags ['with-llm'] (was []), date '2026-11-30' (was '2026-11-29'), "
        "verified True (was False)",
        "LinearModel: verified: true, expected results that someone signed off",
    ]


def test_the_published_sidecar_has_the_digest_of_the_published_metadata(cache, tmp_path):
    folder = recorded(cache)
    before = json.loads((folder / "provenance.json").read_text())
    as_processed = plan_upload(opened(cache), STORE).objects[0]
    assert b"".join(as_processed.chunks()) == (folder / "provenance.json").read_bytes()
    plan = plan_upload(opened(cache, verified=True), STORE)
    published = {one.name: b"".join(one.chunks()) for one in plan.objects}
    (tmp_path / "provenance.json").write_bytes(published["provenance.json"])
    facts = read_sidecar(tmp_path).files["metadata.yaml"]
    metadata = published["metadata.yaml"]
    assert (facts.size, facts.sha256) == (len(metadata), hashlib.sha256(metadata).hexdigest())
    after = json.loads(published["provenance.json"])
    assert before["files"].pop("metadata.yaml") != after["files"].pop("metadata.yaml")
    assert before.pop("files") == after.pop("files") and before.keys() == after.keys()


def test_a_sidecar_of_another_artifact_is_refused(cache):
    folder = recorded(cache)
    sidecar = (folder / "provenance.json").read_text().replace('"suite": "local-2026-11-29"', '"suite": "other"')
    (folder / "provenance.json").write_text(sidecar)
    (problem,) = refused(opened(cache)).problems
    assert str(problem) == (
        f"{folder}/provenance.json: that of LinearModel, suite other, expected the one of the metadata.yaml beside it\n"
        f"    fix: {AGAIN}"
    )


def test_a_missing_date_is_said(cache):
    folder = recorded(cache)
    metadata = MethodMetadata.from_yaml(folder)
    (folder / "metadata.yaml").write_text(MethodMetadata.from_dict(metadata.to_dict() | {"date": None}).to_yaml())
    add_sidecar(folder)
    assert codes(plan_upload(opened(cache), STORE).remarks) == ["no-date"]


def test_findings_of_processing_are_counted(cache):
    folder = recorded(cache)
    sidecar = json.loads((folder / "provenance.json").read_text())
    finding = dict.fromkeys(("dataset", "split", "framework", "found", "expected", "fix")) | {"code": "truncated"}
    sidecar["findings"] = [finding | {"severity": severity} for severity in ("warn", "error", "warn", "context")]
    (folder / "provenance.json").write_text(json.dumps(sidecar))
    (problem,) = refused(opened(cache)).problems
    assert (problem.code, problem.found) == ("findings-not-accepted", "results are lost: 1 truncated")
    sidecar["findings"][1]["accepted"] = True
    (folder / "provenance.json").write_text(json.dumps(sidecar))
    (remark,) = plan_upload(opened(cache), STORE).remarks
    assert remark.found == "processing noted 1 of severity error (accepted), 2 of severity warn"


def test_a_disputed_record_of_the_protocol_is_told_by_itself(cache):
    folder = recorded(cache)
    sidecar = json.loads((folder / "provenance.json").read_text())
    said = "9 of 9 results record another protocol than they show: 9 record 4x2 and show 8x1"
    finding = dict.fromkeys(("dataset", "split", "framework", "expected", "fix")) | {"severity": "warn"}
    sidecar["findings"] = [finding | {"code": "protocol-disputed", "found": said}]
    (folder / "provenance.json").write_text(json.dumps(sidecar))
    counted, disputed = plan_upload(opened(cache), STORE).remarks
    assert (counted.code, counted.found) == ("quality-findings", "processing noted 1 of severity warn")
    assert (disputed.code, disputed.where, disputed.found) == ("protocol-disputed", "all results", said)


# --- which artifact, and where to ------------------------------------------------------------------------------------


def test_a_suite_of_the_methods_own_name_is_refused(cache):
    folder = artifact_folder(cache, "x").parents[2] / "LinearModel" / "methods" / "LinearModel"
    shutil.copytree(genuine(cache), folder)
    metadata = MethodMetadata.from_dict(MethodMetadata.from_yaml(folder).to_dict() | {"suite": None})
    (folder / "metadata.yaml").write_text(metadata.to_yaml())
    failure = refused(open_recorded("LinearModel", "LinearModel", cache))
    assert (codes(failure.problems), failure.exit) == (["suite-is-method"], Exit.USAGE)


def test_metadata_of_another_method_is_a_contradiction(cache):
    shutil.copytree(GENUINE / "RandomForest", artifact_folder(cache))
    failure = refused(open_artifact(MethodMetadata.config(method="LinearModel", suite=SUITE), cache))
    assert "LinearModel: method" in {problem.where for problem in failure.problems}


def test_no_artifact_is_said_with_the_command_that_makes_one(cache):
    with pytest.raises(Failure) as failure:
        open_recorded("LinearModel", SUITE, cache)
    assert str(failure.value) == (
        f"{artifact_folder(cache)}: no such artifact in the cache, expected a processed method\n"
        "    fix: process the results: scripts/run_process_method.py PATH --method-metadata MODULE:ATTR --process"
    )
    (genuine(cache) / "metadata.yaml").unlink()
    with pytest.raises(Failure, match=r"an artifact without metadata\.yaml"):
        open_recorded("LinearModel", SUITE, cache)


def test_a_sidecar_that_cannot_be_read_is_no_missing_one(cache):
    (genuine(cache) / "provenance.json").write_text("{}")
    with pytest.raises(Failure) as failure:
        opened(cache)
    assert codes(failure.value.problems) == ["bad-sidecar"]


def test_a_method_without_a_store_names_both_ways_out():
    with pytest.raises(Failure) as failure:
        destination_of(MethodMetadata(method="X", suite="s"), None)
    assert failure.value.exit == Exit.USAGE
    assert str(failure.value) == (
        "X: cache_type: 'local', which names no store, expected r2 or s3\n"
        "    fix: declare one: scripts/set_method_info.py MODULE:ATTR --set cache_type=r2 "
        """--set 'cache_kwargs={"bucket": "BUCKET", "prefix": "PREFIX"}', or name one with --store LOCATION"""
    )


@pytest.mark.parametrize("kind", ["r2", "s3"])
def test_the_store_is_the_declared_one_or_the_one_that_is_named(kind):
    kwargs = {"bucket": "results", "prefix": "/a/cache/"}
    metadata = MethodMetadata(method="X", suite="s", cache_type=kind, cache_kwargs=kwargs)
    assert str(destination_of(metadata, None)) == f"{kind}://results/a/cache"
    assert str(destination_of(metadata, "local:/a/store")) == "local:/a/store"


def test_an_upload_to_another_store_than_the_declared_one_is_said(cache):
    recorded(cache)
    plan = plan_upload(opened(cache), StoreLocation.parse("s3://mine/x"))
    assert [str(remark) for remark in plan.remarks] == [
        "LinearModel: cache_kwargs: the metadata names r2://tabarena/cache, the upload goes to s3://mine/x, "
        "expected one place\n    fix: colleagues need: scripts/fetch_method.py LinearModel "
        f"{SUITE} --store s3://mine/x"
    ]


def test_an_object_that_should_be_public_is_not_made_so_in_silence(cache):
    recorded(cache)
    kwargs = {"bucket": "results", "prefix": "cache", "upload_as_public": True}
    artifact = opened(cache, cache_type="s3", cache_kwargs=kwargs)
    remarks = plan_upload(artifact, StoreLocation.parse("s3://results/cache")).remarks
    assert codes(remarks) == ["metadata-updated", "not-public"]


@pytest.mark.parametrize(
    ("store", "found"),
    [
        ("cache", "the folder of the local artifact itself"),
        (f"cache/artifacts/{SUITE}/methods/LinearModel", "the folder of the local artifact itself"),
        ("another", "a cache, where artifacts lie unpacked"),
        ("built in", "a cache, where artifacts lie unpacked"),
        (".cache/tabarena", "a cache, where artifacts lie unpacked"),
    ],
)
def test_no_cache_is_a_store(cache, tmp_path, monkeypatch, store, found):
    genuine(cache)
    genuine(tmp_path / "another", "RandomForest")
    (tmp_path / "built in" / ".benchwright" / "locks").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TABARENA_CACHE", raising=False)
    with pytest.raises(Failure) as failure:
        plan_upload(opened(cache), StoreLocation.parse(f"local:{tmp_path / store}"))
    assert failure.value.exit == Exit.USAGE
    (problem,) = failure.value.problems
    assert (problem.code, problem.found) == ("store-is-cache", found)


@pytest.mark.parametrize("names", [("Linear\\Model", SUITE), ("LinearModel", "a/b"), ("..", SUITE)])
def test_names_that_no_object_may_have_are_refused(names):
    with pytest.raises(Failure) as failure:
        key_prefix(*names)
    assert (codes(failure.value.problems), failure.value.exit) == (["bad-key"], Exit.USAGE)


def test_the_plan_reads_and_writes_nothing_else(cache):
    recorded(cache)
    before = facts(cache)
    shown = []
    plan_upload(opened(cache), STORE, progress=lambda done, total, **_: shown.append((done, total)))
    assert facts(cache) == before
    assert shown[-1] == (1, 1)
