"""Which environment fits and what a model needs there: real environments, a real installer, and broken ones."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import sysconfig
import time
import zipfile
from functools import cache
from pathlib import Path
from shlex import quote

import pytest

from benchwright.contract import Exit, Failure
from benchwright.launch import model_needs
from benchwright.launch.environments import Environment, find_pythons, survey
from benchwright.launch.installs import InstallPlan, making_commands, plan_install, run_install, verify_install
from benchwright.launch.model_needs import (
    Need,
    RegisteredModel,
    broken_imports,
    needs_of,
    parse_requirement,
    registered_model,
)
from benchwright.launch.python_facts import Distribution, NoAnswer, answer_of, facts_of
from scripts_in_process import Script, load
from waiting import PATIENCE, wait_for_ends

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "run_venv.py"
BASE = str(Path(sys._base_executable))
OUTSIDE = ("PYTHONPATH", "VIRTUAL_ENV", "UV_FIND_LINKS", "PIP_FIND_LINKS")


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch, tmp_path_factory):
    for name in OUTSIDE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def quiet(done, total, *, failed=0, note=""):
    pass


def environment(folder: Path, *paths: Path, **distributions: str) -> str:
    """A virtual environment that also imports from ``paths`` and claims to have ``distributions``; its Python."""
    subprocess.run([BASE, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "elsewhere.pth").write_text("".join(f"{path}\n" for path in paths))
    for name, version in distributions.items():
        install(site, name.replace("_", "."), version)
    return str(folder / "bin" / "python")


def install(site: Path, name: str, version: str, *lines: str) -> None:
    folder = site / f"{name.replace('.', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines])
    )


def checkout(folder: Path, **extras: list[str]) -> Path:
    """A benchmark checkout with the layout of TabArena's; its source folder."""
    project = folder / "packages" / "tabarena"
    source = project / "src"
    (source / "tabarena").mkdir(parents=True)
    (source / "tabarena" / "__init__.py").write_text("raise SystemExit('finding it must not import it')\n")
    lines = "".join(f"{name} = {json.dumps(texts)}\n" for name, texts in extras.items())
    (project / "pyproject.toml").write_text(f'[project]\nname = "tabarena"\n\n[project.optional-dependencies]\n{lines}')
    return source


BOOSTERS = {"lightgbm", "xgboost", "catboost", "torch"}
FIT = {"benchwright": "0.1.0", "tabarena": "0.2.0", "autogluon_tabular": "1.6.3"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clones") / "my clone"
    extras = {
        "tabpfn_3_5": ["tabpfn>=9.0.0"],
        "tabpfn": ["tabpfn>=8.0.8", "tabpfn-extensions[many_class]>=0.6.1"],
        "wide": ["perpetual", "torch", "numpy"],
        "boost": ["perpetual"],
        "tabm": ["torch", "tabm>=0.0.3", "rtdl_num_embeddings<1,>=0.0.12"],
        "benchmark": ["tabarena[tabm]"],
    }
    return folder, checkout(folder, **extras)


@pytest.fixture(scope="module")
def of_clone(tmp_path_factory, clone):
    """An environment, in a path with spaces, that imports the clone and this checkout."""
    return environment(tmp_path_factory.mktemp("a place with spaces") / "v e", clone[1], ROOT / "src", **FIT)


def asked(*pythons: str, checkout: Path | None = None, seconds: float = 30) -> list[Environment]:
    return list(survey(pythons, ROOT, checkout, progress=quiet, seconds=seconds))


def test_the_environment_of_these_tests_fits():
    (one,) = asked(sys.executable)
    assert (one.fits, one.why) == (True, "imports this checkout and what a fit needs")
    shown = one.to_dict()
    assert shown["benchwright"] == {"path": str(ROOT / "src/benchwright"), "version": "0.1.0", "editable": True}
    assert (shown["tabarena"]["version"], shown["tabarena"]["editable"]) == ("0.1.0", False)
    assert shown["version"] == ".".join(map(str, sys.version_info[:3]))


def test_the_checkout_that_is_named_must_be_the_one_imported(of_clone, clone):
    folder, source = clone
    right, wrong = asked(of_clone, sys.executable, checkout=folder)
    assert (right.fits, right.to_dict()["tabarena"]) == (
        True,
        {"path": str(source / "tabarena"), "version": "0.2.0", "editable": True},
    )
    assert set(right.lacks) == {"bencheval", "numpy", "pandas", "scikit-learn", "ray", *BOOSTERS}
    assert not wrong.fits
    assert wrong.why == f"imports tabarena from {wrong.facts.tabarena.path}, not from {folder}"


def test_every_reason_is_given(tmp_path, clone):
    other = tmp_path / "other" / "src"
    (other / "benchwright").mkdir(parents=True)
    (other / "benchwright" / "__init__.py").touch()
    (tmp_path / "folder" / "tabarena").mkdir(parents=True)  # what only looks like a package is none
    python = environment(tmp_path / "v", other, tmp_path / "folder", benchwright="0.0.1")
    (one,) = asked(python)
    assert one.why == (
        f"imports benchwright from {other / 'benchwright'}, not from {ROOT}; imports no tabarena; "
        "lacks autogluon.tabular"
    )
    assert one.lacks == ("tabarena", "autogluon.tabular")


def test_the_current_folder_does_not_count_and_pythonpath_does(tmp_path, monkeypatch, clone, of_clone):
    bare = environment(tmp_path / "v")
    for name in ("tabarena", "benchwright"):
        (tmp_path / "here" / name).mkdir(parents=True)
        (tmp_path / "here" / name / "__init__.py").touch()
    (tmp_path / "here" / "json.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path / "here")
    assert facts_of(bare).tabarena is None
    assert facts_of(of_clone).tabarena.path == str(clone[1] / "tabarena")
    monkeypatch.setenv("PYTHONPATH", str(clone[1]))
    assert facts_of(bare).tabarena.path == str(clone[1] / "tabarena")


def script(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_what_does_not_answer_costs_a_line(tmp_path):
    gone = tmp_path / "gone" / "bin" / "python"
    gone.parent.mkdir(parents=True)
    gone.symlink_to(tmp_path / "a removed base")
    shown = asked(
        str(gone),
        script(tmp_path / "broken" / "python", "#!/bin/sh\necho first >&2\necho no module named site >&2\nexit 3\n"),
        script(tmp_path / "silent" / "python", "#!/bin/sh\nexit 0\n"),
        script(tmp_path / "text" / "python", "no program\n"),
        str(tmp_path),
    )
    assert [one.why for one in shown] == [
        "does not run: No such file or directory",
        "exit 3: no module named site",
        "answers like no Python",
        "does not run: Exec format error",
        "does not run: Permission denied",
    ]
    assert all(one.to_dict()["tabarena"] is None and not one.fits for one in shown)


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path):
    child = tmp_path / "child"
    python = script(tmp_path / "hangs" / "python", f"#!/bin/sh\nsleep 600 &\necho $! > '{child}'\nwait\n")
    start = time.monotonic()
    (one,) = asked(python, seconds=2)
    assert one.why == "no answer in 2 s"
    assert time.monotonic() - start < PATIENCE
    wait_for_ends([int(child.read_text())])


def test_a_library_that_talks_while_python_starts_is_talked_over(tmp_path):
    python = environment(tmp_path / "v")
    (site,) = (tmp_path / "v").glob("lib/python*/site-packages")
    (site / "talk.pth").write_text("import sys; sys.stdout.write('hello\\n')\n")
    install(site, "half", "1.0")
    (site / "half-1.0.dist-info" / "METADATA").unlink()
    assert facts_of(python).distributions.keys() == set()


def test_the_order_is_stated_and_an_environment_is_asked_once(tmp_path, monkeypatch):
    own, home = tmp_path / "own", tmp_path / "home"
    names = [
        own / ".venv",
        tmp_path / "active",
        tmp_path / "many" / "b",
        tmp_path / "many" / "a",
        home / ".venvs" / "z",
    ]
    for folder in names:
        script(folder / "bin" / "python", "")
    (home / ".venvs" / "no environment").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    expected = [own / ".venv", None, tmp_path / "active", tmp_path / "many/a", tmp_path / "many/b", home / ".venvs/z"]
    found = find_pythons(own, search=[tmp_path / "many"])
    assert found == tuple(str(folder / "bin" / "python") if folder else sys.executable for folder in expected)
    assert find_pythons(own, search=[tmp_path / "many" / "a"])[3] == str(tmp_path / "many/a/bin/python")
    assert find_pythons(own, asked=["~/.venvs/z/bin/python", sys.executable], search=[tmp_path / "many"]) == (
        str(home / ".venvs/z/bin/python"),
        sys.executable,
    )
    link = tmp_path / "linked"
    link.symlink_to(Path(sys.prefix))
    assert [one.python for one in asked(sys.executable, str(link / "bin" / "python"))] == [sys.executable]


def test_a_folder_to_search_must_be_one(tmp_path):
    with pytest.raises(Failure) as caught:
        find_pythons(ROOT, search=[tmp_path / "none"])
    assert caught.value.exit == Exit.USAGE
    assert str(caught.value) == (
        f"--search: {tmp_path / 'none'} is no folder, expected a folder that holds environments\n"
        "    fix: give the folder above your environments, or leave --search out"
    )


# What a model needs.


@pytest.fixture(scope="module")
def here():
    return facts_of(sys.executable)


def model(*requirements: str, key: str = "m", superseded: bool = False) -> RegisteredModel:
    return RegisteredModel("M", key, requirements, superseded)


def lacking(facts, *requirements, **choices):
    return [clause for need in needs_of(model(*requirements, **choices), facts) for clause in need.lacking]


def test_requirements_are_held_against_versions_markers_and_extras(here):
    facts = dataclasses.replace(
        here,
        distributions={
            "rtdl-num-embeddings": Distribution("0.1rc1"),
            "xrfm": Distribution(
                "1.0", ("Cupy_x>=2; extra == 'cu12'", "absent", "xrfm[more]; extra == 'all'"), ("cu12",)
            ),
            "cupy-x": Distribution("1.5"),
            "loop": Distribution("1", ("loop[b]; extra == 'a'", "loop[a]; extra == 'b'"), ("a", "b")),
        },
    )
    assert lacking(facts, "rtdl_num_embeddings>=0.0.12", "xrfm", "tool; sys_platform == 'win32'", "loop[a]") == []
    assert lacking(facts, "RTDL.num_embeddings>=0.2", "tabm>=0.0.3") == [
        "RTDL.num_embeddings 0.1rc1 is not >=0.2",
        "tabm is not installed",
    ]
    assert lacking(facts, "xrfm[CU12]") == ["Cupy_x 1.5 is not >=2"]
    assert [need.requirement for need in needs_of(model("tool; sys_platform == 'win32'", "xrfm"), facts)] == ["xrfm"]


def test_git_requirements_are_known_by_their_name(here):
    facts = dataclasses.replace(here, distributions={"tabfm": Distribution("0.3")})
    address = "git+https://github.com/owner/tabfm.git"
    assert lacking(facts, f"TabFM @ {address}@633cd265", f"{address}@main", f"{address}#egg=TabFM&subdirectory=x") == []
    assert lacking(facts, "git+ssh://git@github.com/owner/other.git@v1") == ["other is not installed"]
    with pytest.raises(Failure) as caught:
        parse_requirement("two words")
    assert caught.value.exit == Exit.ENVIRONMENT
    assert str(caught.value).startswith("pip_extra: 'two words': ")


def test_autogluons_own_models_need_autogluons_extra(here):
    (need,) = needs_of(model(key="lightgbm"), here)
    assert (need.requirement, need.satisfied) == ("autogluon.tabular[lightgbm]", True)
    assert set(need.installed) == {"autogluon.tabular", "lightgbm"}
    assert needs_of(model(key="knn"), here) == ()
    without = {name: facts for name, facts in here.distributions.items() if name != "lightgbm"}
    assert lacking(dataclasses.replace(here, distributions=without), key="lightgbm") == ["lightgbm is not installed"]


def test_a_registry_that_contradicts_its_own_package_gives_way(here):
    """The registry of tabarena 0.1.0 wants AutoGluon below 1.6 for one model; with that, nothing would fit."""
    (need,) = needs_of(model("autogluon.tabular[interpret]>=1.5,<1.6", key="ebm"), here)
    assert need.requirement == "autogluon.tabular[interpret]<1.7,>=1.6"
    expected = "instead of the registry's autogluon.tabular[interpret]>=1.5,<1.6, which tabarena itself contradicts"
    assert need.note == expected
    with pytest.raises(Failure) as caught:
        needs_of(model("autogluon.tabular[fastai]<1.6"), here)
    assert caught.value.exit == Exit.REFUSED
    assert caught.value.problems[0].found == (
        "the registry wants autogluon.tabular[fastai]<1.6, and tabarena 0.1.0 requires autogluon.tabular<1.7,>=1.6"
    )


def test_a_package_that_does_not_import_is_broken(tmp_path):
    python = environment(tmp_path / "v")
    (site,) = (tmp_path / "v").glob("lib/python*/site-packages")
    install(site, "good-one", "1.0")
    (site / "good_one.py").write_text("print('talks', end='')\n")
    install(site, "odd", "1.0")
    (site / "odd-1.0.dist-info" / "RECORD").write_text("tests/__init__.py,,\noddity/__init__.py,,\n")
    (site / "oddity").mkdir()
    (site / "oddity" / "__init__.py").write_text("raise OSError('libmissing.so: cannot open\\nmore')\n")
    needs = [Need("good-one", {"good-one": "1.0"}, ()), Need("odd", {"odd": "1.0"}, ()), Need("no", {}, ("no",))]
    (problem,) = broken_imports(python, needs)
    assert (problem.code, problem.where) == ("broken-package", "odd")
    assert problem.found == "installed, but cannot be imported: OSError: libmissing.so: cannot open"


# The installation.


def whole(facts, **changes) -> Environment:
    return Environment(sys.executable, dataclasses.replace(facts, **changes), (), True, "")


def tool(path: Path) -> str:
    return script(path, "#!/bin/sh\n")


def test_uv_is_the_private_one_then_that_on_the_path_then_pip(here, tmp_path, monkeypatch):
    own, on_path = tmp_path / "own", tmp_path / "path"
    own.mkdir()
    monkeypatch.setenv("PATH", str(on_path))
    distributions = {name: facts for name, facts in here.distributions.items() if name != "pip"}
    with pytest.raises(Failure) as caught:
        plan_install(model("ab>=1"), whole(here, distributions=distributions), own)
    assert (caught.value.exit, caught.value.problems[0].fix) == (Exit.ENVIRONMENT, f"make -C {quote(str(own))} setup")
    with_pip = whole(here, distributions={**distributions, "pip": Distribution("25")})
    assert plan_install(model("ab>=1"), with_pip, own).command == (
        *(sys.executable, "-m", "pip", "install", "--pre", "ab>=1"),
    )
    for place in (on_path / "uv", own / ".uv" / "bin" / "uv"):
        uv = tool(place)
        assert plan_install(model("ab>=1"), with_pip, own).command == (
            *(uv, "pip", "install", "--python", sys.executable, "--prerelease=allow", "ab>=1"),
        )


def test_all_requirements_go_to_the_installer_unless_all_are_there(here):
    numpy = here.distributions["numpy"].version
    plan = plan_install(model("numpy>=1", "absent-thing"), whole(here), ROOT)
    assert plan.command[-2:] == ("numpy>=1", "absent-thing")
    assert plan.lines()[:3] == [
        "M needs:",
        f"  numpy>=1: there (numpy {numpy})",
        "  absent-thing: absent-thing is not installed",
    ]
    assert [need.requirement for need in plan.missing] == ["absent-thing"]
    assert plan_install(model("numpy>=1", superseded=True), whole(here, externally_managed=True), ROOT).command == ()
    assert plan_install(model("numpy>=1", superseded=True), whole(here), ROOT).warnings == ()
    assert plan_install(model(), whole(here), ROOT).lines() == ["M needs nothing beyond the base installation"]
    (warning,) = plan_install(model("absent-thing", superseded=True), whole(here), ROOT).warnings
    assert str(warning) == (
        "M: superseded: it and its successor cannot be installed together, expected an environment of its own\n"
        "    fix: name one with --python"
    )


def test_a_checkout_is_installed_again_with_its_extra(of_clone, clone):
    (one,) = asked(of_clone)
    project = clone[0] / "packages" / "tabarena"
    targets = {
        "boost": plan_install(model("perpetual", key="p"), one, ROOT).command[-2:],
        "wide": plan_install(model("perpetual", key="wide"), one, ROOT).command[-2:],
        "tabm": plan_install(model("torch", "RTDL-num-embeddings>=0.0.12,<1"), one, ROOT).command[-2:],
        "tabpfn": plan_install(model("tabpfn>=8.0.8", key="tabpfn_3"), one, ROOT).command[-2:],
    }
    assert targets == {extra: ("-e", f"{project}[benchmark,{extra}]") for extra in targets}
    for requirement in ("tabpfn>=8.0.0", "unheard-of"):
        assert plan_install(model(requirement, key="tabpfn"), one, ROOT).command[-2:] == (
            *("--prerelease=allow", requirement),
        )


def test_a_python_of_the_system_is_left_alone(here):
    marker = Path(json.loads(subprocess.check_output([BASE, "-c", _STDLIB]))) / "EXTERNALLY-MANAGED"
    assert facts_of(BASE).externally_managed == marker.exists()
    with pytest.raises(Failure) as caught:
        plan_install(model("absent-thing"), whole(here, externally_managed=True), ROOT)
    assert caught.value.exit == Exit.REFUSED
    assert str(caught.value) == (
        f"{sys.executable}: belongs to the system's package manager, expected an environment\n"
        f"    fix: make -C {quote(str(ROOT))} setup, then --python {quote(str(ROOT / '.venv/bin/python'))}"
    )


_STDLIB = "import json, sysconfig; print(json.dumps(sysconfig.get_path('stdlib')))"


def test_the_real_installers_own_error_is_shown(tmp_path, here, monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    python = environment(tmp_path / "v")
    plan = plan_install(model("absent-thing>=3"), dataclasses.replace(whole(here), python=python), ROOT)
    with pytest.raises(Failure) as caught:
        run_install(plan, lambda line: None)
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.REMOTE, "install-failed")
    assert "Because absent-thing was not found" in str(caught.value)


def test_a_failing_installer_is_quoted(tmp_path):
    talk = "".join(f"echo line {number}; " for number in range(20))
    plan = InstallPlan(model(), sys.executable, (), ("sh", "-c", f"{talk} echo 'no network' >&2; exit 7"))
    said: list[str] = []
    with pytest.raises(Failure) as caught:
        run_install(plan, said.append)
    assert caught.value.exit == Exit.REMOTE
    found = caught.value.problems[0].found.splitlines()
    assert (found[0], found[1], found[-1], len(found)) == ("exit 7:", "    line 9", "    no network", 13)
    assert said[1:3] == ["line 0", "line 1"]


def test_an_interrupted_installation_leaves_no_installer_behind():
    class Stopped(BaseException):
        pass

    def stop(line: str) -> None:
        if line.isdigit():
            heard.append(int(line))
            raise Stopped

    heard: list[int] = []
    with pytest.raises(Stopped):
        run_install(InstallPlan(model(), "", (), ("sh", "-c", "echo $$; exec sleep 60")), stop)
    wait_for_ends(heard)


def test_what_an_installation_broke_is_said(here):
    before = whole(here)
    lost = dataclasses.replace(before, fits=False, why="lacks autogluon.tabular")
    changes, problems = verify_install(InstallPlan(model(), "py", (), ("x",)), before, lost)
    assert changes == []
    assert str(problems[0]) == (
        "py: no longer fits: lacks autogluon.tabular, expected an environment that fits\n    fix: make it again"
    )
    _, problems = verify_install(InstallPlan(model("absent-thing"), "py", (), ("x", "y z")), before, before)
    assert str(problems[0]) == "absent-thing: absent-thing is not installed, expected installed\n    fix: x 'y z'"


def test_the_commands_that_make_an_environment(clone, tmp_path, monkeypatch):
    assert making_commands(ROOT, None) == (f"make -C {quote(str(ROOT))} setup",)
    folder = Path.home() / ".venvs" / f"tabarena_my clone_{time.strftime('%d%m%Y')}"
    own = tmp_path / "own"
    uv = tool(own / ".uv" / "bin" / "uv")
    assert making_commands(own, clone[0]) == (
        f"{uv} venv --seed --python 3.12 '{folder}'",
        f"{uv} pip install --python '{folder}/bin/python' --prerelease=allow"
        f" -e '{clone[0]}/packages/tabarena[benchmark]' -e '{own}[process,report]'",
    )
    with pytest.raises(Failure) as caught:
        making_commands(ROOT, tmp_path)
    expected = f"{tmp_path} holds no tabarena project, expected a TabArena checkout: packages/tabarena/pyproject.toml"
    fix = "give the top folder of the checkout, or leave --checkout out"
    assert (caught.value.exit, str(caught.value)) == (Exit.USAGE, f"--checkout: {expected}\n    fix: {fix}")


# The command.


def run_venv(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})


def test_no_environment_fits(tmp_path, clone):
    python = environment(tmp_path / "v")
    done = run_venv("--python", python)
    assert done.returncode == 3
    assert done.stdout.splitlines()[:2] == [
        "environments: none of 1 environments fits, expected one that imports this checkout",
        f"    fix: leave --python out to ask the others, or: make -C {quote(str(ROOT))} setup",
    ]
    answer = json.loads(run_venv("--python", python, "--checkout", str(clone[0]), "--json").stdout)
    assert (answer["data"]["chosen"], answer["data"]["environments"][0]["fits"]) == (None, False)
    assert len(answer["next"]) == 2
    assert run_venv("--apply").returncode == 2


def test_the_first_of_several_is_taken(of_clone):
    answer = json.loads(run_venv("--python", of_clone, "--python", sys.executable, "--json").stdout)
    assert answer["data"]["chosen"] == of_clone
    assert [one["fits"] for one in answer["data"]["environments"]] == [True, True]
    assert answer["summary"] == f"{of_clone} fits, and so do 1 more; the first is taken, in this order: as given"


def test_a_checkout_brings_its_own_environment(tmp_path, monkeypatch):
    source = checkout(tmp_path / "clone")
    python = environment(tmp_path / "clone" / ".venv", source, ROOT / "src", **FIT)
    monkeypatch.chdir(tmp_path)
    answer = json.loads(run_venv("--checkout", "clone", "--json").stdout)
    assert answer["data"]["chosen"] == python
    assert [one["fits"] for one in answer["data"]["environments"]] == [False, True]


def wheel(folder: Path, name: str, version: str) -> None:
    folder.mkdir()
    record = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", "")
        file.writestr(f"{record}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(
            f"{record}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{record}/RECORD", "")


@pytest.fixture
def said(monkeypatch, capsys):
    """What the script says when it is called in this process, where the registry's real answer is kept: 3 s a time."""
    monkeypatch.setattr(model_needs, "registered_model", cache(registered_model))
    return Script(load(SCRIPT), capsys).run


def test_a_model_from_its_name_to_an_installed_package(tmp_path, said):
    """The real registry and the real installer; only the package is a small one, from a folder."""
    python = environment(tmp_path / "v e", ROOT / "src", Path(sysconfig.get_path("purelib")))
    words = ["--python", python, "--install", "PerpetualBooster"]
    code, dry = said(*words)
    assert code == 0
    assert dry[0] == "DRY RUN: nothing written; 1 of 1 requirements of PerpetualBooster missing"
    assert "  perpetual: perpetual is not installed" in dry
    assert dry[-2].endswith(f"--python '{python}' --install PerpetualBooster --apply")
    assert dry[-1] == "DRY RUN: nothing written"
    assert "perpetual" not in facts_of(python).distributions

    wheel(tmp_path / "wheels", "perpetual", "1.9")
    places = {"UV_FIND_LINKS": str(tmp_path / "wheels"), "UV_CACHE_DIR": str(tmp_path / "cache")}
    done = run_venv(*words, "--apply", "--json", UV_OFFLINE="1", **places)
    answer = json.loads(done.stdout)
    assert (answer["exit"], answer["data"]["applied"], answer["problems"]) == (0, True, [])
    assert answer["data"]["changes"] == [{"name": "perpetual", "before": None, "after": "1.9"}]
    assert "+ perpetual==1.9" in done.stderr

    code, lines = said(*words)
    assert (code, lines[0]) == (0, "nothing to install for PerpetualBooster")
    assert "  perpetual: there (perpetual 1.9)" in lines
    next(tmp_path.glob("v e/lib/*/site-packages/perpetual/__init__.py")).write_text("import absent_library\n")
    code, lines = said(*words)
    assert (code, lines[0]) == (3, "nothing to install for PerpetualBooster, but not all of it imports")


def test_an_unknown_model_and_a_registry_that_does_not_import(of_clone):
    with pytest.raises(Failure) as caught:
        registered_model(of_clone, "LightGBM")
    assert caught.value.exit == Exit.ENVIRONMENT
    assert caught.value.problems[0].found.startswith("its registry of models: exit 1")
    with pytest.raises(Failure) as caught:
        registered_model(sys.executable, "XGBost")
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.USAGE, "unknown-model")


def test_an_answer_is_the_last_line_and_a_reason_the_error():
    assert answer_of(sys.executable, "print('noise')\nprint(len(sys.argv))", "a b", seconds=30) == 2
    with pytest.raises(NoAnswer) as caught:
        answer_of(sys.executable, "raise ValueError('why')", seconds=30)
    assert str(caught.value) == "exit 1: ValueError: why"
