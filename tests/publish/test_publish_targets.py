"""Where ``MODULE:ATTR`` is looked for, and which places are refused."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from benchwright.contract import Exit, Failure
from benchwright.publish import find_target, parse_changes, plan_edit


def module(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x = MethodMetadata(method='A')\n")
    return path


def refusal(reference, repository):
    with pytest.raises(Failure) as caught:
        find_target(reference, repository)
    return caught.value


@pytest.mark.parametrize("folder", ["packages/a b/src", "src", "."])
@pytest.mark.parametrize("file", ["one/info.py", "one/info/__init__.py"])
def test_a_module_is_found_by_path(tmp_path, folder, file):
    path = module(tmp_path / folder / file)
    target = find_target("one.info:x", tmp_path)
    assert (target.path, target.label) == (path, (Path(folder) / file).as_posix())
    assert target.source_root == tmp_path / folder


def test_the_current_folder_is_the_default(tmp_path, monkeypatch):
    path = module(tmp_path / "src" / "one" / "info.py")
    monkeypatch.chdir(tmp_path)
    assert find_target("one.info:x").path == path


def test_an_editable_installation_is_found_without_importing_it(tmp_path, monkeypatch):
    checkout, elsewhere = tmp_path / "checkout", tmp_path / "elsewhere"
    path = module(checkout / "src" / "editable_example" / "info.py")
    (path.parent / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (checkout / ".git").mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.syspath_prepend(str(checkout / "src"))
    target = find_target("editable_example.info:x")
    assert (target.path, target.repository) == (path, checkout)


@pytest.mark.parametrize(
    "reference", ["one.info", "one.info:", ":x", "../one:x", "one..info:x", "one.info:x.y", "a:if"]
)
def test_a_malformed_reference_is_wrong_usage(tmp_path, reference):
    failure = refusal(reference, tmp_path)
    assert failure.exit == Exit.USAGE
    assert failure.problems[0].found == f"{reference!r} is no reference"


def test_a_missing_module_is_told_with_its_neighbours(tmp_path):
    module(tmp_path / "src" / "models" / "catboost" / "info.py")
    failure = refusal("models.catbost.info:x", tmp_path)
    assert failure.exit == Exit.USAGE
    assert str(failure) == (
        f"models.catbost.info: no such module below {tmp_path}, expected a module of the checkout\n"
        "    fix: did you mean 'models.catboost'?"
    )
    assert refusal("models.catboost.inf:x", tmp_path).problems[0].fix == "did you mean 'models.catboost.info'?"
    assert str(refusal("other.info:x", tmp_path)) == (
        f"other.info: no package other below {tmp_path}, expected a checkout with other in packages/*/src, src or its "
        "root\n    fix: name the checkout with --repo DIR"
    )


def test_two_files_for_one_module_are_ambiguous(tmp_path):
    for folder in ("packages/a/src", "packages/b/src"):
        module(tmp_path / folder / "one" / "info.py")
    failure = refusal("one.info:x", tmp_path)
    assert (failure.exit, failure.problems[0].code) == (Exit.USAGE, "ambiguous-module")


def test_a_repository_that_is_not_there_is_wrong_usage(tmp_path):
    assert refusal("one.info:x", tmp_path / "no").problems[0].found == f"{tmp_path / 'no'} is not a folder"


@pytest.mark.parametrize("repository", [Path(sysconfig.get_path("purelib")), None])
def test_an_installed_package_is_refused(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(tmp_path)
    failure = refusal("tabarena.models.nori.info:nori_method_metadata", repository)
    assert failure.exit == Exit.REFUSED
    assert failure.problems[0].code == "installed-package"
    assert "--repo DIR" in failure.problems[0].fix


def test_a_link_to_an_installed_package_is_one(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tabarena").symlink_to(Path(sysconfig.get_path("purelib")) / "tabarena")
    failure = refusal("tabarena.models.nori.info:nori_method_metadata", tmp_path)
    assert failure.problems[0].code == "installed-package"


def test_a_link_out_of_the_repository_is_refused(tmp_path):
    elsewhere = module(tmp_path / "elsewhere" / "info.py")
    (tmp_path / "repo" / "one").mkdir(parents=True)
    (tmp_path / "repo" / "one" / "info.py").symlink_to(elsewhere)
    failure = refusal("one.info:x", tmp_path / "repo")
    assert (failure.exit, failure.problems[0].code) == (Exit.REFUSED, "path-escape")


def test_a_link_inside_the_repository_is_followed(tmp_path):
    path = module(tmp_path / "real" / "info.py")
    (tmp_path / "one").symlink_to(tmp_path / "real")
    assert find_target("one.info:x", tmp_path).path == path


def test_a_read_only_file_is_refused(tmp_path):
    path = module(tmp_path / "one" / "info.py")
    path.chmod(0o444)
    failure = refusal("one.info:x", tmp_path)
    assert (failure.exit, failure.problems[0].code) == (Exit.ENVIRONMENT, "no-permission")
    assert failure.problems[0].fix == f"chmod u+w {path}"


def test_the_mini_arenas_methods_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = find_target("benchwright.mini.info:lightgbm_method_metadata")
    assert target.label == "src/benchwright/mini/info.py"
    assert [field.field for field in plan_edit(target, parse_changes(["date=2030-01-01"])).fields] == ["date"]


def test_methods_that_a_function_makes_are_told_with_their_place(tmp_path):
    path = module(tmp_path / "one" / "info.py")
    path.write_text("def make(name):\n    return MethodMetadata.config(method=name)\n")
    with pytest.raises(Failure) as caught:
        plan_edit(find_target("one.info:x", tmp_path), parse_changes(["date=2030-01-01"]))
    assert caught.value.exit == Exit.USAGE
    assert caught.value.problems[0].fix == "MethodMetadata is called at line 2, in make(): edit that by hand"


def test_a_huge_module_is_not_read(tmp_path):
    path = module(tmp_path / "one" / "info.py")
    path.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(Failure) as caught:
        find_target("one.info:x", tmp_path).read()
    assert (caught.value.exit, caught.value.problems[0].code) == (Exit.USAGE, "too-large")
