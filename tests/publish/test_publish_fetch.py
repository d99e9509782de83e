"""Fetching: the artifact as it was uploaded, or nothing; and the round trip through an S3 server."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchwright.arena import MethodMetadata
from benchwright.contract import Exit, Failure
from benchwright.files import FileLock
from benchwright.objects import StoreLocation, open_store
from benchwright.processing.artifact import build_artifact
from benchwright.publish.artifact import open_artifact
from benchwright.publish.fetch import fetch
from benchwright.publish.upload import upload
from benchwright.publish.upload_plan import plan_upload
from benchwright.publish.verify import verify_hosted
from benchwright.raw.finding import find_results
from object_servers import LASTING, settings
from published_artifacts import (
    RAW,
    SUITE,
    artifact_folder,
    facts,
    genuine,
    hosted,
    opened,
    other_results,
    recorded,
)

pytestmark = pytest.mark.usefixtures("no_credentials")
PREFIX = f"artifacts/{SUITE}/methods/LinearModel"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "fetched"


def fetched(store, cache, method="LinearModel", suite=SUITE, **options):
    return fetch(store, StoreLocation.parse(store.url), method, suite, cache_root=cache, **options)


def refused(store, cache, exit=Exit.REFUSED, **options):
    with pytest.raises(Failure) as failure:
        fetched(store, cache, **options)
    assert failure.value.exit == exit
    return failure.value


def staged(cache):
    """What a fetch has left beside the artifacts."""
    return [path for path in (cache / ".benchwright" / "fetch").rglob("*") if path.is_file()]


# --- the round trip --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processed(tmp_path_factory):
    """An artifact of our own processing."""
    cache = tmp_path_factory.mktemp("processed")
    metadata = MethodMetadata.config(
        method="LinearModel", suite="demo-2026-11-30", ag_key="LR", config_default="LinearModel_c1_default_BAG_L1",
        can_hpo=True, is_bag=True, date="2026-11-30", verified=False, validation_protocol="8x1",
    )  # fmt: skip
    files = [file for file in find_results(RAW).files if file.method.startswith("LinearModel_")]
    build_artifact(files, metadata, cache_root=cache, jobs=1)
    return open_artifact(metadata, cache)


def test_what_was_processed_comes_back_from_the_server_to_the_byte(seaweed_store, processed, cache):
    plan, shown = plan_upload(processed, StoreLocation.parse(seaweed_store.url)), []
    assert upload(plan, seaweed_store).verification.ok
    assert verify_hosted(seaweed_store, *processed.declared.key).ok
    show = lambda done, total, *, note: shown.append((done, total))  # noqa: E731
    report = fetched(seaweed_store, cache, suite="demo-2026-11-30", progress=show)
    assert shown[-1] == (1, 1) and (1, 1) not in shown[:-1]
    assert report.written and facts(report.folder) == facts(processed.folder)
    assert staged(cache) == []
    assert plan_upload(open_artifact(processed.declared, cache), plan.destination).to_dict() == plan.to_dict()


def test_nothing_that_is_published_names_a_place_of_this_machine(seaweed_store, processed, tmp_path):
    """``tabarena`` publishes the absolute path of its cache in ``processed.zip``."""
    upload(plan_upload(processed, StoreLocation.parse(seaweed_store.url)), seaweed_store)
    places = [str(path).encode() for path in (processed.folder.parents[3], RAW.parents[3], tmp_path)]
    for key in hosted(seaweed_store):
        seaweed_store.get(key, tmp_path / "object")
        contents = [(tmp_path / "object").read_bytes()]
        if key.endswith(".zip"):
            with zipfile.ZipFile(tmp_path / "object") as archive:
                contents += [archive.read(name) for name in archive.namelist()]
        assert not [place for place in places for content in contents if place in content], key


def peers_metadata(kind, cache, **kwargs):
    from tabarena.models._method_metadata import MethodMetadata as Peers

    return Peers(
        method="LinearModel", suite="demo-2026-11-30", ag_key="LR", is_bag=True, cache_root=cache, cache_type=kind,
        config_default="LinearModel_c1_default_BAG_L1", cache_kwargs={"bucket": "results", **kwargs},
    )  # fmt: skip


def without_ours(folder):
    return {name: seen for name, seen in facts(folder).items() if name != "provenance.json"}


def test_tabarenas_own_downloader_reads_what_we_uploaded_from_the_server(
    seaweed, seaweed_store, processed, cache, monkeypatch
):
    upload(plan_upload(processed, StoreLocation.parse(seaweed_store.url)), seaweed_store)
    for name, value in settings(seaweed.url).items():
        monkeypatch.setenv(name, value)
    theirs = peers_metadata("s3", cache, prefix=seaweed_store.url.removeprefix("s3://results/"))
    downloader = theirs.method_downloader()
    downloader.download_all()
    downloader.download_results_hpo_trajectories()
    assert without_ours(theirs.path) == without_ours(processed.folder)
    assert_opens(theirs)


def test_tabarenas_public_downloader_reads_what_we_uploaded(store, processed, cache):
    upload(plan_upload(processed, StoreLocation.parse(store.url)), store)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(store.root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/"
        theirs = peers_metadata("r2", cache, prefix="", base_url=base)
        downloader = theirs.method_downloader()
        downloader.download_all()
        downloader.download_results_hpo_trajectories()
        server.shutdown()
    assert without_ours(theirs.path) == without_ours(processed.folder)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_tabarena_opens_what_we_fetched(store, processed, cache):
    upload(plan_upload(processed, StoreLocation.parse(store.url)), store)
    fetched(store, cache, suite="demo-2026-11-30")
    from tabarena.models._method_metadata import MethodMetadata as Peers

    assert_opens(Peers.from_yaml(method="LinearModel", suite="demo-2026-11-30", cache_root=cache))


def assert_opens(theirs):
    assert theirs.load_model_results().shape == (27, 13)
    assert len(theirs.load_hpo_trajectories()) > 0
    repository = theirs.load_processed()
    assert sorted(repository.configs()) == [f"LinearModel_{name}_default_BAG_L1" for name in ("c1", "r1", "r2")]
    assert len(theirs.load_raw_file_paths()) == 27


# --- what is there already -------------------------------------------------------------------------------------------


def test_an_artifact_that_is_the_same_is_left_alone(store, planned, cache):
    upload(planned(store), store)
    fetched(store, cache)
    inode = artifact_folder(cache).stat().st_ino
    report = fetched(Reading(store), cache)
    assert not report.written and artifact_folder(cache).stat().st_ino == inode


class Reading:
    """A store from which nothing but a manifest may be brought."""

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)

    def get(self, key, path, **options):
        assert key.endswith("manifest.json"), key
        return self.store.get(key, path, **options)


def test_zips_of_another_packer_do_not_make_an_artifact_another(store, planned, cache):
    """Its sidecar tells the digests of the files inside."""
    plan = planned(store)
    upload(plan, store)
    fetched(store, cache)
    zipped = store.root / PREFIX / "raw.zip"
    with zipfile.ZipFile(zipped) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    manifest = (store.root / PREFIX / "manifest.json").read_text()
    raw = next(one for one in plan.objects if one.name == "raw.zip")
    manifest = manifest.replace(raw.sha256, hashlib.sha256(zipped.read_bytes()).hexdigest())
    manifest = manifest.replace(f'"size": {raw.size}', f'"size": {zipped.stat().st_size}')
    (store.root / PREFIX / "manifest.json").write_text(manifest)
    assert not fetched(Reading(store), cache).written


def test_another_local_artifact_is_left_alone_unless_it_is_to_be_replaced(store, planned, cache):
    plan = planned(store)
    upload(plan, store)
    other_results(recorded(cache))
    before = facts(cache / "artifacts")
    failure = refused(store, cache)
    assert str(failure) == (
        f"{artifact_folder(cache)}: a local artifact that differs in provenance.json, raw.zip, "
        "results/hpo_results.parquet, expected none, or the hosted one\n"
        "    fix: --replace puts the hosted one in its place"
    )
    assert facts(cache / "artifacts") == before
    assert fetched(store, cache, replace=True).written
    assert plan_upload(opened(cache), plan.destination).to_dict() == plan.to_dict()


@pytest.mark.parametrize("name", ["metadata.yaml", "results/model_results.parquet"])
def test_a_link_in_the_cache_is_not_the_file_it_leads_to(store, planned, cache, name):
    upload(planned(store), store)
    fetched(store, cache)
    path = artifact_folder(cache) / name
    path.rename(cache / "elsewhere")
    path.symlink_to(cache / "elsewhere")
    assert f"differs in {name}" in str(refused(store, cache))
    assert fetched(store, cache, replace=True).written and not path.is_symlink()


@pytest.mark.parametrize("damage", ["changed", "missing", "extra", "link"])
def test_a_local_artifact_that_was_touched_is_not_the_same(store, planned, cache, damage):
    upload(planned(store), store)
    fetched(store, cache)
    path = artifact_folder(cache) / "processed" / "metadata.json"
    if damage == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b" ")
    elif damage == "missing":
        path.unlink()
    elif damage == "extra":
        path.with_name("more.json").write_text("{}")
    else:
        path.rename(path.with_name("real"))
        path.symlink_to("real")
    assert "differs in processed.zip" in str(refused(store, cache))


def test_raw_results_can_be_left_out_and_are_never_lost_by_that(store, planned, cache):
    upload(planned(store), store)
    assert "raw.zip" not in fetched(store, cache, raw=False).objects
    assert not (artifact_folder(cache) / "raw").exists()
    assert fetched(store, cache, replace=True).written
    assert not fetched(store, cache, raw=False).written
    (artifact_folder(cache) / "results" / "hpo_results.parquet").write_bytes(b"x")
    failure = refused(store, cache, raw=False, replace=True)
    assert failure.problems[0].code == "raw-would-be-lost"
    assert len(list(artifact_folder(cache).rglob("results.pkl"))) == 27


def test_an_artifact_without_a_manifest_is_fetched_and_what_could_not_be_compared_is_said(store, planned, cache):
    upload(planned(store), store)
    for name in ("manifest.json", "provenance.json"):
        store.delete(f"{PREFIX}/{name}")
    report = fetched(store, cache)
    assert report.written
    assert [str(remark) for remark in report.remarks] == [
        f"{store.url}/{PREFIX}/manifest.json: not there: uploaded by a program that writes none; its digests could "
        "not be compared; sizes, checksums inside the zips and tables were\n"
        "    fix: the next scripts/run_upload_results.py --apply writes it"
    ]
    assert not fetched(store, cache).written
    (artifact_folder(cache) / "processed" / "metadata.json").write_text("{}")
    assert "differs in processed/metadata.json" in str(refused(store, cache))
    assert fetched(store, cache, replace=True).written
    context = artifact_folder(cache) / "processed" / "context.json"
    context.rename(context.with_name("elsewhere.json"))
    context.symlink_to("elsewhere.json")
    assert "differs in processed/context.json" in str(refused(store, cache))
    assert fetched(store, cache, replace=True).written


def test_artifacts_may_be_on_another_disk_than_the_cache(store, planned, cache):
    upload(planned(store), store)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        cache.mkdir()
        (cache / "artifacts").symlink_to(folder)
        assert fetched(store, cache).written
        assert not fetched(Reading(store), cache).written


def test_two_makers_of_one_artifact_do_not_meet(store, planned, cache):
    upload(planned(store), store)
    fetched(store, cache)
    (lock,) = (cache / ".benchwright" / "locks").iterdir()
    with FileLock(lock, "processing of LinearModel"):
        assert "processing of LinearModel" in str(refused(store, cache))


# --- what is not fetched ---------------------------------------------------------------------------------------------


def test_another_cache_is_no_store(cache, tmp_path):
    recorded(tmp_path / "another cache")
    failure = refused(open_store(f"local:{tmp_path / 'another cache'}"), cache, Exit.USAGE)
    assert [problem.code for problem in failure.problems] == ["store-is-cache"]
    assert not cache.exists()


def test_what_lies_alone_at_the_very_place_is_named(store, cache):
    store.put(f"{PREFIX}/raw.zip", b"x")
    assert str(refused(store, cache, Exit.NO)).endswith(
        "no artifact there, expected a hosted artifact\n"
        "    fix: only raw.zip without metadata.yaml: whoever uploaded it must run that upload again to its end"
    )


def test_a_name_that_is_not_hosted_gets_the_closest_one(store, planned, cache):
    upload(planned(store), store)
    failure = refused(store, cache, Exit.NO, method="LinearModl")
    assert str(failure).endswith("no artifact there, expected a hosted artifact\n    fix: did you mean 'LinearModel'?")
    assert not (cache / "artifacts").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "/etc", ".."])
def test_a_name_that_leaves_the_cache_is_refused(store, cache, name):
    for names in ({"method": name}, {"suite": name}):
        with pytest.raises(Failure):
            fetched(store, cache, **names)
    assert not cache.exists()


def test_an_upload_that_has_not_ended_is_not_fetched(store, planned, cache):
    upload(planned(store), store)
    store.delete(f"{PREFIX}/metadata.yaml")
    failure = refused(store, cache, Exit.NO)
    assert failure.problems[0].code == "upload-unfinished"
    assert failure.problems[0].found.startswith("an upload that has not ended, begun 20")


def test_a_damaged_object_leaves_the_cache_as_it_was(store, planned, cache):
    upload(planned(store), store)
    path = store.root / PREFIX / "processed.zip"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    failure = refused(store, cache, Exit.NO)
    assert [problem.code for problem in failure.problems] == ["digest-mismatch"]
    assert not (cache / "artifacts").exists()


def test_a_zip_that_leaves_its_folder_is_refused_whatever_the_manifest_says(store, planned, cache, tmp_path):
    upload(planned(store), store)
    store.delete(f"{PREFIX}/manifest.json")
    with zipfile.ZipFile(store.root / PREFIX / "raw.zip", "a") as archive:
        archive.writestr("../../../evil", b"x")
    failure = refused(store, cache, Exit.NO)
    assert failure.problems[0].code == "bad-zip"
    assert not list(tmp_path.rglob("evil")) and not (cache / "artifacts").exists()


def test_an_artifact_that_says_it_is_another_one_is_refused(store, planned, cache):
    upload(planned(store), store)
    shutil.copytree(store.root / PREFIX, store.root / PREFIX.replace("LinearModel", "Other"))
    store.delete(f"{PREFIX.replace('LinearModel', 'Other')}/manifest.json")
    failure = refused(store, cache, Exit.NO, method="Other")
    assert failure.problems[0].found == f"the artifact of LinearModel, suite {SUITE}"


def test_a_loose_file_that_is_not_the_zips_is_refused(store, planned, cache):
    upload(planned(store), store)
    store.delete(f"{PREFIX}/manifest.json")
    store.put(f"{PREFIX}/processed/configs_hyperparameters.json", b"{}")
    failure = refused(store, cache, Exit.NO)
    assert failure.problems[0].found == "another file than the one in the zip"


# --- kills -----------------------------------------------------------------------------------------------------------


def test_a_killed_fetch_brings_nothing_twice_and_ends_the_same(store, planned, tmp_path):
    plan = planned(store)
    upload(plan, store)
    for step in range(1, len(plan.objects) + 1):
        cache = tmp_path / f"fetched {step}"
        child = os.fork()
        if child == 0:
            fetched(Killed(store, step), cache)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert not (cache / "artifacts").exists()
        report = fetched(store, cache)
        assert len(report.reused) == step - 1
        assert facts(report.folder) == facts(artifact_folder(tmp_path / "cache of none"))
        assert staged(cache) == []


class Killed:
    """A store whose reader is killed right before it brings its n-th object."""

    def __init__(self, store, step):
        self.store, self.left = store, step

    def __getattr__(self, name):
        return getattr(self.store, name)

    def get(self, key, path, **options):
        if not key.endswith("manifest.json"):
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.store.get(key, path, **options)


def test_a_fetch_killed_while_it_unpacks_starts_that_anew(store, planned, cache, monkeypatch):
    upload(planned(store), store)
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(shutil, "copyfile", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        fetched(store, cache)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert (cache / ".benchwright" / "fetch").exists() and not (cache / "artifacts").exists()
    report = fetched(store, cache)
    assert len(report.reused) == len(report.objects)
    assert not fetched(store, cache).written


def test_what_a_killed_fetch_of_another_artifact_left_is_no_part_of_this_one(store, planned, cache, tmp_path):
    upload(planned(store), store)
    child = os.fork()
    if child == 0:
        fetched(Killed(store, 5), cache)
        os._exit(0)
    os.waitpid(child, 0)
    assert "provenance.json" in {path.name for path in staged(cache)}
    genuine(tmp_path / "without a sidecar")
    plan = plan_upload(opened(tmp_path / "without a sidecar"), StoreLocation.parse(store.url))
    upload(plan, store, replace=True)
    assert fetched(store, cache).written
    assert facts(artifact_folder(cache)) == facts(artifact_folder(tmp_path / "without a sidecar"))


def test_a_server_killed_before_a_fetch_is_waited_for(seaweed, seaweed_store, planned, cache):
    upload(planned(seaweed_store), seaweed_store)
    patient = open_store(seaweed_store.url, settings=settings(seaweed.url), patience=LASTING)
    seaweed.kill()
    back = threading.Timer(0.2, seaweed.start)
    back.start()
    assert fetched(patient, cache).written
    back.join()
