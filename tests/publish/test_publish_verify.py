"""Proof of hosted artifacts: read back whole, compared with the manifest, and honest where there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchwright.contract import Exit, Failure
from benchwright.publish.byte_count import ByteCount
from benchwright.publish.upload import upload
from benchwright.publish.verify import verify_hosted, verify_objects
from object_servers import impatient_client, refuse
from published_artifacts import SUITE, genuine, hosted, large_raw, other_results

pytestmark = pytest.mark.usefixtures("no_credentials")
PREFIX = f"artifacts/{SUITE}/methods/LinearModel"


def verified(store, **options):
    return verify_hosted(store, "LinearModel", SUITE, **options)


def said(verification):
    return {(problem.code, problem.where.rpartition("LinearModel/")[2]) for problem in verification.problems}


def test_an_artifact_is_proved_without_a_local_copy(store, planned):
    plan, shown = planned(store), []
    upload(plan, store)
    verification = verified(store, progress=lambda done, total, **_: shown.append((done, total)))
    assert verification.ok and verification.remarks == ()
    assert verification.basis == "the digests in manifest.json"
    assert [(one.name, one.sha256) for one in verification.proofs] == sorted(
        (one.name, one.sha256) for one in plan.objects
    )
    assert verification.to_dict()["objects"][0] == {
        "name": "metadata.yaml",
        "size": plan.objects[-1].size,
        "sha256": plan.objects[-1].sha256,
        "proved": "read back: size and digest as expected",
    }
    assert shown[-1] == (1, 1)


def test_every_object_that_is_missing_or_another_is_named(store, planned):
    upload(planned(store), store)
    store.delete(f"{PREFIX}/metadata.yaml")
    store.delete(f"{PREFIX}/raw.zip")
    store.put(f"{PREFIX}/processed.zip", b"another")
    table = store.root / PREFIX / "results" / "hpo_results.parquet"
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    verification = verified(store)
    assert not verification.ok
    assert said(verification) == {
        ("object-missing", "metadata.yaml"),
        ("object-missing", "raw.zip"),
        ("digest-mismatch", "processed.zip"),
        ("digest-mismatch", "results/hpo_results.parquet"),
    }
    assert str(verification.problems[0]) == (
        f"{store.url}/{PREFIX}/metadata.yaml: no such object, expected the object of this artifact\n"
        "    fix: upload it again: scripts/run_upload_results.py --apply; "
        "what is damaged there takes --replace with it"
    )
    assert len(verification.proofs) == 4


def test_what_is_beside_an_artifact_is_a_remark(store, planned):
    upload(planned(store), store)
    store.put(f"{PREFIX}/results/old_results.parquet", b"x")
    (remark,) = verified(store).remarks
    assert remark.code == "extra-object"


def test_a_store_without_the_artifact_says_so(store):
    with pytest.raises(Failure) as failure:
        verified(store)
    assert failure.value.exit == Exit.NO
    assert str(failure.value) == (
        f"{store.url}/{PREFIX}: no artifact there, expected a hosted artifact\n"
        "    fix: compare method, suite and store with those it was uploaded with"
    )


def test_a_large_object_that_broke_in_the_store_is_found(moto, moto_store, planned):
    upload(planned(moto_store, large_raw), moto_store)
    client, prefix = impatient_client(moto.url), moto_store.url.removeprefix("s3://results/")
    key = f"{prefix}/{PREFIX}/raw.zip"
    there = client.head_object(Bucket="results", Key=key)
    client.put_object(Bucket="results", Key=key, Body=bytes(there["ContentLength"]), Metadata=there["Metadata"])
    assert said(verified(moto_store)) == {("digest-mismatch", "raw.zip")}


def test_a_listing_without_an_object_does_not_make_it_missing(moto, moto_store, planned):
    upload(planned(moto_store), moto_store)
    status, headers, body = "200 OK", [("Content-Type", "application/xml")], (
        b"<?xml version='1.0'?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
    )  # fmt: skip

    def nothing(environ, start):
        if "list-type=2" not in environ.get("QUERY_STRING", ""):
            return None
        start(status, [*headers, ("Content-Length", str(len(body)))])
        return [body]

    moto.fault = nothing
    assert verified(moto_store).ok


def test_a_store_that_does_not_answer_is_no_missing_object(moto, moto_store, planned):
    upload(planned(moto_store), moto_store)
    moto.fault = lambda environ, start: refuse(environ, start, "503 Slow Down", "SlowDown")
    with pytest.raises(Failure) as failure:
        verified(moto_store)
    assert failure.value.exit == Exit.REMOTE


# --- without a manifest ----------------------------------------------------------------------------------------------


@pytest.fixture
def unlisted(store, planned):
    """What a program without manifests would have uploaded."""
    upload(planned(store), store)
    for name in ("manifest.json", "provenance.json"):
        store.delete(f"{PREFIX}/{name}")
    return store


def test_without_a_manifest_it_says_what_could_be_shown(unlisted):
    verification = verified(unlisted)
    assert verification.ok
    assert verification.basis == "nothing: there is no manifest.json"
    assert {one.name: one.shown for one in verification.proofs} == {
        "metadata.yaml": "read back whole",
        "processed.zip": "read back: the checksum of every file in it holds",
        "processed/configs_hyperparameters.json": "read back whole",
        "raw.zip": "read back: the checksum of every file in it holds",
        "results/hpo_results.parquet": "read back whole: every row can be read",
        "results/hpo_trajectories.parquet": "read back whole: every row can be read",
        "results/model_results.parquet": "read back whole: every row can be read",
    }
    assert [str(remark) for remark in verification.remarks] == [
        f"{unlisted.url}/{PREFIX}/manifest.json: not there: uploaded by a program that writes none; its digests "
        "could not be compared; sizes, checksums inside the zips and tables were\n"
        "    fix: the next scripts/run_upload_results.py --apply writes it"
    ]


def test_without_a_manifest_damage_and_missing_parts_are_found(unlisted):
    raw = unlisted.root / PREFIX / "raw.zip"
    content = bytearray(raw.read_bytes())
    content[len(content) // 2] ^= 1
    raw.write_bytes(content)
    unlisted.put(f"{PREFIX}/results/hpo_results.parquet", b"PAR1")
    unlisted.delete(f"{PREFIX}/results/hpo_trajectories.parquet")
    unlisted.delete(f"{PREFIX}/processed.zip")
    assert said(verified(unlisted)) == {
        ("damaged-zip", "raw.zip"),
        ("damaged-table", "results/hpo_results.parquet"),
        ("object-missing", "results/hpo_trajectories.parquet"),
        ("object-missing", "processed.zip"),
    }


def test_without_a_manifest_the_digests_of_the_sidecar_are_compared(store, planned):
    upload(planned(store), store)
    store.delete(f"{PREFIX}/manifest.json")
    verification = verified(store)
    assert verification.ok and verification.basis == "the digests in provenance.json: there is no manifest.json"
    assert {one.name: one.shown for one in verification.proofs} == {
        "metadata.yaml": "read back: size and digest are those that provenance.json lists",
        "processed.zip": "read back: the files in it are those that provenance.json lists",
        "processed/configs_hyperparameters.json": "read back: size and digest are those that provenance.json lists",
        "provenance.json": "read back whole",
        "raw.zip": "read back: the files in it are those that provenance.json lists",
        "results/hpo_results.parquet": "read back: size and digest are those that provenance.json lists",
        "results/hpo_trajectories.parquet": "read back: size and digest are those that provenance.json lists",
        "results/model_results.parquet": "read back: size and digest are those that provenance.json lists",
    }
    assert [remark.found for remark in verification.remarks] == [
        "not there: uploaded by a program that writes none; its files were compared with the digests in "
        "provenance.json, for which nothing else speaks"
    ]
    upload(planned(store, other_results), store, replace=True)
    sidecar = next(one for one in planned(store).objects if one.name == "provenance.json")
    store.put(f"{PREFIX}/provenance.json", b"".join(sidecar.chunks()))
    store.put(f"{PREFIX}/results/old_results.parquet", b"x")
    store.delete(f"{PREFIX}/manifest.json")
    verification = verified(store)
    assert said(verification) == {("sidecar-differs", "results/hpo_results.parquet"), ("bad-zip", "raw.zip")}
    assert [remark.code for remark in verification.remarks] == ["extra-object", "no-manifest"]


def test_a_sidecar_that_is_none_is_a_problem(store, planned):
    upload(planned(store), store)
    store.put(f"{PREFIX}/provenance.json", b"[]")
    store.delete(f"{PREFIX}/manifest.json")
    (problem,) = verified(store).problems
    assert str(problem) == (
        f"{store.url}/{PREFIX}/provenance.json: other content, expected a sidecar of format 1\n"
        "    fix: upload it again: scripts/run_upload_results.py --apply; "
        "what is damaged there takes --replace with it"
    )


def test_without_a_manifest_and_a_marker_it_is_an_upload_that_did_not_end(unlisted):
    unlisted.delete(f"{PREFIX}/metadata.yaml")
    assert said(verified(unlisted)) == {("object-missing", "metadata.yaml")}
    assert "an upload that did not end" in verified(unlisted).problems[0].found


def test_metadata_that_cannot_be_read_is_a_problem(unlisted):
    unlisted.put(f"{PREFIX}/metadata.yaml", b"- no mapping\n")
    assert {code for code, _ in said(verified(unlisted))} == {"metadata-unreadable"}


def test_the_peers_own_artifact_needs_no_sidecar(tmp_path, store, planned):
    genuine(tmp_path / "cache of none")
    upload(planned(store), store)
    assert verified(store).ok and f"{PREFIX}/provenance.json" not in hosted(store)


# --- against what is here --------------------------------------------------------------------------------------------


def against(plan, store):
    return verify_objects(store, plan.manifest, basis="the files here", count=ByteCount(None, plan.size))


def test_a_manifest_that_is_not_there_is_no_fault_of_the_objects(unlisted, planned):
    plan = planned(unlisted)
    unlisted.put(f"{PREFIX}/provenance.json", b"".join(plan.objects[0].chunks()))
    verification = against(plan, unlisted)
    assert verification.ok and len(verification.proofs) == len(plan.objects)
    assert [remark.code for remark in verification.remarks] == ["no-manifest"]


def test_a_manifest_of_another_artifact_is_a_problem(store, planned):
    upload(planned(store), store)
    manifest = replace(planned(store).manifest, objects=planned(store, other_results).manifest.objects)
    store.put(f"{PREFIX}/manifest.json", manifest.to_bytes())
    assert said(against(planned(store), store)) == {("manifest-differs", "manifest.json")}
    store.put(f"{PREFIX}/manifest.json", b"{}")
    assert said(against(planned(store), store)) == {("bad-manifest", "manifest.json")}
