"""Hosted artifacts that are not what they should be: listed problems, nothing half-written, and the rest told."""

from __future__ import annotations

import hashlib
import itertools
import json
import stat
import zipfile

import pytest

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.objects import StoreLocation
from benchwright.publish.fetch import fetch
from benchwright.publish.upload import upload
from benchwright.publish.upload_plan import plan_upload
from benchwright.publish.verify import verify_hosted
from published_artifacts import SUITE, artifact_folder, facts, opened, other_results

pytestmark = pytest.mark.usefixtures("no_credentials")
PREFIX = f"artifacts/{SUITE}/methods/LinearModel"
TABLE = "results/hpo_results.parquet"
RESULT = "LinearModel_c1_default_BAG_L1/local_wine-0ae0b9dbb2cc/0_0/results.pkl"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "fetched"


def fetched(store, cache, **options):
    return fetch(store, StoreLocation.parse(store.url), "LinearModel", SUITE, cache_root=cache, **options)


def refused(store, cache):
    with pytest.raises(Failure) as failure:
        fetched(store, cache)
    assert failure.value.exit == Exit.NO
    return failure.value


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def said(failure):
    return {(problem.code, problem.where.rpartition("LinearModel/")[2], problem.found) for problem in failure.problems}


def rezip(path, *, changed=None, added=()):
    """Another zip in the place of one: files with other content, without files (None), or with further entries."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()} | (changed or {})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in [*contents.items(), *added]:
            if content is not None:
                archive.writestr(name, content)


def listed_anew(store, *gone):
    """Make the manifest list what there is now, as whoever writes to the store could."""
    path = store.root / PREFIX / "manifest.json"
    manifest = json.loads(path.read_bytes())
    for name in gone:
        del manifest["objects"][name]
        store.delete(f"{PREFIX}/{name}")
    for name in manifest["objects"]:
        there = store.root / PREFIX / name
        manifest["objects"][name] = {"size": there.stat().st_size, "sha256": digest(there)}
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "name",
    [
        "processed.zip",
        "processed/configs_hyperparameters.json",
        "results/hpo_trajectories.parquet",
        "results/model_results.parquet",
        "results/hpo_results.parquet",
        "raw.zip",
    ],
)
def test_a_manifest_without_what_an_artifact_needs_is_refused(store, planned, cache, name):
    upload(planned(store), store)
    listed_anew(store, name)
    expected = ("object-missing", name, "not listed in manifest.json")
    assert expected in said(refused(store, cache))
    assert not (cache / "artifacts").exists()
    verification = verify_hosted(store, "LinearModel", SUITE)
    assert expected in said(verification)


def test_raw_results_that_an_upload_left_out_are_missed_by_nobody(store, planned, cache):
    upload(planned(store, upload_raw=False), store)
    report = fetched(store, cache)
    assert report.remarks == () and not MethodMetadata.from_yaml(report.folder).has_raw
    verification = verify_hosted(store, "LinearModel", SUITE)
    assert verification.ok and verification.remarks == ()


def test_raw_results_that_are_not_wanted_may_be_damaged(store, planned, cache):
    upload(planned(store), store)
    (store.root / PREFIX / "raw.zip").write_bytes(b"x")
    assert fetched(store, cache, raw=False).remarks == ()
    store.delete(f"{PREFIX}/raw.zip")
    assert not fetched(store, cache, raw=False).written
    assert said(refused(store, cache)) == {("object-missing", "raw.zip", "no such object")}


def test_what_lies_beside_an_artifact_is_told_and_not_fetched(store, planned, cache):
    upload(planned(store, upload_raw=False), store)
    names = ("notes.txt", "raw.zip", "results/old_results.parquet")
    for name in names:
        store.put(f"{PREFIX}/{name}", b"x")
    for _ in range(2):
        report = fetched(store, cache)
        strays = [remark.where for remark in report.remarks if remark.code == "extra-object"]
        assert strays == [
            f"{store.url}/{PREFIX}/{name}" for name in ("notes.txt", "raw.zip", "results/old_results.parquet")
        ]
    assert not (report.folder / "raw").exists() and not (report.folder / "results" / "old_results.parquet").exists()


def test_a_sidecar_with_a_stale_digest_is_found(store, planned, cache):
    """What an upload of edited metadata once left behind."""
    upload(planned(store), store)
    metadata = store.root / PREFIX / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("verified: false", "verified: true"))
    listed_anew(store)
    expected = ("sidecar-differs", "metadata.yaml", f"{metadata.stat().st_size:,} bytes, SHA-256 {digest(metadata)}")
    assert said(refused(store, cache)) == {expected}
    assert said(verify_hosted(store, "LinearModel", SUITE)) == {expected}


def test_a_sidecar_of_another_artifact_is_found(store, planned, cache):
    upload(planned(store), store)
    sidecar = store.root / PREFIX / "provenance.json"
    sidecar.write_text(sidecar.read_text().replace('"method": "LinearModel"', '"method": "Other"'))
    listed_anew(store)
    expected = {("bad-artifact", "provenance.json", f"the artifact of Other, suite {SUITE}")}
    assert said(refused(store, cache)) == said(verify_hosted(store, "LinearModel", SUITE)) == expected
    sidecar.write_text("{}")
    listed_anew(store)
    assert said(refused(store, cache)) == {("bad-sidecar", "provenance.json", "other content")}


def test_what_an_edit_of_metadata_left_is_fetched_and_planned_as_it_was(store, planned, cache):
    plan = planned(store, verified=True, display_name="Another")
    upload(plan, store)
    fetched(store, cache)
    assert plan_upload(opened(cache), plan.destination).to_dict() == plan.to_dict()


def flip(path):
    """Another byte in the middle of the first file of a zip."""
    content = bytearray(path.read_bytes())
    content[len(content) // 60] ^= 1
    path.write_bytes(content)


LINK = zipfile.ZipInfo("link")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
ZIPS = {
    "nothing": (lambda path: zipfile.ZipFile(path, "w").close(), "no file in it"),
    "no zip": (lambda path: path.write_bytes(b"x" * 99), "File is not a zip file"),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-99]), "File is not a zip file"),
    "up and out": (lambda path: rezip(path, added=[("../../../evil", b"x")]), "the name '../../../evil'"),
    "absolute": (lambda path: rezip(path, added=[("/evil", b"x")]), "the name '/evil'"),
    "twice": (lambda path: rezip(path, added=[(RESULT, b"x")]), "two entries of one name"),
    "a link": (lambda path: rezip(path, added=[(LINK, b"/etc/passwd")]), "link: a link or no regular file"),
    "a bomb": (lambda path: rezip(path, changed={RESULT: b"x" * 10**6}), f"of another size: {RESULT}"),
    "one more": (lambda path: rezip(path, added=[("x/results.pkl", b"x")]), "not listed: x/results.pkl"),
    "one less": (lambda path: rezip(path, changed={RESULT: None}), f"not in it: {RESULT}"),
    "wrong checksum": (flip, "Bad CRC-32 for file"),
}


@pytest.mark.parametrize("listed", [True, False], ids=["in the manifest", "in none"])
@pytest.mark.parametrize(("damage", "found"), ZIPS.values(), ids=ZIPS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_that_is_not_what_it_should_be_is_a_listed_problem(store, planned, cache, damage, found, listed):
    upload(planned(store), store)
    damage(store.root / PREFIX / "raw.zip")
    listed_anew(store)
    if not listed:
        store.delete(f"{PREFIX}/manifest.json")
    (problem,) = refused(store, cache).problems
    assert problem.code in ("bad-zip", "damaged-zip") and problem.where == f"{store.url}/{PREFIX}/raw.zip"
    assert problem.found.startswith(found)
    assert not (cache / "artifacts").exists()
    assert not list(cache.rglob("artifact"))
    assert not list(cache.parent.rglob("evil"))
    assert not list(cache.rglob("results.pkl"))


def test_no_more_is_brought_than_the_manifest_says(moto, moto_store, planned, cache):
    """The server sends without end, and says so; what is asked of it first is answered truly."""
    upload(planned(moto_store), moto_store)
    sent = []

    def endless(environ, start):
        if environ["REQUEST_METHOD"] != "GET" or not environ["PATH_INFO"].endswith(("raw.zip", "hpo_results.parquet")):
            return None
        start("200 OK", [("Content-Length", str(2**50)), ("ETag", '"x"')])
        return (sent.append(2**20) or bytes(2**20) for _ in itertools.count())

    for listed in (True, False):
        moto.fault = endless
        failure = refused(moto_store, cache)
        assert {(code, where) for code, where, _ in said(failure)} == {("too-large", "raw.zip"), ("too-large", TABLE)}
        assert sum(sent) < 200 * 2**20 and not (cache / "artifacts").exists()
        verification = verify_hosted(moto_store, "LinearModel", SUITE)
        assert {(code, where) for code, where, _ in said(verification)} >= {
            ("too-large", "raw.zip"),
            ("too-large", TABLE),
        }
        moto.fault = None
        if listed:
            moto_store.delete(f"{PREFIX}/manifest.json")


class Meanwhile:
    """A store in which an artifact is replaced by another one while its raw results are brought."""

    def __init__(self, store, plan):
        self.store, self.plan = store, plan

    def __getattr__(self, name):
        return getattr(self.store, name)

    def get(self, key, path, **options):
        if key.endswith("raw.zip"):
            upload(self.plan, self.store, replace=True)
        return self.store.get(key, path, **options)


@pytest.mark.parametrize("kind", ["store", "seaweed_store"])
def test_an_artifact_that_is_replaced_while_it_is_fetched_is_to_be_fetched_again(request, planned, cache, kind):
    store = request.getfixturevalue(kind)
    upload(planned(store, other_results), store)
    with pytest.raises(Failure) as failure:
        fetched(Meanwhile(store, planned(store)), cache)
    assert failure.value.exit == Exit.REMOTE
    assert str(failure.value) == (
        f"{store.url}/{PREFIX}: replaced while it was fetched, expected one artifact\n    fix: run this again"
    )
    assert fetched(store, cache).written


def test_everything_that_is_wrong_is_told_at_once(store, planned, cache):
    upload(planned(store), store)
    for name in ("raw.zip", "processed.zip"):
        rezip(store.root / PREFIX / name, added=[("/evil", b"x")])
    listed_anew(store)
    assert {where for _, where, _ in said(refused(store, cache))} == {"raw.zip", "processed.zip"}
    upload(planned(store), store, replace=True)
    for name in ("raw.zip", "processed.zip", TABLE):
        path = store.root / PREFIX / name
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    store.delete(f"{PREFIX}/provenance.json")
    assert {(code, where) for code, where, _ in said(refused(store, cache))} == {
        ("digest-mismatch", "raw.zip"), ("digest-mismatch", "processed.zip"), ("digest-mismatch", TABLE),
        ("object-missing", "provenance.json"),
    }  # fmt: skip


# --- without a manifest ----------------------------------------------------------------------------------------------


def test_without_a_manifest_the_sidecars_digests_are_compared(store, planned, cache):
    plan = planned(store)
    upload(plan, store)
    store.delete(f"{PREFIX}/manifest.json")
    store.put(f"{PREFIX}/results/old_results.parquet", b"x")
    report = fetched(store, cache)
    assert facts(report.folder) == facts(artifact_folder(cache.with_name("cache of none")))
    assert [(remark.code, remark.found) for remark in report.remarks] == [
        (
            "no-manifest",
            "not there: uploaded by a program that writes none; its files were compared with the digests in "
            "provenance.json, for which nothing else speaks",
        ),
        ("extra-object", "1 bytes that are no part of this artifact"),
    ]
    table = store.root / PREFIX / TABLE
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    rezip(store.root / PREFIX / "raw.zip", changed={RESULT: b"another"})
    store.delete(f"{PREFIX}/results/hpo_trajectories.parquet")
    assert said(refused(store, cache)) == {
        ("bad-zip", "raw.zip", f"of another size: {RESULT}"),
        ("sidecar-differs", TABLE, f"{table.stat().st_size:,} bytes, SHA-256 {digest(table)}"),
        ("object-missing", "results/hpo_trajectories.parquet", "no such object, which provenance.json lists"),
    }


@pytest.mark.parametrize("name", ["processed.zip", "results/model_results.parquet", "results/hpo_results.parquet"])
def test_without_a_manifest_and_what_an_artifact_needs_it_is_none(store, planned, cache, name):
    upload(planned(store), store)
    for gone in ("manifest.json", "provenance.json", name):
        store.delete(f"{PREFIX}/{gone}")
    assert said(refused(store, cache)) == {("object-missing", name, "no such object")}
    assert not (cache / "artifacts").exists()


def test_without_a_manifest_what_other_programs_leave_out_is_said(store, planned, cache):
    upload(planned(store), store)
    left_out = ("results/hpo_trajectories.parquet", "processed/configs_hyperparameters.json", "raw.zip")
    for gone in ("manifest.json", "provenance.json", *left_out):
        store.delete(f"{PREFIX}/{gone}")
    store.put(f"{PREFIX}/notes.zip", b"x")
    report = fetched(store, cache)
    assert [(remark.code, remark.where.rpartition("LinearModel/")[2]) for remark in report.remarks] == [
        *(("object-missing", name) for name in left_out), ("no-manifest", "manifest.json"),
        ("extra-object", "notes.zip"),
    ]  # fmt: skip


def test_without_a_manifest_a_damaged_table_is_found(store, planned, cache):
    upload(planned(store), store)
    for gone in ("manifest.json", "provenance.json"):
        store.delete(f"{PREFIX}/{gone}")
    store.put(f"{PREFIX}/{TABLE}", b"PAR1")
    assert {code for code, *_ in said(refused(store, cache))} == {"damaged-table"}
