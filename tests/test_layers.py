"""The packages' arrows point one way: the table of the design, checked against every import in the source."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "benchwright"

ANY = {path.stem for path in SOURCE.iterdir()}

# package -> what it may import besides `contract` and `files`
ALLOWED = {
    "contract": set(),
    "files": set(),
    "cli": set(),
    "forks": {"node"},  # processes that end with their parent
    "objects": set(),
    "slurm": set(),
    "arena": set(),
    "mini": {"arena"},
    "bridge": {"arena", "mini"},
    "raw": {"arena", "forks"},
    "processing": {"raw", "arena", "forks"},
    "pages": set(),
    "leaderboard": {"processing", "raw", "arena", "mini", "bridge", "pages"},
    "launch": {"arena", "raw", "slurm", "objects", "bridge", "node", "forks"},  # the local run is a bundle runner
    "node": {"slurm"},
    "publish": {"arena", "processing", "objects", "node"},  # a batch starts processes, and ends them
    "hub": {"pages"},  # ranks over time
    "harbor": {"objects", "forks"},
    "evaldb": set(),
    "audit": {"harbor", "evaldb", "hub", "slurm", "objects", "pages"},
    "repair": {"audit", "evaldb", "harbor", "hub", "slurm", "objects", "arena"},  # Iris; hidden paths
    "rehearsal": ANY,
}
WITHOUT_FILES = {"contract"}
STANDARD_LIBRARY_ALONE = {"contract", "node", "slurm"}
ON_ANY_NODE = ("node", "slurm")  # run by whatever Python a node of a cluster has, without the rest of the package
ONE_IMPORTER = {"tabarena": "bridge", "autogluon": "bridge"}


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> list[tuple[str, int]]:
    """Every imported module, relative ones resolved, wherever in the file it stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


def test_every_package_is_in_the_table():
    assert {package_of(path) for path in FILES} <= set(ALLOWED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    package = package_of(path)
    allowed = ALLOWED[package] | {package, "contract", "__version__"}
    if package not in WITHOUT_FILES:
        allowed.add("files")
    if package in ON_ANY_NODE:
        allowed = ALLOWED[package] | {package, "__version__"}
    for module, line in imports_of(path):
        root, _, rest = module.partition(".")
        if root == "benchwright":
            assert rest.partition(".")[0] in allowed, f"{path}:{line}: {package} may not import {module}"
        elif package in STANDARD_LIBRARY_ALONE:
            assert root in sys.stdlib_module_names, f"{path}:{line}: {package} uses the standard library alone"
        if root in ONE_IMPORTER:
            assert package == ONE_IMPORTER[root], f"{path}:{line}: only {ONE_IMPORTER[root]} imports {root}"


@pytest.mark.parametrize(
    "path", [path for name in ON_ANY_NODE for path in sorted((SOURCE / name).rglob("*.py"))], ids=lambda path: path.name
)
def test_what_runs_on_a_node_is_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))
