"""A reference to a method: read from source in milliseconds, imported only where source does not tell."""

from __future__ import annotations

import subprocess
import sys

import pytest
from info_files import INFO_FILES, checkout, copied_checkout, declarations_in

from benchwright.contract import Exit, Failure
from benchwright.publish import load_declared, load_method

DECLARED = 'x = MethodMetadata.config(method="A", suite="s", ag_key="K", validation_protocol="8x1")\n'


@pytest.fixture(autouse=True)
def forget_imports(monkeypatch):
    """The modules of a test's checkout are not those of the next."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("models", "made"):
            del sys.modules[name]


def failure(reference, repository):
    with pytest.raises(Failure) as caught:
        load_method(reference, repository)
    return caught.value


def test_a_declaration_is_read(tmp_path):
    target = checkout(tmp_path, DECLARED)
    metadata = load_method("models.info:x", target.repository)
    assert (metadata.key, metadata.ag_key, metadata.validation_protocol) == (("A", "s"), "K", "8x1")


def test_a_declaration_says_whether_it_could_name_a_protocol(tmp_path):
    """``tabarena`` 0.1.0's class has no such field; ours has, and of one that is not found nothing is known."""
    ours = load_declared("benchwright.mini.info:randomforest_method_metadata")
    assert (ours[0].method, ours[1]) == ("RandomForest", True)
    repository = copied_checkout(tmp_path / "theirs")
    theirs = load_declared("tabarena.models.nori.info:nori_method_metadata", repository)
    assert (theirs[0].method, theirs[1]) == ("Nori", False)
    target = checkout(tmp_path / "a checkout", DECLARED)
    known = load_declared("models.info:x", target.repository)
    assert known[:2] == (load_method("models.info:x", target.repository), True)


DESCRIBED = "d = ModelDescriptor(display_name='Shown', compute='gpu')\nx = d.method_metadata(method='A', suite='s')\n"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("x = MethodMetadata.system(method='A', suite='s')\n", False),
        ("x = MethodMetadata.system(method='A', suite='s', compute='cpu')\n", True),
        ("shared = {'compute': 'cpu'}\nx = MethodMetadata.system(method='A', suite='s', **shared)\n", True),
        (DESCRIBED, True),
        (DESCRIBED.replace(", compute='gpu'", ""), False),
    ],
    ids=["left open", "in the call", "unpacked", "described", "not described"],
)
def test_a_declaration_says_whether_it_names_the_device(tmp_path, source, named):
    assert load_declared("models.info:x", checkout(tmp_path, source).repository)[2] is named


def test_a_checkout_that_may_not_be_written_is_read(tmp_path):
    target = checkout(tmp_path, DECLARED)
    target.path.chmod(0o444)
    target.path.parent.chmod(0o555)
    assert load_method("models.info:x", target.repository).method == "A"
    target.path.parent.chmod(0o755)


def test_a_module_behind_a_link_out_of_the_checkout_is_read(tmp_path):
    target = checkout(tmp_path / "there", DECLARED)
    here = tmp_path / "here" / "src" / "models" / "info.py"
    here.parent.mkdir(parents=True)
    here.symlink_to(target.path)
    assert load_method("models.info:x", tmp_path / "here").method == "A"
    missing = failure("models.info:y", tmp_path / "here")
    assert missing.exit == Exit.USAGE
    assert missing.problems[0].fix == "one of x"


def test_an_installed_package_is_read_without_importing_it(tmp_path):
    code = (
        "import sys; from benchwright.publish import load_method;"
        "print(load_method('tabarena.models.nori.info:nori_method_metadata').key);"
        "print('tabarena' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "('Nori', 'tabarena-2026-06-30')\nFalse False\n"


def test_every_declaration_of_the_peer_is_read_as_it_is_imported(tmp_path):
    import importlib

    from benchwright.arena import MethodMetadata

    repository = copied_checkout(tmp_path)
    targets = [target for file in INFO_FILES for target in declarations_in(repository, file)]
    assert len(targets) > 40
    for target in targets:
        theirs = getattr(importlib.import_module(target.module), target.attribute)
        ours = load_method(str(target), repository).to_dict(with_protocol=False)
        assert ours == MethodMetadata.from_object(theirs).to_dict(with_protocol=False)


def test_a_module_that_ends_the_program_cannot_be_imported(tmp_path):
    target = checkout(tmp_path, 'import sys\nsys.exit(0)\nx = [MethodMetadata.config(method="A", suite="s")][0]\n')
    ended = failure("models.info:x", target.repository)
    assert (ended.exit, ended.problems[0].code) == (Exit.USAGE, "import-failed")
    assert ended.problems[0].found == "cannot be imported: SystemExit: 0"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1\ndel x\ndef __getattr__(name):\n    raise SystemExit(0)\n", "SystemExit: 0"),
        ("class A:\n    method_metadata = property(lambda self: exit(3))\nx = A()\n", "SystemExit: 3"),
        (
            "class A:\n    method = 'A'\n    def __getattr__(self, name):\n        raise GeneratorExit\nx = A()\n",
            "GeneratorExit",
        ),
        ("class A:\n    method = property(lambda self: 1 / 0)\nx = A()\n", "ZeroDivisionError: division by zero"),
        (
            "class Odd(Exception):\n    def __str__(self):\n        raise SystemExit\n"
            "def give(self):\n    raise Odd\n"
            "class A:\n    method = property(give)\nx = A()\n",
            "Odd",
        ),
    ],
    ids=["module", "holder", "ended", "broken", "odd"],
)
def test_a_name_that_ends_the_program_when_it_is_read_is_told(tmp_path, source, found):
    ended = failure("models.info:x", checkout(tmp_path, source).repository)
    assert (ended.exit, ended.problems[0].code) == (Exit.USAGE, "import-failed")
    assert ended.problems[0].found == f"cannot be read: {found}"


def test_a_module_that_changes_the_path_of_imports_is_read(tmp_path):
    source = (
        "import sys\nfrom benchwright.arena import MethodMetadata\nsys.path.pop(0)\n"
        "x = [MethodMetadata.config(method='A', suite='s', ag_key='K')][0]\n"
    )
    assert load_method("models.info:x", checkout(tmp_path, source).repository).method == "A"


def test_what_is_computed_is_imported(tmp_path):
    source = (
        "from benchwright.arena import MethodMetadata\n"
        "def make(name):\n    return MethodMetadata.config(method=name, suite='s', ag_key='K')\n"
        "x = make('Made')\n"
        "class Info:\n    method_metadata = x\n"
        "held = Info()\n"
        "nothing = 3 + 4\n"
    )
    target = checkout(tmp_path, source)
    assert load_method("models.info:x", target.repository).method == "Made"
    assert load_method("models.info:held", target.repository).method == "Made"
    odd = failure("models.info:nothing", target.repository)
    assert (odd.exit, odd.problems[0].code) == (Exit.USAGE, "metadata-type")
    assert str(target.source_root) not in sys.path


def test_an_import_that_fails_says_why_and_what_was_not_read(tmp_path):
    target = checkout(tmp_path, "import no_such_package\nx = no_such_package.make()\n")
    lacking = failure("models.info:x", target.repository)
    assert lacking.exit == Exit.ENVIRONMENT
    assert lacking.problems[0].code == "missing-package"
    assert str(lacking.problems[0]) == (
        f"no_such_package: not installed for {sys.executable}, but imported for models.info:x\n"
        "    fix: use a Python that has it"
    )
    assert lacking.problems[1].where == f"{target.path}:2"


def test_an_import_that_breaks_says_how(tmp_path):
    target = checkout(tmp_path, "x = 1 / 0\n")
    broken = failure("models.info:x", target.repository)
    assert (broken.exit, broken.problems[0].code) == (Exit.USAGE, "import-failed")
    assert broken.problems[0].found == "cannot be imported: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("models.info", "reference"),
        ("models.inf:x", "module"),
        ("models.info:z", "unknown-attribute"),
    ],
)
def test_what_is_not_there(tmp_path, reference, code):
    target = checkout(tmp_path, DECLARED)
    missing = failure(reference, target.repository)
    assert (missing.exit, [problem.code for problem in missing.problems]) == (Exit.USAGE, [code])


def test_values_that_a_method_may_not_have(tmp_path):
    target = checkout(tmp_path, 'x = MethodMetadata.config(method="", compute="tpu", date="soon")\n')
    wrong = failure("models.info:x", target.repository)
    assert wrong.exit == Exit.USAGE
    assert len(wrong.problems) == 3


def test_the_registry_of_this_repository_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_method("benchwright.mini.info:randomforest_method_metadata").method == "RandomForest"


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('method="A", ag_key="K", method="B"', "not Python: keyword argument repeated: method"),
        ('method="A", **{"method": "B"}', "method is given twice, by **{'method': 'B'} too"),
        ('**{"method": "A"}, **dict(method="B")', "method is given twice, by **dict(method='B') too"),
    ],
)
def test_a_field_that_is_given_twice_is_told(tmp_path, call, found):
    target = checkout(tmp_path, f"class MethodMetadata: ...\n\n\nx = MethodMetadata({call})\n")
    caught = failure("models.info:x", target.repository)
    assert caught.exit == Exit.USAGE
    (problem,) = (problem for problem in caught.problems if problem.code != "import-failed")
    assert (problem.where, problem.found) == (f"{target.path}:4", found)
