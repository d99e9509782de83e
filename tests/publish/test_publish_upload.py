"""Uploads: claimed first, marked last, never over what someone else put there, and the same after every kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.objects import Conflict, StoreLocation, open_store
from benchwright.publish.fetch import fetch
from benchwright.publish.fetchable import look_up
from benchwright.publish.hosted import read_object
from benchwright.publish.standing import MetadataDiffers, look
from benchwright.publish.upload import upload
from benchwright.publish.verify import verify_hosted
from object_servers import LASTING, QUICK, drop_connection, impatient_client, refuse, settings
from published_artifacts import (
    SUITE,
    Watched,
    add_sidecar,
    facts,
    genuine,
    hosted,
    large_raw,
    other_results,
    recorded,
)
from waiting import wait_until

pytestmark = pytest.mark.usefixtures("no_credentials")
PREFIX = f"artifacts/{SUITE}/methods/LinearModel"
TABLE = "results/hpo_results.parquet"


@pytest.fixture(params=["local", "seaweed"])
def any_store(request, tmp_path):
    return request.getfixturevalue("store" if request.param == "local" else "seaweed_store")


def digests(plan):
    return {f"{plan.prefix}/{one.name}": one.sha256 for one in plan.objects}


def without_manifest(objects):
    return {key: digest for key, digest in objects.items() if not key.endswith("manifest.json")}


def manifest_of(store, folder):
    store.get(f"{PREFIX}/manifest.json", folder / "manifest.json")
    return json.loads((folder / "manifest.json").read_bytes())


def hosted_metadata(store):
    return MethodMetadata.from_yaml(read_object(store, f"{PREFIX}/metadata.yaml", 2**20)[0])


def refused(plan, store, **options):
    with pytest.raises(Failure) as failure:
        upload(plan, store, **options)
    assert failure.value.exit == Exit.REFUSED
    return failure.value


# --- what an upload does ---------------------------------------------------------------------------------------------


def test_an_upload_claims_the_place_sends_the_parts_and_marks_them_last(any_store, planned, tmp_path):
    plan, watched = planned(any_store), Watched(any_store)
    shown = []
    report = upload(plan, watched, progress=lambda done, total, **_: shown.append((done, total)))
    names = [planned.name for planned in plan.objects]
    assert [key.removeprefix(f"{PREFIX}/") for _, key in watched.writes] == ["manifest.json", *names]
    assert names[-1] == "metadata.yaml"
    assert without_manifest(hosted(any_store)) == digests(plan)
    assert (report.sent, report.kept, report.replaced) == (tuple(names), (), ())
    assert report.verification.ok and report.verification.url == plan.url
    assert {(one.name, one.size, one.sha256) for one in report.verification.proofs} == {
        (one.name, one.size, one.sha256) for one in plan.objects
    }
    assert {one.shown for one in report.verification.proofs} == {"read back: size and digest as expected"}
    assert manifest_of(any_store, tmp_path) == {
        "format": 1,
        "method": "LinearModel",
        "suite": SUITE,
        "objects": {one.name: {"size": one.size, "sha256": one.sha256} for one in plan.objects},
        "predecessors": [],
    }
    assert shown[-1] == (1, 1)


def test_what_is_there_is_not_sent_again(any_store, planned):
    plan = planned(any_store)
    upload(plan, any_store)
    watched = Watched(any_store)
    report = upload(plan, watched)
    assert watched.writes == []
    assert (report.sent, len(report.kept)) == ((), len(plan.objects))
    assert report.verification.ok


def test_an_object_that_is_lost_is_sent_again_and_marked_anew(any_store, planned):
    plan = planned(any_store)
    upload(plan, any_store)
    any_store.delete(f"{PREFIX}/processed.zip")
    watched = Watched(any_store)
    assert upload(plan, watched).sent == ("processed.zip", "metadata.yaml")
    assert [(call, key.removeprefix(f"{PREFIX}/")) for call, key in watched.writes] == [
        ("delete", "metadata.yaml"),
        ("put_stream", "processed.zip"),
        ("put_stream", "metadata.yaml"),
    ]
    assert without_manifest(hosted(any_store)) == digests(plan)


def test_a_file_that_changes_after_the_check_is_not_published(store, planned):
    plan = planned(store)
    path = next(one.source for one in plan.objects if one.name == TABLE)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(Failure) as failure:
        upload(plan, store)
    assert failure.value.exit == Exit.NO and failure.value.problems[0].code == "content-changed"
    assert f"{PREFIX}/metadata.yaml" not in hosted(store)


def test_objects_of_no_artifact_are_named_and_left_alone(store, planned):
    store.put(f"{PREFIX}/notes/readme.txt", b"x")
    report = upload(planned(store), store)
    assert report.verification.ok
    assert [str(remark) for remark in report.verification.remarks] == [
        f"{store.url}/{PREFIX}/notes/readme.txt: 1 bytes that are no part of this artifact\n"
        "    fix: nothing reads it; remove it there if it is yours"
    ]


def test_methods_whose_names_begin_alike_do_not_meet(store, planned):
    store.put(f"{PREFIX}_GPU/metadata.yaml", b"x")
    assert upload(planned(store), store).verification.remarks == ()


# --- what is there already -------------------------------------------------------------------------------------------


def test_another_artifact_is_never_overwritten(any_store, planned):
    upload(planned(any_store, other_results), any_store)
    before, watched = hosted(any_store), Watched(any_store)
    plan = planned(any_store)
    failure = refused(plan, watched)
    assert watched.writes == [] and hosted(any_store) == before
    assert str(failure) == (
        f"{plan.url}: another artifact: it differs in provenance.json, raw.zip, {TABLE}, "
        "expected nothing, or this very artifact\n"
        "    fix: look at what is there; --replace puts this one in its place and lists the other as its predecessor"
    )


def test_a_change_of_the_metadata_alone_is_told_with_both_values_and_replaced_alone(any_store, planned, tmp_path):
    before = planned(any_store, verified=False)
    upload(before, any_store)
    plan = planned(any_store, verified=True, display_name="Linear model")
    failure = refused(plan, any_store)
    assert isinstance(failure, MetadataDiffers)
    assert str(failure) == (
        f"{plan.url}: another artifact: only metadata.yaml differs: display_name 'Linear' -> 'Linear model', "
        "verified False -> True, expected nothing, or this very artifact\n"
        "    fix: --replace sends provenance.json and metadata.yaml, keeps the others, "
        "and lists what is there as the predecessor"
    )
    report = upload(plan, any_store, replace=True)
    assert (report.sent, set(report.replaced)) == (("provenance.json", "metadata.yaml"), set(report.sent))
    assert report.verification.ok and without_manifest(hosted(any_store)) == digests(plan)
    (predecessor,) = manifest_of(any_store, tmp_path)["predecessors"]
    assert predecessor["objects"]["metadata.yaml"]["sha256"] == digests(before)[f"{PREFIX}/metadata.yaml"]


def test_of_an_artifact_without_a_sidecar_the_metadata_is_all_that_is_sent(store, planned, tmp_path):
    genuine(tmp_path / "cache of none")
    upload(planned(store, verified=False), store)
    failure = refused(planned(store, verified=True), store)
    assert "fix: --replace sends metadata.yaml, keeps the others" in str(failure)
    assert upload(planned(store, verified=True), store, replace=True).sent == ("metadata.yaml",)


def test_a_sidecar_that_says_more_than_another_digest_is_another_artifact(store, planned):
    upload(planned(store), store)

    def renamed(folder):
        add_sidecar(folder, protocol="holdout:0.2")

    plan = planned(store, renamed, verified=True, validation_protocol="holdout:0.2")
    failure = refused(plan, store)
    assert not isinstance(failure, MetadataDiffers)
    assert failure.problems[0].found == "another artifact: it differs in metadata.yaml, provenance.json"


@pytest.mark.parametrize("content", [b"{", b"{}", b"[" * 5000])
def test_a_hosted_sidecar_that_is_none_is_another_artifact(store, planned, content):
    upload(planned(store), store)
    store.put(f"{PREFIX}/provenance.json", content)
    assert not isinstance(refused(planned(store, verified=True), store), MetadataDiffers)


def consistent(store, digests_of):
    """Which of several artifacts a reader finds hosted, whole and agreeing with itself; None while there is none."""
    try:
        fetched = look_up(store, "LinearModel", SUITE)
    except Failure as failure:
        assert [problem.code for problem in failure.problems] == ["upload-unfinished"]
        return None
    verification = verify_hosted(store, "LinearModel", SUITE)
    assert verification.ok, verification.problems
    found = {f"{PREFIX}/{name}": facts.sha256 for name, facts in fetched.objects.items()}
    return digests_of.index(found)


def test_what_is_hosted_agrees_with_itself_at_every_moment_of_a_change_of_metadata(any_store, planned):
    before, after = planned(any_store, verified=False), planned(any_store, verified=True)
    upload(before, any_store)
    known, seen = [digests(before), digests(after)], []
    look_at_it = lambda number, key: seen.append(consistent(any_store, known))  # noqa: E731
    upload(after, Watched(any_store, look_at_it, look_at_it), replace=True)
    assert seen == [0, *[None] * 6, 1]


def test_raw_results_that_are_added_are_waited_for(store, planned):
    before, after = planned(store, upload_raw=False), planned(store)
    upload(before, store)
    known, seen = [digests(before), digests(after)], []
    upload(after, Watched(store, after=lambda number, key: seen.append(consistent(store, known))), replace=True)
    assert seen == [None, None, None, None, 1]  # the sidecar too: it has the digest of what the metadata now says


def test_a_change_of_metadata_that_is_killed_ends_in_agreement(tmp_path, planned):
    for step in range(1, 5):
        store = open_store(f"local:{tmp_path / str(step)}")
        before, after = planned(store, verified=False), planned(store, verified=True)
        upload(before, store)
        killed_upload(after, store, step, "before", replace=True)
        assert consistent(store, [digests(before)]) == (0 if step == 1 else None)
        upload(after, store, replace=True)
        assert consistent(store, [digests(after)]) == 0


@pytest.mark.parametrize("content", [b"[", b"x" * (2**20 + 1)])
def test_hosted_metadata_that_is_none_is_told_as_that(store, planned, content):
    plan = planned(store)
    upload(plan, store)
    store.delete(f"{PREFIX}/metadata.yaml")
    store.put(f"{PREFIX}/metadata.yaml", content)
    assert "only metadata.yaml differs: what is hosted cannot be read" in str(refused(plan, store))
    assert upload(plan, store, replace=True).sent == ("metadata.yaml",)


def test_hosted_metadata_that_goes_while_it_is_looked_at_stops_nothing(any_store, planned, monkeypatch):
    upload(planned(any_store, verified=False), any_store)
    plan, get = planned(any_store, verified=True), any_store.get

    def meanwhile(key, path, **options):
        if key.endswith("metadata.yaml"):
            any_store.delete(key)
        return get(key, path, **options)

    monkeypatch.setattr(any_store, "get", meanwhile)
    assert look(plan, any_store).hosted is None


def test_replacing_lists_the_predecessor_and_has_no_marker_meanwhile(any_store, planned, tmp_path):
    before = planned(any_store, other_results)
    upload(before, any_store)
    digest = hosted(any_store)[f"{PREFIX}/manifest.json"]
    marked = []
    watched = Watched(
        any_store, lambda number, key: marked.append(any_store.head(f"{PREFIX}/metadata.yaml") is not None)
    )
    plan = planned(any_store)
    report = upload(plan, watched, replace=True)
    assert [(call, key.removeprefix(f"{PREFIX}/")) for call, key in watched.writes] == [
        ("put", "manifest.json"),
        ("delete", "metadata.yaml"),
        ("put_stream", "provenance.json"),
        ("put_stream", TABLE),
        ("put_stream", "raw.zip"),
        ("put_stream", "metadata.yaml"),
    ]
    assert marked == [True, True, False, False, False, False]
    assert set(report.replaced) == {"provenance.json", TABLE, "raw.zip"}
    assert without_manifest(hosted(any_store)) == digests(plan)
    assert manifest_of(any_store, tmp_path)["predecessors"] == [
        {
            "manifest": digest,
            "objects": {one.name: {"size": one.size, "sha256": one.sha256} for one in before.objects},
        }
    ]
    assert upload(plan, any_store).sent == ()


def test_a_part_that_the_new_artifact_does_not_have_is_removed(any_store, planned):
    upload(planned(any_store, other_results), any_store)
    plan = planned(any_store, upload_raw=False)
    assert "it differs in" in str(refused(plan, any_store)) and "it has raw.zip" in str(refused(plan, any_store))
    assert hosted_metadata(any_store).has_raw
    report = upload(plan, any_store, replace=True)
    assert "raw.zip" in report.replaced and report.verification.ok
    assert without_manifest(hosted(any_store)) == digests(plan)
    assert not hosted_metadata(any_store).has_raw


def test_an_unfinished_upload_of_another_artifact_is_left_alone(any_store, planned):
    def stop(number, key):
        if number == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upload(planned(any_store, other_results), Watched(any_store, stop))
    before, plan = hosted(any_store), planned(any_store)
    failure = refused(plan, any_store)
    assert failure.problems[0].code == "upload-unfinished"
    assert failure.problems[0].found.startswith("an unfinished upload of another artifact, begun 20")
    assert failure.problems[0].fix.startswith("let it be run again to its end; look at what is there; --replace puts")
    assert hosted(any_store) == before
    upload(plan, any_store, replace=True)
    assert without_manifest(hosted(any_store)) == digests(plan)


def peers_upload(server, cache, monkeypatch):
    """``tabarena``'s own upload of its artifact to the S3 server."""
    from tabarena.models._artifacts.uploader_s3 import MethodUploaderS3
    from tabarena.models._method_metadata import MethodMetadata

    for name, value in settings(server.url).items():
        monkeypatch.setenv(name, value)
    metadata = MethodMetadata.from_yaml(method="LinearModel", suite=SUITE, cache_root=cache)
    MethodUploaderS3(metadata, s3_bucket="results", s3_prefix=f"peers-{cache.name}").upload_all()
    return open_store(f"s3://results/peers-{cache.name}", settings=settings(server.url), patience=LASTING)


def test_an_upload_by_tabarena_itself_is_fetched_left_alone_and_can_be_replaced(
    seaweed, planned, tmp_path, monkeypatch
):
    theirs = genuine(tmp_path / "theirs")
    store = peers_upload(seaweed, tmp_path / "theirs", monkeypatch)
    before, plan = hosted(store), planned(store)
    assert f"{PREFIX}/manifest.json" not in before
    assert verify_hosted(store, "LinearModel", SUITE).ok
    report = fetch(store, StoreLocation.parse(store.url), "LinearModel", SUITE, cache_root=tmp_path / "fetched")
    assert [remark.code for remark in report.remarks] == ["no-manifest"]
    fetched, metadata = facts(report.folder), facts(theirs)
    assert fetched.pop("metadata.yaml") and metadata.pop("metadata.yaml") and fetched == metadata
    failure = refused(plan, store)
    assert failure.problems[0].found == "an artifact of another program: metadata.yaml, processed.zip, raw.zip"
    assert hosted(store) == before
    assert upload(plan, store, replace=True).verification.ok
    (predecessor,) = manifest_of(store, tmp_path)["predecessors"]
    assert predecessor["manifest"] is None
    assert {f"{PREFIX}/{name}" for name in predecessor["objects"]} == set(before)


def test_equal_objects_without_a_manifest_are_adopted(any_store, planned):
    plan = planned(any_store)
    upload(plan, any_store)
    any_store.delete(f"{PREFIX}/manifest.json")
    watched = Watched(any_store)
    assert upload(plan, watched).sent == ()
    assert watched.writes == [("put", f"{PREFIX}/manifest.json")]


def test_objects_without_a_recorded_digest_are_read_back_before_they_count(moto, moto_store, planned):
    plan = planned(moto_store)
    upload(plan, moto_store)
    client, prefix = impatient_client(moto.url), moto_store.url.removeprefix("s3://results/")
    keys = {name: f"{prefix}/{PREFIX}/{name}" for name in (TABLE, "raw.zip")}
    body = client.get_object(Bucket="results", Key=keys[TABLE])["Body"].read()
    client.put_object(Bucket="results", Key=keys[TABLE], Body=body)
    assert upload(plan, moto_store).sent == ()
    size = client.head_object(Bucket="results", Key=keys["raw.zip"])["ContentLength"]
    client.put_object(Bucket="results", Key=keys["raw.zip"], Body=bytes(size))
    assert str(refused(plan, moto_store).problems[0]) == (
        f"{plan.url}: damaged, or written over since this artifact was uploaded: raw.zip, expected the objects that "
        "its manifest lists\n    fix: look at what is there; --replace sends what this artifact's manifest lists, from "
        "the files here"
    )
    report = upload(plan, moto_store, replace=True)
    assert report.verification.ok and report.sent == ("raw.zip", "metadata.yaml")


def test_a_damaged_object_is_found_and_replacing_mends_it(moto, moto_store, planned):
    plan = planned(moto_store)
    upload(plan, moto_store)
    client, prefix = impatient_client(moto.url), moto_store.url.removeprefix("s3://results/")
    key = f"{prefix}/{PREFIX}/raw.zip"
    there = client.head_object(Bucket="results", Key=key)
    client.put_object(Bucket="results", Key=key, Body=bytes(there["ContentLength"]), Metadata=there["Metadata"])
    verification = upload(plan, moto_store).verification
    assert [problem.code for problem in verification.problems] == ["digest-mismatch"]
    assert verification.problems[0].fix.endswith("what is damaged there takes --replace with it")
    report = upload(plan, moto_store, replace=True)
    assert report.verification.ok and report.sent == ("raw.zip", "metadata.yaml")


def test_a_manifest_that_is_none_stops_everything(store, planned):
    plan = planned(store)
    hostile = {"format": 1, "method": "LinearModel", "suite": SUITE, "predecessors": []}
    for content in (
        b"{",
        b"[" * 5000,
        b"[]",
        json.dumps(hostile | {"objects": {"../../x": {"size": 1, "sha256": "0" * 64}}}).encode(),
        json.dumps(hostile | {"objects": {"metadata.yaml": {"size": -1, "sha256": "0" * 64}}}).encode(),
        json.dumps(hostile | {"objects": {"metadata.yaml": {"size": 1, "sha256": "x"}}}).encode(),
        json.dumps(hostile | {"objects": {}, "method": "Other"}).encode(),
        plan.manifest.to_bytes().replace(b'"method": "LinearModel"', b'"method": "RandomForest"'),
        b"x" * (2**20 + 1),
    ):
        store.put(f"{PREFIX}/manifest.json", content)
        with pytest.raises(Failure) as failure:
            upload(plan, store, replace=True)
        assert [problem.code for problem in failure.value.problems] == ["bad-manifest"]
        assert len(hosted(store)) == 1


# --- others at work --------------------------------------------------------------------------------------------------


def test_of_two_different_uploads_at_once_one_loses_having_written_nothing(any_store, planned):
    """The other one claims the place between the look and the claim."""
    theirs, ours = planned(any_store, other_results), planned(any_store)
    upload_theirs = Watched(any_store)

    def meanwhile(number, key):
        if not upload_theirs.writes:
            upload(theirs, upload_theirs)

    watched = Watched(any_store, meanwhile)
    assert refused(ours, watched).problems[0].code == "hosted-differs"
    assert watched.writes == [("put", f"{PREFIX}/manifest.json")]
    assert without_manifest(hosted(any_store)) == digests(theirs)


def test_two_uploads_of_the_same_artifact_help_each_other(any_store, planned):
    plan = planned(any_store)
    reports = []

    def meanwhile(number, key):
        if number == 3 and not reports:
            reports.append(None)
            reports[0] = upload(plan, any_store)

    second = upload(plan, Watched(any_store, meanwhile))
    assert reports[0].verification.ok and second.verification.ok
    assert without_manifest(hosted(any_store)) == digests(plan)
    assert second.sent == ("provenance.json",)


def test_two_replacements_by_the_same_artifact_help_each_other(any_store, planned):
    upload(planned(any_store, other_results), any_store)
    plan, reports = planned(any_store, upload_raw=False), []

    def meanwhile(number, key):
        if number == 2:
            reports.append(upload(plan, any_store, replace=True))

    reports.append(upload(plan, Watched(any_store, meanwhile), replace=True))
    assert [report.verification.ok for report in reports] == [True, True]
    assert without_manifest(hosted(any_store)) == digests(plan)


def test_threads_that_upload_at_once_end_with_one_artifact(any_store, planned):
    plans = [planned(any_store), planned(any_store, other_results)]
    start, outcomes = threading.Barrier(2), {}

    def run(number):
        start.wait()
        try:
            outcomes[number] = upload(plans[number], any_store).verification.ok
        except Failure as failure:
            outcomes[number] = failure.exit

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(repr, outcomes.values())) == sorted(map(repr, (True, Exit.REFUSED)))
    winner = next(number for number, outcome in outcomes.items() if outcome is True)
    assert without_manifest(hosted(any_store)) == digests(plans[winner])


def test_a_part_that_changes_while_it_is_replaced_is_left_alone(any_store, planned):
    upload(planned(any_store, other_results), any_store)
    changed = []

    def meanwhile(number, key):
        if key.endswith("raw.zip") and not changed:
            changed.append(any_store.put(key, b"a third artifact's"))

    with pytest.raises(Conflict) as conflict:
        upload(planned(any_store), Watched(any_store, meanwhile), replace=True)
    assert conflict.value.exit == Exit.REFUSED
    assert any_store.head(f"{PREFIX}/raw.zip").size == changed[0].size
    assert any_store.head(f"{PREFIX}/metadata.yaml") is None


def test_an_artifact_whose_claim_was_taken_over_is_not_marked(any_store, planned):
    theirs = planned(any_store, other_results)

    def meanwhile(number, key):
        if key.endswith("raw.zip"):
            manifest = f"{PREFIX}/manifest.json"
            any_store.put(manifest, theirs.manifest.to_bytes(), if_match=any_store.head(manifest).etag)

    failure = refused(planned(any_store), Watched(any_store, after=meanwhile))
    assert failure.problems[0].found == "claimed by another upload meanwhile"
    assert any_store.head(f"{PREFIX}/metadata.yaml") is None


@pytest.mark.parametrize("step", [3, 4, 5])  # before the first part is sent, the second, and the removal of raw.zip
def test_what_another_upload_proved_meanwhile_is_not_removed(any_store, planned, step):
    upload(planned(any_store, other_results), any_store)
    theirs, proved = planned(any_store), []

    def meanwhile(number, key):
        if number == step:
            proved.append(upload(theirs, any_store, replace=True).verification.ok)

    failure = refused(planned(any_store, upload_raw=False), Watched(any_store, meanwhile), replace=True)
    assert proved == [True]
    assert failure.problems[0].code == "conflict"
    assert without_manifest(hosted(any_store)) == digests(theirs)
    assert verify_hosted(any_store, "LinearModel", SUITE).ok


def test_a_marker_that_another_upload_set_meanwhile_is_not_removed(store, planned):
    upload(planned(store, other_results), store)
    theirs = planned(store)

    def meanwhile(number, key):
        if number == 2:
            upload(theirs, store, replace=True)

    refused(planned(store, upload_raw=False), Watched(store, meanwhile), replace=True)
    assert without_manifest(hosted(store)) == digests(theirs)


def test_a_place_that_never_comes_to_rest_is_given_up(store, planned):
    plan = planned(store)

    def meanwhile(number, key):
        store.put(key, f"claim {number}".encode())
        store.delete(key)
        raise Conflict(key, "an object", "none")

    failure = refused(plan, Watched(store, meanwhile))
    assert failure.problems[0].found == "others keep writing here"


# --- kills and faults ------------------------------------------------------------------------------------------------


def steps_of(plan, store, **options):
    watched = Watched(store)
    upload(plan, watched, **options)
    return len(watched.writes)


def killed_upload(plan, store, step, moment, **options):
    """An upload in a process of its own, killed right before or after one of its writes."""
    child = os.fork()
    if child == 0:
        kill = {moment: lambda number, key: os.kill(os.getpid(), signal.SIGKILL) if number == step else None}
        upload(plan, Watched(store, **kill), **options)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def test_a_killed_upload_goes_on_where_it_was(tmp_path, planned):
    undisturbed = open_store(f"local:{tmp_path / 'undisturbed'}")
    steps = steps_of(planned(undisturbed), undisturbed)
    for step, moment in [*((step, "before") for step in range(1, steps + 1)), (steps, "after")]:
        store = open_store(f"local:{tmp_path / f'{step} {moment}'}")
        plan = planned(store)
        killed_upload(plan, store, step, moment)
        marked = f"{PREFIX}/metadata.yaml" in hosted(store)
        assert marked == (moment == "after")
        watched = Watched(store)
        assert upload(plan, watched).verification.ok
        assert hosted(store) == hosted(undisturbed)
        assert len(watched.writes) == steps - step + (moment == "before")


def test_a_killed_replacement_goes_on_with_or_without_being_asked_again(tmp_path, planned):
    def begun(name):
        store = open_store(f"local:{tmp_path / name}")
        upload(planned(store, other_results), store)
        return store, planned(store, upload_raw=False)

    undisturbed, plan = begun("undisturbed")
    steps = steps_of(plan, undisturbed, replace=True)
    assert steps == 6  # manifest, marker gone, sidecar, table, raw.zip gone, marker
    for step in range(1, steps + 1):
        store, plan = begun(f"{step}")
        killed_upload(plan, store, step, "before", replace=True)
        copy = open_store(f"local:{shutil.copytree(store.root, tmp_path / f'{step} copied')}")
        assert upload(planned(copy, upload_raw=False), copy, replace=True).verification.ok
        assert hosted(copy) == hosted(undisturbed)
        if step == 1:
            assert refused(plan, store).problems[0].code == "hosted-differs"
        else:
            assert upload(plan, store).verification.ok
            assert hosted(store) == hosted(undisturbed)


SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "run_upload_results.py"


def command(cache, store):
    where = ["--cache-root", str(cache), "--store", store, "--apply", "--json"]
    return [sys.executable, str(SCRIPT), "--from-cache", "LinearModel", SUITE, *where]


def test_a_server_killed_in_the_middle_is_said_and_the_next_run_goes_on(seaweed, seaweed_store, planned):
    impatient = open_store(seaweed_store.url, settings=settings(seaweed.url), patience=QUICK)
    plan = planned(seaweed_store, large_raw)
    with pytest.raises(Failure) as failure:
        upload(plan, Watched(impatient, lambda number, key: seaweed.kill() if number == 4 else None))
    assert failure.value.exit == Exit.REMOTE
    seaweed.start()
    watched = Watched(seaweed_store)
    assert upload(plan, watched).verification.ok
    assert len(watched.writes) == len(plan.objects) - 2
    assert without_manifest(hosted(seaweed_store)) == digests(plan)


def test_a_client_killed_while_it_sends_goes_on_to_the_same_end(seaweed, seaweed_store, planned, tmp_path):
    plan = planned(seaweed_store, large_raw)
    environment = {**os.environ, **settings(seaweed.url)}
    words = command(tmp_path / "cache of large_raw", seaweed_store.url)
    first = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    where = {"Bucket": "results", "Prefix": f"{seaweed_store.url.removeprefix('s3://results/')}/{PREFIX}/raw.zip"}
    wait_until(lambda: "Uploads" in seaweed.client.list_multipart_uploads(**where))
    first.kill()
    first.wait()
    assert seaweed_store.head(f"{PREFIX}/metadata.yaml") is None
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["data"]["sent"] == ["raw.zip", "metadata.yaml"]
    assert without_manifest(hosted(seaweed_store)) == digests(plan)


def failing(times, answer, *, method="PUT", having=""):
    """The answer to the first ``times`` requests of a method whose address has ``having``."""
    left = iter(range(times))

    def fault(environ, start):
        address = f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
        if environ["REQUEST_METHOD"] == method and having in address and next(left, None) is not None:
            return answer(environ, start)
        return None

    return fault


def slow_down(environ, start):
    return refuse(environ, start, "503 Slow Down", "SlowDown")


def broken(environ, start):
    drop_connection(environ)


@pytest.mark.parametrize("answer", [slow_down, broken])
@pytest.mark.parametrize("name", ["manifest.json", "raw.zip", "metadata.yaml"])
def test_what_passes_is_waited_out(moto, moto_store, planned, answer, name):
    plan = planned(moto_store)
    moto.fault = failing(2, answer, having=name)
    assert upload(plan, moto_store).verification.ok
    assert len([line for line in moto.seen if line.startswith("PUT") and line.endswith(name)]) == 3


def test_a_part_that_breaks_off_is_sent_again_alone(moto, moto_store, planned):
    plan = planned(moto_store, large_raw)
    moto.fault = failing(2, broken, having="partNumber=2")
    assert upload(plan, moto_store).verification.ok
    parts = [line.partition("partNumber=")[2][0] for line in moto.seen if "partNumber" in line]
    assert sorted(parts) == ["1", "2", "2", "2", "3"]


def test_throttling_without_end_stops_and_the_next_run_goes_on(moto, moto_store, planned):
    plan = planned(moto_store)
    moto.fault = failing(99, slow_down, having="raw.zip")
    with pytest.raises(Failure) as failure:
        upload(plan, moto_store)
    assert failure.value.exit == Exit.REMOTE
    moto.fault = None
    assert upload(plan, moto_store).sent == ("raw.zip", "metadata.yaml")


def test_a_permission_that_is_missing_is_not_asked_for_twice(moto, moto_store, planned):
    plan = planned(moto_store)
    moto.fault = failing(99, lambda environ, start: refuse(environ, start, "403 Forbidden", "AccessDenied"))
    with pytest.raises(Failure) as failure:
        upload(plan, moto_store)
    assert failure.value.exit == Exit.ENVIRONMENT
    assert [line for line in moto.seen if line.startswith("PUT")] == [
        f"PUT /results/{moto_store.url.removeprefix('s3://results/')}/{PREFIX}/manifest.json"
    ]


def test_a_listing_that_lags_neither_hides_nor_invents_an_object(moto, moto_store, planned):
    plan = planned(moto_store)
    stale = []

    def remembered(environ, start):
        if environ["REQUEST_METHOD"] != "GET" or "list-type=2" not in environ.get("QUERY_STRING", ""):
            return None
        if not stale:
            stale.append(moto.pass_on(environ))
        status, headers, body = stale[0]
        start(status, headers)
        return [body]

    moto.fault = remembered
    report = upload(plan, moto_store)
    assert report.verification.ok and len(report.verification.proofs) == len(plan.objects)
    assert upload(plan, moto_store).sent == ()


def test_a_look_at_a_place_sends_no_writing_request(moto, moto_store, planned):
    standing = look(planned(moto_store), moto_store)
    assert standing.manifest is None and not standing.found and standing.refusal() is None
    assert {line.split()[0] for line in moto.seen} <= {"GET", "HEAD"}


MEASURED = """
import re, runpy, sys
from pathlib import Path
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1], file=sys.stderr)
"""


def test_the_memory_of_an_upload_does_not_grow_with_the_artifact(seaweed, tmp_path):
    folder = recorded(tmp_path)
    for number in range(96):
        path = folder / "raw" / "LinearModel_r9" / "1" / f"{number}_0" / "results.pkl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"\x1f\x8b" + os.urandom(2**20))
    add_sidecar(folder)
    python, *words = command(tmp_path, "s3://results/memory")
    environment = {**os.environ, **settings(seaweed.url)}
    done = subprocess.run([python, "-c", MEASURED, *words], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) / 1024 < 175, "MiB"
