"""Environments on their way to other machines: pins, checkouts as they are, and nothing that is secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from benchwright.arena import Resources
from benchwright.contract import Exit, Failure
from benchwright.launch import SkyPilotSetup, checkout_files
from benchwright.launch.checkout_files import files_of
from benchwright.launch.frozen_environment import freeze, read_environment
from benchwright.launch.installs import find_uv
from benchwright.launch.sky_tasks import job_task
from benchwright.objects import open_store

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a-secret-that-this-environment-holds"
KEY = "-----BEGIN PRIVATE" + " KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" * 2 + "\n"


class Checkout:
    """A git repository of its own."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always")
        subprocess.run(["git", "-C", str(self.folder), *identity, *words], check=True, capture_output=True)

    def put(self, name, content):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(content)
        return self

    def commit(self):
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "-m", "x")
        return self


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "a checkout").put("pyproject.toml", b"[project]\n").commit()


def installed(folder, *distributions):
    """A Python in which these are installed, by name and the content of direct_url.json."""
    venv.create(folder, symlinks=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for name, url in distributions:
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        if url is not None:
            (info / "direct_url.json").write_text(json.dumps(url))
    return str(folder / "bin" / "python")


def editable(folder):
    return {"url": folder.as_uri(), "dir_info": {"editable": True}}


def test_what_git_knows_and_what_is_new_goes_and_what_it_ignores_stays(checkout):
    checkout.put(".gitignore", b"*.log\n/data/\n").put("src/a.py", b"1").put("gone.py", b"2").commit()
    checkout.put("src/new.py", b"3").put("x.log", b"4").put("data/large.bin", b"5")
    (checkout.folder / "gone.py").unlink()
    (checkout.folder / "link").symlink_to("src")
    (checkout.folder / "broken link").symlink_to("nowhere")
    (checkout.folder / os.fsdecode(b"caf\xe9\n.txt")).write_text("a name that is no UTF-8")
    assert set(files_of(checkout.folder).names) == {
        ".gitignore", "pyproject.toml", "src/a.py", "src/new.py", "link", "broken link", os.fsdecode(b"caf\xe9\n.txt"),
    }  # fmt: skip


def test_submodules_and_other_repositories_within_go_with_their_files(checkout, tmp_path):
    other = Checkout(tmp_path / "other").put("b.py", b"1").put(".gitignore", b"*.log\n").commit()
    deeper = Checkout(tmp_path / "deeper").put("c.py", b"1").commit()
    other.git("submodule", "add", "-q", str(deeper.folder), "deep")
    other.commit()
    checkout.git("submodule", "add", "-q", str(other.folder), "libs/other")
    checkout.git("submodule", "update", "-q", "--init", "--recursive")
    checkout.commit()
    (checkout.folder / "libs" / "other" / "x.log").write_text("ignored there")
    Checkout(checkout.folder / "nested").put("d.py", b"1")
    assert {"libs/other/b.py", "libs/other/deep/c.py", "nested/d.py", ".gitmodules"} <= set(
        files_of(checkout.folder).names
    )
    assert not any(name.endswith((".log", ".git")) for name in files_of(checkout.folder).names)


@pytest.mark.parametrize(
    "name",
    [".env", "deploy/.env.production", ".netrc", "keys/server.pem", "id_rsa", "id_ed25519", "credentials.json",
     "application_default_credentials.json", "my-service-account-3.json", "Secrets.YAML", ".pypirc", "hf_token"],
)  # fmt: skip
@pytest.mark.parametrize("tracked", [True, False], ids=["tracked", "new"])
def test_files_of_secrets_stay_here(checkout, name, tracked):
    checkout.put(name, b"TOKEN=x")
    if tracked:
        checkout.commit()
    files = files_of(checkout.folder)
    assert files.left_out == (name,) and name not in files.names


def test_what_only_looks_like_a_secret_goes(checkout):
    names = (".env.example", "credentials.py", "tokenizer.json", "keys.py", "test_secrets.py", "id_rsa.pub")
    for name in names:
        checkout.put(name, b"x")
    assert set(names) <= set(files_of(checkout.folder).names)


def test_a_private_key_stays_here_whatever_its_name(checkout):
    account = json.dumps({"type": "service_account", "private_key": KEY})
    checkout.put("notes.txt", b"see: " + KEY.encode()).put("robot.json", account.encode())
    checkout.put("about_keys.md", b"A key begins with -----BEGIN PRIVATE" + b" KEY----- and ends")
    files = files_of(checkout.folder)
    assert files.left_out == ("notes.txt", "robot.json") and "about_keys.md" in files.names


def test_the_value_of_a_secret_of_this_environment_stops_everything(checkout, monkeypatch):
    checkout.put("src/config.py", f'TOKEN = "{SECRET}"\n'.encode()).put("b.yaml", SECRET.encode())
    monkeypatch.setattr(checkout_files, "MOST_BYTES", 5)
    with pytest.raises(Failure) as caught:
        files_of(checkout.folder, {"OTHER_TOKEN": "of-another-value", "MY_TOKEN": SECRET})
    assert caught.value.exit == Exit.REFUSED
    found = [(problem.code, problem.where) for problem in caught.value.problems]
    assert found == [
        ("secret-in-checkout", f"{checkout.folder}/b.yaml"),
        ("secret-in-checkout", f"{checkout.folder}/src/config.py"),
        ("checkout-too-large", str(checkout.folder)),
    ]
    assert str(caught.value.problems[0]) == (
        f"{checkout.folder}/b.yaml: holds the value of MY_TOKEN, a secret of this environment, "
        "expected no secrets in a checkout\n"
        "    fix: take it out of the file; if the file was ever pushed, have the secret replaced"
    )
    assert SECRET not in str(caught.value)


def test_data_has_no_place_in_a_checkout(checkout, monkeypatch):
    checkout.put("data/a.bin", b"x" * 3000).put("b.bin", b"x" * 2000)
    monkeypatch.setattr(checkout_files, "MOST_BYTES", 2**12)
    with pytest.raises(Failure) as caught:
        files_of(checkout.folder)
    assert caught.value.exit == Exit.ENVIRONMENT
    (problem,) = caught.value.problems
    assert (problem.found, problem.expected) == (
        "0 MB of files, the largest data/a.bin, b.bin, pyproject.toml",
        "at most 0 MB",
    )


def test_a_frozen_environment_is_the_same_twice_and_another_after_an_edit(checkout, tmp_path):
    commit = {
        "url": "https://example.org/x.git",
        "vcs_info": {"vcs": "git", "commit_id": "0" * 40},
        "subdirectory": "p",
    }
    python = installed(
        tmp_path / "venv",
        ("mine", editable(checkout.folder)),
        ("plain", None),
        ("fetched", {"url": "https://example.org/fetched-1.0.whl", "archive_info": {}}),
        ("from-git", commit),
    )
    store = open_store(f"local:{tmp_path / 'store'}")
    environment = read_environment(python)
    assert environment.requirements == (
        "fetched @ https://example.org/fetched-1.0.whl",
        f"from-git @ git+https://example.org/x.git@{'0' * 40}#subdirectory=p",
        "plain==1.0",
    )
    place, manifest = freeze(environment, store)
    (one,) = manifest["checkouts"]
    assert (one["projects"], one["changed"], len(one["sha"])) == ({"mine": "."}, False, 40)
    assert str(tmp_path) not in json.dumps(manifest)
    assert freeze(read_environment(python), store)[0] == place
    checkout.put("pyproject.toml", b"[project]\nname='x'\n").put(".env", b"A=1")
    other, changed = freeze(read_environment(python), store)
    assert other != place and changed["checkouts"][0] | {"left_out": [".env"]} == changed["checkouts"][0]
    assert changed["checkouts"][0]["changed"]
    store.get(f"{other}/checkout0.tar.gz", tmp_path / "archive")
    with tarfile.open(tmp_path / "archive") as archive:
        assert archive.getnames() == ["pyproject.toml"]


def test_everything_that_cannot_be_had_elsewhere_is_said_at_once(checkout, tmp_path):
    checkout.put("a.py", SECRET.encode())
    (tmp_path / "no checkout").mkdir()
    python = installed(
        tmp_path / "venv",
        ("lost", editable(tmp_path / "no checkout")),
        ("mine", editable(checkout.folder)),
        ("wheel", {"url": f"file://{tmp_path}/wheel.whl", "archive_info": {}}),
        ("account", {"url": "https://me:p4ss@example.org/a.whl", "archive_info": {}}),
        ("token", {"url": "https://atoken@example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}),
        ("ssh", {"url": "ssh://git@example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}),
    )
    with pytest.raises(Failure) as caught:
        read_environment(python, {"MY_TOKEN": SECRET})
    assert caught.value.exit == Exit.REFUSED
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [
        ("account-in-address", "account"),
        ("account-in-address", "token"),
        ("not-portable", "wheel"),
        ("no-checkout", "lost"),
        ("secret-in-checkout", f"{checkout.folder}/a.py"),
    ]
    assert "p4ss" not in str(caught.value) and "atoken" not in str(caught.value)


def test_a_python_that_does_not_answer_is_said(tmp_path):
    with pytest.raises(Failure) as caught:
        read_environment(str(tmp_path / "no python"))
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.ENVIRONMENT, "no-python")


@pytest.mark.slow
def test_a_machine_is_made_ready_from_what_was_frozen(checkout, tmp_path):
    """The task's own commands, with uv and an index, in a home of their own."""
    uv = find_uv(ROOT)
    assert uv, "no uv; run: make setup-dev"
    project = "[project]\nname = 'mine'\nversion = '1.0'\n[build-system]\nrequires = ['hatchling']\n"
    project += "build-backend = 'hatchling.build'\n[tool.hatch.build.targets.wheel]\npackages = ['mine']\n"
    checkout.put("pyproject.toml", project.encode()).put("mine/__init__.py", b"WORD = 'new'\n").commit()
    checkout.put("mine/__init__.py", b"WORD = 'edited'\n")
    home, base = tmp_path / "home", Path(getattr(sys, "_base_executable", sys.executable))
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(uv).parent), str(base.parent), "/usr/bin", "/bin"]),
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(Path("~/.cache/uv").expanduser()),
        **{name: value for name, value in os.environ.items() if name.startswith(("SSL_", "PIP_", "UV_"))},
    }

    def run(*command):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    python = tmp_path / "venv" / "bin" / "python"
    run(uv, "venv", "-q", "--python", str(base), str(tmp_path / "venv"))
    run(uv, "pip", "install", "-q", "--python", str(python), "idna==3.10", "-e", str(checkout.folder))
    place, manifest = freeze(read_environment(str(python)), open_store(f"local:{tmp_path / 'store'}"))
    setup = SkyPilotSetup(store="gs://bucket")
    resources = Resources(time_limit=60, num_cpus=2, num_gpus=0, memory_limit=8)
    task = job_task(setup, resources, launch="x", run_uri="gs://b", manifest=manifest, environment="gs://b/env")
    (home / "benchwright").mkdir(parents=True)
    (home / "benchwright" / "env").symlink_to(tmp_path / "store" / place)
    for _ in range(2):  # a machine that was preempted is made ready again
        run("sh", "-c", task["setup"])
    code = "import idna, mine, sys; print(mine.WORD, idna.__version__, mine.__file__, sys.version.split()[0])"
    said = run(str(home / "benchwright" / "venv" / "bin" / "python"), "-c", code).split()
    assert said[:2] == ["edited", "3.10"] and said[2].startswith(str(home)) and said[3] == manifest["python"]
