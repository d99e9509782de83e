"""Checkouts with collections to register in: a small one of one's own, and a copy of the installed ``tabarena``."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

from info_files import SOURCE_FOLDER, copied_checkout

from benchwright.publish import ARENAS, Registration, apply_edit, plan_registration, plan_rollback
from benchwright.publish.registration import Arena

SMALL = Arena("small", "reg.methods:collection", "the small leaderboard now carries only the new run")
RUFF = """[tool.ruff]
line-length = 120
[tool.ruff.lint]
select = ["I"]
isort.combine-as-imports = true
"""
IMPORT = "from tabarena.models._method_metadata import MethodMetadata\n"


def declaration(name: str, method: str, suite: str = "s-1", constructor: str = "config", **fields: str) -> str:
    words = "".join(
        f"    {field}={value!r},\n" for field, value in {"method": method, "suite": suite, **fields}.items()
    )
    return f"\n{name} = MethodMetadata.{constructor}(\n{words})\n"


def declare(folder: Path, module: str, *declarations: str) -> None:
    """Append declarations to a module below ``folder``, which is made where it is missing."""
    path = folder.joinpath(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if path.exists() else "from __future__ import annotations\n\n"
    path.write_text("".join([before, "" if IMPORT in before else IMPORT, *declarations]))


def small_registry(folder: Path, methods: str | bytes, *, names: str = "abcdz", **more: str) -> Path:
    """A checkout whose ``reg.methods`` is ``methods``, with a CPU method for each letter in ``reg.info``."""
    path = folder / "src" / "reg" / "methods.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(methods if isinstance(methods, bytes) else methods.encode())
    declare(folder / "src", "reg.info", *(declaration(name, name.upper()) for name in names), *more.values())
    (folder / "pyproject.toml").write_text(RUFF)
    return folder


def commit(folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a registry"]):
        subprocess.run([*git, *words], check=True)


def tabarena_checkout(folder: Path) -> Path:
    """The installed package as a checkout, with new runs declared in it, all of it committed."""
    source = copied_checkout(folder) / SOURCE_FOLDER.parent
    (folder / "pyproject.toml").write_text(RUFF)
    for number, (module, name, method, constructor, fields) in enumerate(NEW_RUNS):
        suite = f"tabarena-2031-01-{number + 1:02}"
        declare(source, module, declaration(name, method, suite, constructor, **fields))
    commit(folder)
    return folder


def registered(repository: Path, method: str, arena: str | Arena = SMALL, **words: str) -> Registration:
    """The registration of ``method``, carried out."""
    where = ARENAS[arena] if isinstance(arena, str) else arena
    edit = plan_registration(where, method, repository=repository, **words)
    apply_edit(edit)
    return edit


def rolled_back(repository: Path, method: str, arena: str | Arena = SMALL, **words: str) -> Registration:
    """The undoing of ``method``'s registration, carried out."""
    where = ARENAS[arena] if isinstance(arena, str) else arena
    edit = plan_rollback(where, method, repository=repository, **words)
    apply_edit(edit)
    return edit


def is_clean(*files: Path) -> bool:
    """Whether ruff would leave imports and format of these files as they are."""
    ruff, names = Path(sysconfig.get_path("scripts")) / "ruff", list(map(str, files))
    checks = ([ruff, "check", "--no-cache", "-q", *names], [ruff, "format", "--no-cache", "-q", "--check", *names])
    return all(subprocess.run(check, capture_output=True, check=False).returncode == 0 for check in checks)


GPU = {"compute": "gpu"}
NEW_RUNS = [
    ("tabarena.models.nori.info", "nori_v2_method_metadata", "Nori", "config", GPU),
    ("tabarena.models.nori.info", "nori_x_method_metadata", "Nori-X", "config", GPU),
    ("tabarena.models.aardvark.info", "aardvark_method_metadata", "Aardvark", "config", {}),
    ("tabarena.models.zebra.info", "zebra_method_metadata", "Zebra", "config", GPU),
    ("tabarena.models.tabdpt.info", "tabdpt_mid_method_metadata", "TabDPT-Mid", "config", GPU),
    ("tabarena.models.xgboost.info", "xgboost_new_method_metadata", "XGBoost", "config", {}),
    ("tabarena.models.a_model_with_quite_a_long_name_indeed.info",
     "a_model_with_quite_a_long_name_indeed_method_metadata", "Long", "config", {}),
    ("tabarena.systems.apteryx.info", "apteryx_method_metadata", "Apteryx", "system", {}),
    ("tabarena.systems.zorilla.info", "zorilla_method_metadata", "Zorilla", "system", GPU),
]  # fmt: skip
